//! Writing files so that a crash at any instant loses nothing and shows nothing torn.

use serde::Serialize;
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

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
    let folder = path
        .parent()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path has no folder"))?;
    // Created by tempfile with mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
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
    let bytes = json_bytes(value)?;
    let folder = path
        .parent()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path has no folder"))?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}
