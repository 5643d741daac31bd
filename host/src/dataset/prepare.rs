//! Preparing a task: the workspace of one variant, the instruction, and the attachments.

use super::git;
use super::git::GitError;
use super::mutation::{self, Choice, OperationError};
use crate::digest::Sha256;
use crate::process::recorder::create_private;
use crate::registry::{Instruction, TaskDescriptor, WORKSPACE};
use crate::runner::workspace::{Snapshot, copy_tree};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Far more than any instruction needs: a wrong file must not fill the memory.
const MAX_INSTRUCTION: u64 = 64 << 20;

/// A task that can't be prepared: its files are broken.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// A file can't be read or copied.
    #[error("{0}")]
    Files(io::Error),
    /// A mutation does not fit the workspace.
    #[error("mutation `{choice}` {error}")]
    Mutation {
        /// `mutation=alternative`.
        choice: String,
        /// What does not fit.
        error: OperationError,
    },
    /// The workspace can't be made a repository.
    #[error("the workspace is to be a git repository, but {0}")]
    Git(#[from] GitError),
    /// The instruction can't be used.
    #[error("the instruction `{}` {reason}", path.display())]
    Instruction {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// What a prepared workspace is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// `None` if the task has no mutations, so that every seed gives the same.
    pub seed: Option<u64>,
    /// What the seed chose.
    pub choices: Vec<Choice>,
    /// The tree as the agent finds it.
    pub snapshot: Snapshot,
}

impl Variant {
    /// Of the prepared tree.
    pub fn digest(&self) -> Sha256 {
        self.snapshot.digest()
    }
}

/// Makes the workspace of the variant that `seed` chooses, at `target`, which must not exist.
/// It is no git repository yet, see [`finish_workspace`].
///
/// # Errors
///
/// If the task's files are broken or can't be copied.
pub fn prepare_tree(
    task: &TaskDescriptor,
    seed: u64,
    target: &Path,
) -> Result<Variant, PrepareError> {
    copy_tree(&task.folder().join(WORKSPACE), target).map_err(PrepareError::Files)?;
    let choices = mutation::choose(task.id.as_str(), &task.mutations, seed);
    for choice in &choices {
        for operation in &choice.operations {
            mutation::apply(operation, task.folder(), target).map_err(|error| {
                PrepareError::Mutation {
                    choice: choice.to_string(),
                    error,
                }
            })?;
        }
    }
    let snapshot = Snapshot::take(target).map_err(PrepareError::Files)?;
    Ok(Variant {
        seed: (!task.mutations.is_empty()).then_some(seed),
        choices,
        snapshot,
    })
}

/// Makes a copy of a prepared tree what the agent works in: a git repository, if the task
/// says so.
///
/// # Errors
///
/// If git is missing or fails.
pub fn finish_workspace(task: &TaskDescriptor, workspace: &Path) -> Result<(), PrepareError> {
    if task.git {
        git::init_workspace(workspace)?;
    }
    Ok(())
}

/// Whether something that the task needs to be prepared is missing on this machine; says what.
pub fn missing_program(task: &TaskDescriptor) -> Option<String> {
    (task.git && git::find().is_none()).then(|| {
        format!(
            "the workspace of task `{}` is a git repository, and the program git is not installed",
            task.id
        )
    })
}

/// What the agent is told.
///
/// # Errors
///
/// If the file can't be read, is no UTF-8, or says nothing.
pub fn instruction(task: &TaskDescriptor) -> Result<String, PrepareError> {
    let (path, text) = match &task.instruction {
        Instruction::Text { text } => (task.origin.clone(), Ok(text.clone())),
        Instruction::File { file } => {
            let path = task.folder().join(file.as_str());
            let text = read_instruction(&path);
            (path, text)
        }
    };
    let says_something = |text: String| {
        if text.trim().is_empty() {
            Err("is empty: it must say what the agent is to do".to_owned())
        } else {
            Ok(text)
        }
    };
    text.and_then(says_something)
        .map_err(|reason| PrepareError::Instruction { path, reason })
}

fn read_instruction(path: &Path) -> Result<String, String> {
    let length = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if length > MAX_INSTRUCTION {
        return Err(format!(
            "has {length} bytes; at most {MAX_INSTRUCTION} are read"
        ));
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}

/// Copies the attachments into a folder, for their owner alone; returns their paths there.
///
/// # Errors
///
/// What the system says.
pub fn copy_attachments(task: &TaskDescriptor, folder: &Path) -> Result<Vec<String>, PrepareError> {
    for attachment in &task.attachments {
        let (from, to) = (
            task.folder().join(attachment.as_str()),
            folder.join(attachment.as_str()),
        );
        let copied = match to.parent() {
            Some(parent) => crate::files::create_private_folders(parent),
            None => Ok(()),
        }
        .and_then(|()| copy_privately(&from, &to));
        copied.map_err(|error| {
            PrepareError::Files(io::Error::new(
                error.kind(),
                format!("`{}`: {error}", from.display()),
            ))
        })?;
    }
    Ok(task.attachments.iter().map(ToString::to_string).collect())
}

fn copy_privately(from: &Path, to: &Path) -> io::Result<u64> {
    io::copy(&mut File::open(from)?, &mut create_private(to)?)
}

#[cfg(test)]
#[path = "prepare_tests.rs"]
mod tests;
