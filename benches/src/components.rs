//! What it takes to get from an adapter's file to an answer.

use crate::error::{Doing, Unmeasured};
use crate::replayed::Replays;
use crate::rig::Parts;
use akbench::sandbox::cache::ComponentCache;
use akbench::sandbox::component::AdapterComponent;
use akbench::sandbox::engine::Sandbox;
use akbench_recorded::row::{Better, Goal, Row};
use std::path::Path;
use std::time::{Duration, Instant};

/// File name, a word for ids, words for people, and whether the goal of calls is for it:
/// interpreters start slowly whatever the host does.
const ADAPTERS: [(&str, &str, &str, bool); 5] = [
    ("codex.wasm", "codex", "Rust (codex)", true),
    ("fake.wasm", "fake", "Rust (fake)", true),
    ("echo-c.wasm", "c", "C", true),
    ("echo-javascript.wasm", "javascript", "JavaScript", false),
    ("echo-python.wasm", "python", "Python", false),
];

/// Instantiation and first call, in microseconds.
const FIRST_CALL: f64 = 150.0;

const LOADS: usize = 15;
const INSTANCES: usize = 200;
const CALLS: usize = 500;

/// No kind of sample of one adapter takes longer than this.
const PATIENCE: Duration = Duration::from_secs(6);

/// Measures every adapter that is built.
///
/// # Errors
///
/// If one of them can't be loaded or does not answer; if none is built.
pub async fn measure(parts: &Parts) -> Result<Vec<Row>, Unmeasured> {
    let mut rows = Vec::new();
    for (file, id, language, has_goal) in ADAPTERS {
        let path = parts.adapters.join(file);
        if path.is_file() {
            rows.extend(adapter(&path, id, language, has_goal).await?);
        }
    }
    if rows.is_empty() {
        return Err(Unmeasured(format!(
            "no adapter is built in `{}`",
            parts.adapters.display()
        )));
    }
    Ok(rows)
}

async fn adapter(
    path: &Path,
    id: &str,
    language: &str,
    has_goal: bool,
) -> Result<Vec<Row>, Unmeasured> {
    let sandbox = Sandbox::new().doing("set up the engine")?;
    let folder = tempfile::tempdir().doing("make a temporary folder")?;
    let cache = ComponentCache::new(Some(folder.path().join("components")));
    let load = || AdapterComponent::load(path, &sandbox, &cache).doing("load an adapter");

    let begin = Instant::now();
    let mut component = load()?;
    let compiled = [milliseconds(begin)];
    let loads = repeat(LOADS, || {
        let begin = Instant::now();
        component = load()?;
        Ok(milliseconds(begin))
    })?;

    let replays = Replays::new(&sandbox, &component, None)?;
    let (mut instantiated, mut first, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    let until = Instant::now() + PATIENCE;
    while whole.len() < INSTANCES && Instant::now() < until {
        let begin = Instant::now();
        let (mut instance, _interrupter) = replays.instantiate().await?;
        let there = microseconds(begin);
        replays.start(&mut instance).await?;
        let answered = microseconds(begin);
        instantiated.push(there);
        first.push(answered - there);
        whole.push(answered);
    }

    let (mut instance, _interrupter) = replays.instantiate().await?;
    replays.start(&mut instance).await?;
    let mut calls = Vec::new();
    for _ in 0..CALLS {
        let begin = Instant::now();
        instance.begin_operation(PATIENCE);
        instance.status().await.doing("call get-status")?;
        instance.end_operation();
        calls.push(microseconds(begin));
    }

    let row = |what: &str, words: &str, unit, samples: &[f64]| {
        let words = format!("{language}: {words}");
        Row::of(
            format!("component.{id}.{what}"),
            words,
            unit,
            Better::Lower,
            samples,
        )
    };
    let both = row("first", "instantiate and first call", "us", &whole);
    let rows = [
        row("compile", "compile and keep", "ms", &compiled),
        row("load", "load from the cache, with its checks", "ms", &loads),
        row("instantiate", "instantiate", "us", &instantiated),
        row("start", "first call (start-session)", "us", &first),
        both.map(|row| match has_goal {
            true => row.with_goal(Goal::AtMost(FIRST_CALL)),
            false => row,
        }),
        row("call", "another call (get-status)", "us", &calls),
    ];
    Ok(rows.into_iter().flatten().collect())
}

fn repeat(
    most: usize,
    mut sample: impl FnMut() -> Result<f64, Unmeasured>,
) -> Result<Vec<f64>, Unmeasured> {
    let until = Instant::now() + PATIENCE;
    let mut samples = vec![sample()?];
    while samples.len() < most && Instant::now() < until {
        samples.push(sample()?);
    }
    Ok(samples)
}

fn milliseconds(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1e3
}

fn microseconds(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1e6
}
