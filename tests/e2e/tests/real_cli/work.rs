//! Work that gets done.

use akbench_e2e::real::{REPORT_ENVIRONMENT, RealScene};
use akbench_e2e::scene::CREDENTIAL;
use akbench_responses_server::{Reply, Script, scripts};
use serde_json::{Value, json};
use std::fs;

#[test]
fn a_happy_run_is_recorded_as_it_was() {
    let command = format!("{REPORT_ENVIRONMENT} && echo hi > out.txt && cat out.txt");
    let script = Script::new([
        Reply::shell("call_1", command).usage(1000, 0, 50, 30),
        Reply::message("Wrote out.txt.").usage(1100, 900, 20, 0),
    ]);
    let Some(scene) = RealScene::new("a_happy_run_is_recorded_as_it_was", script) else {
        return;
    };
    let run = scene.run(&["--param", "sandbox_mode=workspace-write"]);
    run.expect_completed();
    run.expect_usage(2100, 900, 70, 30);
    assert!(run.usage_is_complete());
    run.expect_applied("workspace-write");
    assert_eq!(run.result["applied"]["network_access"], false);
    assert_eq!(run.tool_calls(), [("exec_command", "completed", Some(0))]);
    assert_eq!(run.result["final_message"], "Wrote out.txt.");
    assert_eq!(run.result["turns"], 1);
    assert_eq!(run.result["model_requests"], 2);
    assert_eq!(run.result["unresolved"], Value::Null);
    // One reason is left: this checkout has attested no adapter.
    assert_eq!(
        run.result["invalid_reasons"],
        json!(["contract_suite_not_run"])
    );

    assert_eq!(scene.left("out.txt").as_deref(), Some("hi\n"));
    assert_eq!(run.result["workspace"]["files_changed"], 2);
    let environment = scene.tool_environment().expect("the tool's environment");
    assert!(environment.contains("PATH="), "{environment}");
    // `finish` has looked for the value already; the variable is not there, either.
    assert!(!environment.contains("API_KEY"), "{environment}");
    assert!(!environment.contains("AKBENCH"), "{environment}");
    // The endpoint got it, so that there was something to keep secret.
    let requests = scene.server.model_requests();
    assert_eq!(requests.len(), 2);
    for request in requests {
        assert_eq!(
            request.headers["authorization"],
            format!("Bearer {CREDENTIAL}")
        );
    }
}

#[test]
fn the_workspace_that_was_named_stays_as_it_is() {
    let test = "the_workspace_that_was_named_stays_as_it_is";
    let Some(scene) = RealScene::new(test, scripts::happy()) else {
        return;
    };
    scene.scene.write("workspace/out.txt", "before");
    scene.run(&[]).expect_completed();
    assert_eq!(scene.left("out.txt").as_deref(), Some("hi\n"));
    let original = fs::read_to_string(scene.scene.path("workspace/out.txt"));
    assert_eq!(original.unwrap(), "before");
}

#[test]
fn a_patch_through_the_shell_changes_files() {
    let test = "a_patch_through_the_shell_changes_files";
    let Some(scene) = RealScene::new(test, scripts::patch()) else {
        return;
    };
    let run = scene.run(&[]);
    run.expect_completed();
    run.expect_usage(2100, 900, 80, 0);
    run.expect_applied("workspace-write");
    // The CLI applies it itself: no process, no exit code.
    assert_eq!(run.tool_calls(), [("exec_command", "completed", None)]);
    assert_eq!(
        scene.left("new.txt").as_deref(),
        Some("line one\nline two\n")
    );
    assert_eq!(run.result["workspace"]["files_changed"], 1);
}

#[test]
fn a_patch_through_its_own_tool_adds_changes_and_deletes() {
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+new\n*** Update File: a.txt\n@@\n-alpha\n+beta\n*** Delete File: gone.txt\n*** End Patch\n";
    let script = Script::new([
        Reply::custom_tool_call("call_1", "apply_patch", patch).usage(1000, 0, 60, 0),
        Reply::message("Patched.").usage(1100, 900, 20, 0),
    ]);
    let test = "a_patch_through_its_own_tool_adds_changes_and_deletes";
    let Some(scene) = RealScene::new(test, script) else {
        return;
    };
    scene.scene.write("workspace/a.txt", "alpha\n");
    scene.scene.write("workspace/gone.txt", "x\n");
    let run = scene.run(&[]);
    run.expect_completed();
    // No process, no exit code.
    assert_eq!(run.tool_calls(), [("apply_patch", "completed", None)]);
    assert_eq!(scene.left("new.txt").as_deref(), Some("new\n"));
    assert_eq!(scene.left("a.txt").as_deref(), Some("beta\n"));
    assert_eq!(scene.left("gone.txt"), None);
    assert_eq!(run.result["workspace"]["files_changed"], 3);
}

#[test]
fn a_command_that_fails_fails_alone() {
    let script = Script::new([
        Reply::shell("call_1", "echo oops >&2; exit 3").usage(1000, 0, 50, 0),
        Reply::message("It failed.").usage(1100, 900, 20, 0),
    ]);
    let Some(scene) = RealScene::new("a_command_that_fails_fails_alone", script) else {
        return;
    };
    let run = scene.run(&[]);
    run.expect_completed();
    assert_eq!(run.tool_calls(), [("exec_command", "failed", Some(3))]);
}

#[test]
fn an_endpoint_that_reports_no_usage_leaves_it_unknown() {
    let script = Script::new([
        Reply::shell("call_1", "echo hi > out.txt"),
        Reply::message("Done."),
    ]);
    let test = "an_endpoint_that_reports_no_usage_leaves_it_unknown";
    let Some(scene) = RealScene::new(test, script) else {
        return;
    };
    let run = scene.run(&[]);
    run.expect_completed();
    run.expect_unknown_usage();
    assert!(!run.usage_is_complete());
    let reasons = run.result["invalid_reasons"].as_array().unwrap();
    assert!(reasons.contains(&json!("usage_incomplete")), "{reasons:?}");
    assert_eq!(run.tool_calls().len(), 1);
}
