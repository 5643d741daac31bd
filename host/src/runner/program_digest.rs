//! Digests of programs, which may have hundreds of megabytes: remembered by what the file
//! system says about the file.

use crate::digest::Sha256;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file that changes in any of these has another digest, or is digested again.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    device: u64,
    inode: u64,
    size: u64,
    modified_ns: i128,
    changed_ns: i128,
    sha256: Sha256,
}

/// The digest of a program, from memory if the file is the same.
///
/// # Errors
///
/// What the system says about the program; a memory that can't be used is no error.
pub fn program_digest(program: &Path, memory: Option<&Path>) -> io::Result<Sha256> {
    let metadata = fs::metadata(program)?;
    let nanoseconds =
        |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    let mut known = Known {
        device: metadata.dev(),
        inode: metadata.ino(),
        size: metadata.size(),
        modified_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        changed_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        sha256: Sha256::of(b""),
    };
    let mut all = memory.map(recall).unwrap_or_default();
    if let Some(remembered) = all.get(program) {
        known.sha256 = remembered.sha256;
        if known == *remembered {
            return Ok(known.sha256);
        }
    }
    known.sha256 = Sha256::of_file(program)?.0;
    let sha256 = known.sha256;
    if let Some(memory) = memory {
        all.insert(program.to_owned(), known);
        // Not remembering costs time only.
        let _ = remember(memory, &all);
    }
    Ok(sha256)
}

fn recall(memory: &Path) -> BTreeMap<PathBuf, Known> {
    fs::read(memory)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default()
}

fn remember(memory: &Path, all: &BTreeMap<PathBuf, Known>) -> io::Result<()> {
    if let Some(folder) = memory.parent() {
        crate::files::create_private_folders(folder)?;
    }
    crate::files::write_whole(memory, &serde_json::to_vec(all)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_changed_program_is_digested_again() {
        let folder = tempfile::tempdir().unwrap();
        let (program, memory) = (folder.path().join("p"), folder.path().join("memory.json"));
        fs::write(&program, "one").unwrap();
        let first = program_digest(&program, Some(&memory)).unwrap();
        assert_eq!(program_digest(&program, Some(&memory)).unwrap(), first);
        assert_eq!(recall(&memory).len(), 1);
        fs::write(&program, "three").unwrap();
        assert_eq!(
            program_digest(&program, Some(&memory)).unwrap(),
            Sha256::of(b"three")
        );
    }
}
