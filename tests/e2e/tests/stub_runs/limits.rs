//! Time limit and idle limit: who does not obey is killed, and nothing stays alive.

use super::Run;
use akbench_e2e::stub_agent::{AT_WORK, TURN_COMPLETED};
use serde_json::json;

fn deaf_to(signals: &[&str]) -> serde_json::Value {
    json!([{"ignore_signals": signals}, {"stdout": {"text": AT_WORK}}, "hang"])
}

#[test]
fn an_agent_that_obeys_the_interrupt_is_timed_out_without_a_kill() {
    let steps = json!([
        {"on_signal": {"signal": "SIGINT", "steps": [{"exit": 130}]}},
        {"stdout": {"text": AT_WORK}},
        "hang",
    ]);
    let run = Run::of(&steps, &["--time-limit", "1s"]);
    assert_eq!(
        run.verdict(),
        json!(["timed_out", "agent_timeout", "agent", 1])
    );
    assert_eq!(run.result()["task"]["time_limit_ms"], 1000);
    assert_eq!(run.result()["failure"]["evidence"]["time_limit_ms"], 1000);
    let exit = run.record.task_exit();
    assert_eq!(exit["status"], json!({"kind": "exited", "code": 130}));
    assert_eq!(exit["signals"][0]["signal"], "SIGINT");
    assert_eq!(exit["signals"][0]["reason"], "time_limit");
    assert_eq!(run.killed(), 0);
}

#[test]
fn an_agent_that_is_deaf_to_every_polite_signal_is_killed() {
    for signals in [
        &["SIGINT"][..],
        &["SIGINT", "SIGTERM"],
        &["SIGINT", "SIGTERM", "SIGHUP"],
    ] {
        let run = Run::of(&deaf_to(signals), &["--time-limit", "500ms"]);
        assert_eq!(
            run.verdict(),
            json!(["timed_out", "agent_timeout", "agent", 1])
        );
        assert!(run.killed() > 0, "{signals:?}");
        let exit = run.record.task_exit();
        let ended_by = if signals.contains(&"SIGTERM") { 9 } else { 15 };
        assert_eq!(
            exit["status"],
            json!({"kind": "signalled", "signal": ended_by})
        );
    }
}

#[test]
fn a_stopped_agent_is_killed() {
    let steps = json!([{"stdout": {"text": AT_WORK}}, "stop_self", "hang"]);
    let run = Run::of(&steps, &["--time-limit", "500ms"]);
    assert_eq!(
        run.verdict(),
        json!(["timed_out", "agent_timeout", "agent", 1])
    );
}

#[test]
fn an_agent_that_was_done_when_its_time_was_over_has_completed() {
    let steps = json!([
        {"on_signal": {"signal": "SIGINT", "steps": [
            {"stdout": {"text": TURN_COMPLETED}},
            {"exit": 0},
        ]}},
        {"stdout": {"text": AT_WORK}},
        "hang",
    ]);
    let run = Run::of(&steps, &["--time-limit", "1s"]);
    assert_eq!(run.verdict(), json!(["completed", null, null, 0]));
}

#[test]
fn silence_ends_the_run_and_is_nobodys_fault() {
    let run = Run::of(&deaf_to(&[]), &["--idle-limit", "1s"]);
    assert_eq!(
        run.verdict(),
        json!(["timed_out", "idle_timeout", "unknown", 3])
    );
    assert_eq!(run.result()["failure"]["evidence"]["idle_limit_ms"], 1000);
    assert_eq!(run.record.task_exit()["signals"][0]["reason"], "idle_limit");
}

#[test]
fn output_that_keeps_coming_is_no_silence() {
    let lines = "{\"type\":\"turn.started\"}\n".repeat(8);
    let steps = json!([
        {"stdout": {"text": AT_WORK}},
        {"stdout": {"text": lines, "delay_ms": 250}},
        {"stderr": {"text": "a\nb\nc\nd\ne\nf\n", "delay_ms": 250}},
        {"stdout": {"text": TURN_COMPLETED}},
    ]);
    let run = Run::of(&steps, &["--idle-limit", "1500ms"]);
    assert_eq!(run.verdict(), json!(["completed", null, null, 0]));
    assert!(run.result()["duration_ms"].as_u64() > Some(3000));
}
