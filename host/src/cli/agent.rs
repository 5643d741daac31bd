//! `akbench agent`: agents by the name in their descriptor.

use super::agent_check::CheckAgent;
use super::agent_show::ShowAgent;
use super::run_args::RunArgs;
use super::{CliError, folders};
use crate::attestation::{Attestations, Attested, Rung};
use crate::digest::Sha256;
use crate::registry::{AgentDescriptor, Extent, Registry};
use crate::sandbox::component::SUPPORTED_CONTRACTS;
use clap::{Args, Subcommand};
use serde_json::json;
use std::path::PathBuf;

/// Agents: run one by its name, list them, show one, check that one can run here.
#[derive(Debug, Args)]
pub struct AgentCommand {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    Run(Box<RunAgent>),
    List(ListAgents),
    Show(ShowAgent),
    Check(CheckAgent),
}

/// Run an agent of the registry.
#[derive(Debug, Args)]
struct RunAgent {
    /// The agent, as ID, ID@1 or ID@1.2.0
    agent: String,

    #[command(flatten)]
    run: RunArgs,
}

/// List the agents of the registry.
#[derive(Debug, Args)]
struct ListAgents {
    /// Print JSON
    #[arg(long)]
    json: bool,

    /// A folder with more descriptors; later ones win
    #[arg(long = "descriptors", value_name = "DIR")]
    descriptors: Vec<PathBuf>,
}

impl AgentCommand {
    pub fn execute(self) -> Result<u8, CliError> {
        match self.command {
            Subcommands::Run(command) => command.execute(),
            Subcommands::List(command) => command.execute(),
            Subcommands::Show(command) => command.execute(),
            Subcommands::Check(command) => command.execute(),
        }
    }
}

impl RunAgent {
    fn execute(self) -> Result<u8, CliError> {
        let registry = folders::registry(&self.run.descriptors, self.run.needs_registry())?;
        folders::report_overrides(&registry);
        let unknown = |error: crate::registry::ResolveError| CliError::usage(error.to_string());
        let descriptor = registry.agent(&self.agent).map_err(unknown)?.clone();
        let entry = registry
            .component_for(&descriptor.agent.adapter)
            .map_err(unknown)?;
        let adapter = entry.path.clone();
        self.run.execute(&registry, descriptor, &adapter)
    }
}

impl ListAgents {
    fn execute(self) -> Result<u8, CliError> {
        let registry = folders::registry(&self.descriptors, Extent::WithoutTasks)?;
        folders::report_overrides(&registry);
        let agents = registry.agents();
        let attestations = folders::attestations();
        let rung = |agent: &AgentDescriptor| rung(agent, &registry, &attestations);
        if self.json {
            let listed: Vec<_> = agents
                .iter()
                .map(|agent| {
                    json!({
                        "id": agent.id,
                        "version": agent.version,
                        "name": agent.name,
                        "adapter": agent.agent.adapter,
                        "execution": agent.agent.execution,
                        "descriptor": agent.origin,
                        "descriptor_sha256": agent.digest,
                        "rung": rung(agent),
                    })
                })
                .collect();
            println!("{:#}", serde_json::Value::Array(listed));
            return Ok(0);
        }
        for agent in agents {
            println!(
                "{}@{}  {}  adapter {}  {}",
                agent.id,
                agent.version,
                agent.name,
                agent.agent.adapter,
                rung(agent).map_or("not built", Rung::as_str)
            );
        }
        Ok(0)
    }
}

/// How far an agent's adapter has come; `None` if its component is not there. The component is
/// not compiled for that, so the best standing under any supported contract counts: a component
/// has only one.
fn rung(agent: &AgentDescriptor, registry: &Registry, attestations: &Attestations) -> Option<Rung> {
    let entry = registry.component_for(&agent.agent.adapter).ok()?;
    let (component_sha256, _) = Sha256::of_file(&entry.path).ok()?;
    SUPPORTED_CONTRACTS
        .iter()
        .map(|version| {
            let subject = Attested {
                component_sha256,
                descriptor_sha256: agent.digest,
                contract: format!("akbench:agent@{version}"),
            };
            attestations.standing(&subject).rung()
        })
        .max()
}
