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
    /// Measure what runs cost; without sections, everything
    Bench {
        /// What to measure
        #[arg(value_enum)]
        sections: Vec<bench::Section>,
        /// How often the overhead is measured
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        runs: u32,
        /// The lengths of a short and a long stream, in megabytes (10^6 bytes)
        #[arg(long, value_name = "SHORT,LONG", value_delimiter = ',', default_values_t = [200, 1000], value_parser = clap::value_parser!(u32).range(1..=100_000))]
        megabytes: Vec<u32>,
        /// Sessions at each concurrency
        #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        sessions: u32,
        /// Keep measured runs in this folder, and so in its file system [default: target]
        #[arg(long, value_name = "DIR")]
        folder: Option<PathBuf>,
        /// Also write the figures to this file, as JSON
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
        /// Compare with the figures of an earlier `--json`, for example docs/performance.json
        #[arg(long, value_name = "FILE")]
        compare: Option<PathBuf>,
        /// Write the figures into docs/performance.json, docs/performance.md and README.md
        #[arg(long)]
        write_docs: bool,
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
            sections,
            runs,
            megabytes,
            sessions,
            folder,
            json,
            compare,
            write_docs,
        } => {
            let megabytes = megabytes.try_into().map_err(|given: Vec<u32>| {
                failure::Failure::new(format!(
                    "`--megabytes` takes two lengths, a short and a long one; {} given",
                    given.len()
                ))
            })?;
            let plan = bench::Plan {
                sections,
                runs,
                megabytes,
                sessions,
                folder: folder.unwrap_or_else(|| workspace.target.clone()),
                json,
                compare,
                write_docs,
            };
            bench::run(&workspace, installing, &plan).map(|()| ExitCode::SUCCESS)
        }
    }
}
