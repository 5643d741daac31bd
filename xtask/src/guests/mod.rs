//! Building the adapter components that are written in Rust.

pub mod component;
pub mod stamp;

use std::fs;
use std::path::PathBuf;

use crate::failure::{Explain, Outcome};
use crate::toolchain::{self, Compiler, Installing, TARGET};
use crate::workspace::Workspace;
use crate::{atomic, digest, steps};

/// The cargo profile of the guests.
const PROFILE: &str = "guest";

/// A crate that becomes a component.
struct Guest {
    package: &'static str,
    /// File name of the component, as in `adapters/catalog.json`.
    component: &'static str,
}

/// Every adapter written in Rust.
const GUESTS: [Guest; 4] = [
    Guest {
        package: "akbench-codex-adapter",
        component: "codex.wasm",
    },
    Guest {
        package: "akbench-fake-adapter",
        component: "fake.wasm",
    },
    Guest {
        package: "akbench-broken-adapter",
        component: "broken.wasm",
    },
    Guest {
        package: "akbench-misbehaving-adapter",
        component: "misbehaving.wasm",
    },
];

/// A built component.
#[derive(Debug)]
pub struct Built {
    /// File name, as in the catalog.
    pub component: &'static str,
    /// Where it lies.
    pub path: PathBuf,
    /// SHA-256 of the file.
    pub sha256: String,
}

/// Builds every guest that is not up to date.
///
/// # Errors
///
/// If there is no compiler, a crate does not compile, or what it compiles to is no component.
pub fn build(workspace: &Workspace, installing: Installing) -> Outcome<Vec<Built>> {
    let compiler = toolchain::find(workspace, installing)?;
    let inputs = stamp::inputs(&workspace.root, &compiler.identity)?;
    GUESTS
        .iter()
        .map(|guest| build_one(workspace, &compiler, &inputs, guest))
        .collect()
}

fn build_one(
    workspace: &Workspace,
    compiler: &Compiler,
    inputs: &str,
    guest: &Guest,
) -> Outcome<Built> {
    let path = workspace.adapters().join(guest.component);
    let target = workspace.target.join("guests");
    let stamp = target
        .join("stamps")
        .join(guest.component)
        .with_extension("json");
    if let Some(sha256) = stamp::fresh(&stamp, inputs, &path) {
        eprintln!("xtask: {} is up to date", workspace.shown(&path));
        return Ok(Built {
            component: guest.component,
            path,
            sha256,
        });
    }
    eprintln!("xtask: building {} with {}", guest.component, compiler.name);
    let mut command = compiler.build(workspace);
    command
        .args([
            "--profile",
            PROFILE,
            "--package",
            guest.package,
            "--target-dir",
        ])
        .arg(&target);
    steps::run(
        &mut command,
        &format!("compile {} for {TARGET}", guest.package),
    )?;

    let library = guest.package.replace('-', "_");
    let module = target
        .join(TARGET)
        .join(PROFILE)
        .join(library)
        .with_extension("wasm");
    let module = fs::read(&module).explain(|| format!("read {}", module.display()))?;
    let bytes = component::from_module(&module)
        .explain(|| format!("turn what {} compiled to into a component", guest.package))?;
    let sha256 = digest::sha256(&bytes);
    atomic::write(&path, &bytes)?;
    stamp::write(&stamp, inputs, &sha256)?;
    eprintln!(
        "xtask: wrote {} ({} kB)",
        workspace.shown(&path),
        bytes.len().div_ceil(1000)
    );
    Ok(Built {
        component: guest.component,
        path,
        sha256,
    })
}
