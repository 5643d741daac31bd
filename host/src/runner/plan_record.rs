//! `plan.json`: what was about to run. Written before anything is started, read again when a
//! run has to be recovered or observed anew.

use super::masking::masked;
use super::plan::{CREDENTIAL_NAME, Plan};
use super::result::{AgentRecord, ProgramRecord, RuntimeRecord, TaskRecord};
use super::run_folder::RunFolder;
use crate::contract::v0_1::{AgentConfig, RuntimeBinding};
use crate::dataset::mutation;
use crate::digest::Sha256;
use crate::process::redaction::Redactor;
use crate::process::resources::limit::{Resource, ResourceLimits};
use crate::registry::AgentDescriptor;
use crate::sandbox::component::AdapterComponent;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::io;
use std::path::{Path, PathBuf};

/// The name and version of this format.
pub const SCHEMA: &str = "akbench.plan/1";

/// What was about to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanRecord {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Sorts by time.
    pub run_id: String,
    /// RFC 3339.
    pub created_at: String,
    /// The version of akbench.
    pub akbench: String,
    /// Which agent; its program has no version yet.
    pub agent: AgentRecord,
    /// The agent's descriptor.
    pub descriptor_file: PathBuf,
    /// The adapter.
    pub component_file: PathBuf,
    /// Which task.
    pub task: TaskRecord,
    /// What the seed chose of each mutation; `None` for a task file.
    pub variant: Option<Vec<Value>>,
    /// What was taken for granted.
    pub notes: Vec<String>,
    /// Where the agent works.
    pub workspace: PlannedWorkspace,
    /// With which endpoint; `None` if the agent uses none.
    pub runtime: Option<RuntimeRecord>,
    /// The host's variable that holds the endpoint's secret; `None` if it needs none.
    pub credential_variable: Option<String>,
    /// As asked for.
    pub parameters: Map<String, Value>,
    /// When the engine ends the work.
    pub limits: PlannedLimits,
    /// Whether the agent's home is kept after the run.
    pub keep_agent_home: bool,
}

/// Where the agent works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedWorkspace {
    /// The folder that was named.
    pub source: PathBuf,
    /// The folder that the agent gets: a copy, or the same.
    pub path: PathBuf,
    /// Whether the agent works in the source itself.
    pub in_place: bool,
}

/// When the engine ends the work; `None` is no limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedLimits {
    /// For the work, in milliseconds.
    pub time_ms: Option<u64>,
    /// Without any output, in milliseconds.
    pub idle_ms: Option<u64>,
    /// Computing time of the process tree, in milliseconds.
    pub cpu_time_ms: Option<u64>,
    /// Memory of the process tree.
    pub memory_bytes: Option<u64>,
    /// Processes and threads that exist at once.
    pub processes: Option<u64>,
    /// File descriptors of each process.
    pub open_files: Option<u64>,
    /// Bytes by which what the tree can write to may grow.
    pub disk_bytes: Option<u64>,
    /// Bytes recorded of what the programs print.
    pub output_bytes: Option<u64>,
}

/// A `plan.json` that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanRecordError {
    /// It can't be read.
    #[error("`{}` can't be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// It is of another version.
    #[error("`{}` has the schema `{found}`; this akbench reads `{SCHEMA}`", path.display())]
    OtherSchema {
        /// The file.
        path: PathBuf,
        /// As it is written there.
        found: String,
    },
    /// It is torn, or not a plan.
    #[error("`{}` is no plan of a run: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, with its place.
        reason: String,
    },
}

/// A program of the plan, and the digest of its file if that could be read.
pub type PlannedProgram = (String, PathBuf, Option<Sha256>);

/// What a record is made of.
pub(super) struct Planned<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The adapter.
    pub component: &'a AdapterComponent,
    /// The programs, with their digests.
    pub programs: &'a [PlannedProgram],
    /// What the tree may use of the machine.
    pub resources: ResourceLimits,
    /// Whether the agent's home is kept after the run.
    pub keep_agent_home: bool,
}

impl PlanRecord {
    /// What is about to run in this folder.
    ///
    /// # Errors
    ///
    /// If a secret can't be masked without breaking a field.
    pub(super) fn new(
        planned: &Planned<'_>,
        folder: &RunFolder,
        redactor: &Redactor,
    ) -> io::Result<Self> {
        let Planned {
            plan,
            component,
            programs,
            resources,
            keep_agent_home,
        } = *planned;
        let milliseconds =
            |limit: std::time::Duration| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let choices = plan.task.as_ref().map(|task| {
            let task_id = task.descriptor.id.as_str();
            mutation::choose(task_id, &task.descriptor.mutations, task.seed)
        });
        let variant = choices
            .iter()
            .flatten()
            .map(serde_json::to_value)
            .collect::<Result<Vec<_>, _>>()?;
        let path = if plan.in_place {
            plan.workspace.clone()
        } else {
            folder.workspace()
        };
        let record = Self {
            schema: SCHEMA.to_owned(),
            run_id: folder.id().to_owned(),
            created_at: crate::clock::now(),
            akbench: env!("CARGO_PKG_VERSION").to_owned(),
            agent: agent_record(&plan.descriptor, Some(component), programs),
            descriptor_file: plan.descriptor.origin.clone(),
            component_file: component.path.clone(),
            task: task_record(plan, choices.as_deref()),
            variant: plan.task.is_some().then_some(variant),
            notes: plan.notes.clone(),
            workspace: PlannedWorkspace {
                source: plan.workspace.clone(),
                path,
                in_place: plan.in_place,
            },
            runtime: plan.runtime.as_ref().map(RuntimeRecord::from),
            credential_variable: plan
                .secret
                .as_ref()
                .map(|secret| secret.variable().to_owned()),
            parameters: plan.parameters.clone(),
            limits: PlannedLimits {
                time_ms: plan.limits.time.map(milliseconds),
                idle_ms: plan.limits.idle.map(milliseconds),
                cpu_time_ms: resources.of(Resource::CpuTime),
                memory_bytes: resources.of(Resource::Memory),
                processes: resources.of(Resource::Processes),
                open_files: resources.of(Resource::OpenFiles),
                disk_bytes: resources.of(Resource::Disk),
                output_bytes: resources.of(Resource::Output),
            },
            keep_agent_home,
        };
        Ok(masked(&record, redactor)?)
    }

    /// Reads the plan of a run.
    ///
    /// # Errors
    ///
    /// If it can't be read, is of another version, or holds anything that is not a plan's.
    pub fn load(path: &Path) -> Result<Self, PlanRecordError> {
        let malformed = |reason: String| PlanRecordError::Malformed {
            path: path.to_owned(),
            reason,
        };
        let bytes = std::fs::read(path).map_err(|error| PlanRecordError::Unreadable {
            path: path.to_owned(),
            error,
        })?;
        let document: Value =
            serde_json::from_slice(&bytes).map_err(|error| malformed(error.to_string()))?;
        match document.get("schema").and_then(Value::as_str) {
            Some(SCHEMA) => {
                serde_json::from_value(document).map_err(|error| malformed(error.to_string()))
            }
            Some(found) => Err(PlanRecordError::OtherSchema {
                path: path.to_owned(),
                found: found.to_owned(),
            }),
            None => Err(malformed(format!(
                "/schema is missing: expected `{SCHEMA}`"
            ))),
        }
    }

    /// The experiment's configuration, to observe again from recorded evidence.
    pub fn replay_config(&self) -> AgentConfig {
        let runtime = self.runtime.as_ref().map(|runtime| RuntimeBinding {
            name: runtime.name.clone(),
            base_url: runtime.base_url.clone(),
            wire_api: runtime.wire_api.clone(),
            model: runtime.model.clone(),
            // They are sent, not read.
            headers: Vec::new(),
            credential: self
                .credential_variable
                .as_ref()
                .map(|_| CREDENTIAL_NAME.to_owned()),
        });
        AgentConfig {
            parameters: self.parameters.clone(),
            runtime,
            replay: true,
        }
    }
}

/// Which agent; without a component, as far as that is known.
pub(super) fn agent_record(
    descriptor: &AgentDescriptor,
    component: Option<&AdapterComponent>,
    programs: &[PlannedProgram],
) -> AgentRecord {
    let program = programs.first().map(|(name, path, sha256)| ProgramRecord {
        name: name.clone(),
        path: path.display().to_string(),
        version: None,
        sha256: *sha256,
    });
    AgentRecord {
        id: descriptor.id.to_string(),
        version: descriptor.version.to_string(),
        adapter: descriptor.agent.adapter.to_string(),
        execution: descriptor.agent.execution.as_str().to_owned(),
        contract: component.map(AdapterComponent::contract_name),
        component_sha256: component.map(|component| component.sha256),
        descriptor_sha256: descriptor.digest,
        program,
    }
}

/// Which task; its instruction is known unless it could not be read.
pub(super) fn task_record(plan: &Plan, choices: Option<&[mutation::Choice]>) -> TaskRecord {
    let task = plan.task.as_ref();
    let mutated = task.filter(|task| !task.descriptor.mutations.is_empty());
    let milliseconds =
        |limit: std::time::Duration| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    TaskRecord {
        id: Some(plan.task_id.clone()),
        version: task.map(|task| task.descriptor.version.to_string()),
        seed: mutated.map(|task| task.seed),
        mutations: mutated
            .and(choices)
            .map(|choices| choices.iter().map(ToString::to_string).collect()),
        instruction_sha256: (!plan.instruction.is_empty()).then(|| plan.instruction_sha256()),
        time_limit_ms: plan.limits.time.map(milliseconds),
    }
}

impl From<&RuntimeBinding> for RuntimeRecord {
    fn from(runtime: &RuntimeBinding) -> Self {
        Self {
            name: runtime.name.clone(),
            base_url: runtime.base_url.clone(),
            wire_api: runtime.wire_api.clone(),
            model: runtime.model.clone(),
        }
    }
}
