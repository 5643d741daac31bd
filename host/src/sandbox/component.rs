//! Loading an adapter file: what is it, and does it fit the contract?

use super::cache::ComponentCache;
use super::engine::Sandbox;
use crate::contract::v0_1::Prepared;
use crate::digest::Sha256;
use std::io;
use std::path::{Path, PathBuf};

/// The contract versions that this host can drive.
pub const SUPPORTED_CONTRACTS: &[&str] = &["0.1.0"];

const AGENT_EXPORT: &str = "akbench:agent/agent@";

/// The WASI packages that are linked, without network, environment, arguments or input.
const WASI_PACKAGES: &[&str] = &["cli", "clocks", "filesystem", "io", "random", "sockets"];

/// An adapter, compiled and checked.
#[derive(Clone)]
pub struct AdapterComponent {
    /// Where it was read from.
    pub path: PathBuf,
    /// The file's length.
    pub bytes: u64,
    /// Of the file.
    pub sha256: Sha256,
    /// The contract that it implements, for example `0.1.0`.
    pub contract: &'static str,
    /// What it imports.
    pub imports: Vec<String>,
    /// Why it was compiled without the cache, if so.
    pub cache_problem: Option<String>,
    /// Ready to be instantiated.
    pub component: Prepared,
}

/// A file that is no usable adapter.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file can't be read.
    #[error("failed to read the adapter `{}`: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// It has no bytes.
    #[error("the adapter `{}` is empty; expected a WebAssembly component", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// It does not begin like WebAssembly.
    #[error(
        "the adapter `{}` is {looks_like}, not a WebAssembly component: it must begin with \
         the bytes 00 61 73 6d",
        path.display()
    )]
    NotWasm {
        /// The file.
        path: PathBuf,
        /// What it seems to be.
        looks_like: &'static str,
    },
    /// It is WebAssembly, but a core module.
    #[error(
        "the adapter `{}` is a core WebAssembly module, not a component; turn it into one with \
         `wasm-tools component new` or a toolchain that builds components",
        path.display()
    )]
    CoreModule {
        /// The file.
        path: PathBuf,
    },
    /// It ends too early.
    #[error(
        "the adapter `{}` is truncated ({bytes} bytes): {detail}; build or copy it again",
        path.display()
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// How many bytes there are.
        bytes: usize,
        /// Where it broke off.
        detail: String,
    },
    /// It can't be compiled.
    #[error("the adapter `{}` is not a valid WebAssembly component: {detail}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What the compiler said.
        detail: String,
    },
    /// It implements something else.
    #[error(
        "the component `{}` is no agent adapter: it does not export `akbench:agent/agent`; it \
         exports {}",
        path.display(),
        list(exports)
    )]
    OtherWorld {
        /// The file.
        path: PathBuf,
        /// What it does export.
        exports: Vec<String>,
    },
    /// It implements another version of the contract.
    #[error(
        "the adapter `{}` implements version {found} of the contract akbench:agent; this akbench \
         supports {}",
        path.display(),
        SUPPORTED_CONTRACTS.join(", ")
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// The version that it exports.
        found: String,
    },
    /// It names the contract, but its types are others.
    #[error(
        "the adapter `{}` exports akbench:agent/agent@{contract}, but not as that version of the \
         contract has it: {detail}; build it against the published WIT",
        path.display()
    )]
    OtherTypes {
        /// The file.
        path: PathBuf,
        /// The contract that it names.
        contract: &'static str,
        /// What is missing or differs.
        detail: String,
    },
    /// It wants what no adapter gets.
    #[error(
        "the adapter `{}` imports {}, which akbench does not grant; an adapter may import \
         akbench:agent/process, akbench:agent/events and WASI 0.2",
        path.display(),
        list(imports)
    )]
    RefusedImports {
        /// The file.
        path: PathBuf,
        /// Every import that is refused.
        imports: Vec<String>,
    },
    /// It is not the component that the catalog means.
    #[error(
        "the adapter `{}` has the SHA-256 {found}, but the catalog `{}` names {expected}: the \
         component was exchanged or damaged; install it again, or correct the catalog if the \
         change was meant",
        path.display(),
        catalog.display()
    )]
    OtherDigest {
        /// The file.
        path: PathBuf,
        /// Its digest.
        found: Sha256,
        /// The digest that the catalog names.
        expected: Sha256,
        /// The catalog.
        catalog: PathBuf,
    },
}

/// The digest that an adapter's file must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Of the file's bytes.
    pub sha256: Sha256,
    /// The catalog that says so.
    pub catalog: PathBuf,
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

impl AdapterComponent {
    /// The contract with its version, as records name it.
    pub fn contract_name(&self) -> String {
        format!("akbench:agent@{}", self.contract)
    }

    /// Reads, checks and compiles an adapter, or takes its compiled form from the cache.
    ///
    /// # Errors
    ///
    /// Each way in which a file is no adapter has its own.
    pub fn load(path: &Path, sandbox: &Sandbox, cache: &ComponentCache) -> Result<Self, LoadError> {
        Self::load_pinned(path, None, sandbox, cache)
    }

    /// As [`AdapterComponent::load`], and refuses a file that the pin does not mean, before
    /// anything of it is compiled.
    ///
    /// # Errors
    ///
    /// As for [`AdapterComponent::load`], and [`LoadError::OtherDigest`].
    pub fn load_pinned(
        path: &Path,
        pin: Option<&Pin>,
        sandbox: &Sandbox,
        cache: &ComponentCache,
    ) -> Result<Self, LoadError> {
        let bytes = std::fs::read(path).map_err(|error| LoadError::Unreadable {
            path: path.to_owned(),
            error,
        })?;
        check_header(path, &bytes)?;
        let sha256 = Sha256::of(&bytes);
        if let Some(pin) = pin
            && pin.sha256 != sha256
        {
            return Err(LoadError::OtherDigest {
                path: path.to_owned(),
                found: sha256,
                expected: pin.sha256,
                catalog: pin.catalog.clone(),
            });
        }
        let (component, cache_problem) = cache
            .load(sandbox.engine(), &sha256, &bytes)
            .map_err(|error| compile_error(path, &bytes, &error))?;
        let ty = component.component_type();
        let names = |item: &str| item.to_owned();
        let imports: Vec<String> = ty
            .imports(sandbox.engine())
            .map(|(name, _)| names(name))
            .collect();
        let exports: Vec<String> = ty
            .exports(sandbox.engine())
            .map(|(name, _)| names(name))
            .collect();
        let contract = contract_of(path, exports)?;
        check_imports(path, &imports)?;
        let component =
            Prepared::new(sandbox.engine(), &component).map_err(|error| LoadError::OtherTypes {
                path: path.to_owned(),
                contract,
                detail: format!("{error:#}"),
            })?;
        Ok(Self {
            path: path.to_owned(),
            bytes: bytes.len() as u64,
            sha256,
            contract,
            imports,
            cache_problem,
            component,
        })
    }
}

fn check_header(path: &Path, bytes: &[u8]) -> Result<(), LoadError> {
    let path = path.to_owned();
    if bytes.is_empty() {
        return Err(LoadError::Empty { path });
    }
    if !bytes.starts_with(b"\0asm") {
        if b"\0asm".starts_with(bytes) {
            return Err(truncated(path, bytes, "the header is incomplete"));
        }
        let looks_like = match std::str::from_utf8(&bytes[..bytes.len().min(512)]) {
            Ok(text) if text.trim_start().starts_with('(') => "WebAssembly text",
            Ok(_) => "a text file",
            Err(_) if bytes.starts_with(b"\x7fELF") => "a native program or library",
            Err(_) => "some other binary file",
        };
        return Err(LoadError::NotWasm { path, looks_like });
    }
    match bytes.get(4..8) {
        None => Err(truncated(path, bytes, "the header is incomplete")),
        Some([1, 0, 0, 0]) => Err(LoadError::CoreModule { path }),
        Some(_) => Ok(()),
    }
}

fn truncated(path: PathBuf, bytes: &[u8], detail: impl Into<String>) -> LoadError {
    LoadError::Truncated {
        path,
        bytes: bytes.len(),
        detail: detail.into(),
    }
}

fn compile_error(path: &Path, bytes: &[u8], error: &wasmtime::Error) -> LoadError {
    let detail = format!("{error:#}");
    if detail.contains("unexpected end") || detail.contains("out of bounds") {
        return truncated(path.to_owned(), bytes, detail);
    }
    LoadError::Invalid {
        path: path.to_owned(),
        detail,
    }
}

fn contract_of(path: &Path, exports: Vec<String>) -> Result<&'static str, LoadError> {
    let versions: Vec<&str> = exports
        .iter()
        .filter_map(|name| name.strip_prefix(AGENT_EXPORT))
        .collect();
    let supported = SUPPORTED_CONTRACTS
        .iter()
        .find(|known| versions.contains(known));
    if let Some(supported) = supported {
        return Ok(supported);
    }
    if let Some(found) = versions.first() {
        return Err(LoadError::OtherVersion {
            path: path.to_owned(),
            found: (*found).to_owned(),
        });
    }
    Err(LoadError::OtherWorld {
        path: path.to_owned(),
        exports,
    })
}

fn check_imports(path: &Path, imports: &[String]) -> Result<(), LoadError> {
    let refused: Vec<String> = imports
        .iter()
        .filter(|name| !is_granted(name))
        .cloned()
        .collect();
    if refused.is_empty() {
        return Ok(());
    }
    Err(LoadError::RefusedImports {
        path: path.to_owned(),
        imports: refused,
    })
}

fn is_granted(import: &str) -> bool {
    let (interface, version) = import.split_once('@').unwrap_or((import, ""));
    if let Some(name) = interface.strip_prefix("akbench:agent/") {
        return matches!(name, "types" | "process" | "events")
            && SUPPORTED_CONTRACTS.contains(&version);
    }
    let Some(wasi) = interface.strip_prefix("wasi:") else {
        return false;
    };
    let package = wasi.split('/').next().unwrap_or(wasi);
    WASI_PACKAGES.contains(&package) && version.starts_with("0.2.")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn header(bytes: &[u8]) -> Result<(), LoadError> {
        check_header(Path::new("a.wasm"), bytes)
    }

    #[test]
    fn files_that_are_no_component_are_told_apart() {
        assert!(matches!(header(b""), Err(LoadError::Empty { .. })));
        assert!(matches!(header(b"\0as"), Err(LoadError::Truncated { .. })));
        assert!(matches!(
            header(b"\0asm\x0d\0"),
            Err(LoadError::Truncated { .. })
        ));
        assert!(matches!(
            header(b"\0asm\x01\0\0\0"),
            Err(LoadError::CoreModule { .. })
        ));
        let looks_like = |bytes| match header(bytes) {
            Err(LoadError::NotWasm { looks_like, .. }) => looks_like,
            other => unreachable!("{other:?}"),
        };
        assert_eq!(looks_like(b"hello"), "a text file");
        assert_eq!(looks_like(b"(component)"), "WebAssembly text");
        assert_eq!(
            looks_like(b"\x7fELF\x02\xff\xfe"),
            "a native program or library"
        );
        assert!(header(b"\0asm\x0d\0\x01\0").is_ok());
    }

    #[test]
    fn imports_beyond_the_contract_and_wasi_are_refused() {
        assert!(is_granted("akbench:agent/process@0.1.0"));
        assert!(is_granted("wasi:filesystem/types@0.2.12"));
        assert!(is_granted("wasi:sockets/tcp@0.2.0"));
        for refused in [
            "akbench:agent/process@0.2.0",
            "akbench:agent/secrets@0.1.0",
            "wasi:http/types@0.2.0",
            "wasi:filesystem/types@0.3.0",
            "evil:host/run",
        ] {
            assert!(!is_granted(refused), "{refused}");
        }
    }
}
