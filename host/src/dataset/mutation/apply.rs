//! Applying operations. One that does not fit exactly is an error, never a silent no-op.

use super::operation::{
    ApplyDiff, Delete, Operation, Rename, ReplaceRegex, ReplaceText, WriteFile,
};
use super::unified;
use crate::dataset::RelativePath;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// An operation that does not fit the workspace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("can't {operation}: {reason}")]
pub struct OperationError {
    /// What was to be done.
    pub operation: String,
    /// Why not.
    pub reason: String,
}

/// Does one operation to a workspace; `task` is the folder that holds the task's own files.
///
/// # Errors
///
/// If it does not fit exactly. The workspace may then have been changed in part.
pub fn apply(operation: &Operation, task: &Path, workspace: &Path) -> Result<(), OperationError> {
    let done = match operation {
        Operation::ReplaceText(it) => replace_text(it, workspace),
        Operation::ReplaceRegex(it) => replace_regex(it, workspace),
        Operation::ApplyDiff(it) => apply_diff(it, task, workspace),
        Operation::WriteFile(it) => write_file(it, task, workspace),
        Operation::Delete(it) => delete(it, workspace),
        Operation::Rename(it) => rename(it, workspace),
    };
    done.map_err(|reason| OperationError {
        operation: operation.to_string(),
        reason,
    })
}

type Done = Result<(), String>;

fn replace_text(it: &ReplaceText, workspace: &Path) -> Done {
    let (path, text) = read_text(&it.path, workspace)?;
    let found = text.matches(&it.find).count();
    expect_count(it.count, found)?;
    overwrite(&path, &text.replace(&it.find, &it.with))
}

fn replace_regex(it: &ReplaceRegex, workspace: &Path) -> Done {
    let (path, text) = read_text(&it.path, workspace)?;
    let pattern = regex::Regex::new(&it.pattern).map_err(|error| error.to_string())?;
    expect_count(it.count, pattern.find_iter(&text).count())?;
    overwrite(&path, &pattern.replace_all(&text, &it.with))
}

fn expect_count(expected: u32, found: usize) -> Done {
    if found == expected as usize {
        return Ok(());
    }
    Err(format!("expected {expected} occurrence(s), found {found}"))
}

fn apply_diff(it: &ApplyDiff, task: &Path, workspace: &Path) -> Done {
    let (path, text) = read_text(&it.path, workspace)?;
    let (_, diff) = read_text(&it.diff, task)?;
    overwrite(&path, &unified::apply(&text, &diff)?)
}

fn write_file(it: &WriteFile, task: &Path, workspace: &Path) -> Done {
    let path = locate(&it.path, workspace)?;
    let content = match (&it.text, &it.file) {
        (Some(text), _) => text.clone().into_bytes(),
        (None, Some(file)) => {
            let file = existing_file(file, task)?;
            fs::read(&file).map_err(|error| said(&file, &error))?
        }
        (None, None) => return Err("neither `text` nor `file` is given".to_owned()),
    };
    if it.replace {
        existing_file(&it.path, workspace)?;
    } else {
        expect_free(&path)?;
        make_parents(&path)?;
    }
    fs::write(&path, content).map_err(|error| said(&path, &error))?;
    // Not left to the umask: the same variant everywhere.
    let mode = if it.executable { 0o755 } else { 0o644 };
    fs::set_permissions(&path, fs::Permissions::from_mode(mode))
        .map_err(|error| said(&path, &error))
}

fn delete(it: &Delete, workspace: &Path) -> Done {
    let path = locate(&it.path, workspace)?;
    let found = fs::symlink_metadata(&path).map_err(|error| said(&path, &error))?;
    let deleted = if found.is_dir() {
        fs::remove_dir_all(&path)
    } else {
        fs::remove_file(&path)
    };
    deleted.map_err(|error| said(&path, &error))
}

fn rename(it: &Rename, workspace: &Path) -> Done {
    let (from, to) = (locate(&it.from, workspace)?, locate(&it.to, workspace)?);
    fs::symlink_metadata(&from).map_err(|error| said(&from, &error))?;
    expect_free(&to)?;
    make_parents(&to)?;
    fs::rename(&from, &to).map_err(|error| said(&from, &error))
}

fn locate(path: &RelativePath, root: &Path) -> Result<PathBuf, String> {
    path.below(root).map_err(|link| {
        format!(
            "`{path}` leads over the symbolic link `{}`, which could point anywhere",
            link.display()
        )
    })
}

fn existing_file(path: &RelativePath, root: &Path) -> Result<PathBuf, String> {
    let path = locate(path, root)?;
    let found = fs::symlink_metadata(&path).map_err(|error| said(&path, &error))?;
    if found.is_file() {
        Ok(path)
    } else {
        Err(format!("`{}` is no regular file", path.display()))
    }
}

fn read_text(path: &RelativePath, root: &Path) -> Result<(PathBuf, String), String> {
    let path = existing_file(path, root)?;
    let text = fs::read_to_string(&path).map_err(|error| said(&path, &error))?;
    Ok((path, text))
}

/// Keeps the file's permissions.
fn overwrite(path: &Path, text: &str) -> Done {
    fs::write(path, text).map_err(|error| said(path, &error))
}

fn expect_free(path: &Path) -> Done {
    match fs::symlink_metadata(path) {
        Ok(_) => Err(format!("`{}` exists already", path.display())),
        Err(_) => Ok(()),
    }
}

fn make_parents(path: &Path) -> Done {
    match path.parent() {
        Some(parent) => fs::create_dir_all(parent).map_err(|error| said(parent, &error)),
        None => Ok(()),
    }
}

fn said(path: &Path, error: &std::io::Error) -> String {
    format!("`{}`: {error}", path.display())
}

#[cfg(test)]
#[path = "apply_tests.rs"]
mod tests;
