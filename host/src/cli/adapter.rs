//! `akbench adapter`: adapter files.

use super::CliError;
use super::adapter_inspect::InspectAdapter;
use clap::{Args, Subcommand};

/// Adapters: what a file is, and what it may do.
#[derive(Debug, Args)]
pub struct AdapterCommand {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    Inspect(InspectAdapter),
}

impl AdapterCommand {
    pub fn execute(self) -> Result<u8, CliError> {
        match self.command {
            Subcommands::Inspect(command) => command.execute(),
        }
    }
}
