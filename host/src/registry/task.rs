//! Tasks: what an agent is to do, in which workspace, and how that is judged.

use super::capability::Capability;
use super::error::RegistryError;
use super::identifier::TaskId;
use super::json_file::{self, FileKind};
use super::resolve::Versioned;
use super::task_checks;
use crate::dataset::RelativePath;
use crate::dataset::mutation::Mutation;
use crate::digest::Sha256;
use semver::Version;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder beside `task.json` that the agent works in a copy of.
pub const WORKSPACE: &str = "workspace";
/// The folder beside `task.json` with the evaluator's files.
pub const EVALUATE: &str = "evaluate";
/// The folder beside `task.json` with the reference solution: files that replace or join those
/// of the workspace.
pub const SOLUTION: &str = "solution";

/// Describes a task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskDescriptor {
    /// Names the task.
    pub id: TaskId,
    /// The descriptor's version.
    pub version: Version,
    /// For people.
    pub name: String,
    /// The dataset that it belongs to: the folder's name.
    pub dataset: String,
    /// What the agent is told.
    pub instruction: Instruction,
    /// Files, in the task's folder, that go with the instruction.
    pub attachments: Vec<RelativePath>,
    /// The time for the agent's work; `None` is no limit.
    pub time_limit: Option<Duration>,
    /// What must be observable or controllable of an agent that does it.
    pub requires: Vec<Capability>,
    /// Whether the workspace is a git repository.
    pub git: bool,
    /// How variants differ.
    pub mutations: Vec<Mutation>,
    /// Who judges; `None`: nobody.
    pub evaluator: Option<Evaluator>,
    /// The file as it was read.
    pub document: Value,
    /// Of the file's bytes.
    pub digest: Sha256,
    /// The file that describes it.
    pub origin: PathBuf,
}

/// Where the instruction's text is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Instruction {
    /// Here.
    Text {
        /// The text.
        text: String,
    },
    /// In the task's folder.
    File {
        /// The file, UTF-8.
        file: RelativePath,
    },
}

/// A program that judges what the agent made of the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluator {
    /// The program and its arguments; it is started in a copy of `evaluate/`. A program with
    /// a `/` in its name lies there, another is looked for in `PATH`.
    pub command: Vec<String>,
    /// The time for it.
    #[serde(deserialize_with = "duration")]
    pub time_limit: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskFile {
    #[serde(rename = "schema")]
    _schema: String,
    id: TaskId,
    version: Version,
    name: String,
    instruction: Instruction,
    #[serde(default)]
    attachments: Vec<RelativePath>,
    #[serde(default, deserialize_with = "optional_duration")]
    time_limit: Option<Duration>,
    #[serde(default)]
    requires: Vec<Capability>,
    #[serde(default)]
    git: bool,
    #[serde(default)]
    mutations: Vec<Mutation>,
    evaluator: Option<Evaluator>,
}

impl TaskDescriptor {
    /// Reads a descriptor: `task.json` in the task's folder, which lies in its dataset's.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the file, and files of the task that are missing.
    pub fn load(path: &Path) -> Result<Self, Vec<RegistryError>> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let check = |document: &Value| task_checks::check(document, folder);
        let checked = json_file::read::<TaskFile>(path, FileKind::Task, check)?;
        let file = checked.content;
        let dataset = folder.parent().and_then(Path::file_name);
        Ok(Self {
            id: file.id,
            version: file.version,
            name: file.name,
            dataset: dataset.map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            instruction: file.instruction,
            attachments: file.attachments,
            time_limit: file.time_limit,
            requires: file.requires,
            git: file.git,
            mutations: file.mutations,
            evaluator: file.evaluator,
            document: checked.document,
            digest: checked.digest,
            origin: path.to_owned(),
        })
    }

    /// The folder with everything that belongs to the task.
    pub fn folder(&self) -> &Path {
        self.origin.parent().unwrap_or(Path::new("."))
    }
}

impl Versioned for TaskDescriptor {
    fn id(&self) -> &str {
        self.id.as_str()
    }

    fn version(&self) -> &Version {
        &self.version
    }
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    humantime::parse_duration(&text).map_err(serde::de::Error::custom)
}

fn optional_duration<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    duration(deserializer).map(Some)
}

#[cfg(test)]
#[path = "task_tests.rs"]
mod tests;
