//! `akbench agent show`: what a descriptor says.

use super::table::{Page, table};
use super::wording::{list, name_of, plain};
use super::{CliError, folders, output};
use crate::registry::{AgentDescriptor, Capability, CatalogEntry, Extent};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// Show an agent: its programs, parameters and capabilities.
#[derive(Debug, Args)]
pub struct ShowAgent {
    /// The agent, as ID, ID@1 or ID@1.2.0
    agent: String,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// A folder with more descriptors; later ones win
    #[arg(long = "descriptors", value_name = "DIR")]
    descriptors: Vec<PathBuf>,
}

impl ShowAgent {
    pub fn execute(self) -> Result<u8, CliError> {
        let registry = folders::registry(&self.descriptors, Extent::WithoutTasks)?;
        folders::report_overrides(&registry);
        let agent = registry
            .agent(&self.agent)
            .map_err(|error| CliError::usage(error.to_string()))?;
        // An adapter that is not in the catalog can still be given as a file.
        let component = registry.component_for(&agent.agent.adapter).ok();
        if self.json {
            output::json(&json!({
                "descriptor": agent.document,
                "file": agent.origin,
                "sha256": agent.digest,
                "component": component,
            }))?;
        } else {
            output::text(&page(agent, component))?;
        }
        Ok(0)
    }
}

fn page(agent: &AgentDescriptor, component: Option<&CatalogEntry>) -> String {
    let mut page = Page::default();
    page.line(&format!("{}@{}  {}", agent.id, agent.version, agent.name));
    page.row("descriptor", agent.origin.display().to_string());
    page.row("sha256", agent.digest.to_string());
    page.row(
        "adapter",
        match component {
            Some(entry) => format!("{}, {}", entry.id, entry.path.display()),
            None => format!("{}, which no catalog lists", agent.agent.adapter),
        },
    );
    page.row("execution", name_of(&agent.agent.execution));
    page.row(
        "home",
        format!("a private one, in {}", agent.home.environment),
    );
    page.row("variables", list(&agent.environment, "none"));
    page.row("evidence", list(&agent.evidence, "nothing of the home"));
    page.row(
        "runtime",
        format!(
            "{} ({})",
            name_of(&agent.runtime.need),
            list(&agent.runtime.wire_apis, "any protocol")
        ),
    );
    if let Some(most) = agent.limits.instruction_max_characters {
        page.row("instruction", format!("at most {most} characters"));
    }
    page.section("programs");
    let path = std::env::var_os("PATH");
    page.block(&table(
        ["name", "versions", "here"],
        agent.programs.iter().map(|program| {
            let versions = match &program.versions.unverified {
                Some(more) => format!("{} (unverified: {more})", program.versions.supported),
                None => program.versions.supported.to_string(),
            };
            let found = program.find(path.as_deref());
            let here = found.map_or_else(
                |_| "not found".to_owned(),
                |found| found.path.display().to_string(),
            );
            [program.name.clone(), versions, here]
        }),
    ));
    page.section("parameters (--param NAME=VALUE)");
    page.block(&table(
        ["name", "allowed", "default", "meaning"],
        agent.parameters().into_iter().map(|parameter| {
            [
                parameter.name,
                parameter.allowed,
                parameter
                    .default
                    .as_ref()
                    .map_or_else(|| "-".to_owned(), plain),
                parameter.description.unwrap_or_default(),
            ]
        }),
    ));
    page.section("capabilities");
    page.block(&table(
        ["name", "support", "reason"],
        Capability::ALL.iter().map(|capability| {
            let claim = agent.capabilities.get(*capability);
            let reason = claim.and_then(|claim| claim.reason.clone());
            [
                capability.to_string(),
                name_of(&agent.capabilities.support(*capability)),
                reason.unwrap_or_default(),
            ]
        }),
    ));
    page.finish()
}
