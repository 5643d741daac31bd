//! What is found out before the agent is given a task.

use super::Run;
use akbench_e2e::scene::Scene;
use akbench_e2e::stub_agent::{BEGINNING, StubAgent, TURN_COMPLETED};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn completes() -> Value {
    json!([{"stdout": {"text": BEGINNING}}, {"stdout": {"text": TURN_COMPLETED}}])
}

fn probed(agent: StubAgent, more: &[&str]) -> Run {
    Run::in_scene(Scene::new(), agent, &completes(), more)
}

/// Refused before the task was started, for a reason that is not the agent's.
fn assert_not_started(run: &Run, class: &str) -> String {
    assert_eq!(run.verdict(), json!(["failed", class, "infrastructure", 3]));
    assert_eq!(run.result()["failure"]["phase"], "validate");
    assert!(run.record.spawn("task").is_none(), "the task was started");
    assert_eq!(run.result()["usage"], Value::Null);
    assert_eq!(run.result()["turns"], Value::Null);
    let message = run.result()["failure"]["message"].as_str();
    message.expect("a message").to_owned()
}

#[test]
fn a_version_that_is_too_old_is_refused_by_name() {
    let run = probed(StubAgent::default().version("0.42.0"), &[]);
    let message = assert_not_started(&run, "environment_invalid");
    assert!(message.contains("0.42.0"), "{message}");
    assert!(message.contains("0.44.0 or newer"), "{message}");
}

#[test]
fn a_version_that_is_not_verified_runs_and_does_not_count() {
    for version in ["0.100.0", "0.172.0"] {
        let run = probed(StubAgent::default().version(version), &[]);
        assert_eq!(run.verdict()[0], "completed", "{version}");
        assert_eq!(run.result()["agent"]["program"]["version"], version);
        assert_eq!(run.result()["valid"], false);
        let warnings = run.result()["warnings"].to_string();
        assert!(warnings.contains(version), "{warnings}");
    }
    let run = probed(StubAgent::default().version("0.100.0"), &[]);
    assert!(run.invalid_for("program_version_unverified"));
    let verified = probed(StubAgent::default(), &[]);
    assert!(!verified.invalid_for("program_version_unverified"));
}

#[test]
fn a_program_that_is_something_else_is_refused() {
    let agent = StubAgent::default()
        .when_asked_for_its_version(json!([{"stdout": {"text": "other-cli 9\n"}}]));
    let message = assert_not_started(&probed(agent, &[]), "environment_invalid");
    assert!(message.contains("--version"), "{message}");
}

#[test]
fn a_sandbox_that_does_not_start_is_found_before_the_task() {
    let broken = json!([{"stderr": {"text": "bwrap: No permissions\n"}}, {"exit": 1}]);
    let agent = || StubAgent::default().when_its_sandbox_is_probed(broken.clone());
    let run = probed(agent(), &[]);
    assert_not_started(&run, "sandbox_unavailable");
    let evidence = &run.result()["failure"]["evidence"];
    assert_eq!(evidence["exit"], json!({"exited": 1}));
    assert_eq!(evidence["stderr"], "bwrap: No permissions\n");
    // Who needs no sandbox is not refused for the lack of one.
    let run = probed(agent(), &["--param", "sandbox_mode=danger-full-access"]);
    assert_eq!(run.verdict()[0], "completed");
}

#[test]
fn a_sandbox_probe_that_hangs_ends_with_the_run_that_is_cancelled() {
    let hangs = json!([{"ignore_signals": ["SIGINT", "SIGTERM"]}, "hang"]);
    let scene = Scene::new();
    let agent = StubAgent::default().when_its_sandbox_is_probed(hangs);
    let program = agent.install(&scene, &completes());
    let mut command = scene.run_command(&program, &[]);
    let running = super::interruption::start(&mut command);
    running.wait_for_the_spawn(&scene, "sandbox-probe");
    running.signal(rustix::process::Signal::INT);
    let run = Run::checked(scene, running.end());
    assert_eq!(
        run.verdict(),
        json!(["cancelled", "cancelled", "operator", 130])
    );
    assert!(run.record.spawn("task").is_none());
}

#[test]
fn a_file_that_can_not_be_executed_is_no_program() {
    for (text, says) in [
        ("#!/nowhere/interpreter\n", "not found"),
        ("no program at all\n", "cannot be executed"),
    ] {
        let scene = Scene::new();
        scene.write("programs/codex", text);
        let program = scene.path("programs/codex");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
        let ran = scene.run(&mut scene.run_command(&program, &[]));
        let run = Run::checked(scene, ran);
        let message = assert_not_started(&run, "environment_invalid");
        assert!(message.contains(says), "{message}");
    }
}
