//! `akbench runs list`: the runs of a folder.

use super::table::table;
use super::wording::{known, name_of, one_line, seconds};
use super::{CliError, output, summary};
use crate::runner::result::RunResult;
use crate::runs::{self, RunState, StoredRun};
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

/// List the runs of a folder, oldest first.
#[derive(Debug, Args)]
pub struct ListRuns {
    /// The folder that runs are kept in
    #[arg(long, value_name = "DIR", default_value = "runs")]
    out: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ListRuns {
    pub fn execute(self) -> Result<u8, CliError> {
        let stored = runs::list(&self.out)?;
        if self.json {
            let listed: Vec<Value> = stored.iter().map(entry).collect();
            output::json(&listed)?;
        } else {
            let headings = [
                "run", "status", "valid", "agent", "task", "time", "tokens", "failure",
            ];
            output::text(&table(headings, stored.iter().map(row)))?;
        }
        Ok(0)
    }
}

fn total_tokens(result: &RunResult) -> Option<u64> {
    result.usage.as_ref().and_then(|usage| usage.total_tokens)
}

fn row(run: &StoredRun) -> [String; 8] {
    let nothing = String::new;
    let result = match &run.state {
        RunState::Finished(result) => result,
        state => {
            let (status, why) = match state {
                RunState::Unreadable(reason) => ("unreadable", one_line(reason)),
                RunState::Running => ("running", nothing()),
                RunState::Dead | RunState::Finished(_) => ("dead", nothing()),
            };
            let empty = nothing;
            return [
                run.id.clone(),
                status.to_owned(),
                empty(),
                empty(),
                empty(),
                empty(),
                empty(),
                why,
            ];
        }
    };
    [
        run.id.clone(),
        summary::status(result.status).to_owned(),
        if result.valid { "yes" } else { "no" }.to_owned(),
        format!("{} {}", result.agent.id, result.agent.version),
        known(result.task.id.as_deref()),
        result
            .duration_ms
            .map_or_else(|| known(None::<u64>), seconds),
        known(total_tokens(result)),
        result.failure.as_ref().map_or_else(nothing, |failure| {
            format!("{} ({})", name_of(&failure.class), name_of(&failure.fault))
        }),
    ]
}

fn entry(run: &StoredRun) -> Value {
    let (state, reason, result) = match &run.state {
        RunState::Finished(result) => ("finished", None, Some(result)),
        RunState::Running => ("running", None, None),
        RunState::Dead => ("dead", None, None),
        RunState::Unreadable(reason) => ("unreadable", Some(reason), None),
    };
    let failure = result.and_then(|result| result.failure.as_ref());
    json!({
        "run_id": run.id,
        "folder": run.folder,
        "state": state,
        "reason": reason,
        "status": result.map(|result| result.status),
        "valid": result.map(|result| result.valid),
        "agent": result.map(|result| &result.agent.id),
        "agent_version": result.map(|result| &result.agent.version),
        "task": result.and_then(|result| result.task.id.as_ref()),
        "started_at": result.map(|result| &result.started_at),
        "duration_ms": result.map(|result| result.duration_ms),
        "total_tokens": result.and_then(|result| total_tokens(result)),
        "recovered": result.map(|result| result.recovery.is_some()),
        "class": failure.map(|failure| &failure.class),
        "fault": failure.map(|failure| failure.fault),
    })
}
