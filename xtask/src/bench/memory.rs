//! The memory that the host takes while an agent floods it with events.

use std::io::Read as _;
use std::thread;

use serde_json::{Value, json};

use super::peak::{self, Peaks};
use super::rig::Rig;
use super::scenario;
use crate::failure::{Explain, Failure, Outcome};
use crate::steps;

/// The peaks of one flooded run.
pub struct Memory {
    stream_bytes: u64,
    peaks: Peaks,
}

/// Runs a stub that prints `stream_bytes` bytes of events.
///
/// # Errors
///
/// If the run fails.
pub fn measure(rig: &Rig, stream_bytes: u64) -> Outcome<Memory> {
    let stub = rig.stub("flood", &scenario::flood(stream_bytes))?;
    let mut command = rig.run(&stub);
    let shown = steps::shown(&command);
    let mut child = command.spawn().explain(|| format!("start `{shown}`"))?;

    // Both streams are drained, or a talkative run would block on a full pipe.
    let mut stdout = child.stdout.take();
    let out = thread::spawn(move || {
        stdout
            .as_mut()
            .map(|stream| std::io::copy(stream, &mut std::io::sink()))
    });
    let mut stderr = child.stderr.take();
    let err = thread::spawn(move || {
        let mut text = Vec::new();
        // What could be read is all that there is to show.
        let _ = stderr.as_mut().map(|stream| stream.read_to_end(&mut text));
        text
    });
    let (status, peaks) = peak::watch(&mut child, rig.akbench())
        .explain(|| format!("watch the memory of `{shown}`"))?;
    let _ = out.join();
    let text = err.join().unwrap_or_default();
    if !status.success() {
        return Err(Failure::new(format!(
            "the flooded run failed: `{shown}` ended with {status}\n{}",
            String::from_utf8_lossy(&text)
        )));
    }
    Ok(Memory {
        stream_bytes,
        peaks,
    })
}

impl Memory {
    /// Prints a table.
    pub fn print(&self) {
        println!(
            "Host memory, event stream of {} MB (peak resident set, MiB)",
            self.stream_bytes / 1_000_000
        );
        println!("  {:<44} {:>9.1}", "akbench", mebibytes(self.peaks.runner));
        println!(
            "  {:<44} {:>9.1}",
            "its supervisors, peaks added up",
            mebibytes(self.peaks.helpers)
        );
    }

    /// The same as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "stream_bytes": self.stream_bytes,
            "runner_peak_bytes": self.peaks.runner,
            "helpers_peak_bytes": self.peaks.helpers,
        })
    }
}

#[allow(clippy::cast_precision_loss)] // For people, to one decimal.
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}
