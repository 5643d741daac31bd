//! The languages, and where their toolchains are.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps;

/// A language with an adapter of its own.
pub struct Language {
    /// Below `adapters/`.
    pub folder: &'static str,
    /// File name of the component.
    pub component: &'static str,
    find: fn(&Path) -> Result<Toolchain, String>,
}

/// What builds a language's adapter.
pub struct Toolchain {
    /// Changes with the toolchain's version.
    pub identity: String,
    /// What `build.sh` is told.
    pub variables: Vec<(&'static str, PathBuf)>,
}

/// All but Rust.
pub const LANGUAGES: [Language; 3] = [
    Language {
        folder: "python",
        component: "echo-python.wasm",
        find: python,
    },
    Language {
        folder: "javascript",
        component: "echo-javascript.wasm",
        find: javascript,
    },
    Language {
        folder: "c",
        component: "echo-c.wasm",
        find: c,
    },
];

impl Language {
    /// Its toolchain, looked for in `folder` first, then in PATH; else what is missing.
    pub fn toolchain(&self, folder: &Path) -> Result<Toolchain, String> {
        (self.find)(folder)
    }
}

fn python(folder: &Path) -> Result<Toolchain, String> {
    let installed = folder.join("python/bin/componentize-py");
    one_tool("COMPONENTIZE_PY", installed, "componentize-py", "0.25.1")
}

fn javascript(folder: &Path) -> Result<Toolchain, String> {
    let installed = folder.join("javascript/node_modules/.bin/componentize-qjs");
    // It cannot be asked for its version; the lock of .ci/languages pins it.
    one_tool("COMPONENTIZE_QJS", installed, "componentize-qjs", "0.4.5")
}

/// A toolchain that is one program: named by a variable, installed here, or in PATH.
fn one_tool(
    variable: &'static str,
    installed: PathBuf,
    name: &str,
    version: &str,
) -> Result<Toolchain, String> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let choices = named.into_iter().chain([installed, PathBuf::from(name)]);
    for program in choices {
        if steps::probe(Command::new(&program).arg("--help")).is_some() {
            let reported = steps::probe(Command::new(&program).arg("--version"));
            return Ok(Toolchain {
                identity: format!("{} {}", program.display(), reported.unwrap_or_default()),
                variables: vec![(variable, program)],
            });
        }
    }
    Err(format!("{name} {version} (or its path in {variable})"))
}

fn c(_: &Path) -> Result<Toolchain, String> {
    const LIBC: &str = "/usr/lib/wasm32-wasi/libc.a";
    const LINKER: &str = "/usr/bin/wasm-ld-19";
    let version = steps::probe(Command::new("clang-19").arg("--version"))
        .ok_or("clang-19 (Debian package clang-19)")?;
    if !Path::new(LINKER).is_file() {
        return Err(format!("{LINKER} (Debian package lld-19)"));
    }
    if !Path::new(LIBC).is_file() {
        return Err(format!("{LIBC} (Debian package wasi-libc)"));
    }
    let builtins = Command::new("clang-19")
        .args(["--target=wasm32-wasi", "--print-libgcc-file-name"])
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_default();
    if !Path::new(&builtins).is_file() {
        return Err("libclang_rt for wasm32 (Debian package libclang-rt-19-dev-wasm32)".to_owned());
    }
    // This program has the two commands that the script needs besides.
    let own = std::env::current_exe()
        .map_err(|error| format!("the file of this program, which is unknown: {error}"))?;
    let own = as_rebuilt(&own);
    Ok(Toolchain {
        identity: version,
        variables: vec![("WIT_BINDGEN", own.clone()), ("WASM_TOOLS", own)],
    })
}

/// Building the workspace replaces this very program while it runs; the system then calls the
/// file it was started from deleted. The new one has the same commands, at the same place.
fn as_rebuilt(own: &Path) -> PathBuf {
    match own
        .to_str()
        .and_then(|text| text.strip_suffix(" (deleted)"))
    {
        Some(path) => PathBuf::from(path),
        None => own.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_program_that_was_rebuilt_while_it_runs_is_found_at_its_place() {
        assert_eq!(
            as_rebuilt(Path::new("/t/xtask (deleted)")),
            Path::new("/t/xtask")
        );
        assert_eq!(as_rebuilt(Path::new("/t/xtask")), Path::new("/t/xtask"));
    }

    #[test]
    fn every_language_has_its_script() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for language in &LANGUAGES {
            let script = root.join("adapters").join(language.folder).join("build.sh");
            assert!(script.is_file(), "{} is missing", script.display());
        }
    }

    #[test]
    fn a_missing_tool_is_named_with_its_version_and_variable() {
        let missing = one_tool(
            "AKBENCH_NO_SUCH_VARIABLE",
            PathBuf::from("/nonexistent/tool"),
            "akbench-no-such-tool",
            "1.2.3",
        );
        assert_eq!(
            missing.err().unwrap(),
            "akbench-no-such-tool 1.2.3 (or its path in AKBENCH_NO_SUCH_VARIABLE)"
        );
    }
}
