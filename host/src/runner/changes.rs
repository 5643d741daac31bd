//! What became of the workspace: the record of it, the diff, and a fresh copy to judge.

use super::result::WorkspaceRecord;
use super::run_folder::RunFolder;
use super::workspace::{Snapshot, copy_tree};
use crate::dataset::diff::{self, TreeAt};
use crate::digest::Sha256;
use crate::process::redaction::Redactor;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The workspace before the agent came.
pub struct Before {
    /// Where the agent works.
    pub workspace: PathBuf,
    /// An untouched copy of it; its files have the contents of `snapshot`, unless somebody
    /// else changed them in the meantime, which would be noticed.
    pub pristine: PathBuf,
    /// What was there.
    pub snapshot: Snapshot,
}

/// What became of it.
pub struct After {
    /// For the result.
    pub record: WorkspaceRecord,
    /// What is there now; `None` if it can't be read.
    pub snapshot: Option<Snapshot>,
    /// The unmasked diff, in the run's scratch folder; `None` if there is none.
    pub patch: Option<PathBuf>,
    /// What could not be kept, and why.
    pub warnings: Vec<String>,
}

/// Looks at the workspace and writes `workspace.diff`. To be called once the agent is dead.
pub fn keep(before: &Before, folder: &RunFolder, redactor: &Redactor) -> After {
    let mut after = After {
        record: WorkspaceRecord {
            path: before.workspace.display().to_string(),
            before_sha256: Some(before.snapshot.digest()),
            ..WorkspaceRecord::default()
        },
        snapshot: None,
        patch: None,
        warnings: Vec::new(),
    };
    // An agent can leave what nobody can read; then what it changed is not known.
    let snapshot = match Snapshot::take(&before.workspace) {
        Ok(snapshot) => snapshot,
        Err(error) => {
            let warning = format!("what the agent changed is not known: {error}");
            after.warnings.push(warning);
            return after;
        }
    };
    let change = before.snapshot.change(&snapshot);
    after.record.after_sha256 = Some(snapshot.digest());
    after.record.files_changed = Some(change.files_changed);
    after.record.droppings = Some(change.droppings);
    let special: Vec<String> = snapshot
        .passed_over()
        .iter()
        .map(|path| format!("`{}`", path.display()))
        .collect();
    if !special.is_empty() {
        after.warnings.push(format!(
            "the diff leaves out what is neither file nor symbolic link: {}",
            special.join(", ")
        ));
    }
    let patch = folder.scratch().join("change.diff");
    let (old, new) = (
        TreeAt {
            root: &before.pristine,
            snapshot: &before.snapshot,
        },
        TreeAt {
            root: &before.workspace,
            snapshot: &snapshot,
        },
    );
    let written = diff::write(old, new, &folder.scratch().join("diff.git"), &patch);
    match written {
        Ok(()) => match mask(&patch, &folder.diff(), redactor) {
            Ok((masks, sha256)) => {
                after.record.diff_sha256 = Some(sha256);
                if masks > 0 {
                    after.warnings.push(format!(
                        "workspace.diff has {masks} masked secret(s), so it can't be applied there"
                    ));
                }
            }
            Err(error) => after
                .warnings
                .push(format!("workspace.diff could not be written: {error}")),
        },
        Err(error) => after
            .warnings
            .push(format!("the run has no workspace.diff: {error}")),
    }
    after.patch = patch
        .is_file()
        .then_some(patch)
        .filter(|_| folder.diff().is_file());
    after.snapshot = Some(snapshot);
    after
}

fn mask(from: &Path, to: &Path, redactor: &Redactor) -> io::Result<(u64, Sha256)> {
    let mut source = File::open(from)?;
    let mut target = crate::process::recorder::create_private(to)?;
    let masks = redactor.copy(&mut source, &mut target)?;
    if target.metadata()?.len() > 0 {
        target.sync_all()?;
    }
    let (sha256, _) = Sha256::of_file(to)?;
    Ok((masks, sha256))
}

/// Makes a fresh copy of the tree as the agent left it: the untouched copy with the diff
/// applied, or, if there is no diff, with the changed files copied. Either way it is proven
/// to be the same tree.
///
/// # Errors
///
/// In words.
pub fn fresh_copy(
    before: &Before,
    after: &After,
    target: &Path,
    scratch: &Path,
) -> Result<(), String> {
    let Some(snapshot) = &after.snapshot else {
        return Err("the workspace can't be read".to_owned());
    };
    copy_tree(&before.pristine, target).map_err(|error| error.to_string())?;
    // A repository of the pristine tree would tell the evaluator nothing of the agent's.
    remove_if_there(&target.join(".git")).map_err(|error| error.to_string())?;
    match &after.patch {
        Some(patch) => {
            diff::apply(patch, target, scratch).map_err(|error| error.to_string())?;
        }
        None => copy_changes(before, snapshot, target).map_err(|error| error.to_string())?,
    }
    let copied = Snapshot::take(target).map_err(|error| error.to_string())?;
    if copied.digest() == snapshot.digest() {
        return Ok(());
    }
    let wrong: Vec<_> = copied
        .changed_paths(snapshot)
        .iter()
        .take(5)
        .map(|path| path.display().to_string())
        .collect();
    Err(format!(
        "the copy differs from what the agent left in {}",
        wrong.join(", ")
    ))
}

fn copy_changes(before: &Before, after: &Snapshot, target: &Path) -> io::Result<()> {
    let changed = before.snapshot.changed_paths(after);
    for path in &changed {
        remove_if_there(&target.join(path))?;
    }
    for path in changed.iter().filter(|path| after.node(path).is_some()) {
        let (from, to) = (before.workspace.join(path), target.join(path));
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        if from.symlink_metadata()?.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&from)?, &to)?;
        } else {
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        // Also if what should be a folder above it is none.
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
