//! Writing files so that a crash at any instant loses nothing and shows nothing torn.

use serde::Serialize;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use tempfile::NamedTempFile;

/// Makes a folder and those above it, for the owner alone.
///
/// # Errors
///
/// What the system says.
pub fn create_private_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a whole file beside its place, then renames it there.
///
/// # Errors
///
/// What the system says; what was there before then still is.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(beside(path, bytes)?, path)
}

/// As [`write_whole`], for a value as JSON.
///
/// # Errors
///
/// What the system says.
pub fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    write_whole(path, &json_bytes(value)?)
}

fn json_bytes(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// As [`write_whole`], and it survives a power failure: for results.
///
/// # Errors
///
/// What the system says.
pub fn write_json_durably(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let file = beside(path, &json_bytes(value)?)?;
    file.as_file().sync_all()?;
    put(file, path)?;
    File::open(folder_of(path)?)?.sync_all()
}

/// A whole file beside its place, for the owner alone; it is removed unless it is [`put`].
fn beside(path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    // Created by tempfile with mode 0600.
    let mut file = NamedTempFile::new_in(folder_of(path)?)?;
    file.write_all(bytes)?;
    Ok(file)
}

/// Renamed by the standard library and not by tempfile, whose own system call the tests of
/// crash safety could not make fail.
fn put(file: NamedTempFile, path: &Path) -> io::Result<()> {
    let (_, name) = file.into_parts();
    fs::rename(&name, path)?;
    name.keep().map_err(|error| error.error)?;
    Ok(())
}

fn folder_of(path: &Path) -> io::Result<&Path> {
    path.parent()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path has no folder"))
}
