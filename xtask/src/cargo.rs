//! Starting cargo from a program that cargo started.
//!
//! The outer `cargo run` describes *this* package in the environment. None of it may reach
//! an inner cargo: it would change fingerprints, or lead another toolchain's cargo to the
//! wrong compiler and the wrong shared libraries.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set by `cargo run` and rustup for the program they start.
const SET_BY_THE_OUTER_CARGO: [&str; 9] = [
    "CARGO",
    "CARGO_BIN_NAME",
    "CARGO_CRATE_NAME",
    "CARGO_MAKEFLAGS",
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "CARGO_PRIMARY_PACKAGE",
    "OUT_DIR",
    "RUST_RECURSION_COUNT",
];

/// Chooses a compiler, or flags and targets meant for the host.
const MEANT_FOR_THE_HOST: [&str; 9] = [
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTC",
    "RUSTC_BOOTSTRAP",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTDOC",
    "RUSTFLAGS",
];

/// The cargo that runs this tool.
pub fn active_path() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// A command for the cargo that runs this tool, as if a person had typed it.
pub fn active() -> Command {
    let mut command = Command::new(active_path());
    forget_outer_cargo(&mut command);
    command
}

/// A command for the cargo at `path`, free of flags and targets meant for the host.
pub fn for_guests(path: &Path) -> Command {
    let mut command = Command::new(path);
    forget_outer_cargo(&mut command);
    for name in MEANT_FOR_THE_HOST {
        command.env_remove(name);
    }
    command
}

fn forget_outer_cargo(command: &mut Command) {
    for name in SET_BY_THE_OUTER_CARGO {
        command.env_remove(name);
    }
    for (name, _) in env::vars_os() {
        if name
            .to_str()
            .is_some_and(|name| name.starts_with("CARGO_PKG_"))
        {
            command.env_remove(name);
        }
    }
    if let Some(paths) = env::var_os("LD_LIBRARY_PATH") {
        match without_rust_folders(&paths) {
            Some(kept) => command.env("LD_LIBRARY_PATH", kept),
            None => command.env_remove("LD_LIBRARY_PATH"),
        };
    }
}

/// Takes the folders away that cargo adds to `LD_LIBRARY_PATH`; `None` if nothing is left.
fn without_rust_folders(paths: &OsStr) -> Option<std::ffi::OsString> {
    let added = |path: &Path| {
        path.ends_with("deps")
            || path.ends_with("debug")
            || path.ends_with("release")
            || path.join("rustlib").is_dir()
            || path.components().any(|part| part.as_os_str() == "rustlib")
    };
    let kept: Vec<_> = env::split_paths(paths)
        .filter(|path| !path.as_os_str().is_empty() && !added(path))
        .collect();
    if kept.is_empty() {
        None
    } else {
        env::join_paths(kept).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_folders_of_cargo_are_dropped_and_others_kept() {
        let paths =
            OsStr::new("/c/target/debug/deps:/c/target/debug:/opt/lib:/r/lib/rustlib/x/lib");
        assert_eq!(without_rust_folders(paths), Some("/opt/lib".into()));
        assert_eq!(
            without_rust_folders(OsStr::new("/c/target/debug/deps")),
            None
        );
    }

    #[test]
    fn a_guest_build_sees_no_flags_of_the_host() {
        let command = for_guests(Path::new("cargo"));
        let removed: Vec<_> = command
            .get_envs()
            .filter(|(_, value)| value.is_none())
            .filter_map(|(name, _)| name.to_str())
            .collect();
        for name in [
            "RUSTFLAGS",
            "RUSTC",
            "CARGO_BUILD_TARGET",
            "CARGO_MANIFEST_DIR",
        ] {
            assert!(
                removed.contains(&name),
                "{name} must not reach the guest build"
            );
        }
    }
}
