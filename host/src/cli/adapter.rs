//! `akbench adapter`: adapter files.

use super::CliError;
use super::adapter_inspect::InspectAdapter;
use super::adapter_new::NewAdapter;
use super::adapter_test::TestAdapter;
use clap::{Args, Subcommand};

/// Adapters: what a file is and may do, and whether it passes the contract suite.
#[derive(Debug, Args)]
pub struct AdapterCommand {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    Inspect(InspectAdapter),
    New(NewAdapter),
    Test(TestAdapter),
}

impl AdapterCommand {
    pub fn execute(self) -> Result<u8, CliError> {
        match self.command {
            Subcommands::Inspect(command) => command.execute(),
            Subcommands::New(command) => command.execute(),
            Subcommands::Test(command) => command.execute(),
        }
    }
}
