//! What can be run, and with what: descriptors of agents, runtimes and tasks, and the
//! catalog of adapters.
//!
//! Everything the engine knows about a particular agent comes from here. Descriptors are
//! read from a few trusted folders ([`Source`]), checked as a whole, and found by
//! `id`, `id@1` or `id@1.2.0`.

mod agent;
mod agent_checks;
mod base_url;
mod capability;
mod catalog;
mod error;
mod expectation;
mod formats;
mod identifier;
mod json_file;
mod nearest;
mod parameter_list;
pub mod parameters;
mod path_glob;
mod program;
mod resolve;
mod runtime;
mod schema_check;
mod secret;
mod sources;
mod strict_json;
mod task;
mod task_checks;

pub use agent::{AgentDescriptor, AgentLimits, AgentSection, Execution, Home, Need, RuntimeNeed};
pub use capability::{Capabilities, Capability, Claim, Support};
pub use catalog::CatalogEntry;
pub use error::{Problem, RegistryError};
pub use identifier::{AdapterId, AgentId, InvalidIdentifier, RuntimeId, TaskId};
pub use parameter_list::Parameter;
pub use path_glob::{InvalidGlob, RelativeGlob};
pub use program::{FindRule, FoundProgram, NotFound, Program, Standing, VersionPolicy};
pub use resolve::{Kind, ResolveError, Versioned, resolve};
pub use runtime::{
    CredentialSource, ResolvedRuntime, RuntimeDescriptor, RuntimeError, ValueSource,
};
pub use secret::{CredentialProblem, MissingCredential, Secret};
pub use sources::{Extent, Override, Source};
pub use task::{EVALUATE, Evaluator, Instruction, SOLUTION, TaskDescriptor, WORKSPACE};

use std::collections::BTreeSet;
use std::path::Path;

/// All descriptors and adapters of all sources.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    agents: Vec<AgentDescriptor>,
    runtimes: Vec<RuntimeDescriptor>,
    tasks: Vec<TaskDescriptor>,
    catalog: Vec<CatalogEntry>,
    overrides: Vec<Override>,
}

impl Registry {
    /// Reads all sources. A later source wins over an earlier one; [`Registry::overrides`]
    /// says where that happened.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with any file, all at once. A source whose folder does not
    /// exist is an error, one that lacks some of its parts is not.
    pub fn load(sources: &[Source]) -> Result<Self, Vec<RegistryError>> {
        Self::load_parts(sources, Extent::Everything)
    }

    /// As [`Registry::load`], and reads no more than is asked for: checking every task of a
    /// dataset takes longer than all else that comes before a run.
    ///
    /// # Errors
    ///
    /// As for [`Registry::load`], about what was read.
    pub fn load_parts(sources: &[Source], extent: Extent) -> Result<Self, Vec<RegistryError>> {
        let mut registry = Self::default();
        let mut errors = Vec::new();
        for source in sources {
            match sources::read(source, extent) {
                Ok(contents) => registry.add(source, contents),
                Err(problems) => errors.extend(problems),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        registry
            .agents
            .sort_by(|a, b| (&a.id, &a.version).cmp(&(&b.id, &b.version)));
        registry
            .runtimes
            .sort_by(|a, b| (&a.id, &a.version).cmp(&(&b.id, &b.version)));
        registry
            .tasks
            .sort_by(|a, b| (&a.id, &a.version).cmp(&(&b.id, &b.version)));
        registry.catalog.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(registry)
    }

    /// All agents, by id, then by version.
    pub fn agents(&self) -> &[AgentDescriptor] {
        &self.agents
    }

    /// All runtimes, by id, then by version.
    pub fn runtimes(&self) -> &[RuntimeDescriptor] {
        &self.runtimes
    }

    /// All tasks, by id, then by version.
    pub fn tasks(&self) -> &[TaskDescriptor] {
        &self.tasks
    }

    /// All adapters, by id.
    pub fn catalog(&self) -> &[CatalogEntry] {
        &self.catalog
    }

    /// What a later source replaced, in the order in which it happened.
    pub fn overrides(&self) -> &[Override] {
        &self.overrides
    }

    /// The agent that `id`, `id@1` or `id@1.2.0` names.
    ///
    /// # Errors
    ///
    /// If there is none; the error lists those that exist.
    pub fn agent(&self, spec: &str) -> Result<&AgentDescriptor, ResolveError> {
        resolve(Kind::Agent, &self.agents, spec)
    }

    /// The runtime that `id`, `id@1` or `id@1.2.0` names.
    ///
    /// # Errors
    ///
    /// If there is none; the error lists those that exist.
    pub fn runtime(&self, spec: &str) -> Result<&RuntimeDescriptor, ResolveError> {
        resolve(Kind::Runtime, &self.runtimes, spec)
    }

    /// The task that `id`, `id@1` or `id@1.2.0` names.
    ///
    /// # Errors
    ///
    /// If there is none; the error lists those that exist.
    pub fn task(&self, spec: &str) -> Result<&TaskDescriptor, ResolveError> {
        resolve(Kind::Task, &self.tasks, spec)
    }

    /// The catalog's entry for an adapter.
    ///
    /// # Errors
    ///
    /// If no catalog lists the adapter; the error names those that are listed.
    pub fn component_for(&self, adapter: &AdapterId) -> Result<&CatalogEntry, ResolveError> {
        self.catalog
            .iter()
            .find(|entry| entry.id == *adapter)
            .ok_or_else(|| {
                let existing = self.catalog.iter().map(|entry| entry.id.to_string());
                ResolveError::unknown(Kind::Adapter, adapter.as_str(), existing)
            })
    }

    /// The catalog's entry whose component is this file; `None` if no catalog lists it.
    pub fn entry_of_file(&self, file: &Path) -> Option<&CatalogEntry> {
        // The same file may be named in more than one way.
        let real = |path: &Path| path.canonicalize().ok();
        let wanted = real(file)?;
        self.catalog
            .iter()
            .find(|entry| real(&entry.path).as_ref() == Some(&wanted))
    }

    /// The newest descriptor of the agent whose adapter is the component of this file name.
    ///
    /// # Errors
    ///
    /// If the catalog does not list the file, if no agent uses its adapter, or if several
    /// agents do, so that the file alone does not say which is meant.
    pub fn agent_for_component(&self, file_name: &str) -> Result<&AgentDescriptor, ComponentError> {
        let adapters: BTreeSet<&AdapterId> = self
            .catalog
            .iter()
            .filter(|entry| entry.component == file_name)
            .map(|entry| &entry.id)
            .collect();
        if adapters.is_empty() {
            return Err(ComponentError::NotListed {
                file_name: file_name.to_owned(),
                listed: self
                    .catalog
                    .iter()
                    .map(|entry| entry.component.clone())
                    .collect(),
            });
        }
        let agents: BTreeSet<&AgentId> = self
            .agents
            .iter()
            .filter(|agent| adapters.contains(&agent.agent.adapter))
            .map(|agent| &agent.id)
            .collect();
        let mut agents = agents.into_iter();
        match (agents.next(), agents.next()) {
            (Some(agent), None) => {
                // Only versions that use this adapter count: another version of the same
                // agent may have moved to another one.
                let versions: Vec<&AgentDescriptor> = self
                    .agents
                    .iter()
                    .filter(|known| known.id == *agent && adapters.contains(&known.agent.adapter))
                    .collect();
                resolve::newest(&versions)
                    .copied()
                    .ok_or_else(|| ComponentError::Unused {
                        file_name: file_name.to_owned(),
                    })
            }
            (Some(first), Some(second)) => Err(ComponentError::Ambiguous {
                file_name: file_name.to_owned(),
                agents: [first, second].into_iter().chain(agents).cloned().collect(),
            }),
            (None, _) => Err(ComponentError::Unused {
                file_name: file_name.to_owned(),
            }),
        }
    }

    fn add(&mut self, source: &Source, contents: sources::Contents) {
        for agent in contents.agents {
            let same =
                |known: &AgentDescriptor| known.id == agent.id && known.version == agent.version;
            if let Some(earlier) = sources::take_where(&mut self.agents, same) {
                self.overrides.push(Override {
                    kind: Kind::Agent,
                    name: resolve::full_name(&agent),
                    source: source.name.clone(),
                    winner: agent.origin.clone(),
                    loser: earlier.origin,
                });
            }
            self.agents.push(agent);
        }
        for runtime in contents.runtimes {
            let same = |known: &RuntimeDescriptor| {
                known.id == runtime.id && known.version == runtime.version
            };
            if let Some(earlier) = sources::take_where(&mut self.runtimes, same) {
                self.overrides.push(Override {
                    kind: Kind::Runtime,
                    name: resolve::full_name(&runtime),
                    source: source.name.clone(),
                    winner: runtime.origin.clone(),
                    loser: earlier.origin,
                });
            }
            self.runtimes.push(runtime);
        }
        for task in contents.tasks {
            let same =
                |known: &TaskDescriptor| known.id == task.id && known.version == task.version;
            if let Some(earlier) = sources::take_where(&mut self.tasks, same) {
                self.overrides.push(Override {
                    kind: Kind::Task,
                    name: resolve::full_name(&task),
                    source: source.name.clone(),
                    winner: task.origin.clone(),
                    loser: earlier.origin,
                });
            }
            self.tasks.push(task);
        }
        for entry in contents.catalog {
            if let Some(earlier) =
                sources::take_where(&mut self.catalog, |known| known.id == entry.id)
            {
                self.overrides.push(Override {
                    kind: Kind::Adapter,
                    name: entry.id.to_string(),
                    source: source.name.clone(),
                    winner: entry.origin.clone(),
                    loser: earlier.origin,
                });
            }
            self.catalog.push(entry);
        }
    }
}

/// No descriptor belongs to a component file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComponentError {
    /// No catalog names the file.
    #[error(
        "the catalog lists no component `{file_name}`, only {}; pass the agent's descriptor with `--descriptor FILE`",
        expectation::list(listed)
    )]
    NotListed {
        /// The file asked for.
        file_name: String,
        /// The files that catalogs do name.
        listed: Vec<String>,
    },
    /// The catalog names it, but no agent uses its adapter.
    #[error(
        "no agent uses the adapter of component `{file_name}`; pass the agent's descriptor with `--descriptor FILE`"
    )]
    Unused {
        /// The file asked for.
        file_name: String,
    },
    /// More than one agent uses it.
    #[error(
        "several agents use the adapter of component `{file_name}`: {}; pass the one meant with `--descriptor FILE`",
        expectation::list(agents)
    )]
    Ambiguous {
        /// The file asked for.
        file_name: String,
        /// The agents that use it.
        agents: Vec<AgentId>,
    },
}

#[cfg(test)]
mod tests;
