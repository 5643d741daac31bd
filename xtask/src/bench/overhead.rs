//! The time that the host adds to a program that does nothing.
//!
//! Wall time of `akbench run`, from exec to exit, less its probes (the phase `validate`: they
//! start the agent's program too), less the wall time of the same program started by hand.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use serde_json::Value;

use super::rig::{self, Rig, Stub};
use super::scenario;
use crate::failure::{Explain, Failure, Outcome};
use akbench_recorded::row::{Better, Goal, Row};

/// From exec to the first program asked for, in milliseconds, the component cached.
const START: f64 = 10.0;

/// Run less probes less program, in milliseconds.
const ADDED: f64 = 15.0;

/// Runs without the cache: they take ten times as long.
const WITHOUT_CACHE: u32 = 5;

/// Nothing is confined and nothing limited: the process tree is still held together.
const UNCONFINED: &[&str] = &[
    "--confine",
    "off",
    "--limit",
    "processes=none",
    "--limit",
    "disk=none",
];

/// Samples of one kind of run, in milliseconds.
#[derive(Default)]
struct Kind {
    walls: Vec<f64>,
    starts: Vec<f64>,
    probes: Vec<f64>,
    finishes: Vec<f64>,
    added: Vec<f64>,
}

/// Measures `runs` times; one run before that fills the cache of compiled components.
///
/// # Errors
///
/// If a run fails or its record cannot be read.
pub fn measure(rig: &Rig, runs: u32) -> Outcome<Vec<Row>> {
    let stub = rig.stub("trivial", &scenario::trivial())?;
    one(rig, &stub, &[])?;
    let mut by_hand = Vec::new();
    let (mut open, mut confined, mut fresh) = <(Kind, Kind, Kind)>::default();
    let (mut confinement, mut limits) = (Vec::new(), Vec::new());
    for run in 0..runs {
        // In turns, so that all see the same machine.
        let program = milliseconds(rig::timed(stub.by_hand())?.0);
        by_hand.push(program);
        open.take(&one(rig, &stub, UNCONFINED)?, program);
        if run < WITHOUT_CACHE {
            let compiled = one(rig, &stub, &[UNCONFINED, &["--no-cache"]].concat())?;
            fresh.take(&compiled, program);
        }
    }
    // Apart: what the kernel takes down after a run with control groups and mounts, it does
    // while the next one goes on.
    for _ in 0..runs {
        let off = one(rig, &stub, UNCONFINED)?;
        let limited = one(rig, &stub, &["--confine", "off"])?;
        let on = one(rig, &stub, &["--confine", "best-effort"])?;
        // Of the program itself nothing is left in a difference.
        limits.push(limited.added(0.0) - off.added(0.0));
        confinement.push(on.added(0.0) - limited.added(0.0));
        confined.take(&on, 0.0);
    }
    let row = |id: &str, what: &str, samples: &[f64]| {
        Row::of(format!("overhead.{id}"), what, "ms", Better::Lower, samples)
    };
    let rows = [
        row(
            "start",
            "start to first program, component cached",
            &open.starts,
        )
        .map(|row| row.with_goal(Goal::AtMost(START))),
        row(
            "start_no_cache",
            "start to first program, component compiled",
            &fresh.starts,
        ),
        row(
            "finish",
            "end of the program to the end of the run",
            &open.finishes,
        ),
        row("by_hand", "the program by hand", &by_hand),
        row("probes", "probes of the agent (apart)", &open.probes),
        row(
            "added",
            "added by the host: run - probes - program",
            &open.added,
        )
        .map(|row| row.with_goal(Goal::AtMost(ADDED))),
        row("limits", "added by the default limits (apart)", &limits),
        row("confinement", "added by confinement (apart)", &confinement),
        row("run", "the whole run, unconfined", &open.walls),
        row("run_confined", "the whole run, confined", &confined.walls),
    ];
    Ok(rows.into_iter().flatten().collect())
}

/// One run, in milliseconds.
struct Measured {
    wall: f64,
    /// Until the first program was asked for.
    start: f64,
    probes: f64,
    /// From the end of the task's program.
    finish: f64,
}

impl Measured {
    fn added(&self, program: f64) -> f64 {
        self.wall - self.probes - program
    }
}

impl Kind {
    fn take(&mut self, run: &Measured, program: f64) {
        self.walls.push(run.wall);
        self.starts.push(run.start);
        self.probes.push(run.probes);
        self.finishes.push(run.finish);
        self.added.push(run.added(program));
    }
}

fn one(rig: &Rig, stub: &Stub, more: &[&str]) -> Outcome<Measured> {
    let mut command = rig.run(stub);
    command.args(more);
    let (clock, begin) = (SystemTime::now(), Instant::now());
    let (wall, stdout) = rig::timed(command)?;
    let ended = clock + begin.elapsed();
    let result: Value = serde_json::from_slice(&stdout)
        .explain(|| "read the result of a measured run as JSON".to_owned())?;
    let run = rig
        .runs()
        .join(result["run_id"].as_str().unwrap_or_default());
    let spawns = spawns(&run)?;
    let (Some(first), Some(last)) = (spawns.first(), spawns.last()) else {
        return Err(Failure::new("a measured run started no program"));
    };
    let first = json(&first.join("command.json"))?;
    let start = time(&first["started_at"])?
        .duration_since(clock)
        .unwrap_or_default();
    // The record's own times: when the program was started, and how long it lived.
    let (command, exit) = (
        json(&last.join("command.json"))?,
        json(&last.join("exit.json"))?,
    );
    let lived = Duration::from_millis(exit["duration_ms"].as_u64().unwrap_or_default());
    let over = time(&command["started_at"])? + lived;
    Ok(Measured {
        wall: milliseconds(wall),
        start: milliseconds(start),
        probes: milliseconds(probes(&run)?),
        finish: milliseconds(ended.duration_since(over).unwrap_or_default()),
    })
}

/// How long the probes took. `phases` of the result are whole milliseconds, always rounded down;
/// the times of events are too, but at both ends, so that they are right in the middle.
fn probes(run: &Path) -> Outcome<Duration> {
    let path = run.join("events.jsonl");
    let text = fs::read_to_string(&path).explain(|| format!("read {}", path.display()))?;
    let mut begins = [None; 2];
    for line in text.lines() {
        let event: Value =
            serde_json::from_str(line).explain(|| format!("read {} as JSON", path.display()))?;
        for (begin, phase) in begins.iter_mut().zip(["validate", "start"]) {
            if event["event"] == "phase" && event["phase"] == phase {
                *begin = Some(time(&event["at"])?);
            }
        }
    }
    match begins {
        [Some(validate), Some(start)] => Ok(start.duration_since(validate).unwrap_or_default()),
        _ => Err(Failure::new(format!(
            "{} does not say when the probes began and ended",
            path.display()
        ))),
    }
}

/// The evidence of the programs that a run started, in their order.
fn spawns(run: &Path) -> Outcome<Vec<PathBuf>> {
    let folder = run.join("artifacts/evidence/spawns");
    let doing = || format!("list {}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).explain(doing)? {
        let entry = entry.explain(doing)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let number: Option<u32> = name.split('-').next().and_then(|text| text.parse().ok());
        found.extend(number.map(|number| (number, entry.path())));
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

fn json(path: &Path) -> Outcome<Value> {
    let text = fs::read(path).explain(|| format!("read {}", path.display()))?;
    serde_json::from_slice(&text).explain(|| format!("read {} as JSON", path.display()))
}

fn time(value: &Value) -> Outcome<SystemTime> {
    let text = value.as_str().unwrap_or_default();
    let stamp: Timestamp = text
        .parse()
        .explain(|| format!("read `{text}` in a record as a time"))?;
    let nanoseconds = u64::try_from(stamp.as_nanosecond())
        .explain(|| format!("take `{text}` for a time of today"))?;
    Ok(SystemTime::UNIX_EPOCH + Duration::from_nanos(nanoseconds))
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
