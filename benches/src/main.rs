//! `akbench-bench SECTION …`: makes one kind of measurement and prints its rows as JSON.
//! `cargo xtask bench` builds everything that it needs and calls it.

use akbench_bench::error::{Doing, Unmeasured};
use akbench_bench::rig::Parts;
use akbench_bench::streams::{self, Readers};
use akbench_bench::{components, sessions, workspaces};
use akbench_recorded::evidence::Long;
use akbench_recorded::row::Row;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Measures one thing and prints rows as JSON.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    section: Section,
}

#[derive(Subcommand)]
enum Section {
    /// Compile, load, instantiate and call adapters
    Components {
        #[command(flatten)]
        parts: PartArgs,
    },
    /// Read an event stream
    Stream {
        #[command(flatten)]
        long: LongArgs,
    },
    /// Read a session file
    Rollout {
        #[command(flatten)]
        long: LongArgs,
    },
    /// Run many sessions in one process
    Sessions {
        #[command(flatten)]
        parts: PartArgs,
        /// Sessions at each concurrency
        #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
        count: u32,
        /// Sessions over which costs must not grow
        #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..))]
        long: u32,
    },
    /// Copy and digest workspaces
    Workspaces {
        /// Files of the workspace with many files
        #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..))]
        files: u32,
        /// How often each is copied
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
        turns: u32,
    },
    /// Observe a folder of evidence through the component, for `stream` and `rollout`
    #[command(hide = true)]
    Observe {
        #[arg(long)]
        adapter: PathBuf,
        #[arg(long)]
        cache: PathBuf,
        evidence: PathBuf,
    },
}

#[derive(Args)]
struct PartArgs {
    /// The repository
    #[arg(long)]
    repository: PathBuf,
    /// The built akbench
    #[arg(long)]
    akbench: PathBuf,
    /// The folder of built components
    #[arg(long)]
    adapters: PathBuf,
}

#[derive(Args)]
struct LongArgs {
    /// The component that reads
    #[arg(long)]
    adapter: PathBuf,
    /// The native reader
    #[arg(long)]
    native: PathBuf,
    /// A folder for the compiled component
    #[arg(long)]
    cache: PathBuf,
    /// Length in 10^6 bytes
    #[arg(long)]
    megabytes: u32,
    /// How often each reader reads
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
}

impl From<PartArgs> for Parts {
    fn from(parts: PartArgs) -> Self {
        Self {
            repository: parts.repository,
            akbench: parts.akbench,
            adapters: parts.adapters,
        }
    }
}

fn main() -> ExitCode {
    match run(Cli::parse().section) {
        Ok(printed) => {
            println!("{printed}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(section: Section) -> Result<String, Unmeasured> {
    // One thread for each core and no more, as a host of many sessions would have.
    let runtime = tokio::runtime::Runtime::new().doing("start the asynchronous runtime")?;
    let rows: Vec<Row> = match section {
        Section::Components { parts } => runtime.block_on(components::measure(&parts.into()))?,
        Section::Stream { long } => read(long, Long::Stream)?,
        Section::Rollout { long } => read(long, Long::SessionFile)?,
        Section::Sessions { parts, count, long } => {
            let parts = parts.into();
            runtime.block_on(sessions::measure(&parts, count as usize, long as usize))?
        }
        Section::Workspaces { files, turns } => {
            workspaces::measure(files as usize, turns as usize)?
        }
        Section::Observe {
            adapter,
            cache,
            evidence,
        } => {
            let observed = runtime.block_on(streams::observe(&adapter, &cache, &evidence))?;
            return Ok(observed.to_string());
        }
    };
    serde_json::to_string(&rows).doing("print the rows")
}

fn read(long: LongArgs, kind: Long) -> Result<Vec<Row>, Unmeasured> {
    let readers = Readers {
        own: std::env::current_exe().doing("find this program's own file")?,
        native: long.native,
        adapter: long.adapter,
        cache: long.cache,
    };
    streams::measure(&readers, kind, long.megabytes.into(), long.pairs as usize)
}
