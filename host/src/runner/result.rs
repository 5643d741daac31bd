//! The result of a run: only what was observed. Every field is always present; `null` means
//! "not known".

use super::evaluate::Evaluation;
use crate::contract::observed::{
    AppliedSettings, FailureClass, Fault, ModelUsage, Phase, Provenance, TokenUsage, ToolCall,
};
use crate::digest::Sha256;
use crate::process::resources::limit::{LimitRecord, Resource};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The name and version of this format.
pub const SCHEMA: &str = "akbench.agent-result/1";

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// The agent says that it is done.
    Completed,
    /// Something failed; `failure` says what, and whose fault it was.
    Failed,
    /// The task's time was over.
    TimedOut,
    /// Somebody stopped it.
    Cancelled,
    /// It was not started.
    Refused,
}

/// What failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// What kind.
    pub class: FailureClass,
    /// Whose.
    pub fault: Fault,
    /// Where.
    pub phase: Phase,
    /// For people.
    pub message: String,
    /// Whether the same may well succeed later.
    pub retryable: bool,
    /// The structured facts that the class rests on.
    pub evidence: Map<String, Value>,
}

/// What the agent was still struggling with when the evidence stops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unresolved {
    /// What kind.
    pub class: FailureClass,
    /// Whose.
    pub fault: Fault,
    /// For people.
    pub message: String,
    /// The structured facts that the class rests on.
    pub evidence: Map<String, Value>,
}

/// Which agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentRecord {
    /// The descriptor's id.
    pub id: String,
    /// The descriptor's version.
    pub version: String,
    /// The adapter's id.
    pub adapter: String,
    /// How it runs.
    pub execution: String,
    /// The contract that the component implements; `None` if it was not loaded.
    pub contract: Option<String>,
    /// Of the component; `None` if it was not loaded.
    pub component_sha256: Option<Sha256>,
    /// Of the descriptor.
    pub descriptor_sha256: Sha256,
    /// The agent's program.
    pub program: Option<ProgramRecord>,
}

/// The agent's program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramRecord {
    /// The name in the descriptor.
    pub name: String,
    /// The file that was started.
    pub path: String,
    /// As it reported itself; `None` if it did not.
    pub version: Option<String>,
    /// Of the file; `None` if it could not be read.
    pub sha256: Option<Sha256>,
}

/// Which task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskRecord {
    /// A name: of the dataset's task, or of the task file.
    pub id: Option<String>,
    /// Of a dataset's task.
    pub version: Option<String>,
    /// Of a mutated task.
    pub seed: Option<u64>,
    /// What was changed before the agent saw it; `None` if the task has no mutations.
    pub mutations: Option<Vec<String>>,
    /// Of the text that the agent was given; `None` if there was none that could be used.
    pub instruction_sha256: Option<Sha256>,
    /// The time that it had; `None` is no limit.
    pub time_limit_ms: Option<u64>,
}

/// The folder that the agent worked in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceRecord {
    /// Where it is.
    pub path: String,
    /// Of the tree as the agent found it.
    pub before_sha256: Option<Sha256>,
    /// Of the tree as the agent left it.
    pub after_sha256: Option<Sha256>,
    /// Files added, changed and removed.
    pub files_changed: Option<u64>,
    /// Empty folders that the agent left at the top.
    pub droppings: Option<Vec<String>>,
    /// Of `workspace.diff`; `None` if there is none.
    pub diff_sha256: Option<Sha256>,
}

/// The endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeRecord {
    /// The descriptor's id.
    pub name: String,
    /// Where it is.
    pub base_url: String,
    /// The protocol.
    pub wire_api: String,
    /// The model that was asked for.
    pub model: Option<String>,
}

/// Milliseconds spent in each phase; `None` for one that was not reached.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phases {
    /// Checking the environment.
    pub validate: Option<u64>,
    /// Preparing the session.
    pub start: Option<u64>,
    /// The agent's work.
    pub work: Option<u64>,
    /// Observing.
    pub collect: Option<u64>,
    /// Closing.
    pub close: Option<u64>,
}

/// The census of the process tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessRecord {
    /// Programs that the adapter started.
    pub spawned: u32,
    /// Processes that the engine had to end; `None` if nobody could count.
    pub killed: Option<u32>,
    /// Processes that it could not end; `None` if nobody could count.
    pub survivors: Option<u32>,
}

/// What contained the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfinementRecord {
    /// How its files were confined.
    pub files: Option<String>,
    /// How its process tree was held together.
    pub tree: Option<String>,
    /// What of the network it could reach.
    pub network: Option<String>,
    /// What the tree could use of each resource, and what it used; empty if nothing was
    /// started or nobody was left to tell.
    pub limits: BTreeMap<Resource, LimitRecord>,
    /// Why something weaker than asked for was applied, one sentence each.
    pub notes: Vec<String>,
}

/// A file of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    /// Relative to `artifacts/`.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// Its digest.
    pub sha256: Sha256,
    /// Secrets masked in it; `None` if the engine died before it wrote the number down.
    pub masks: Option<u64>,
}

/// How the record of a run was completed after its host had died.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recovery {
    /// When, RFC 3339.
    pub recovered_at: String,
    /// The version of akbench that did it.
    pub akbench: String,
    /// The last thing that the dead host wrote down, RFC 3339; `None` if it wrote nothing.
    pub last_recorded_at: Option<String>,
    /// What was observed again, with this component; `None` if nothing was.
    pub component_sha256: Option<Sha256>,
    /// What became of the files of the agent's home that are evidence.
    pub home_evidence: HomeEvidence,
}

/// What became of the files of the agent's home that are evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HomeEvidence {
    /// They are in the evidence, masked.
    Collected,
    /// They are still in the agent's home, which was kept: without the credential they could not
    /// be masked, or without the descriptor nobody knows which they are.
    NotCollected,
    /// There was no home any more.
    Missing,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunResult {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Sorts by time.
    pub run_id: String,
    /// How it ended.
    pub status: RunStatus,
    /// Whether the run may count.
    pub valid: bool,
    /// Why not.
    pub invalid_reasons: Vec<String>,
    /// Where the adapter broke the contract.
    pub violations: Vec<String>,
    /// What failed; `None` if nothing did.
    pub failure: Option<Failure>,
    /// Which agent.
    pub agent: AgentRecord,
    /// Which task.
    pub task: TaskRecord,
    /// Where it worked.
    pub workspace: WorkspaceRecord,
    /// With which endpoint; `None` if the agent uses none.
    pub runtime: Option<RuntimeRecord>,
    /// As asked for.
    pub parameters: Map<String, Value>,
    /// As the agent says it applied.
    pub applied: AppliedSettings,
    /// The agent's own name for the conversation.
    pub native_session_id: Option<String>,
    /// The agent's last words.
    pub final_message: Option<String>,
    /// User turns.
    pub turns: Option<u32>,
    /// Requests to the model.
    pub model_requests: Option<u32>,
    /// Tokens of this task.
    pub usage: Option<TokenUsage>,
    /// The same by model.
    pub usage_by_model: Option<Vec<ModelUsage>>,
    /// US dollars, if the agent reports them.
    pub cost_usd: Option<f64>,
    /// Every use of a tool.
    pub tool_calls: Option<Vec<ToolCall>>,
    /// Where values come from, by name.
    pub provenance: BTreeMap<String, Provenance>,
    /// What the agent was still struggling with.
    pub unresolved: Option<Unresolved>,
    /// The agent's own warnings and the engine's.
    pub warnings: Vec<String>,
    /// Logs that the adapter left, relative to `artifacts/adapter/`.
    pub native_logs: Vec<String>,
    /// What has no field yet.
    pub extra: Map<String, Value>,
    /// RFC 3339.
    pub started_at: String,
    /// RFC 3339; `None` if the host died, so that nobody saw the end.
    pub finished_at: Option<String>,
    /// The whole run; `None` if the host died.
    pub duration_ms: Option<u64>,
    /// By phase.
    pub phases: Phases,
    /// The census.
    pub processes: ProcessRecord,
    /// What contained it.
    pub confinement: ConfinementRecord,
    /// What an evaluator found; `None` without one, and if it came to no verdict, which a warning
    /// explains.
    pub evaluation: Option<Evaluation>,
    /// How the record was completed after the host had died; `None` if it did not.
    pub recovery: Option<Recovery>,
    /// The evidence and the adapter's files.
    pub artifacts: Vec<Artifact>,
}

impl RunResult {
    /// The exit code that tells a script how it went.
    pub fn exit_code(&self, strict: bool) -> u8 {
        let by_fault = |failure: &Failure| match failure.fault {
            Fault::Agent => 1,
            Fault::Configuration => 2,
            Fault::Infrastructure | Fault::Unknown => 3,
            Fault::Adapter => 4,
            Fault::Operator => 130,
        };
        match self.status {
            RunStatus::Completed if strict && !self.valid => 5,
            RunStatus::Completed => 0,
            RunStatus::Refused => 2,
            RunStatus::Cancelled => 130,
            RunStatus::Failed | RunStatus::TimedOut => self.failure.as_ref().map_or(1, by_fault),
        }
    }
}

#[cfg(test)]
#[path = "result_tests.rs"]
mod tests;
