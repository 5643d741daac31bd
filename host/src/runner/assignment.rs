//! What an agent is to do: a text and a folder, or a task of a dataset.

use super::plan::{check_length, check_workspace, read_instruction};
use crate::dataset::prepare;
use crate::registry::{AgentDescriptor, TaskDescriptor, WORKSPACE};
use std::path::PathBuf;
use std::time::Duration;

/// What a person asked to be done.
#[derive(Debug, Clone)]
pub enum Assignment {
    /// A text and a folder.
    Files {
        /// The folder to work in.
        workspace: PathBuf,
        /// Work in that folder itself instead of in a copy.
        in_place: bool,
        /// The instruction.
        task_file: PathBuf,
    },
    /// A task of a dataset.
    Task(Box<PlannedTask>),
    /// A task that there is not.
    Unknown {
        /// As it was asked for.
        spec: String,
        /// Why it is none.
        problem: String,
    },
}

/// A task of a dataset, and which variant of it.
#[derive(Debug, Clone)]
pub struct PlannedTask {
    /// The task.
    pub descriptor: TaskDescriptor,
    /// Chooses the variant.
    pub seed: u64,
}

/// An assignment with everything read.
pub(super) struct Resolved {
    pub(super) workspace: PathBuf,
    pub(super) in_place: bool,
    pub(super) task_id: String,
    pub(super) instruction: String,
    pub(super) task: Option<PlannedTask>,
    pub(super) time_limit: Option<Duration>,
}

impl Assignment {
    /// Reads what is to be read; what is wrong is added to the problems.
    pub(super) fn resolve(self, agent: &AgentDescriptor, problems: &mut Vec<String>) -> Resolved {
        match self {
            Self::Files {
                workspace,
                in_place,
                task_file,
            } => Resolved {
                workspace: check_workspace(&workspace, problems),
                in_place,
                task_id: task_file.file_stem().map_or_else(
                    || "task".to_owned(),
                    |stem| stem.to_string_lossy().into_owned(),
                ),
                instruction: read_instruction(&task_file, agent, problems),
                task: None,
                time_limit: None,
            },
            Self::Unknown { spec, problem } => {
                problems.push(problem);
                Resolved {
                    workspace: PathBuf::new(),
                    in_place: false,
                    task_id: spec,
                    instruction: String::new(),
                    task: None,
                    time_limit: None,
                }
            }
            Self::Task(task) => {
                problems.extend(prepare::missing_program(&task.descriptor));
                Resolved {
                    workspace: task.descriptor.folder().join(WORKSPACE),
                    in_place: false,
                    task_id: task.descriptor.id.to_string(),
                    instruction: task_instruction(&task.descriptor, agent, problems),
                    time_limit: task.descriptor.time_limit,
                    task: Some(*task),
                }
            }
        }
    }
}

fn task_instruction(
    task: &TaskDescriptor,
    agent: &AgentDescriptor,
    problems: &mut Vec<String>,
) -> String {
    let text = prepare::instruction(task)
        .map_err(|error| error.to_string())
        .and_then(|text| {
            check_length(&text, agent)
                .map_err(|reason| format!("its instruction {reason}"))
                .map(|()| text)
        });
    text.unwrap_or_else(|problem| {
        problems.push(format!("task `{}`: {problem}", task.id));
        String::new()
    })
}
