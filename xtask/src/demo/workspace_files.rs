//! What the agent changed in the workspace, for people.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Explain, Outcome};

/// How much of a changed file is shown, in bytes.
const SHOWN: usize = 2_000;

/// The files of a folder with their bytes; links are listed with where they point.
pub struct Listing(BTreeMap<PathBuf, Vec<u8>>);

impl Listing {
    /// Reads the folder.
    ///
    /// # Errors
    ///
    /// If something in it cannot be read.
    pub fn of(folder: &Path) -> Outcome<Self> {
        let mut files = BTreeMap::new();
        read(folder, Path::new(""), &mut files)?;
        Ok(Self(files))
    }

    /// Prints what is new, changed or gone.
    pub fn print_changes_since(&self, before: &Self) {
        let mut changes = 0;
        for (path, bytes) in &self.0 {
            let what = match before.0.get(path) {
                None => "new",
                Some(old) if old != bytes => "changed",
                Some(_) => continue,
            };
            changes += 1;
            println!("{what} in the workspace: {}", path.display());
            let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]);
            for line in text.lines() {
                println!("    {line}");
            }
            if bytes.len() > SHOWN {
                println!("    … ({} bytes in all)", bytes.len());
            }
        }
        for path in before.0.keys().filter(|path| !self.0.contains_key(*path)) {
            changes += 1;
            println!("gone from the workspace: {}", path.display());
        }
        if changes == 0 {
            println!("Nothing changed in the workspace.");
        }
    }
}

fn read(root: &Path, inner: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> Outcome {
    let folder = root.join(inner);
    let doing = || format!("look at {}", folder.display());
    for entry in fs::read_dir(&folder).explain(doing)? {
        let entry = entry.explain(doing)?;
        let name = inner.join(entry.file_name());
        let kind = entry.file_type().explain(doing)?;
        if kind.is_dir() {
            read(root, &name, files)?;
        } else if kind.is_file() {
            files.insert(name, fs::read(entry.path()).explain(doing)?);
        } else if kind.is_symlink() {
            let target = fs::read_link(entry.path()).explain(doing)?;
            files.insert(name, format!("-> {}", target.display()).into_bytes());
        }
    }
    Ok(())
}
