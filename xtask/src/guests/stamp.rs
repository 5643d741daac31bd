//! Is a component still what its sources would build?
//!
//! Decided by content, not by time: a fresh clone, a branch switched back and forth, or a
//! touched file does not build anew, a changed compiler does.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::failure::{Explain, Outcome};
use crate::{atomic, digest};

/// What a guest is built from, relative to the workspace.
const INPUTS: [&str; 6] = [
    ".cargo/config.toml",
    "Cargo.lock",
    "Cargo.toml",
    "adapters",
    "tests/guests",
    "wit",
];

/// Folders that tools leave between sources.
const BUILT: [&str; 3] = ["target", "node_modules", "__pycache__"];

/// The digest of everything that the guests are built from, with the compiler's identity.
///
/// # Errors
///
/// If a source cannot be read.
pub fn inputs(root: &Path, compiler: &str) -> Outcome<String> {
    inputs_of(root, &INPUTS, compiler)
}

/// The same of these files and folders, relative to the workspace.
///
/// # Errors
///
/// If a source cannot be read.
pub fn inputs_of(root: &Path, inputs: &[&str], compiler: &str) -> Outcome<String> {
    let mut files = Vec::new();
    for input in inputs {
        collect(&root.join(input), &mut files)?;
    }
    files.sort();
    let mut text = format!("compiler {}\n", digest::sha256(compiler.as_bytes()));
    for file in files {
        let bytes = fs::read(&file).explain(|| format!("read {}", file.display()))?;
        let name = file.strip_prefix(root).unwrap_or(&file);
        // The digest ends each line, so no file name can imitate two entries.
        text += &format!("{:?} {}\n", name, digest::sha256(&bytes));
    }
    Ok(digest::sha256(text.as_bytes()))
}

/// All regular files at or under `path`, but nothing hidden and nothing that is built.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Outcome {
    let doing = || format!("look at {}", path.display());
    let kind = fs::symlink_metadata(path).explain(doing)?.file_type();
    if kind.is_file() {
        files.push(path.to_owned());
    } else if kind.is_dir() {
        for entry in fs::read_dir(path).explain(doing)? {
            let entry = entry.explain(doing)?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if !name.starts_with('.') && !BUILT.contains(&name.as_ref()) {
                collect(&entry.path(), files)?;
            }
        }
    }
    Ok(())
}

/// The component's SHA-256, if the stamp matches these inputs and the file is unchanged.
pub fn fresh(stamp: &Path, inputs: &str, component: &Path) -> Option<String> {
    let stamp: Value = serde_json::from_slice(&fs::read(stamp).ok()?).ok()?;
    let sha256 = digest::sha256(&fs::read(component).ok()?);
    (stamp["inputs"] == inputs && stamp["component"] == sha256.as_str()).then_some(sha256)
}

/// Notes what a component was built from.
///
/// # Errors
///
/// If the stamp cannot be written.
pub fn write(stamp: &Path, inputs: &str, sha256: &str) -> Outcome {
    let text = format!("{:#}\n", json!({ "inputs": inputs, "component": sha256 }));
    atomic::write(stamp, text.as_bytes())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn workspace() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in [
            ".cargo/config.toml",
            "Cargo.lock",
            "Cargo.toml",
            "adapters/a/lib.rs",
            "tests/guests/b/lib.rs",
            "wit/agent.wit",
        ] {
            atomic::write(&root.path().join(file), b"first").unwrap();
        }
        root
    }

    #[test]
    fn changed_sources_and_another_compiler_change_the_digest() {
        let root = workspace();
        let before = inputs(root.path(), "rustc 1").unwrap();
        assert_eq!(before, inputs(root.path(), "rustc 1").unwrap());
        assert_ne!(before, inputs(root.path(), "rustc 2").unwrap());
        fs::write(root.path().join("adapters/a/lib.rs"), "second").unwrap();
        assert_ne!(before, inputs(root.path(), "rustc 1").unwrap());
    }

    #[test]
    fn built_and_hidden_files_are_no_sources() {
        let root = workspace();
        let before = inputs(root.path(), "rustc 1").unwrap();
        atomic::write(&root.path().join("adapters/a/target/x"), b"").unwrap();
        atomic::write(&root.path().join("adapters/a/.cache"), b"").unwrap();
        assert_eq!(before, inputs(root.path(), "rustc 1").unwrap());
    }

    #[test]
    fn a_component_that_was_changed_or_removed_is_not_fresh() {
        let folder = tempfile::tempdir().unwrap();
        let (stamp, component) = (folder.path().join("s.json"), folder.path().join("c.wasm"));
        assert_eq!(fresh(&stamp, "i", &component), None);
        fs::write(&component, "bytes").unwrap();
        write(&stamp, "i", &digest::sha256(b"bytes")).unwrap();
        assert_eq!(
            fresh(&stamp, "i", &component),
            Some(digest::sha256(b"bytes"))
        );
        assert_eq!(fresh(&stamp, "j", &component), None);
        fs::write(&component, "other").unwrap();
        assert_eq!(fresh(&stamp, "i", &component), None);
    }
}
