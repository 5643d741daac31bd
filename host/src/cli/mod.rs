//! The command line: one file per command, nothing in them that the library could do.

mod adapter;
mod adapter_inspect;
mod adapter_new;
mod adapter_templates;
mod adapter_test;
mod adapter_test_real;
mod adapter_test_report;
mod agent;
mod agent_check;
mod agent_show;
mod ahead;
mod confinement_args;
mod error;
mod folders;
mod output;
mod paths;
mod progress;
mod run;
mod run_args;
mod runs;
mod runs_list;
mod runs_observing;
mod runs_recover;
mod runs_reparse;
mod runs_show;
mod runs_verify;
mod runtime;
mod runtime_check;
mod signals;
mod summary;
mod table;
mod task;
mod value;
mod wording;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

pub use error::CliError;

/// Run coding agents on tasks, and write down exactly what happened.
///
/// Exit codes: 0 completed · 1 the agent failed or ran out of time · 2 usage, configuration,
/// refused · 3 infrastructure or unknown · 4 adapter · 130 cancelled · 5 completed but may not
/// count (with --strict).
#[derive(Debug, Parser)]
#[command(name = "akbench", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::RunCommand>),
    Agent(agent::AgentCommand),
    Adapter(adapter::AdapterCommand),
    Runtime(runtime::RuntimeCommand),
    Runs(runs::RunsCommand),
    Paths(paths::PathsCommand),
    Task(task::TaskCommand),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(tracing::Level::WARN)
        .without_time()
        .with_target(false)
        .with_ansi(false)
        .init();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are data and no error; clap knows where each goes.
            let code = if error.use_stderr() { 2 } else { 0 };
            return match error.print() {
                Ok(()) => ExitCode::from(code),
                Err(_) => ExitCode::from(2),
            };
        }
    };
    let outcome = match arguments.command {
        Command::Run(command) => command.execute(),
        Command::Agent(command) => command.execute(),
        Command::Adapter(command) => command.execute(),
        Command::Runtime(command) => command.execute(),
        Command::Runs(command) => command.execute(),
        Command::Paths(command) => command.execute(),
        Command::Task(command) => command.execute(),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            error.print();
            ExitCode::from(error.exit_code())
        }
    }
}
