//! Long event streams and session files, read through the component and natively by the same
//! code, in turns, each time in a process of its own, so that peaks of memory are its own.

use crate::error::{Doing, Unmeasured};
use crate::replayed::Replays;
use akbench::sandbox::cache::ComponentCache;
use akbench::sandbox::component::AdapterComponent;
use akbench::sandbox::engine::Sandbox;
use akbench_recorded::evidence::{Long, lay_out};
use akbench_recorded::row::{Better, Goal, Row};
use akbench_recorded::{computing, peak};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Throughput of the component over that of native code.
const RATIO: f64 = 0.7;

/// Of the process that hosts the component, in MiB.
const PEAK: f64 = 64.0;

/// What reads.
pub struct Readers {
    /// This program, which observes through the component if it is asked to.
    pub own: PathBuf,
    /// The native reader.
    pub native: PathBuf,
    /// The component.
    pub adapter: PathBuf,
    /// Compiled components.
    pub cache: PathBuf,
}

/// Measures one length; `pairs` is how often each reader reads.
///
/// # Errors
///
/// If the evidence can't be written, a reader fails, or both observe different things.
pub fn measure(
    readers: &Readers,
    long: Long,
    megabytes: u64,
    pairs: usize,
) -> Result<Vec<Row>, Unmeasured> {
    let folder = tempfile::Builder::new()
        .prefix("akbench-stream-")
        .tempdir()
        .doing("make a temporary folder")?;
    let (lines, bytes) = lay_out(folder.path(), long, megabytes * 1_000_000)
        .doing("make a long stream of the recordings")?;
    #[allow(clippy::cast_precision_loss)] // Megabytes, to one decimal.
    let size = bytes as f64 / 1e6;
    // Once unmeasured: what was just written is then read from memory by both.
    readers.native(folder.path())?;
    let (mut native, mut component) = (Samples::default(), Samples::default());
    let mut ratios = Vec::new();
    for _ in 0..pairs {
        let one = readers.native(folder.path())?;
        let other = readers.component(folder.path())?;
        for what in ["final_message", "tool_calls"] {
            if one[what] != other[what] {
                return Err(Unmeasured(format!(
                    "native code and component observe different things: {what} is {} and {}",
                    one[what], other[what]
                )));
            }
        }
        let (one, other) = (native.add(&one, size)?, component.add(&other, size)?);
        ratios.push(one / other);
    }
    let (id, name) = match long {
        Long::Stream => ("stream", "event stream"),
        Long::SessionFile => ("rollout", "session file"),
    };
    let what = format!("{name} of {megabytes} MB ({lines} lines)");
    let row = |end: &str, words: &str, unit, better, samples: &[f64]| {
        let id = format!("{id}.{megabytes}.{end}");
        Row::of(id, format!("{what}: {words}"), unit, better, samples)
    };
    let rows = [
        row("native", "native", "MB/s", Better::Higher, &native.rates),
        row(
            "component",
            "component",
            "MB/s",
            Better::Higher,
            &component.rates,
        ),
        row(
            "ratio",
            "component / native, by time on a core",
            "",
            Better::Higher,
            &ratios,
        )
        .map(|row| row.with_goal(Goal::AtLeast(RATIO))),
        row(
            "native_peak",
            "native, peak memory",
            "MiB",
            Better::Lower,
            &native.peaks,
        ),
        row(
            "component_peak",
            "host with component, peak memory",
            "MiB",
            Better::Lower,
            &component.peaks,
        )
        .map(|row| row.with_goal(Goal::AtMost(PEAK))),
        row(
            "guest_memory",
            "of which the component's own",
            "MiB",
            Better::Lower,
            &component.guest,
        ),
    ];
    Ok(rows.into_iter().flatten().collect())
}

#[derive(Default)]
struct Samples {
    rates: Vec<f64>,
    peaks: Vec<f64>,
    guest: Vec<f64>,
}

impl Samples {
    /// Returns the time spent on a core: whoever else uses the machine must not decide which
    /// of two readers is faster.
    fn add(&mut self, read: &Value, megabytes: f64) -> Result<f64, Unmeasured> {
        let number = |key: &str| {
            let absent = || Unmeasured(format!("a reader printed no `{key}`: {read}"));
            read[key].as_f64().ok_or_else(absent)
        };
        self.rates.push(megabytes / number("seconds")?);
        self.peaks.push(number("peak_bytes")? / f64::from(1 << 20));
        if let Some(bytes) = read["guest_bytes"].as_f64() {
            self.guest.push(bytes / f64::from(1 << 20));
        }
        let computing = number("computing_seconds")?;
        if computing > 0.0 {
            return Ok(computing);
        }
        Err(Unmeasured(
            "the kernel does not count the time that a thread spends on a core \
             (/proc/thread-self/schedstat)"
                .to_owned(),
        ))
    }
}

impl Readers {
    fn native(&self, evidence: &Path) -> Result<Value, Unmeasured> {
        run(Command::new(&self.native).arg(evidence))
    }

    fn component(&self, evidence: &Path) -> Result<Value, Unmeasured> {
        run(Command::new(&self.own)
            .arg("observe")
            .arg("--adapter")
            .arg(&self.adapter)
            .arg("--cache")
            .arg(&self.cache)
            .arg(evidence))
    }
}

fn run(command: &mut Command) -> Result<Value, Unmeasured> {
    let output = command.output().doing("start a reader")?;
    if !output.status.success() {
        return Err(Unmeasured(format!(
            "a reader ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        )));
    }
    serde_json::from_slice(&output.stdout).doing("read what a reader printed")
}

/// Observes through the component; what is returned has the form of the native reader's.
///
/// # Errors
///
/// If the component can't be loaded or can't observe.
pub async fn observe(adapter: &Path, cache: &Path, evidence: &Path) -> Result<Value, Unmeasured> {
    let sandbox = Sandbox::new().doing("set up the engine")?;
    let cache = ComponentCache::new(Some(cache.to_owned()));
    let component = AdapterComponent::load(adapter, &sandbox, &cache).doing("load the adapter")?;
    let replays = Replays::new(&sandbox, &component, Some(evidence))?;
    let computed = || computing::of_this_thread().doing("read the time spent on a core");
    let (begin, before) = (Instant::now(), computed()?);
    let (observed, guest_bytes) = replays.observe().await?;
    let seconds = begin.elapsed().as_secs_f64();
    let computing_seconds = computed()?.saturating_sub(before).as_secs_f64();
    Ok(json!({
        "seconds": seconds,
        "computing_seconds": computing_seconds,
        "peak_bytes": peak::resident_bytes().doing("read the peak memory")?,
        "guest_bytes": guest_bytes,
        "final_message": observed.final_message,
        "tool_calls": observed.tool_calls.map(|calls| calls.len()),
    }))
}
