//! Stopped in the middle of a tool call: by a person, or by the task's time limit.

use akbench_e2e::processes::{self, wait_for, wait_until_dead};
use akbench_e2e::real::{
    REPORT_ENVIRONMENT, RealRun, RealScene, endless_tool_call, unique_seconds, with_growing_limit,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;

/// The first request's tokens, and one tool call without an end of its own.
fn expect_interrupted_work(run: &RealRun, scene: &RealScene) {
    run.expect_usage(1000, 0, 50, 0);
    run.expect_applied("workspace-write");
    let calls = run.tool_calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!(calls[0].0, "exec_command");
    assert_ne!(calls[0].1, "completed", "{calls:?}");
    assert_ne!(calls[0].2, Some(0), "{calls:?}");
    assert_eq!(run.result["final_message"], Value::Null);
    let environment = scene.tool_environment().expect("the tool's environment");
    assert!(!environment.contains("API_KEY"), "{environment}");
}

fn names_of_signals(exit: &Value) -> Vec<&str> {
    let signals = exit["signals"].as_array().unwrap();
    let names = signals.iter().map(|sent| sent["signal"].as_str().unwrap());
    names.collect()
}

/// SIGINT and SIGTERM mean the same to `akbench`.
fn cancel_during_a_tool_call(test: &str, signal: Signal) {
    let seconds = unique_seconds();
    let script = endless_tool_call(REPORT_ENVIRONMENT, &seconds);
    let Some(scene) = RealScene::new(test, script) else {
        return;
    };
    let running = scene.start(&[]);
    let tool = scene.wait_for_sleep(&seconds);
    scene.wait_for_reported_tool_call();
    let family = processes::descendants(running.pid());
    assert!(family.contains(&tool), "{family:#?}");
    running.signal(signal);
    let run = scene.finish(running);
    assert!(!tool.is_alive());
    assert_eq!(processes::with_argument(&seconds), []);
    wait_until_dead(&family);

    run.expect_end("cancelled", Some("cancelled"), Some("operator"), 130);
    expect_interrupted_work(&run, &scene);
    // Asked by its own protocol first, the CLI completed its session file.
    assert!(run.usage_is_complete(), "{:#}", run.result["provenance"]);
    assert_eq!(names_of_signals(&scene.task_exit())[0], "SIGINT");
}

#[test]
fn ctrl_c_during_a_tool_call_cancels_and_keeps_the_usage() {
    cancel_during_a_tool_call(
        "ctrl_c_during_a_tool_call_cancels_and_keeps_the_usage",
        Signal::INT,
    );
}

#[test]
fn sigterm_during_a_tool_call_cancels_as_ctrl_c_does() {
    cancel_during_a_tool_call(
        "sigterm_during_a_tool_call_cancels_as_ctrl_c_does",
        Signal::TERM,
    );
}

#[test]
fn a_second_ctrl_c_kills_at_once_and_the_result_is_still_written() {
    let test = "a_second_ctrl_c_kills_at_once_and_the_result_is_still_written";
    let seconds = unique_seconds();
    let script = endless_tool_call(REPORT_ENVIRONMENT, &seconds);
    let Some(scene) = RealScene::new(test, script) else {
        return;
    };
    let running = scene.start(&[]);
    scene.wait_for_sleep(&seconds);
    let family = processes::descendants(running.pid());
    // A stopped agent does not react to the polite way, so that there is a time for the second.
    let agent = Pid::from_raw(scene.wait_for_agent().pid).unwrap();
    kill_process(agent, Signal::STOP).unwrap();
    running.signal(Signal::INT);
    let events = scene.folder().join("events.jsonl");
    wait_for("the first Ctrl-C to be noticed", || {
        let events = fs::read_to_string(&events).unwrap();
        events.contains("stopping").then_some(())
    });
    running.signal(Signal::INT);
    let run = scene.finish(running);
    assert_eq!(processes::with_argument(&seconds), []);
    wait_until_dead(&family);

    run.expect_end("cancelled", Some("cancelled"), Some("operator"), 130);
    expect_interrupted_work(&run, &scene);
    let exit = scene.task_exit();
    let signals = names_of_signals(&exit);
    // The patient way would have asked with SIGTERM before it killed.
    assert_eq!(signals[..2], ["SIGINT", "SIGKILL"], "{exit:#}");
}

#[test]
fn the_time_limit_during_a_tool_call_is_the_agents_fault() {
    let test = "the_time_limit_during_a_tool_call_is_the_agents_fault";
    let seconds = unique_seconds();
    let started = || {
        let command = format!("touch started; {REPORT_ENVIRONMENT}");
        RealScene::new(test, endless_tool_call(&command, &seconds))
    };
    if started().is_none() {
        return;
    }
    let (scene, run) = with_growing_limit(|limit| {
        let scene = started().unwrap();
        let run = scene.run(&["--time-limit", limit]);
        let at_work = scene.tool_environment().is_some();
        at_work.then_some((scene, run))
    });
    assert_eq!(processes::with_argument(&seconds), []);
    run.expect_end("timed_out", Some("agent_timeout"), Some("agent"), 1);
    expect_interrupted_work(&run, &scene);
    assert!(run.usage_is_complete(), "{:#}", run.result["provenance"]);
    let exit = scene.task_exit();
    assert_eq!(exit["signals"][0]["reason"], "time_limit", "{exit:#}");
    assert_eq!(exit["signals"][0]["signal"], "SIGINT", "{exit:#}");
}
