//! The CLI's own sandbox: in force, or impossible.

use crate::degraded::{Without, without_namespaces};
use akbench_e2e::real::{REPORT_ENVIRONMENT, RealScene};
use akbench_e2e::running::Running;
use akbench_responses_server::{Reply, Script, scripts};
use serde_json::{Value, json};

/// Where the sandbox can't start, the CLI itself would end with success.
fn nothing_is_spent(test: &str, without: Without, tree: &str) {
    if !without.is_possible(test) {
        return;
    }
    let Some(scene) = RealScene::new(test, scripts::happy()) else {
        return;
    };
    let mut command = without_namespaces(scene.command(&[]).arg("--keep"), without);
    let run = scene.finish(Running::start(&mut command));
    run.expect_end(
        "failed",
        Some("sandbox_unavailable"),
        Some("infrastructure"),
        3,
    );
    let failure = &run.result["failure"];
    assert_eq!(failure["phase"], "validate", "{failure:#}");
    // The CLI's own words are the evidence.
    assert_eq!(failure["evidence"]["exit"], json!({"exited": 1}));
    let stderr = failure["evidence"]["stderr"].as_str().unwrap();
    assert!(stderr.contains("namespace"), "{stderr}");

    assert_eq!(scene.server.requests(), [], "nothing was spent");
    run.expect_unknown_usage();
    assert_eq!(run.result["tool_calls"], Value::Null);
    assert_eq!(run.result["turns"], Value::Null);
    assert_eq!(run.result["applied"]["sandbox"], Value::Null);
    assert_eq!(run.result["applied"]["model"], Value::Null);
    assert_eq!(run.result["confinement"]["tree"], tree);
}

#[test]
fn without_user_namespaces_nothing_is_spent() {
    let test = "without_user_namespaces_nothing_is_spent";
    nothing_is_spent(test, Without::User, "pid-namespace");
}

#[test]
fn without_pid_namespaces_as_well_nothing_is_spent() {
    let test = "without_pid_namespaces_as_well_nothing_is_spent";
    nothing_is_spent(test, Without::UserAndPid, "sub-reaper");
}

#[test]
fn a_weaker_tree_is_noted_and_works_where_no_sandbox_is_asked_for() {
    let test = "a_weaker_tree_is_noted_and_works_where_no_sandbox_is_asked_for";
    if !Without::UserAndPid.is_possible(test) {
        return;
    }
    let Some(scene) = RealScene::new(test, scripts::happy()) else {
        return;
    };
    let command = scene.command(&["--param", "sandbox_mode=danger-full-access"]);
    let mut command = without_namespaces(&command, Without::UserAndPid);
    let run = scene.finish(Running::start(&mut command));
    run.expect_completed();
    run.expect_usage(2100, 900, 70, 0);
    run.expect_applied("danger-full-access");
    let confinement = &run.result["confinement"];
    assert_eq!(confinement["tree"], "sub-reaper");
    let notes = confinement["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 1, "{confinement:#}");
    let note = notes[0].as_str().unwrap();
    assert!(note.contains("namespace"), "{note}");
}

#[test]
fn a_read_only_sandbox_is_applied_and_holds() {
    let command = format!("{REPORT_ENVIRONMENT}; sleep 0.4; echo ended");
    let script = Script::new([
        Reply::shell("call_1", command).usage(1000, 0, 50, 0),
        Reply::message("It is read-only.").usage(1100, 900, 20, 0),
    ]);
    let test = "a_read_only_sandbox_is_applied_and_holds";
    let Some(scene) = RealScene::new(test, script) else {
        return;
    };
    let run = scene.run(&["--param", "sandbox_mode=read-only"]);
    run.expect_completed();
    run.expect_applied("read-only");
    assert_eq!(scene.tool_environment(), None);
    let output = scene.tool_output("call_1").unwrap();
    assert!(output.contains("ended"), "{output}");
    assert_eq!(run.result["workspace"]["files_changed"], 0);
    assert_eq!(run.result["workspace"]["droppings"], json!([]));
}
