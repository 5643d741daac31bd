//! What `akbench adapter test` says and keeps.

use super::adapter_test::system;
use super::{CliError, folders, output};
use crate::attestation::{self, Attestation, Kept};
use crate::suite::junit;
use crate::suite::report::{CaseReport, Outcome, SuiteReport};
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the report and the verdict go.
#[derive(Debug, Args)]
pub struct Publishing {
    /// Print the report as JSON on standard output
    #[arg(long)]
    json: bool,

    /// Write the report as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Keep the attestation there [default: the user's data folder]
    #[arg(long, value_name = "DIR")]
    attestations: Option<PathBuf>,
}

impl Publishing {
    /// Writes the report, and keeps what it attests unless it is about a part of the cases.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn publish(&self, report: &SuiteReport, partial: bool) -> Result<(), CliError> {
        if let Some(path) = &self.junit {
            fs::write(path, junit::xml(report)).map_err(system("write the JUnit file"))?;
        }
        let folder = self
            .attestations
            .clone()
            .or_else(|| folders::data().map(|data| data.join("attestations")));
        if partial {
            eprintln!("note: no attestation is kept of a part of the cases");
        } else if let Some(folder) = folder {
            keep(&folder, report)?;
        } else {
            eprintln!("note: no attestation is kept: there is no data folder without a HOME");
        }
        summarise(report);
        if self.json {
            output::json(report)?;
        }
        Ok(())
    }
}

fn keep(folder: &Path, report: &SuiteReport) -> Result<(), CliError> {
    let kept = attestation::store(folder, &Attestation::of(report));
    match kept.map_err(system("keep the attestation"))? {
        Kept::Written(path) => eprintln!("attestation: {}", path.display()),
        Kept::Higher(path, rung) => eprintln!(
            "attestation: {} is {} already, and stays",
            path.display(),
            rung.as_str()
        ),
    }
    Ok(())
}

/// Tells how a case ended.
pub fn tell(report: &CaseReport) {
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
        None if report.passed => "passed, but only a part of the cases was run",
        None => "failed",
    };
    let cost = &report.cost;
    let cpu = match cost.cpu_ms {
        Some(cpu) => format!("{cpu} ms"),
        None => "unknown".to_owned(),
    };
    eprintln!(
        "{}: {} passed, {} failed, {} not applicable, in {} ms (longest case {} ms, processors \
         {cpu}): {rung}",
        report.agent,
        report.count(Outcome::Passed),
        report.count(Outcome::Failed),
        report.count(Outcome::NotApplicable),
        cost.duration_ms,
        report.longest_case_ms,
    );
}
