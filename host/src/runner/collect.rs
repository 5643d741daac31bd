//! Completing the evidence once the tree is dead: the agent's own files, and digests of all.

use super::result::Artifact;
use crate::digest::Sha256;
use crate::process::exit::ExitRecord;
use crate::process::recorder::create_private;
use crate::process::redaction::Redactor;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use rustix::fs::OFlags;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Masks set in each file, by its path relative to the artifacts.
pub type Masks = BTreeMap<PathBuf, u64>;

/// Copies the files of the agent's home that the descriptor declares as evidence.
///
/// # Errors
///
/// What the system says, with the file; an invalid glob, which descriptors are checked for.
pub fn copy_home_evidence(
    home: &Path,
    globs: &[String],
    evidence: &Path,
    redactor: &Redactor,
) -> io::Result<Masks> {
    let globs = compile(globs)?;
    let mut masks = Masks::new();
    for relative in files_below(home)? {
        if !globs.is_match(&relative) {
            continue;
        }
        let target = Path::new("home").join(&relative);
        let to = evidence.join(&target);
        if let Some(folder) = to.parent() {
            crate::files::create_private_folders(folder)?;
        }
        let count = copy_masked(&home.join(&relative), &to, redactor)
            .map_err(|e| io::Error::new(e.kind(), format!("`{}`: {e}", relative.display())))?;
        masks.insert(Path::new("evidence").join(target), count);
    }
    Ok(masks)
}

fn compile(globs: &[String]) -> io::Result<GlobSet> {
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(
            GlobBuilder::new(glob)
                .literal_separator(true)
                .build()
                .map_err(invalid)?,
        );
    }
    set.build().map_err(invalid)
}

/// Regular files only: a FIFO would block, a symlink could point anywhere. Relative to the
/// root, sorted; empty if there is no such folder.
///
/// # Errors
///
/// What the system says.
pub fn files_below(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let listing = match fs::read_dir(root.join(&folder)) {
            Ok(listing) => listing,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for entry in listing {
            let entry = entry?;
            let kind = entry.file_type()?;
            let relative = folder.join(entry.file_name());
            if kind.is_dir() {
                folders.push(relative);
            } else if kind.is_file() {
                files.push(relative);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn copy_masked(from: &Path, to: &Path, redactor: &Redactor) -> io::Result<u64> {
    // The agent wrote this name: it may have become something else since it was listed.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut source = OpenOptions::new()
        .read(true)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or(0))
        .open(from)?;
    if !source.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file any more"));
    }
    let mut target: File = create_private(to)?;
    redactor.copy(&mut source, &mut target)
}

/// Digests every file below the artifacts.
///
/// # Errors
///
/// What the system says.
pub fn list_artifacts(artifacts: &Path, mut masks: Masks) -> io::Result<Vec<Artifact>> {
    let files = files_below(artifacts)?;
    for relative in &files {
        if relative.file_name().is_some_and(|name| name == "exit.json") {
            add_stream_masks(artifacts, relative, &mut masks)?;
        }
    }
    let mut listed = Vec::new();
    for relative in files {
        let (sha256, bytes) = Sha256::of_file(&artifacts.join(&relative))?;
        listed.push(Artifact {
            masks: known_masks(artifacts, &relative, &masks),
            path: relative.to_string_lossy().into_owned(),
            bytes,
            sha256,
        });
    }
    Ok(listed)
}

/// A stream's masks stand in the record of the program's end: without one they are not known.
fn known_masks(artifacts: &Path, relative: &Path, masks: &Masks) -> Option<u64> {
    if let Some(count) = masks.get(relative) {
        return Some(*count);
    }
    let folder = artifacts.join(relative.parent()?);
    let is_stream = relative.starts_with("evidence/spawns")
        && ["stdout", "stderr"]
            .map(|name| Some(name.as_ref()))
            .contains(&relative.file_name());
    if is_stream && !folder.join("exit.json").exists() {
        return None;
    }
    Some(0)
}

fn add_stream_masks(artifacts: &Path, exit: &Path, masks: &mut Masks) -> io::Result<()> {
    let Some(folder) = exit.parent() else {
        return Ok(());
    };
    let bytes = fs::read(artifacts.join(exit))?;
    // A record of the adapter's own with this name has no masks to tell of.
    if let Ok(record) = serde_json::from_slice::<ExitRecord>(&bytes) {
        masks.insert(folder.join("stdout"), record.stdout_masks);
        masks.insert(folder.join("stderr"), record.stderr_masks);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_declared_regular_files_are_copied_and_masked() {
        let folder = tempfile::tempdir().unwrap();
        let (home, evidence) = (folder.path().join("home"), folder.path().join("evidence"));
        fs::create_dir_all(home.join("logs/2026")).unwrap();
        fs::create_dir_all(&evidence).unwrap();
        fs::write(home.join("logs/2026/a.jsonl"), "key=topsecret-1\n").unwrap();
        fs::write(home.join("logs/b.txt"), "no").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", home.join("logs/c.jsonl")).unwrap();
        let redactor = Redactor::new([b"topsecret-1".as_slice()]).unwrap();
        let globs = ["logs/**/*.jsonl".to_owned()];
        let masks = copy_home_evidence(&home, &globs, &evidence, &redactor).unwrap();
        assert_eq!(
            masks.into_iter().collect::<Vec<_>>(),
            [(PathBuf::from("evidence/home/logs/2026/a.jsonl"), 1)]
        );
        let copied = fs::read_to_string(evidence.join("home/logs/2026/a.jsonl")).unwrap();
        assert_eq!(copied, "key=***********\n");
    }
}
