//! `akbench adapter`: adapters as files.

use super::CliError;
use super::adapter_test::TestAdapter;
use clap::{Args, Subcommand};

/// Adapters: prove one with the contract suite.
#[derive(Debug, Args)]
pub struct AdapterCommand {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    Test(TestAdapter),
}

impl AdapterCommand {
    pub fn execute(self) -> Result<u8, CliError> {
        match self.command {
            Subcommands::Test(command) => command.execute(),
        }
    }
}
