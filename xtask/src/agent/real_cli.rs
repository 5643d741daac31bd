//! Finding the real CLI's native program.

use std::env;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::PROGRAM;
use crate::failure::{Failure, Outcome};

/// Names the program for tests and demo; set but empty: act as if there were none.
pub const VARIABLE: &str = "AKBENCH_TEST_CODEX";

/// Where npm puts the native program, relative to the folder of its wrapper script. `*` is
/// the platform's triple.
const BESIDE_THE_WRAPPER: [[&str; 2]; 4] = [
    ["../../codex-linux-x64/vendor", "bin/codex"],
    ["../../codex-linux-arm64/vendor", "bin/codex"],
    [
        "../node_modules/@openai/codex-linux-x64/vendor",
        "bin/codex",
    ],
    [
        "../node_modules/@openai/codex-linux-arm64/vendor",
        "bin/codex",
    ],
];

/// What looking for the real CLI brought.
#[derive(Debug, PartialEq, Eq)]
pub enum Search {
    /// The native program, absolute, with every link resolved.
    Found(PathBuf),
    /// There is none, and why.
    Absent(String),
}

/// Looks at [`VARIABLE`], then in `PATH`.
///
/// # Errors
///
/// If the variable names something that cannot be run: asked for and not there is not the
/// same as not there.
pub fn find() -> Outcome<Search> {
    match env::var_os(VARIABLE) {
        Some(value) if value.is_empty() => Ok(Search::Absent(format!("{VARIABLE} is empty"))),
        Some(value) => {
            let named = PathBuf::from(value);
            native(&named).map(Search::Found).map_err(|reason| {
                Failure::new(format!(
                    "{VARIABLE} is to name the CLI's program or its npm wrapper, but {reason}"
                ))
            })
        }
        None => Ok(in_path(env::split_paths(
            &env::var_os("PATH").unwrap_or_default(),
        ))),
    }
}

fn in_path(folders: impl Iterator<Item = PathBuf>) -> Search {
    let mut reason = format!("there is no `{PROGRAM}` in PATH");
    for folder in folders {
        let candidate = folder.join(PROGRAM);
        if is_executable(&candidate) {
            match native(&candidate) {
                Ok(program) => return Search::Found(program),
                Err(why) => reason = why,
            }
        }
    }
    Search::Absent(reason)
}

/// The native program that `path` is, or that it is the npm wrapper of.
fn native(path: &Path) -> Result<PathBuf, String> {
    let resolved = path
        .canonicalize()
        .map_err(|error| format!("{} cannot be found: {error}", path.display()))?;
    if is_elf(&resolved) && is_executable(&resolved) {
        return Ok(resolved);
    }
    let folder = resolved.parent().unwrap_or(Path::new("/"));
    for [vendor, program] in BESIDE_THE_WRAPPER {
        let mut triples: Vec<_> = fs::read_dir(folder.join(vendor))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path().join(program))
            .filter(|candidate| is_elf(candidate) && is_executable(candidate))
            .collect();
        triples.sort();
        if let Some(Ok(found)) = triples.first().map(|found| found.canonicalize()) {
            return Ok(found);
        }
    }
    Err(format!(
        "{} is neither a native program nor an npm wrapper with its platform package beside it",
        resolved.display()
    ))
}

fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut magic))
        .is_ok()
        && magic == *b"\x7fELF"
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn program(path: &Path, bytes: &[u8]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn the_npm_wrapper_leads_to_the_native_program() {
        let root = tempfile::tempdir().unwrap();
        let scope = root
            .path()
            .canonicalize()
            .unwrap()
            .join("lib/node_modules/@openai");
        let native = scope.join("codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex");
        program(&native, b"\x7fELF...");
        program(&scope.join("codex/bin/codex.js"), b"#!/usr/bin/env node\n");
        let bin = root.path().join("bin");
        fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(scope.join("codex/bin/codex.js"), bin.join("codex")).unwrap();
        assert_eq!(
            in_path([root.path().join("absent"), bin].into_iter()),
            Search::Found(native)
        );
    }

    #[test]
    fn a_wrapper_alone_is_not_enough_and_a_later_folder_may_do() {
        let root = tempfile::tempdir().unwrap();
        let (one, two) = (
            root.path().join("one"),
            root.path().canonicalize().unwrap().join("two"),
        );
        program(&one.join("codex"), b"#!/bin/sh\n");
        assert!(matches!(
            in_path([one.clone()].into_iter()),
            Search::Absent(_)
        ));
        program(&two.join("codex"), b"\x7fELF...");
        assert_eq!(
            in_path([one, two.clone()].into_iter()),
            Search::Found(two.join("codex"))
        );
    }
}
