//! The toolchain whose cargo runs this tool.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Closed, Compiler, TARGET};
use crate::{cargo, steps};

/// The active toolchain, if it has the target installed.
pub fn find() -> Result<Compiler, Closed> {
    let rustc = rustc();
    let printed =
        steps::probe(Command::new(&rustc).args(["--print", "target-libdir", "--target", TARGET]))
            .ok_or_else(|| {
            format!(
                "`{}` cannot be run or does not know {TARGET}",
                rustc.display()
            )
        })?;
    if !has_std(Path::new(printed.trim())) {
        return Err(format!("the active toolchain has no {TARGET} installed"));
    }
    let identity = steps::probe(Command::new(&rustc).arg("-vV"))
        .ok_or_else(|| format!("`{} -vV` failed", rustc.display()))?;
    let first = identity.lines().next().unwrap_or_default().to_owned();
    Ok(Compiler {
        name: format!("the active toolchain ({first})"),
        identity,
        cargo: cargo::active_path(),
        rustc: None,
        linker: None,
        build_std: false,
    })
}

/// The linker that the active toolchain brings along, if it does.
pub fn rust_lld() -> Option<PathBuf> {
    let rustc = rustc();
    let sysroot = steps::probe(Command::new(&rustc).args(["--print", "sysroot"]))?;
    let identity = steps::probe(Command::new(&rustc).arg("-vV"))?;
    let host = identity
        .lines()
        .find_map(|line| line.strip_prefix("host: "))?;
    let linker = Path::new(sysroot.trim())
        .join("lib/rustlib")
        .join(host)
        .join("bin/rust-lld");
    linker.is_file().then_some(linker)
}

/// The compiler beside the cargo that runs this tool, else the one in `PATH`.
fn rustc() -> PathBuf {
    let beside = cargo::active_path().with_file_name("rustc");
    if beside.is_file() {
        beside
    } else {
        PathBuf::from("rustc")
    }
}

/// Does this folder hold a compiled standard library? The folder alone proves nothing: it
/// stays behind when a target is removed.
pub(super) fn has_std(folder: &Path) -> bool {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("libstd-") && name.ends_with(".rlib")
        })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_empty_or_absent_folder_is_no_standard_library() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!has_std(folder.path()));
        assert!(!has_std(&folder.path().join("absent")));
        fs::write(folder.path().join("libstd-0123.rlib"), "").unwrap();
        assert!(has_std(folder.path()));
    }
}
