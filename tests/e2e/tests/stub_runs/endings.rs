//! How a program can end, and what is made of it: an exit code alone decides nothing.

use super::Run;
use akbench_e2e::stub_agent::{BEGINNING, TURN_COMPLETED};
use serde_json::{Value, json};

fn after_the_beginning(step: Value) -> Run {
    Run::of(&json!([{"stdout": {"text": BEGINNING}}, step]), &[])
}

#[test]
fn exit_0_without_the_event_that_ends_a_turn_is_a_crash() {
    let run = after_the_beginning(json!({"exit": 0}));
    assert_eq!(run.verdict(), json!(["failed", "agent_crash", "agent", 1]));
    assert_eq!(run.result()["usage"], Value::Null);
}

#[test]
fn exit_codes_of_a_program_that_had_begun_are_crashes() {
    for code in [1, 2, 101, 137, 255] {
        let run = after_the_beginning(json!({"exit": code}));
        assert_eq!(
            run.verdict(),
            json!(["failed", "agent_crash", "agent", 1]),
            "{code}"
        );
        assert_eq!(
            run.record.task_exit()["status"],
            json!({"kind": "exited", "code": code})
        );
    }
}

#[test]
fn an_exit_before_the_beginning_is_nobodys_fault() {
    let run = Run::of(&json!([{"stderr": {"text": "what?\n"}}, {"exit": 1}]), &[]);
    assert_eq!(run.verdict(), json!(["failed", "unknown", "unknown", 3]));
}

#[test]
fn a_segmentation_fault_is_a_crash_and_a_foreign_kill_is_unknown() {
    let run = after_the_beginning(json!({"kill_self": "SIGSEGV"}));
    assert_eq!(run.verdict(), json!(["failed", "agent_crash", "agent", 1]));
    assert_eq!(
        run.record.task_exit()["status"],
        json!({"kind": "signalled", "signal": 11})
    );
    let run = after_the_beginning(json!({"kill_self": "SIGKILL"}));
    assert_eq!(run.verdict(), json!(["failed", "unknown", "unknown", 3]));
}

#[test]
fn a_failing_exit_after_the_event_that_ends_a_turn_is_a_crash() {
    let run = Run::of(
        &json!([
            {"stdout": {"text": BEGINNING}},
            {"stdout": {"text": TURN_COMPLETED}},
            {"exit": 1},
        ]),
        &[],
    );
    assert_eq!(run.verdict(), json!(["failed", "agent_crash", "agent", 1]));
}

#[test]
fn a_program_that_never_exits_after_its_last_event_is_ended() {
    let run = Run::of(
        &json!([
            {"stdout": {"text": BEGINNING}},
            {"stdout": {"text": TURN_COMPLETED}},
            "hang",
        ]),
        &[],
    );
    assert_eq!(run.verdict(), json!(["failed", "agent_crash", "agent", 1]));
    assert!(run.killed() > 0);
    let signals = run.record.task_exit()["signals"].clone();
    assert_eq!(signals[0]["reason"], "adapter", "{signals}");
}

#[test]
fn a_program_that_closes_its_streams_and_goes_on_is_ended_at_the_limit() {
    let run = Run::of(
        &json!([{"stdout": {"text": BEGINNING}}, "close_stdout", "close_stderr", "hang"]),
        &["--time-limit", "1s"],
    );
    assert_eq!(run.verdict()[0], "timed_out");
}

#[test]
fn a_program_that_does_not_read_its_task_may_end() {
    // More than a pipe holds, so that whoever writes it would wait for ever.
    let scene = akbench_e2e::scene::Scene::new();
    scene.write("task.txt", "x".repeat(1 << 20));
    let steps = json!([{"stdout": {"text": BEGINNING}}, {"stdout": {"text": TURN_COMPLETED}}]);
    let run = Run::in_scene(scene, Default::default(), &steps, &[]);
    assert_eq!(run.verdict()[0], "completed");
}
