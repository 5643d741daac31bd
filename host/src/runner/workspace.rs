//! The folder that the agent works in: copying it, and telling what changed.
//!
//! What lies in a `.git` is git's own record of the workspace, full of times and inode
//! numbers, and no part of what is compared.

use crate::digest::{Hasher, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

const GIT: &str = ".git";

/// A file in a tree, as far as a change can be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A regular file.
    File {
        /// Whether its owner may execute it.
        executable: bool,
        /// Of its content.
        sha256: Sha256,
    },
    /// A symbolic link.
    Link {
        /// As it is written in the link.
        target: PathBuf,
    },
}

/// A tree at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    files: BTreeMap<PathBuf, Node>,
    /// Folders at the top that hold nothing.
    empty_at_top: Vec<String>,
    /// What is neither file, folder nor link.
    passed_over: Vec<PathBuf>,
}

/// What happened to a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Files added, changed and removed.
    pub files_changed: u64,
    /// Empty folders at the top that were not there before.
    pub droppings: Vec<String>,
}

impl Snapshot {
    /// Looks at a tree. Devices, sockets and FIFOs are passed over: opening one may block.
    ///
    /// # Errors
    ///
    /// What the system says, with the path.
    pub fn take(root: &Path) -> io::Result<Self> {
        let mut snapshot = Self::default();
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let mut entries = 0;
            for entry in fs::read_dir(root.join(&folder)).map_err(|e| named(e, &folder))? {
                let entry = entry?;
                entries += 1;
                let name = entry.file_name();
                let relative = folder.join(&name);
                let path = root.join(&relative);
                let kind = entry.file_type()?;
                if name == GIT {
                    if folder.as_os_str().is_empty() && kind.is_dir() && is_empty(&path)? {
                        snapshot.empty_at_top.push(format!("{GIT}/"));
                    }
                } else if kind.is_dir() {
                    folders.push(relative);
                } else if kind.is_symlink() {
                    let target = fs::read_link(&path).map_err(|e| named(e, &relative))?;
                    snapshot.files.insert(relative, Node::Link { target });
                } else if kind.is_file() {
                    let mode = entry.metadata()?.permissions().mode();
                    let (sha256, _) = Sha256::of_file(&path).map_err(|e| named(e, &relative))?;
                    let executable = mode & 0o100 != 0;
                    snapshot
                        .files
                        .insert(relative, Node::File { executable, sha256 });
                } else {
                    snapshot.passed_over.push(relative);
                }
            }
            let at_top = folder.components().count() == 1;
            if entries == 0 && at_top {
                snapshot.empty_at_top.push(format!("{}/", folder.display()));
            }
        }
        snapshot.empty_at_top.sort();
        Ok(snapshot)
    }

    /// What is at a path; `None` for nothing, and for a folder.
    pub fn node(&self, path: &Path) -> Option<&Node> {
        self.files.get(path)
    }

    /// Devices, sockets and FIFOs: no part of the digest and of the changes.
    pub fn passed_over(&self) -> &[PathBuf] {
        &self.passed_over
    }

    /// Files and links that were added, changed or removed until `after`, sorted.
    pub fn changed_paths(&self, after: &Self) -> Vec<PathBuf> {
        let changed = after
            .files
            .iter()
            .filter(|(path, node)| self.files.get(*path) != Some(node))
            .map(|(path, _)| path);
        let removed = self
            .files
            .keys()
            .filter(|path| !after.files.contains_key(*path));
        let mut paths: Vec<_> = changed.chain(removed).cloned().collect();
        paths.sort();
        paths
    }

    /// One digest of all paths, kinds, execute bits and contents.
    pub fn digest(&self) -> Sha256 {
        let mut hasher = Hasher::default();
        for (path, node) in &self.files {
            let path = path.as_os_str().as_bytes();
            hasher.update(&(path.len() as u64).to_le_bytes());
            hasher.update(path);
            match node {
                Node::File { executable, sha256 } => {
                    hasher.update(if *executable { b"x" } else { b"f" });
                    hasher.update(sha256.to_string().as_bytes());
                }
                Node::Link { target } => {
                    hasher.update(b"l");
                    hasher.update(
                        Sha256::of(target.as_os_str().as_bytes())
                            .to_string()
                            .as_bytes(),
                    );
                }
            }
        }
        hasher.finish()
    }

    /// What changed until `after`.
    pub fn change(&self, after: &Self) -> Change {
        let droppings = after
            .empty_at_top
            .iter()
            .filter(|name| !self.empty_at_top.contains(name));
        Change {
            files_changed: self.changed_paths(after).len() as u64,
            droppings: droppings.cloned().collect(),
        }
    }
}

/// Copies a tree: files, folders, symlinks (as they are) and permissions. Where the file
/// system can share the blocks of two files until one changes, it does: `copy_file_range(2)`,
/// which the standard library uses, asks for that first.
///
/// # Errors
///
/// What the system says, with the path; something that is neither file, folder nor symlink; a
/// target within the source, which would have to hold itself.
pub fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    refuse_copy_into_itself(from, to)?;
    let mut folders = vec![PathBuf::new()];
    let mut permissions = Vec::new();
    while let Some(folder) = folders.pop() {
        let target = to.join(&folder);
        fs::create_dir(&target).map_err(|e| named(e, &target))?;
        let source = from.join(&folder);
        // Set last: a folder may be read-only.
        permissions.push((target, fs::metadata(&source)?.permissions()));
        for entry in fs::read_dir(&source).map_err(|e| named(e, &source))? {
            let entry = entry?;
            let relative = folder.join(entry.file_name());
            let kind = entry.file_type()?;
            let (source, target) = (from.join(&relative), to.join(&relative));
            if kind.is_dir() {
                folders.push(relative);
            } else if kind.is_symlink() {
                symlink(fs::read_link(&source)?, &target).map_err(|e| named(e, &source))?;
            } else if kind.is_file() {
                fs::copy(&source, &target).map_err(|e| named(e, &source))?;
            } else {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!(
                        "`{}` is neither a file, a folder nor a symbolic link",
                        source.display()
                    ),
                ));
            }
        }
    }
    for (path, permission) in permissions.into_iter().rev() {
        fs::set_permissions(path, permission)?;
    }
    Ok(())
}

fn refuse_copy_into_itself(from: &Path, to: &Path) -> io::Result<()> {
    let source = fs::canonicalize(from).map_err(|e| named(e, from))?;
    let parent = to.parent().unwrap_or(Path::new("/"));
    let target = fs::canonicalize(parent).map_err(|e| named(e, parent))?;
    if target.starts_with(&source) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "`{}` can't be copied into itself, to `{}`; choose an output folder outside",
                source.display(),
                to.display()
            ),
        ));
    }
    Ok(())
}

fn is_empty(folder: &Path) -> io::Result<bool> {
    Ok(fs::read_dir(folder)
        .map_err(|e| named(e, folder))?
        .next()
        .is_none())
}

fn named(error: io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_copy_has_the_same_digest_and_changes_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("a/b")).unwrap();
        fs::write(from.join("a/b/one"), "1").unwrap();
        fs::write(from.join("two"), "2").unwrap();
        symlink("two", from.join("link")).unwrap();
        copy_tree(&from, &to).unwrap();
        let before = Snapshot::take(&from).unwrap();
        assert_eq!(before.digest(), Snapshot::take(&to).unwrap().digest());

        fs::write(to.join("two"), "changed").unwrap();
        fs::write(to.join("new"), "").unwrap();
        fs::remove_file(to.join("link")).unwrap();
        fs::create_dir(to.join(".agents")).unwrap();
        let change = before.change(&Snapshot::take(&to).unwrap());
        assert_eq!(change.files_changed, 3);
        assert_eq!(change.droppings, [".agents/"]);
    }

    #[test]
    fn what_git_keeps_is_not_compared_and_an_empty_folder_of_its_name_is_a_dropping() {
        let folder = tempfile::tempdir().unwrap();
        let before = Snapshot::take(folder.path()).unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        let after = Snapshot::take(folder.path()).unwrap();
        assert_eq!(before.change(&after).droppings, [".git/"]);
        fs::write(folder.path().join(".git/index"), "").unwrap();
        let after = Snapshot::take(folder.path()).unwrap();
        assert_eq!(before, after);
    }

    #[test]
    fn a_tree_is_not_copied_into_itself() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("runs")).unwrap();
        let error = copy_tree(folder.path(), &folder.path().join("runs/copy")).unwrap_err();
        assert!(error.to_string().contains("into itself"), "{error}");
    }
}
