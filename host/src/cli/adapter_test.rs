//! `akbench adapter test`: the contract suite.

use super::adapter_test_real::RealArgs;
use super::adapter_test_report::{Publishing, tell};
use super::run::{check_exists, descriptor_of};
use super::{CliError, folders};
use crate::registry::{self, AgentDescriptor, Registry};
use crate::sandbox::engine::Sandbox;
use crate::suite::cost::Meter;
use crate::suite::lab::{Lab, Subject};
use crate::suite::report::{Extent, SuiteReport};
use crate::suite::run::{self, Ran};
use crate::suite::stub_folder::StubFolder;
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Threads that record and supervise; the cases themselves share one more.
const WORKERS: usize = 2;

/// The file name of the program that plays recordings.
const STUB: &str = "stub-cli";

/// Prove an adapter with the contract suite; exit code 4 if a case fails.
///
/// What it finds is kept as an attestation of exactly this component and descriptor: only with
/// one that passed do runs count as valid.
#[derive(Debug, Args)]
pub struct TestAdapter {
    /// The adapter, a WebAssembly component
    #[arg(value_name = "FILE")]
    adapter: PathBuf,

    /// The agent's descriptor [default: the registry's for an adapter of this file name]
    #[arg(long, value_name = "FILE")]
    descriptor: Option<PathBuf>,

    /// Recordings of the agent's program, a folder with suite.json
    #[arg(long, value_name = "FOLDER")]
    stub: Option<PathBuf>,

    /// The program that plays recordings [default: stub-cli beside this program]
    #[arg(long, value_name = "FILE")]
    stub_program: Option<PathBuf>,

    #[command(flatten)]
    real: RealArgs,

    /// Run only cases whose names begin so, besides the operations; keeps no attestation
    #[arg(long, value_name = "PREFIX")]
    only: Vec<String>,

    #[command(flatten)]
    publishing: Publishing,

    /// A folder with more descriptors; later ones win
    #[arg(long = "descriptors", value_name = "DIR")]
    descriptors: Vec<PathBuf>,
}

impl TestAdapter {
    pub fn execute(self) -> Result<u8, CliError> {
        let registry = folders::registry(&self.descriptors, registry::Extent::WithoutTasks)?;
        let adapter = folders::adapter_file(&self.adapter, &registry);
        check_exists(&adapter)?;
        let descriptor = match &self.descriptor {
            Some(path) => AgentDescriptor::load(path)?,
            None => descriptor_of(&adapter, &registry)?,
        };
        check_match(&adapter, &descriptor, &registry)?;
        let sandbox = Sandbox::new()?;
        let component = folders::load_adapter(&adapter, &registry, &sandbox, true)?;
        let stub = match &self.stub {
            Some(folder) => Some(StubFolder::load(folder, &descriptor).map_err(|problems| {
                CliError::Usage(problems.iter().map(ToString::to_string).collect())
            })?),
            None => None,
        };
        let stub_program = match &stub {
            Some(_) => Some(find_player(
                STUB,
                self.stub_program.as_deref(),
                "--stub-program",
            )?),
            None => None,
        };
        let (real, tested) = self
            .real
            .resolve(
                &descriptor,
                self.stub.as_deref().zip(stub.as_ref()),
                &registry,
            )?
            .unzip();
        let lab = Lab::new(Subject {
            sandbox,
            component: component.clone(),
            descriptor: descriptor.clone(),
            supervisor: folders::own_program()?,
            stub,
            stub_program,
            real,
        });
        let lab = lab.map_err(system("make a folder for the suite"))?;
        let mut extent = Extent {
            lacks_recordings: lab.lacks_recordings(),
            partial: !self.only.is_empty(),
            live_runtime: tested
                .as_ref()
                .and_then(|tested| tested.live_runtime.clone()),
            program: tested.map(|tested| tested.program),
        };
        let meter = Meter::start();
        let ran = run_cases(lab, &self.only)?;
        let cost = meter.stop();
        if let Some(program) = &mut extent.program {
            program.version = ran.program_version;
        }
        let report = SuiteReport::new(&component, &descriptor, extent, ran.reports, cost);
        self.publishing.publish(&report, !self.only.is_empty())?;
        Ok(if report.passed { 0 } else { 4 })
    }
}

/// A program that the suite needs besides the agent's: as named, beside this program, or as
/// installed.
pub(super) fn find_player(
    name: &str,
    named: Option<&Path>,
    option: &str,
) -> Result<PathBuf, CliError> {
    if let Some(named) = named {
        return match crate::runner::plan::executable(named) {
            Ok(path) => Ok(path),
            Err(reason) => Err(CliError::usage(format!(
                "`{option} {}`: {reason}; expected an executable file",
                named.display()
            ))),
        };
    }
    let beside = folders::own_program()?.with_file_name(name);
    let installed = folders::share().map(|share| share.join(name));
    let mut places = [Some(beside), installed].into_iter().flatten();
    places.find(|path| path.is_file()).ok_or_else(|| {
        CliError::usage(format!(
            "the suite needs the program `{name}`, and it is neither beside this program nor \
             installed with it: name it with `{option} FILE`"
        ))
    })
}

/// A catalog says which adapter a file is, so a descriptor of another one is a mistake.
fn check_match(
    adapter: &Path,
    descriptor: &AgentDescriptor,
    registry: &Registry,
) -> Result<(), CliError> {
    match registry.entry_of_file(adapter) {
        Some(entry) if entry.id != descriptor.agent.adapter => Err(CliError::usage(format!(
            "the descriptor `{}` is for the adapter `{}`, but `{}` is the adapter `{}` by `{}`: \
             pass the descriptor of an agent that uses it with `--descriptor`",
            descriptor.origin.display(),
            descriptor.agent.adapter,
            adapter.display(),
            entry.id,
            entry.origin.display(),
        ))),
        _ => Ok(()),
    }
}

fn run_cases(lab: Lab, only: &[String]) -> Result<Ran, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .map_err(system("start the asynchronous runtime"))?;
    let ran = runtime.block_on(run::run(lab, only, tell));
    // A file system that does not answer may hold a thread for ever; nobody waits for it.
    runtime.shutdown_timeout(Duration::from_millis(100));
    Ok(ran)
}

pub(super) fn system(action: &'static str) -> impl Fn(std::io::Error) -> CliError {
    move |error| CliError::System { action, error }
}
