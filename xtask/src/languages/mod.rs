//! Building the adapters that are written in other languages than Rust.
//!
//! Each has a script, `adapters/<language>/build.sh`, that works without this tool too. Here
//! its toolchain is found, and a language without one is skipped, visibly.

mod c_bindings;
mod language;

use std::path::Path;
use std::process::Command;

pub use c_bindings::generate as generate_c_bindings;

use crate::failure::{Explain, Outcome};
use crate::guests::{component, stamp};
use crate::workspace::Workspace;
use crate::{atomic, digest, steps};
use language::{LANGUAGES, Language};

/// Builds every adapter that is not up to date and whose toolchain is there.
///
/// # Errors
///
/// If an adapter does not build. A missing toolchain is no error.
pub fn build(workspace: &Workspace) -> Outcome {
    for language in &LANGUAGES {
        build_one(workspace, language)?;
    }
    Ok(())
}

fn build_one(workspace: &Workspace, language: &Language) -> Outcome {
    let component = workspace.adapters().join(language.component);
    let toolchain = match language.toolchain(&toolchains(workspace)) {
        Ok(toolchain) => toolchain,
        Err(missing) => {
            eprintln!(
                "xtask: {} skipped: needs {missing}; .ci/languages installs it",
                language.component
            );
            // One of an older build would be taken for the current one.
            return atomic::remove(&component);
        }
    };
    let sources = format!("adapters/{}", language.folder);
    let inputs = stamp::inputs_of(
        &workspace.root,
        &["Cargo.lock", &sources, "wit"],
        &toolchain.identity,
    )?;
    let stamp = workspace
        .target
        .join("guests/stamps")
        .join(language.component)
        .with_extension("json");
    if stamp::fresh(&stamp, &inputs, &component).is_some() {
        eprintln!("xtask: {} is up to date", workspace.shown(&component));
        return Ok(());
    }
    let mut command = Command::new(workspace.root.join(&sources).join("build.sh"));
    command.arg(&component).envs(toolchain.variables);
    steps::run(&mut command, &format!("build {}", language.component))?;
    let bytes = std::fs::read(&component).explain(|| format!("read {}", component.display()))?;
    stamp::write(&stamp, &inputs, &digest::sha256(&bytes))
}

/// Where `.ci/languages` puts what it installs.
fn toolchains(workspace: &Workspace) -> std::path::PathBuf {
    std::env::var_os("AKBENCH_TOOLCHAINS")
        .filter(|folder| !folder.is_empty())
        .map_or_else(|| workspace.target.join("toolchains"), Into::into)
}

/// Does what `wasm-tools component new` does, for the script that builds the adapter in C.
///
/// # Errors
///
/// If the module cannot be read, is none that carries its world, or the file cannot be written.
pub fn encode_component(module: &Path, output: &Path) -> Outcome {
    let bytes = std::fs::read(module).explain(|| format!("read {}", module.display()))?;
    let encoded = component::from_module(&bytes)
        .explain(|| format!("turn {} into a component", module.display()))?;
    atomic::write(output, &encoded)
}
