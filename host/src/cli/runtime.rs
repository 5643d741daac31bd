//! `akbench runtime`: the endpoints that agents can use.

use super::runtime_check::CheckRuntime;
use super::{CliError, folders};
use crate::registry::Extent;
use clap::{Args, Subcommand};
use serde_json::json;
use std::path::PathBuf;

/// Runtimes: the endpoints that agents can use.
#[derive(Debug, Args)]
pub struct RuntimeCommand {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    List(ListRuntimes),
    Check(CheckRuntime),
}

/// List the runtimes of the registry.
#[derive(Debug, Args)]
struct ListRuntimes {
    /// Print JSON
    #[arg(long)]
    json: bool,

    /// A folder with more descriptors; later ones win
    #[arg(long = "descriptors", value_name = "DIR")]
    descriptors: Vec<PathBuf>,
}

impl RuntimeCommand {
    pub fn execute(self) -> Result<u8, CliError> {
        match self.command {
            Subcommands::List(command) => command.execute(),
            Subcommands::Check(command) => command.execute(),
        }
    }
}

impl ListRuntimes {
    fn execute(self) -> Result<u8, CliError> {
        let registry = folders::registry(&self.descriptors, Extent::WithoutTasks)?;
        folders::report_overrides(&registry);
        let lookup = |name: &str| std::env::var(name).ok();
        let mut listed = Vec::new();
        for runtime in registry.runtimes() {
            let base_url = runtime.resolve(lookup).map(|resolved| resolved.base_url);
            let variable = runtime
                .credential
                .as_ref()
                .map(|source| source.environment.clone());
            if self.json {
                listed.push(json!({
                    "id": runtime.id,
                    "version": runtime.version,
                    "name": runtime.name,
                    "base_url": base_url.as_ref().ok(),
                    "problem": base_url.as_ref().err().map(ToString::to_string),
                    "wire_api": runtime.wire_api,
                    "credential_variable": variable,
                    "descriptor": runtime.origin,
                }));
                continue;
            }
            let base_url = base_url.unwrap_or_else(|error| error.to_string());
            let credential = variable.map_or_else(
                || "no credential".to_owned(),
                |name| format!("credential from {name}"),
            );
            println!(
                "{}@{}  {base_url}  {}  {credential}",
                runtime.id, runtime.version, runtime.wire_api
            );
        }
        if self.json {
            println!("{:#}", serde_json::Value::Array(listed));
        }
        Ok(0)
    }
}
