//! `akbench runs recover`: completing what a dead host left.

use super::runs_observing::{Observing, block_on};
use super::table::Page;
use super::wording::{name_of, one_line};
use super::{CliError, output, summary};
use crate::runner::plan::ProcessEnvironment;
use crate::runner::result::RunResult;
use crate::runs::{self, NotRecovered, Recovered, StoredRun};
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Complete the records of runs whose host died, and remove what it left.
///
/// What the evidence shows is derived as in any other run; a run that still goes on is not
/// touched. The agent's own files can be kept as evidence only if the variable that held the
/// credential is set to it again. Exit codes: 0 nothing is left to recover · 3 a run could not be
/// recovered, or one that was named still runs.
#[derive(Debug, Args)]
pub struct RecoverRuns {
    /// The runs, by id or its beginning [default: all]
    #[arg(value_name = "RUN")]
    runs: Vec<String>,

    /// The folder that runs are kept in
    #[arg(long, value_name = "DIR", default_value = "runs")]
    out: PathBuf,

    /// Keep the agents' private homes
    #[arg(long)]
    keep: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    observing: Observing,
}

impl RecoverRuns {
    pub fn execute(self) -> Result<u8, CliError> {
        let stored = runs::select(&self.out, &self.runs)?;
        let registry = self.observing.registry()?;
        let removed = runs::remove_unfinished(&self.out).map_err(|error| CliError::System {
            action: "remove what a host left that died before its run began",
            error,
        })?;
        for folder in &removed {
            eprintln!(
                "note: removed `{}`: its host died before the run began",
                folder.display()
            );
        }
        let outcomes = self.observing.with_tools(&registry, |tools| {
            block_on(async {
                let mut outcomes = Vec::new();
                for run in stored {
                    let outcome = runs::recover(&run, tools, &ProcessEnvironment, self.keep).await;
                    outcomes.push((run, outcome));
                }
                outcomes
            })
        })??;
        if self.json {
            let listed: Vec<Value> = outcomes.iter().map(|(run, it)| entry(run, it)).collect();
            output::json(&listed)?;
        } else {
            output::text(&page(&outcomes, !self.runs.is_empty()))?;
        }
        let open = outcomes.iter().any(|(_, outcome)| match outcome {
            Err(_) => true,
            Ok(Recovered::Running) => !self.runs.is_empty(),
            Ok(_) => false,
        });
        Ok(if open { 3 } else { 0 })
    }
}

type Outcome = Result<Recovered, NotRecovered>;

fn entry(run: &StoredRun, outcome: &Outcome) -> Value {
    let (name, result, reason) = match outcome {
        Ok(Recovered::Completed(result)) => ("recovered", Some(result), None),
        Ok(Recovered::Cleaned) => ("cleaned", None, None),
        Ok(Recovered::Nothing) => ("nothing_to_do", None, None),
        Ok(Recovered::Running) => ("running", None, None),
        Err(error) => ("failed", None, Some(error.to_string())),
    };
    let failure = result.and_then(|result| result.failure.as_ref());
    json!({
        "run_id": run.id,
        "folder": run.folder,
        "outcome": name,
        "reason": reason,
        "status": result.map(|result| result.status),
        "class": failure.map(|failure| &failure.class),
        "fault": failure.map(|failure| failure.fault),
        "home_evidence": result.and_then(|it| it.recovery.as_ref()).map(|it| it.home_evidence),
        "warnings": result.map(|result| &result.warnings),
    })
}

fn page(outcomes: &[(StoredRun, Outcome)], all_named: bool) -> String {
    let mut page = Page::default();
    let mut told = false;
    for (run, outcome) in outcomes {
        let text = match outcome {
            Ok(Recovered::Completed(result)) => recovered(result),
            Ok(Recovered::Cleaned) => "had a result; what its host left was removed".to_owned(),
            Ok(Recovered::Running) => "still runs".to_owned(),
            Ok(Recovered::Nothing) if !all_named => continue,
            Ok(Recovered::Nothing) => "has a result".to_owned(),
            Err(error) => format!("not recovered: {}", one_line(&error.to_string())),
        };
        told = true;
        page.line(&format!("{}  {text}", run.id));
        if let Ok(Recovered::Completed(result)) = outcome {
            for warning in &result.warnings {
                page.row("", one_line(warning));
            }
        }
    }
    if !told {
        page.line("no run has to be recovered");
    }
    page.finish()
}

fn recovered(result: &RunResult) -> String {
    let status = summary::status(result.status);
    match &result.failure {
        Some(failure) => format!(
            "recovered: {status}, {} ({}), tokens {}",
            name_of(&failure.class),
            name_of(&failure.fault),
            summary::tokens(result)
        ),
        None => format!("recovered: {status}, tokens {}", summary::tokens(result)),
    }
}
