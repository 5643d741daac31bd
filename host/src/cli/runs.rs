//! `akbench runs`: runs that were kept.

use super::CliError;
use super::runs_list::ListRuns;
use super::runs_recover::RecoverRuns;
use super::runs_reparse::ReparseRuns;
use super::runs_show::ShowRun;
use super::runs_verify::VerifyRuns;
use clap::{Args, Subcommand};

/// Runs that were kept: list them, read one, check that their evidence is unchanged, complete
/// what a dead host left, observe again.
#[derive(Debug, Args)]
pub struct RunsCommand {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    List(ListRuns),
    Show(ShowRun),
    Verify(VerifyRuns),
    Recover(RecoverRuns),
    Reparse(ReparseRuns),
}

impl RunsCommand {
    pub fn execute(self) -> Result<u8, CliError> {
        match self.command {
            Subcommands::List(command) => command.execute(),
            Subcommands::Show(command) => command.execute(),
            Subcommands::Verify(command) => command.execute(),
            Subcommands::Recover(command) => command.execute(),
            Subcommands::Reparse(command) => command.execute(),
        }
    }
}
