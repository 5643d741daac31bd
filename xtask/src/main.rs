//! Build automation: `cargo xtask build | demo | test | dist | guests | languages | bench`.
#![forbid(unsafe_code)]

mod agent;
mod atomic;
mod bench;
mod build;
mod cargo;
mod demo;
mod digest;
mod dist;
mod failure;
mod folder;
mod guests;
mod languages;
mod share;
mod steps;
mod test;
mod toolchain;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Outcome;
use crate::toolchain::Installing;
use crate::workspace::Workspace;

/// Builds, demonstrates, tests, measures and lays out akbench.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    /// Install nothing: without a WebAssembly compiler, say what the choices are and stop
    #[arg(long, global = true)]
    no_install: bool,

    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build everything, so that `target/debug/akbench` can be used
    Build,
    /// Build everything and run an agent on a small task, with the real CLI if there is one
    Demo,
    /// Build everything and run all tests
    Test {
        /// Handed on to `cargo nextest run` (or `cargo test`), after `--`
        #[arg(last = true)]
        args: Vec<String>,
    },
    /// Lay out what gets installed, under `target/dist`
    Dist {
        /// Take the programs of the debug build: quick, to see that it works, and not for shipping
        #[arg(long)]
        debug: bool,
    },
    /// Build the adapter components, under `target/adapters`
    Guests,
    /// Build the adapters in Python, JavaScript and C, as far as their toolchains are there
    Languages,
    /// What `wit-bindgen c` does, for adapters/c/build.sh
    #[command(hide = true)]
    C {
        wit: PathBuf,
        #[arg(long)]
        world: String,
        #[arg(long)]
        out_dir: PathBuf,
    },
    /// What `wasm-tools component` does, for adapters/c/build.sh
    #[command(hide = true)]
    Component {
        #[command(subcommand)]
        task: ComponentTask,
    },
    /// Measure the overhead of a run and the memory it takes
    Bench {
        /// How often the overhead is measured
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        runs: u32,
        /// The size of the event stream for the memory measurement, in megabytes (10^6 bytes)
        #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        megabytes: u32,
        /// Also write the numbers to this file, as JSON
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
}

#[derive(Subcommand)]
enum ComponentTask {
    New {
        module: PathBuf,
        #[arg(short)]
        output: PathBuf,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let installing = if cli.no_install {
        Installing::Refused
    } else {
        Installing::Allowed
    };
    match run(cli.task, installing) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task, installing: Installing) -> Outcome<ExitCode> {
    // What scripts call, wherever they are.
    match &task {
        Task::C {
            wit,
            world,
            out_dir,
        } => {
            return languages::generate_c_bindings(wit, world, out_dir).map(|()| ExitCode::SUCCESS);
        }
        Task::Component {
            task: ComponentTask::New { module, output },
        } => return languages::encode_component(module, output).map(|()| ExitCode::SUCCESS),
        _ => {}
    }
    let workspace = Workspace::locate()?;
    match task {
        Task::C { .. } | Task::Component { .. } => Ok(ExitCode::SUCCESS),
        Task::Build => build::run(&workspace, installing).map(|()| ExitCode::SUCCESS),
        Task::Demo => demo::run(&workspace, installing),
        Task::Test { args } => test::run(&workspace, installing, &args),
        Task::Dist { debug } => {
            let build = if debug {
                dist::Build::Debug
            } else {
                dist::Build::Release
            };
            dist::run(&workspace, installing, build).map(|()| ExitCode::SUCCESS)
        }
        Task::Guests => guests::build(&workspace, installing).map(|_| ExitCode::SUCCESS),
        Task::Languages => languages::build(&workspace).map(|()| ExitCode::SUCCESS),
        Task::Bench {
            runs,
            megabytes,
            json,
        } => bench::run(
            &workspace,
            installing,
            &bench::Plan {
                runs,
                megabytes,
                json,
            },
        )
        .map(|()| ExitCode::SUCCESS),
    }
}
