//! Runs that were kept: completing what a dead host left, and observing again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod recovering;
mod reparsing;
mod torn;

use akbench_e2e::processes::{PATIENCE, wait_until};
use akbench_e2e::record::{self, runs};
use akbench_e2e::running::Running;
use akbench_e2e::scene::{Ran, Scene};
use akbench_e2e::stub_agent::{
    StubAgent, add_file, add_recording, leave_rollouts, print_events, read_task,
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What the agent does before it goes on for ever: all that a recorded session shows.
fn work_and_hang() -> Value {
    json!([
        read_task(),
        {"write_file": {"path": "out.txt", "text": "hi\n"}},
        leave_rollouts(),
        print_events(),
        {"stderr": {"text": "at work\n"}},
        "hang",
    ])
}

/// A run at work, in a scene of its own, once the agent has said all that it will say.
fn at_work(steps: &Value, more: &[&str]) -> (Scene, Running) {
    let scene = Scene::new();
    add_recording(&scene, "s01_happy_exec");
    at_work_in(scene, steps, more)
}

fn at_work_in(scene: Scene, steps: &Value, more: &[&str]) -> (Scene, Running) {
    let program = StubAgent::default().install(&scene, steps);
    let running = Running::start(&mut scene.run_command(&program, more));
    let said_all = || {
        the_run(&scene).is_some_and(|run| {
            // Whole lines: half of the last one may be recorded before the rest of it.
            let said = |file: &str, text: &str| {
                let path = task_evidence(&run).map(|folder| folder.join(file));
                path.and_then(|path| fs::read_to_string(path).ok())
                    .is_some_and(|found| found.contains(text) && found.ends_with('\n'))
            };
            said("stderr", "at work") && said("stdout", "turn.completed")
        })
    };
    assert!(wait_until(PATIENCE, said_all), "the agent did not work");
    (scene, running)
}

/// The folder of a run whose host was killed while the agent worked.
fn killed_at_work(more: &[&str]) -> (Scene, PathBuf) {
    let (scene, running) = at_work(&work_and_hang(), more);
    running.signal(Signal::KILL);
    running.finish();
    let folder = the_run(&scene).expect("a run");
    (scene, folder)
}

fn the_run(scene: &Scene) -> Option<PathBuf> {
    runs(&scene.path("runs")).into_iter().next()
}

fn task_evidence(run: &Path) -> Option<PathBuf> {
    let spawns = fs::read_dir(run.join("artifacts/evidence/spawns")).ok()?;
    spawns
        .flatten()
        .map(|spawn| spawn.path())
        .find(|path| path.to_string_lossy().ends_with("-task"))
}

/// `akbench runs recover --json`; its entries.
fn recover(scene: &Scene, more: &[&str], code: i32) -> Vec<Value> {
    let mut command = scene.akbench(["runs", "recover", "--json"]);
    let ran = scene.run(command.args(more));
    assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
    listed(&ran)
}

fn listed(ran: &Ran) -> Vec<Value> {
    match ran.result() {
        Value::Array(entries) => entries,
        other => panic!("a list was expected: {other}"),
    }
}

/// The result of a run, which fits its schema.
fn result_of(run: &Path) -> Value {
    let bytes = fs::read(run.join("result.json")).expect("a result");
    let result = serde_json::from_slice(&bytes).expect("JSON");
    record::assert_fits("result.schema.json", &result);
    result
}

/// Every file below a folder, with its content.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let kind = entry.file_type().expect("a kind");
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                found.insert(entry.path(), fs::read(entry.path()).expect("a file"));
            }
        }
    }
    found
}

/// A file beside the scenario that holds the scene's credential.
fn add_secret_file(scene: &Scene, name: &str) {
    let secret = akbench_e2e::scene::CREDENTIAL;
    add_file(scene, name, format!("key={secret}\n"));
}
