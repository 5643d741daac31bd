//! `akbench runs verify`: is the evidence what the result says it was?

use super::table::Page;
use super::wording::one_line;
use super::{CliError, output};
use crate::runs::{self, Difference, Verification, verify};
use clap::Args;
use std::path::PathBuf;

/// Digest the evidence of runs again and compare it with their results.
///
/// Exit codes: 0 nothing differs · 3 something does. A run without a result counts only if
/// it was named.
#[derive(Debug, Args)]
pub struct VerifyRuns {
    /// The runs, by id or its beginning [default: all]
    #[arg(value_name = "RUN")]
    runs: Vec<String>,

    /// The folder that runs are kept in
    #[arg(long, value_name = "DIR", default_value = "runs")]
    out: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl VerifyRuns {
    pub fn execute(self) -> Result<u8, CliError> {
        let stored = runs::select(&self.out, &self.runs)?;
        let verified: Vec<Verification> = stored.iter().map(verify).collect();
        if self.json {
            output::json(&verified)?;
        } else {
            output::text(&page(&verified))?;
        }
        let all_named = !self.runs.is_empty();
        let differs = verified.iter().any(|run| {
            let unfinished = matches!(
                run.differences[..],
                [Difference::Running | Difference::Dead]
            );
            !run.intact && (all_named || !unfinished)
        });
        Ok(if differs { 3 } else { 0 })
    }
}

fn page(verified: &[Verification]) -> String {
    let mut page = Page::default();
    for run in verified {
        if run.intact {
            page.line(&format!("{}  intact, {} files", run.run_id, run.artifacts));
            continue;
        }
        for difference in &run.differences {
            page.line(&format!(
                "{}  {}",
                run.run_id,
                one_line(&difference.to_string())
            ));
        }
    }
    page.finish()
}
