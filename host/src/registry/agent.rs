//! Agents: what the engine must know of one, and what it may do.

use super::agent_checks;
use super::capability::Capabilities;
use super::error::RegistryError;
use super::identifier::{AdapterId, AgentId};
use super::json_file::{self, FileKind};
use super::program::Program;
use super::resolve::Versioned;
use crate::digest::Sha256;
use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Describes an agent. It is also the allow-list: what it does not name, the agent and its
/// adapter do not get.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentDescriptor {
    /// Names the agent.
    pub id: AgentId,
    /// The descriptor's version, not that of the agent's program.
    pub version: Version,
    /// For people.
    pub name: String,
    /// How the agent is run, and by which adapter.
    pub agent: AgentSection,
    /// The programs that the adapter may start.
    pub programs: Vec<Program>,
    /// The agent's private home.
    pub home: Home,
    /// The host's variables that are passed through; all others are cleared.
    pub environment: Vec<String>,
    /// Globs, relative to the home, of the files that are kept as evidence.
    pub evidence: Vec<String>,
    /// What of the agent's work can be observed or controlled.
    pub capabilities: Capabilities,
    /// A JSON Schema 2020-12 of type `object`: the agent's parameters.
    pub configuration_schema: Value,
    /// The parameters that a run may set.
    pub controllable: Vec<String>,
    /// The endpoint that the agent needs.
    pub runtime: RuntimeNeed,
    /// Limits that are the agent's or the adapter's own.
    pub limits: AgentLimits,
    /// The file as it was read.
    pub document: Value,
    /// Of the file's bytes.
    pub digest: Sha256,
    /// The file that describes it.
    pub origin: PathBuf,
}

/// How an agent is run, and by which adapter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSection {
    /// The adapter's id in the catalog.
    pub adapter: AdapterId,
    /// How the agent is run.
    pub execution: Execution,
}

/// How an agent is run. All but [`Execution::Process`] are reserved: descriptors may name
/// them, the planner refuses them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Execution {
    /// As a program on this machine.
    Process,
    /// Through requests to a server that runs elsewhere.
    Http,
    /// As a service that outlives the session.
    Service,
    /// Within the adapter.
    Thread,
}

impl Execution {
    /// As descriptors and records name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Http => "http",
            Self::Service => "service",
            Self::Thread => "thread",
        }
    }
}

/// The agent's private home.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Home {
    /// The variable that names the home to the agent.
    pub environment: String,
}

/// The endpoint that an agent needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeNeed {
    /// Whether it needs one.
    pub need: Need,
    /// The protocols that it can speak to the endpoint. Empty only if it needs none.
    #[serde(default)]
    pub wire_apis: Vec<String>,
}

/// Whether an agent needs an endpoint that serves a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// It can't work without.
    Required,
    /// It uses one if there is one.
    Optional,
    /// It has no use for one.
    None,
}

/// Limits that are the agent's or the adapter's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentLimits {
    /// Memory that the adapter needs, in bytes; `None`: the engine's default will do.
    pub adapter_memory_bytes: Option<u64>,
    /// The longest instruction that the agent takes, in Unicode characters; `None`: no limit
    /// is known.
    pub instruction_max_characters: Option<u64>,
    /// Computing time of its process tree, milliseconds; `None` here and below: the default.
    pub cpu_time_ms: Option<u64>,
    /// Memory of its process tree, bytes.
    pub memory_bytes: Option<u64>,
    /// Processes and threads of its tree.
    pub processes: Option<u64>,
    /// File descriptors of each of its processes.
    pub open_files: Option<u64>,
    /// Growth of the files that it can write, bytes.
    pub disk_bytes: Option<u64>,
    /// What is recorded of its output, bytes.
    pub output_bytes: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentFile {
    #[serde(rename = "schema")]
    _schema: String,
    id: AgentId,
    version: Version,
    name: String,
    agent: AgentSection,
    programs: Vec<Program>,
    home: Home,
    environment: Vec<String>,
    evidence: Vec<String>,
    capabilities: Capabilities,
    configuration_schema: Value,
    controllable: Vec<String>,
    runtime: RuntimeNeed,
    #[serde(default)]
    limits: AgentLimits,
}

impl AgentDescriptor {
    /// Reads a descriptor.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the file.
    pub fn load(path: &Path) -> Result<Self, Vec<RegistryError>> {
        let checked = json_file::read::<AgentFile>(path, FileKind::Agent, agent_checks::check)?;
        let file = checked.content;
        Ok(Self {
            id: file.id,
            version: file.version,
            name: file.name,
            agent: file.agent,
            programs: file.programs,
            home: file.home,
            environment: file.environment,
            evidence: file.evidence,
            capabilities: file.capabilities,
            configuration_schema: file.configuration_schema,
            controllable: file.controllable,
            runtime: file.runtime,
            limits: file.limits,
            document: checked.document,
            digest: checked.digest,
            origin: path.to_owned(),
        })
    }

    /// The program of this name; `None` if the descriptor grants no such program.
    pub fn program(&self, name: &str) -> Option<&Program> {
        self.programs.iter().find(|program| program.name == name)
    }
}

impl Versioned for AgentDescriptor {
    fn id(&self) -> &str {
        self.id.as_str()
    }

    fn version(&self) -> &Version {
        &self.version
    }
}

#[cfg(test)]
#[path = "agent_tests.rs"]
pub(super) mod tests;
