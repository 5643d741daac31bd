//! `akbench runs reparse`: observing again with today's adapter.

use super::runs_observing::{Observing, block_on};
use super::table::{Page, table};
use super::wording::{one_line, short_line};
use super::{CliError, output};
use crate::runs::{self, NotReparsed, Reparsed, StoredRun};
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Characters of a value that are shown.
const MAX_VALUE: usize = 60;

/// Observe runs again from their evidence, with today's adapter, and show what changed.
///
/// No agent is started, and the run's own result is never touched: with --write the new one is
/// kept beside it, in `reparsed/`. Exit codes: 0 observed again, whatever changed · 3 a run could
/// not be observed again.
#[derive(Debug, Args)]
pub struct ReparseRuns {
    /// The runs, by id or its beginning
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<String>,

    /// The folder that runs are kept in
    #[arg(long, value_name = "DIR", default_value = "runs")]
    out: PathBuf,

    /// Keep the new results beside the runs' own
    #[arg(long)]
    write: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    observing: Observing,
}

struct Seen {
    run: StoredRun,
    reparsed: Result<Reparsed, NotReparsed>,
    kept: Option<PathBuf>,
}

impl ReparseRuns {
    pub fn execute(self) -> Result<u8, CliError> {
        let stored = runs::select(&self.out, &self.runs)?;
        let registry = self.observing.registry()?;
        let reparsed = self.observing.with_tools(&registry, |tools| {
            block_on(async {
                let mut all = Vec::new();
                for run in stored {
                    let reparsed = runs::reparse(&run, tools).await;
                    all.push((run, reparsed));
                }
                all
            })
        })??;
        let mut seen = Vec::new();
        for (run, reparsed) in reparsed {
            let kept = match &reparsed {
                Ok(reparsed) if self.write => {
                    let kept = reparsed.keep(&run).map_err(|error| CliError::System {
                        action: "keep the new result",
                        error,
                    })?;
                    Some(kept)
                }
                _ => None,
            };
            seen.push(Seen {
                run,
                reparsed,
                kept,
            });
        }
        if self.json {
            let listed: Vec<Value> = seen.iter().map(entry).collect();
            output::json(&listed)?;
        } else {
            output::text(&page(&seen))?;
        }
        let failed = seen.iter().any(|seen| seen.reparsed.is_err());
        Ok(if failed { 3 } else { 0 })
    }
}

fn entry(seen: &Seen) -> Value {
    let (reparsed, reason) = match &seen.reparsed {
        Ok(reparsed) => (Some(reparsed), None),
        Err(error) => (None, Some(error.to_string())),
    };
    json!({
        "run_id": seen.run.id,
        "folder": seen.run.folder,
        "reason": reason,
        "changes": reparsed.map(|reparsed| &reparsed.changes),
        "notes": reparsed.map(|reparsed| &reparsed.notes),
        "result": reparsed.map(|reparsed| &reparsed.result),
        "kept": seen.kept,
    })
}

fn page(all: &[Seen]) -> String {
    let mut page = Page::default();
    for seen in all {
        let id = &seen.run.id;
        let reparsed = match &seen.reparsed {
            Ok(reparsed) => reparsed,
            Err(error) => {
                page.line(&format!(
                    "{id}  not observed again: {}",
                    one_line(&error.to_string())
                ));
                continue;
            }
        };
        match reparsed.changes.len() {
            0 => page.line(&format!("{id}  nothing changed")),
            1 => page.line(&format!("{id}  1 field changed")),
            count => page.line(&format!("{id}  {count} fields changed")),
        }
        for note in &reparsed.notes {
            page.row("", one_line(note));
        }
        if !reparsed.changes.is_empty() {
            let rows = reparsed.changes.iter().map(|change| {
                [
                    one_line(&change.field),
                    shown(change.was.as_ref()),
                    shown(change.is.as_ref()),
                ]
            });
            page.block(&table(["field", "was", "is"], rows));
        }
        if let Some(kept) = &seen.kept {
            page.row("kept", kept.display().to_string());
        }
    }
    page.finish()
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(
        || "-".to_owned(),
        |value| short_line(&value.to_string(), MAX_VALUE),
    )
}
