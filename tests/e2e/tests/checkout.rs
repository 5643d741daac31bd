//! A source checkout, built and nothing more: the commands work as they are written.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use akbench_e2e::built;
use akbench_e2e::installed::recorded_session;
use akbench_e2e::record::{assert_fits, runs};
use akbench_e2e::scene::{Ran, Scene};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

/// Runs a command line as a person types it, in a folder with a task and a workspace, with one
/// scripted agent in `PATH` and the built program found by its name. Nothing says where the
/// descriptors are.
fn typed(scene: &Scene, line: &str) -> Ran {
    let like = scene.akbench([""; 0]);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]).env_clear();
    command.current_dir(scene.path("."));
    for (name, value) in like.get_envs() {
        if let Some(value) = value.filter(|_| name != "AKBENCH_SHARE") {
            command.env(name, value);
        }
    }
    let programs = scene.path("programs").display().to_string();
    let built = built::akbench().parent().unwrap().display().to_string();
    command.env(
        "PATH",
        format!("{programs}:{built}:/usr/local/bin:/usr/bin:/bin"),
    );
    command.env("XDG_DATA_HOME", scene.path("data-home"));
    scene.run(&mut command)
}

fn scene() -> Scene {
    built::share();
    let scene = Scene::new();
    recorded_session(&scene);
    scene.write("data/workspaces/task-workspace/README.md", "a workspace\n");
    scene
}

fn completed(ran: &Ran) -> Value {
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let result = ran.result();
    assert_fits("result.schema.json", &result);
    assert_eq!(result["status"], "completed");
    assert_eq!(result["usage"]["total_tokens"], 2170);
    result
}

#[test]
fn an_adapter_is_run_by_its_file_name() {
    let scene = scene();
    let ran = typed(
        &scene,
        "akbench run --adapter codex.wasm --workspace data/workspaces/task-workspace \
         --task-file task.txt --param sandbox_mode=workspace-write --runtime llm-router \
         --time-limit 30m --idle-limit 5m --json --out results",
    );
    let result = completed(&ran);
    assert_eq!(result["task"]["time_limit_ms"], 1_800_000);
    assert_eq!(runs(&scene.path("results")).len(), 1);
}

#[test]
fn an_agent_is_run_by_its_name_with_the_only_runtime_there_is() {
    let scene = scene();
    let ran = typed(
        &scene,
        "akbench agent run codex --workspace data/workspaces/task-workspace \
         --task-file task.txt --param sandbox_mode=workspace-write",
    );
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("completed after"), "{}", ran.stderr);
    let result = completed(&typed(&scene, "akbench runs show --json"));
    assert_eq!(result["runtime"]["name"], "llm-router");
    assert_eq!(result["workspace"]["files_changed"], 1);
}

#[test]
fn an_agent_is_run_on_a_task_of_the_dataset() {
    let scene = scene();
    let ran = typed(
        &scene,
        "akbench agent run codex --task wordcount-001 --runtime llm-router \
         --param sandbox_mode=workspace-write --json",
    );
    let result = completed(&ran);
    assert_eq!(result["task"]["id"], "wordcount-001");
    assert_eq!(result["task"]["seed"], 0);
    // The recorded session solves another task, and the evaluator sees that.
    assert_eq!(result["evaluation"]["passed"], false);
}

#[test]
fn a_run_is_valid_once_the_contract_suite_has_attested_the_adapter() {
    let scene = scene();
    let run = "akbench agent run codex --workspace data/workspaces/task-workspace \
               --task-file task.txt --json";
    let before = completed(&typed(&scene, run));
    let suite = built::repository().join("adapters/codex/suite");
    let proven = typed(
        &scene,
        &format!("akbench adapter test codex.wasm --stub {}", suite.display()),
    );
    assert_eq!(proven.code, 0, "{}{}", proven.stdout, proven.stderr);
    let after = completed(&typed(&scene, run));
    assert_eq!(after["invalid_reasons"], json!([]));
    assert_eq!(after["valid"], true);
    // Unless whoever built this has attested it there already.
    let share = built::share().join("attestations");
    if fs::read_dir(share).is_err() {
        assert_eq!(before["invalid_reasons"], json!(["contract_suite_not_run"]));
    }
}

#[test]
fn agents_are_listed_as_built_and_kept_runs_are_observed_again_without_naming_anything() {
    let scene = scene();
    let listed = typed(&scene, "akbench agent list").stdout;
    let line = listed
        .lines()
        .find(|line| line.starts_with("codex@"))
        .unwrap();
    assert!(!line.contains("not built"), "{line}");
    typed(
        &scene,
        "akbench agent run codex --workspace data/workspaces/task-workspace --task-file task.txt",
    );
    let id = runs(&scene.path("runs"))[0]
        .file_name()
        .unwrap()
        .to_string_lossy()
        .into_owned();
    let again = typed(&scene, &format!("akbench runs reparse {id}"));
    assert_eq!(again.code, 0, "{}{}", again.stdout, again.stderr);
    assert_eq!(again.stdout, format!("{id}  nothing changed\n"));
}
