//! Compiled components on disk, so that a second run starts at once.

use crate::digest::Sha256;
use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use wasmtime::Engine;
use wasmtime::component::Component;

/// A folder of compiled components.
#[derive(Debug, Clone)]
pub struct ComponentCache {
    folder: Option<PathBuf>,
}

impl ComponentCache {
    /// Uses this folder; `None` compiles every time.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// Loads or compiles a component. A cache that can't be used is no error: the second
    /// value says why it was not.
    ///
    /// # Errors
    ///
    /// If the component can't be compiled.
    pub fn load(
        &self,
        engine: &Engine,
        sha256: &Sha256,
        bytes: &[u8],
    ) -> wasmtime::Result<(Component, Option<String>)> {
        let Some(folder) = &self.folder else {
            return Ok((Component::new(engine, bytes)?, None));
        };
        if let Err(error) = private_folder(folder) {
            let problem = format!("the cache `{}` is not used: {error}", folder.display());
            return Ok((Component::new(engine, bytes)?, Some(problem)));
        }
        let path = folder.join(format!("{sha256}-{:016x}.cwasm", compatibility(engine)));
        if let Some(component) = load_compiled(engine, &path) {
            return Ok((component, None));
        }
        let compiled = engine.precompile_component(bytes)?;
        if let Err(error) = store(folder, &path, &compiled) {
            let problem = format!(
                "failed to write to the cache `{}`: {error}",
                folder.display()
            );
            return Ok((Component::new(engine, bytes)?, Some(problem)));
        }
        match load_compiled(engine, &path) {
            Some(component) => Ok((component, None)),
            None => Ok((Component::new(engine, bytes)?, None)),
        }
    }
}

fn compatibility(engine: &Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}

/// Makes sure that the folder exists, is ours, and that nobody else can write to it.
fn private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let metadata = fs::metadata(folder)?;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it belongs to another user"));
    }
    if metadata.mode() & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// A file that is missing, damaged or from another version counts as absent.
#[allow(unsafe_code)]
fn load_compiled(engine: &Engine, path: &Path) -> Option<Component> {
    let metadata = fs::metadata(path).ok()?;
    if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o022 != 0 {
        return None;
    }
    // SAFETY: wasmtime trusts the bytes to be its own compiler's output. They are: the folder
    // is ours alone (0700, checked by `private_folder`), the file is ours and writable by
    // nobody else (checked above), and the only code that writes there is `store`, which
    // renames a complete file into place and never changes one. The name holds the digest of
    // the source and the compiler's compatibility hash, which wasmtime checks once more.
    unsafe { Component::deserialize_file(engine, path) }.ok()
}

/// Writes beside, then renames: a file that somebody has mapped is never changed in place.
fn store(folder: &Path, path: &Path, compiled: &[u8]) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(compiled)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
