//! Output of every kind is recorded as it was, and read as far as it can be.

use super::Run;
use akbench_e2e::scene::Scene;
use akbench_e2e::stub_agent::{
    BEGINNING, StubAgent, TURN_COMPLETED, add_file, add_recording, leave_rollouts,
};
use serde_json::json;

fn message(text: &str) -> String {
    let item = json!({"id": "item_1", "type": "agent_message", "text": text});
    json!({"type": "item.completed", "item": item}).to_string() + "\n"
}

#[test]
fn a_line_of_two_megabytes_is_one_line() {
    let scene = Scene::new();
    let text = "ä".repeat(1 << 20);
    add_file(&scene, "long.jsonl", message(&text));
    let steps = json!([
        {"stdout": {"text": BEGINNING}},
        {"stdout": {"file": "long.jsonl"}},
        {"stdout": {"text": TURN_COMPLETED}},
    ]);
    let run = Run::in_scene(scene, StubAgent::default(), &steps, &[]);
    assert_eq!(run.verdict(), json!(["completed", null, null, 0]));
    assert_eq!(run.result()["final_message"], text);
}

#[test]
fn a_flood_that_means_nothing_is_recorded_to_the_last_byte() {
    const FLOOD: usize = 50_000_000;
    let steps = json!([
        {"stdout": {"text": BEGINNING}},
        {"flood": {"text": "noise that is no event, again and again and again\n", "total_bytes": FLOOD, "to": "stdout"}},
        {"stdout": {"text": "\n"}},
        {"flood": {"text": "more of it on the other stream", "total_bytes": FLOOD, "to": "stderr"}},
        {"stdout": {"text": TURN_COMPLETED}},
    ]);
    let run = Run::of(&steps, &[]);
    assert_eq!(run.verdict(), json!(["completed", null, null, 0]));
    let expected = BEGINNING.len() + FLOOD + 1 + TURN_COMPLETED.len();
    assert_eq!(run.record.task_file("stdout").len(), expected);
    assert_eq!(run.record.task_file("stderr").len(), FLOOD);
    assert_eq!(run.record.task_exit()["stdout_bytes"], expected);
}

#[test]
fn a_flood_of_events_is_the_agents_and_not_the_adapters_fault() {
    // More than the engine takes of events from one session.
    const FLOOD: usize = 80_000_000;
    let one = message(&"words ".repeat(2000));
    let whole = FLOOD / one.len() * one.len();
    let steps = json!([
        {"stdout": {"text": BEGINNING}},
        {"flood": {"text": one, "total_bytes": whole, "to": "stdout"}},
        {"stdout": {"text": TURN_COMPLETED}},
    ]);
    let run = Run::of(&steps, &[]);
    assert_eq!(run.verdict(), json!(["completed", null, null, 0]));
    let events = run.record.lines("events.jsonl");
    let dropped = events
        .iter()
        .filter(|event| event.to_string().contains("are dropped"));
    assert_eq!(dropped.count(), 1, "it is said once");
}

#[test]
fn output_that_is_not_utf8_is_recorded_as_it_was() {
    let odd = [0xff, 0xfe, 0x00, 0x80, b'\n', 0xc3, b'\n'];
    let steps = json!([
        {"stderr": {"bytes": odd}},
        {"stdout": {"bytes": odd}},
        {"stdout": {"text": BEGINNING}},
        {"stdout": {"bytes": odd}},
        {"stdout": {"text": TURN_COMPLETED}},
    ]);
    let run = Run::of(&steps, &[]);
    assert_eq!(run.verdict(), json!(["completed", null, null, 0]));
    assert_eq!(run.record.task_file("stderr"), odd);
    let expected = [
        &odd[..],
        BEGINNING.as_bytes(),
        &odd,
        TURN_COMPLETED.as_bytes(),
    ]
    .concat();
    assert_eq!(run.record.task_file("stdout"), expected);
}

#[test]
fn line_separators_inside_a_text_end_no_line() {
    let text = "one\u{2028}two\u{2029}three\u{85}four\r";
    let steps = json!([
        {"stdout": {"text": BEGINNING}},
        {"stdout": {"text": message(text)}},
        {"stdout": {"text": TURN_COMPLETED}},
    ]);
    let run = Run::of(&steps, &[]);
    assert_eq!(run.result()["final_message"], text);
}

#[test]
fn a_last_line_without_its_end_is_read() {
    let steps = json!([
        {"stdout": {"text": BEGINNING}},
        {"stdout": {"text": TURN_COMPLETED.trim_end()}},
    ]);
    assert_eq!(Run::of(&steps, &[]).verdict()[0], "completed");
}

#[test]
fn session_files_that_are_no_files_are_left_alone() {
    let scene = Scene::new();
    add_recording(&scene, "s01_happy_exec");
    let place =
        |name: &str| format!("sessions/2026/11/30/rollout-2026-11-30T14-00-00-{name}.jsonl");
    let steps = json!([
        {"stdout": {"file": "stdout.jsonl"}},
        leave_rollouts(),
        {"make_fifo": {"into_env": "CODEX_HOME", "path": place("fifo")}},
        {"make_symlink": {"into_env": "CODEX_HOME", "path": place("link"), "target": "/etc/passwd"}},
        {"make_symlink": {"into_env": "CODEX_HOME", "path": "sessions/loop", "target": ".."}},
    ]);
    let run = Run::in_scene(scene, StubAgent::default(), &steps, &[]);
    assert_eq!(run.verdict(), json!(["completed", null, null, 0]));
    assert_eq!(run.result()["usage"]["total_tokens"], 2170);
    let artifacts = run.result()["artifacts"].as_array().expect("artifacts");
    let home: Vec<_> = artifacts
        .iter()
        .filter_map(|artifact| artifact["path"].as_str())
        .filter(|path| path.starts_with("evidence/home/"))
        .collect();
    assert_eq!(home.len(), 1, "{home:?}");
}
