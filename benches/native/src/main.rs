//! `akbench-native-reader EVIDENCE`: observes a folder of evidence and prints how long that
//! took, what memory it took at most, and how much was observed, as JSON.

use akbench_adapter_sdk::evidence::FolderEvidence;
use akbench_codex_adapter::observe::observe;
use akbench_recorded::{computing, peak};
use serde_json::{Value, json};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(evidence), None) = (arguments.next().map(PathBuf::from), arguments.next()) else {
        eprintln!("error: expected one argument, a folder of evidence");
        return ExitCode::from(2);
    };
    match measure(&evidence) {
        Ok(measured) => {
            println!("{measured}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: failed to observe `{}`: {error}", evidence.display());
            ExitCode::FAILURE
        }
    }
}

fn measure(evidence: &Path) -> Result<Value, Box<dyn Error>> {
    let (begin, computed) = (Instant::now(), computing::of_this_thread()?);
    let observed = observe(&FolderEvidence(evidence.to_owned()))?;
    let seconds = begin.elapsed().as_secs_f64();
    let computed = computing::of_this_thread()?.saturating_sub(computed);
    Ok(json!({
        "seconds": seconds,
        "computing_seconds": computed.as_secs_f64(),
        "peak_bytes": peak::resident_bytes()?,
        "final_message": observed.final_message,
        "tool_calls": observed.tool_calls.map(|calls| calls.len()),
    }))
}
