//! What a mutation can do to a workspace.

use crate::dataset::RelativePath;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One change of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Replaces a text.
    ReplaceText(ReplaceText),
    /// Replaces what a regular expression matches.
    ReplaceRegex(ReplaceRegex),
    /// Applies a unified diff to one file.
    ApplyDiff(ApplyDiff),
    /// Writes a file.
    WriteFile(WriteFile),
    /// Deletes a file, or a folder with all in it.
    Delete(Delete),
    /// Renames a file or folder.
    Rename(Rename),
}

/// Replaces a text; it must occur exactly as often as said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplaceText {
    /// The file, in the workspace.
    pub path: RelativePath,
    /// The text. Not empty.
    pub find: String,
    /// What takes its place.
    pub with: String,
    /// How often it occurs.
    #[serde(default = "once")]
    pub count: u32,
}

/// Replaces what a regular expression matches; it must match exactly as often as said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplaceRegex {
    /// The file, in the workspace.
    pub path: RelativePath,
    /// In the syntax of the crate `regex`.
    pub pattern: String,
    /// What takes its place; `$1` and `${name}` stand for groups, `$$` for a dollar sign.
    pub with: String,
    /// How often it matches.
    #[serde(default = "once")]
    pub count: u32,
}

/// Applies a unified diff to one file; lines and their numbers must fit exactly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplyDiff {
    /// The file, in the workspace. The names in the diff don't count.
    pub path: RelativePath,
    /// The diff, in the task's folder.
    pub diff: RelativePath,
}

/// Writes a file, making folders as needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteFile {
    /// The file, in the workspace.
    pub path: RelativePath,
    /// What to write; exactly one of this and `file` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A file in the task's folder with what to write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<RelativePath>,
    /// Whether the file can be executed.
    #[serde(default)]
    pub executable: bool,
    /// True: the file must exist. False: it must not.
    #[serde(default)]
    pub replace: bool,
}

/// Deletes what must exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delete {
    /// In the workspace.
    pub path: RelativePath,
}

/// Renames what must exist to what must not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rename {
    /// In the workspace.
    pub from: RelativePath,
    /// In the workspace; folders are made as needed.
    pub to: RelativePath,
}

fn once() -> u32 {
    1
}

impl Operation {
    /// Files of the task's folder that it needs.
    pub fn task_files(&self) -> Option<&RelativePath> {
        match self {
            Self::ApplyDiff(it) => Some(&it.diff),
            Self::WriteFile(it) => it.file.as_ref(),
            Self::ReplaceText(_) | Self::ReplaceRegex(_) | Self::Delete(_) | Self::Rename(_) => {
                None
            }
        }
    }
}

impl fmt::Display for Operation {
    /// For people: what it does, and to what.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReplaceText(it) => {
                write!(f, "replace {:?} with {:?} in {}", it.find, it.with, it.path)
            }
            Self::ReplaceRegex(it) => {
                write!(
                    f,
                    "replace /{}/ with {:?} in {}",
                    it.pattern, it.with, it.path
                )
            }
            Self::ApplyDiff(it) => write!(f, "apply {} to {}", it.diff, it.path),
            Self::WriteFile(it) => write!(f, "write {}", it.path),
            Self::Delete(it) => write!(f, "delete {}", it.path),
            Self::Rename(it) => write!(f, "rename {} to {}", it.from, it.to),
        }
    }
}
