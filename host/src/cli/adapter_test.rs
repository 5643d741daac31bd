//! `akbench adapter test`: the contract suite.

use super::run::{check_exists, descriptor_of};
use super::{CliError, folders};
use crate::attestation::{self, Attestation};
use crate::registry::{AgentDescriptor, Extent};
use crate::sandbox::engine::Sandbox;
use crate::suite::junit;
use crate::suite::lab::{Lab, Subject};
use crate::suite::report::{CaseReport, Outcome, SuiteReport};
use crate::suite::run;
use crate::suite::stub_folder::StubFolder;
use clap::Args;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

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

    /// Run only cases whose names begin so, besides the operations; keeps no attestation
    #[arg(long, value_name = "PREFIX")]
    only: Vec<String>,

    /// Print the report as JSON on standard output
    #[arg(long)]
    json: bool,

    /// Write the report as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Keep the attestation there [default: the user's data folder]
    #[arg(long, value_name = "DIR")]
    attestations: Option<PathBuf>,

    /// A folder with more descriptors; later ones win
    #[arg(long = "descriptors", value_name = "DIR")]
    descriptors: Vec<PathBuf>,
}

impl TestAdapter {
    pub fn execute(self) -> Result<u8, CliError> {
        let registry = folders::registry(&self.descriptors, Extent::WithoutTasks)?;
        let adapter = folders::adapter_file(&self.adapter, &registry);
        check_exists(&adapter)?;
        let descriptor = match &self.descriptor {
            Some(path) => AgentDescriptor::load(path)?,
            None => descriptor_of(&adapter, &registry)?,
        };
        let sandbox = Sandbox::new()?;
        let component = folders::load_adapter(&adapter, &registry, &sandbox, true)?;
        let stub = match &self.stub {
            Some(folder) => Some(StubFolder::load(folder, &descriptor).map_err(|problems| {
                CliError::Usage(problems.iter().map(ToString::to_string).collect())
            })?),
            None => None,
        };
        let stub_program = match &stub {
            Some(_) => Some(self.find_stub()?),
            None => None,
        };
        let subject = Subject {
            sandbox,
            component: component.clone(),
            descriptor: descriptor.clone(),
            supervisor: folders::own_program()?,
            stub,
            stub_program,
        };
        let started = Instant::now();
        let (lacks_recordings, cases) = run_cases(subject, &self.only)?;
        let took = started.elapsed();
        let report = SuiteReport::new(&component, &descriptor, lacks_recordings, cases, took);
        self.publish(&report)?;
        Ok(if report.passed { 0 } else { 4 })
    }

    fn find_stub(&self) -> Result<PathBuf, CliError> {
        let beside = folders::own_program()?.with_file_name(STUB);
        let installed = folders::share().map(|share| share.join(STUB));
        let found = match &self.stub_program {
            Some(named) => Some(named.clone()),
            None => [Some(beside), installed]
                .into_iter()
                .flatten()
                .find(|path| path.is_file()),
        };
        found.ok_or_else(|| {
            CliError::usage(
                "recordings need the program that plays them, `stub-cli`, and it is neither \
                 beside this program nor installed with it: name it with `--stub-program FILE`",
            )
        })
    }

    fn publish(&self, report: &SuiteReport) -> Result<(), CliError> {
        let system = |action| move |error| CliError::System { action, error };
        if let Some(path) = &self.junit {
            fs::write(path, junit::xml(report)).map_err(system("write the JUnit file"))?;
        }
        let folder = self
            .attestations
            .clone()
            .or_else(|| folders::data().map(|data| data.join("attestations")));
        if !self.only.is_empty() {
            eprintln!("note: no attestation is kept of a part of the cases");
        } else if let Some(folder) = folder {
            let kept = attestation::store(&folder, &Attestation::of(report))
                .map_err(system("keep the attestation"))?;
            eprintln!("attestation: {}", kept.display());
        } else {
            eprintln!("note: no attestation is kept: there is no data folder without a HOME");
        }
        summarise(report);
        if self.json {
            let text = serde_json::to_string_pretty(report)
                .map_err(|error| system("print the report")(error.into()))?;
            println!("{text}");
        }
        Ok(())
    }
}

fn run_cases(subject: Subject, only: &[String]) -> Result<(bool, Vec<CaseReport>), CliError> {
    let system = |action| move |error| CliError::System { action, error };
    let lab = Lab::new(subject).map_err(system("make a folder for the suite"))?;
    let lacks_recordings = lab.lacks_recordings();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .map_err(system("start the asynchronous runtime"))?;
    let cases = runtime.block_on(run::run(lab, only, tell));
    // A file system that does not answer may hold a thread for ever; nobody waits for it.
    runtime.shutdown_timeout(Duration::from_millis(100));
    Ok((lacks_recordings, cases))
}

fn tell(report: &CaseReport) {
    let word = match report.outcome {
        Outcome::Passed => "passed",
        Outcome::Failed => "FAILED",
        Outcome::NotApplicable => "not applicable",
    };
    let reason = report.reason.as_deref();
    let reason = reason
        .map(|reason| format!(": {reason}"))
        .unwrap_or_default();
    eprintln!(
        "{word:>14}  {:>6} ms  {}{reason}",
        report.duration_ms, report.name
    );
}

fn summarise(report: &SuiteReport) {
    let rung = match report.rung {
        Some(rung) => rung.as_str(),
        None => "failed",
    };
    let longest = report.cases.iter().map(|case| case.duration_ms).max();
    eprintln!(
        "{}: {} passed, {} failed, {} not applicable, in {} ms (longest case {} ms): {rung}",
        report.agent,
        report.count(Outcome::Passed),
        report.count(Outcome::Failed),
        report.count(Outcome::NotApplicable),
        report.duration_ms,
        longest.unwrap_or(0),
    );
}
