//! A flood of events through a whole run: recorded, masked, read by the adapter, passed on,
//! read again. How fast, and in how much memory?

use std::io::Read as _;
use std::thread;

use serde_json::Value;

use super::peak::{self, Peaks};
use super::rig::Rig;
use super::scenario;
use crate::failure::{Explain, Failure, Outcome};
use crate::steps;
use akbench_recorded::row::{Better, Goal, Row};

/// The runner's peak resident set, in MiB.
const PEAK: f64 = 64.0;

/// Runs a stub that prints as many megabytes of events, for each of these lengths.
///
/// # Errors
///
/// If a run fails.
pub fn measure(rig: &Rig, megabytes: [u32; 2]) -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    for megabytes in megabytes {
        let (result, peaks) = flood(rig, u64::from(megabytes) * 1_000_000)?;
        let milliseconds = |phase: &str| {
            result["phases"][phase]
                .as_f64()
                .ok_or_else(|| Failure::new(format!("the flooded run has no phase `{phase}`")))
        };
        let rate = |milliseconds: f64| f64::from(megabytes) / (milliseconds / 1e3);
        let what = format!("{megabytes} MB of events");
        let row = |end: &str, words: &str, unit, better, figure: f64| {
            let id = format!("live.{megabytes}.{end}");
            Row::of(id, format!("{what}: {words}"), unit, better, &[figure])
        };
        let all = [
            row(
                "work",
                "while the agent prints",
                "MB/s",
                Better::Higher,
                rate(milliseconds("work")?),
            ),
            row(
                "collect",
                "read again for the observations",
                "MB/s",
                Better::Higher,
                rate(milliseconds("collect")?),
            ),
            row(
                "peak",
                "peak memory of the host",
                "MiB",
                Better::Lower,
                mebibytes(peaks.runner),
            )
            .map(|row| row.with_goal(Goal::AtMost(PEAK))),
            row(
                "supervisors",
                "peak memory of its supervisors together",
                "MiB",
                Better::Lower,
                mebibytes(peaks.helpers),
            ),
        ];
        rows.extend(all.into_iter().flatten());
    }
    Ok(rows)
}

fn flood(rig: &Rig, stream_bytes: u64) -> Outcome<(Value, Peaks)> {
    let stub = rig.stub(
        &format!("flood-{stream_bytes}"),
        &scenario::flood(stream_bytes),
    )?;
    let mut command = rig.run(&stub);
    let shown = steps::shown(&command);
    let mut child = command.spawn().explain(|| format!("start `{shown}`"))?;

    // Both streams are drained, or a talkative run would block on a full pipe.
    let drain = |stream: Option<Box<dyn std::io::Read + Send>>| {
        thread::spawn(move || {
            let mut text = Vec::new();
            // What could be read is all that there is to show.
            let _ = stream.map(|mut stream| stream.read_to_end(&mut text));
            text
        })
    };
    let out = drain(child.stdout.take().map(|stream| Box::new(stream) as _));
    let err = drain(child.stderr.take().map(|stream| Box::new(stream) as _));
    let (status, peaks) = peak::watch(&mut child, rig.akbench())
        .explain(|| format!("watch the memory of `{shown}`"))?;
    let (out, err) = (
        out.join().unwrap_or_default(),
        err.join().unwrap_or_default(),
    );
    if !status.success() {
        return Err(Failure::new(format!(
            "the flooded run failed: `{shown}` ended with {status}\n{}",
            String::from_utf8_lossy(&err)
        )));
    }
    let result = serde_json::from_slice(&out)
        .explain(|| "read the result of the flooded run as JSON".to_owned())?;
    rig.clear()?;
    Ok((result, peaks))
}

#[allow(clippy::cast_precision_loss)] // For people, to one decimal.
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}
