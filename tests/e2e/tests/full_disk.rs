//! A disk that fills up while the agent works.

#![allow(clippy::expect_used, clippy::panic)]

use akbench_e2e::scene::Scene;
use serde_json::json;
use std::fs;
use std::process::Command;

/// Runs a command in a mount namespace in which `runs` is a file system of 6 MB.
fn on_a_small_disk(scene: &Scene, command: &Command) -> Option<Command> {
    let runs = scene.path("runs");
    fs::create_dir_all(&runs).expect("a folder");
    let mount = format!(
        "mount -t tmpfs -o size=6m,mode=0755 small '{}'",
        runs.display()
    );
    let mut inside = Command::new("unshare");
    inside.args([
        "-rm",
        "sh",
        "-c",
        &format!(
            "{mount} || exit 77; \"$@\"; code=$?; cp -r '{0}' '{0}.kept'; exit $code",
            runs.display()
        ),
        "sh",
    ]);
    inside.arg(command.get_program()).args(command.get_args());
    inside
        .current_dir(command.get_current_dir().expect("a folder"))
        .env_clear();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            inside.env(name, value);
        }
    }
    let probe = Command::new("unshare").args(["-rm", "true"]).status();
    if !probe.is_ok_and(|status| status.success()) {
        eprintln!("skipped: needs user and mount namespaces");
        return None;
    }
    Some(inside)
}

#[test]
fn a_full_disk_ends_the_run_as_infrastructure_and_the_result_is_still_written() {
    let scene = Scene::new();
    let program = scene.stub(
        "codex",
        &json!({"cases": [
            {"when": {"args_start": ["--version"]}, "steps": [{"stdout": {"text": "codex-cli 0.171.0\n"}}]},
            {"when": {"args_start": ["sandbox"]}, "steps": [{"exit": 0}]},
            {"steps": [
                {"stdout": {"text": "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"turn.started\"}\n"}},
                {"flood": {"text": "{\"type\":\"noise\",\"text\":\"0123456789\"}\n", "total_bytes": 30_000_000, "to": "stdout"}},
                "hang"
            ]}
        ]}),
    );
    let command = scene.run_command(&program, &["--in-place"]);
    let Some(mut inside) = on_a_small_disk(&scene, &command) else {
        return;
    };
    let ran = scene.run(&mut inside);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let result = ran.result();
    assert_eq!(result["status"], "failed", "{}", ran.stderr);
    assert_eq!(result["failure"]["class"], "disk_full");
    assert_eq!(result["failure"]["fault"], "infrastructure");
    assert_eq!(result["processes"]["survivors"], 0);

    let kept = scene
        .path("runs.kept")
        .join(result["run_id"].as_str().expect("a run id"));
    let written = fs::read_to_string(kept.join("result.json")).expect("the result");
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&written).expect("JSON"),
        result
    );
    // What was recorded is what was written, byte for byte: whole noise lines after the start.
    let stdout =
        fs::read_to_string(kept.join("artifacts/evidence/spawns/3-task/stdout")).expect("stdout");
    assert!(stdout.len() > 1_000_000, "{}", stdout.len());
    let (whole, _) = stdout.rsplit_once('\n').expect("lines");
    assert!(
        whole
            .lines()
            .skip(2)
            .all(|line| line == "{\"type\":\"noise\",\"text\":\"0123456789\"}")
    );
}
