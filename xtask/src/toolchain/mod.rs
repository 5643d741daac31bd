//! Finding a compiler for `wasm32-unknown-unknown`.
//!
//! In this order: the active toolchain if it has the target; a distribution's toolchain that
//! can build the standard library itself; `rustup target add`; the distribution's packages,
//! installed as root with apt. Otherwise an error that names the choices.

mod active;
mod apt;
mod distribution;
mod rustup;

use std::path::PathBuf;
use std::process::Command;

use crate::cargo;
use crate::failure::{Failure, Outcome};
use crate::workspace::Workspace;

/// The target of the adapter components.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// May something be installed?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Installing {
    /// Yes, after saying what.
    Allowed,
    /// No (`--no-install`).
    Refused,
}

/// A cargo and a rustc that build for [`TARGET`].
#[derive(Debug)]
pub struct Compiler {
    /// For people: which toolchain this is.
    pub name: String,
    /// The compiler's own description of itself, `rustc -vV`: it goes into the stamp of what
    /// it builds.
    pub identity: String,
    cargo: PathBuf,
    /// `None`: cargo finds its own.
    rustc: Option<PathBuf>,
    /// `None`: the compiler's default.
    linker: Option<PathBuf>,
    /// The target's standard library must be built too.
    build_std: bool,
}

impl Compiler {
    /// `cargo build` for [`TARGET`] in the workspace's folder.
    pub fn build(&self, workspace: &Workspace) -> Command {
        let mut command = cargo::for_guests(&self.cargo);
        command
            .current_dir(&workspace.root)
            .arg("build")
            .args(["--target", TARGET]);
        if let Some(rustc) = &self.rustc {
            // Not the active toolchain: rustup's choice must not reach this one.
            command
                .env_remove("RUSTUP_TOOLCHAIN")
                .env_remove("LD_LIBRARY_PATH");
            command.env("RUSTC", rustc);
        }
        if let Some(linker) = &self.linker {
            command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
        if self.build_std {
            // The flag is unstable, though the distribution ships the sources for it.
            command
                .env("RUSTC_BOOTSTRAP", "1")
                .arg("-Zbuild-std=std,panic_abort");
        }
        command
    }
}

/// Why a way to a compiler is closed, in words.
type Closed = String;

/// Finds a compiler, installing one if there is none and `installing` allows it.
///
/// # Errors
///
/// If every way is closed: each with its reason, and the choices.
pub fn find(workspace: &Workspace, installing: Installing) -> Outcome<Compiler> {
    let mut closed: Vec<Closed> = Vec::new();
    match active::find() {
        Ok(compiler) => return Ok(compiler),
        Err(reason) => closed.push(reason),
    }
    match distribution::find(&workspace.rust_version) {
        Ok(compiler) => return Ok(compiler),
        Err(reason) => closed.push(reason),
    }
    if installing == Installing::Refused {
        closed.push("nothing was installed, because of --no-install".to_owned());
        return Err(no_compiler(&closed));
    }
    match rustup::add_target().and_then(|()| active::find()) {
        Ok(compiler) => return Ok(compiler),
        Err(reason) => closed.push(reason),
    }
    match apt::install() {
        Ok(()) => match distribution::find(&workspace.rust_version) {
            Ok(compiler) => return Ok(compiler),
            Err(reason) => closed.push(format!("after installing the packages: {reason}")),
        },
        Err(reason) => closed.push(reason),
    }
    Err(no_compiler(&closed))
}

fn no_compiler(closed: &[Closed]) -> Failure {
    let mut message = format!("no compiler for {TARGET} was found:\n");
    for reason in closed {
        message += &format!("  - {reason}\n");
    }
    message += &format!(
        "do one of these, then try again:\n  - rustup target add {TARGET}\n  - {} (as root)",
        apt::command_line()
    );
    Failure::new(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_names_every_closed_way_and_every_choice() {
        let message =
            no_compiler(&["first reason".to_owned(), "second reason".to_owned()]).to_string();
        for part in [
            "first reason",
            "second reason",
            "rustup target add wasm32",
            "rustc-web",
        ] {
            assert!(message.contains(part), "{part} is missing from: {message}");
        }
    }
}
