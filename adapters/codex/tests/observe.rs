//! Evidence of small runs, and what is observed of them.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use akbench_adapter_sdk::evidence::FolderEvidence;
use akbench_adapter_sdk::types::{FailureClass, Observations, Outcome, Provenance};
use akbench_codex_adapter::observe::observe;
use serde_json::{Value, json};
use std::fs;

struct Evidence(tempfile::TempDir);

impl Evidence {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn task(&self, number: u32, args: &[&str], stdout: &[Value], exit: Option<i32>) -> &Self {
        let folder = self.0.path().join(format!("spawns/{number}-task"));
        fs::create_dir_all(&folder).unwrap();
        let command = json!({"program": "codex", "args": args});
        fs::write(folder.join("command.json"), command.to_string()).unwrap();
        fs::write(folder.join("stdout"), lines(stdout)).unwrap();
        fs::write(folder.join("stderr"), "").unwrap();
        if let Some(code) = exit {
            let exit = json!({"status": {"kind": "exited", "code": code}, "signals": []});
            fs::write(folder.join("exit.json"), exit.to_string()).unwrap();
        }
        self
    }

    fn rollout(&self, name: &str, content: &[Value]) -> &Self {
        let folder = self.0.path().join("home/sessions/2026/01/01");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("rollout-{name}.jsonl")), lines(content)).unwrap();
        self
    }

    fn observe(&self) -> Observations {
        observe(&FolderEvidence(self.0.path().to_owned())).unwrap()
    }
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn line(kind: &str, payload: Value) -> Value {
    json!({"timestamp": "t", "type": kind, "payload": payload})
}

fn meta(id: &str, session: &str) -> Value {
    line(
        "session_meta",
        json!({"id": id, "session_id": session, "cli_version": "0.171.0"}),
    )
}

fn turn(id: &str, root: &str) -> Value {
    line(
        "event_msg",
        json!({"type": "task_started", "turn_id": id, "root_turn_id": root}),
    )
}

fn record(thread: &str, response: &str, input: u64) -> Value {
    let usage = json!({"input_tokens": input, "output_tokens": 1, "total_tokens": input + 1});
    line(
        "token_usage_record",
        json!({"thread_id": thread, "response_id": response, "usage": usage}),
    )
}

fn complete(message: &str) -> Value {
    line(
        "event_msg",
        json!({"type": "task_complete", "last_agent_message": message}),
    )
}

fn printed(thread: &str, input: u64) -> Vec<Value> {
    let usage = json!({"input_tokens": input, "output_tokens": 1});
    vec![
        json!({"type": "thread.started", "thread_id": thread}),
        json!({"type": "turn.started"}),
        json!({"type": "item.completed", "item": {"type": "agent_message", "text": "said"}}),
        json!({"type": "turn.completed", "usage": usage}),
    ]
}

fn of_usage(observed: &Observations) -> &Provenance {
    observed
        .provenance
        .iter()
        .find(|entry| entry.observation == "usage")
        .unwrap()
}

const FRESH: &[&str] = &["exec", "--json", "-"];
const RESUMED: &[&str] = &["exec", "--json", "resume", "m", "-"];

#[test]
fn sub_agents_count_and_are_not_in_what_the_program_prints() {
    let evidence = Evidence::new();
    evidence
        .task(1, FRESH, &printed("m", 10), Some(0))
        .rollout(
            "1-m",
            &[
                meta("m", "m"),
                turn("a", "a"),
                record("m", "r", 10),
                complete("done"),
            ],
        )
        .rollout(
            "2-s",
            &[
                meta("s", "m"),
                turn("b", "a"),
                record("s", "r", 5),
                complete("done, too"),
            ],
        );
    let observed = evidence.observe();
    assert_eq!(observed.outcome, Some(Outcome::Completed));
    assert_eq!(observed.usage.unwrap().input, Some(15));
    assert_eq!(observed.model_requests, Some(2));
    assert_eq!(observed.final_message.as_deref(), Some("done"));
    assert_eq!(observed.agent_version.as_deref(), Some("0.171.0"));
    assert!(of_usage(&evidence.observe()).complete);
}

#[test]
fn a_second_task_has_its_own_usage_and_turn() {
    let evidence = Evidence::new();
    let first = [
        meta("m", "m"),
        turn("a", "a"),
        record("m", "r", 10),
        complete("one"),
    ];
    let second = [turn("b", "b"), record("m", "r", 7), complete("two")];
    evidence
        .task(1, FRESH, &printed("m", 10), Some(0))
        .task(2, RESUMED, &printed("m", 17), Some(0))
        .rollout("1-m", &[first.as_slice(), second.as_slice()].concat());
    let observed = evidence.observe();
    assert_eq!(observed.usage.as_ref().unwrap().input, Some(7));
    assert_eq!(observed.model_requests, Some(1));
    assert_eq!(observed.turns, Some(1));
    assert_eq!(observed.final_message.as_deref(), Some("two"));
    assert!(of_usage(&observed).complete);
}

#[test]
fn the_total_of_a_continued_conversation_is_not_the_tasks() {
    let evidence = Evidence::new();
    evidence.task(1, RESUMED, &printed("m", 99), Some(0));
    assert_eq!(evidence.observe().usage, None);
}

#[test]
fn without_a_session_file_the_stream_tells_what_it_can() {
    let evidence = Evidence::new();
    evidence.task(1, FRESH, &printed("m", 10), Some(0));
    let observed = evidence.observe();
    let usage = observed.usage.unwrap();
    assert_eq!(
        (usage.input, usage.total, usage.reasoning_output),
        (Some(10), Some(11), None)
    );
    assert_eq!(observed.tool_calls, None);
    assert_eq!(observed.applied.model, None);
    let observed = evidence.observe();
    assert_eq!(of_usage(&observed).source, "stdout:turn.completed");
    assert_eq!(of_usage(&observed).missing, ["session file"]);
}

#[test]
fn printed_zeros_are_no_usage() {
    let evidence = Evidence::new();
    let zeros = json!({"input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0});
    let mut stdout = printed("m", 0);
    stdout[3] = json!({"type": "turn.completed", "usage": zeros});
    evidence
        .task(1, FRESH, &stdout, Some(0))
        .rollout("1-m", &[meta("m", "m"), turn("a", "a"), complete("done")]);
    let observed = evidence.observe();
    assert_eq!((observed.usage, observed.model_requests), (None, None));
    assert_eq!(observed.outcome, Some(Outcome::Completed));
}

#[test]
fn a_lost_record_makes_the_usage_incomplete() {
    let evidence = Evidence::new();
    evidence.task(1, FRESH, &printed("m", 10), Some(0)).rollout(
        "1-m",
        &[
            meta("m", "m"),
            turn("a", "a"),
            record("m", "r", 4),
            complete("x"),
        ],
    );
    let observed = evidence.observe();
    assert_eq!(of_usage(&observed).missing, ["requests without a record"]);
}

#[test]
fn usage_by_model_needs_the_model_of_every_turn() {
    let evidence = Evidence::new();
    let context = |model: &str| line("turn_context", json!({"model": model, "effort": "high"}));
    evidence
        .task(1, FRESH, &printed("m", 10), Some(0))
        .rollout(
            "1-m",
            &[
                meta("m", "m"),
                turn("a", "a"),
                context("x"),
                record("m", "r", 10),
            ],
        )
        .rollout(
            "2-s",
            &[
                meta("s", "m"),
                turn("b", "a"),
                context("y"),
                record("s", "r", 5),
            ],
        );
    let observed = evidence.observe();
    let models = observed.usage_by_model.unwrap();
    let shares: Vec<_> = models
        .iter()
        .map(|m| (m.model.as_str(), m.usage.input))
        .collect();
    assert_eq!(shares, [("x", Some(10)), ("y", Some(5))]);
    assert_eq!(observed.applied.reasoning_effort.as_deref(), Some("high"));
    evidence.rollout(
        "3-t",
        &[meta("t", "m"), turn("c", "a"), record("t", "r", 5)],
    );
    assert_eq!(evidence.observe().usage_by_model, None);
}

#[test]
fn an_engine_that_died_leaves_no_outcome() {
    let evidence = Evidence::new();
    evidence.task(1, FRESH, &printed("m", 10), None);
    let observed = evidence.observe();
    assert_eq!(observed.outcome, None);
    let outcome = observed
        .provenance
        .iter()
        .find(|entry| entry.observation == "outcome");
    assert_eq!(outcome.unwrap().missing, ["exit status"]);
}

#[test]
fn a_start_that_was_refused_names_the_line() {
    let evidence = Evidence::new();
    evidence.task(1, FRESH, &[], Some(1));
    let stderr = "Error loading config.toml: unknown variant `x`\nin `y`\n";
    fs::write(evidence.0.path().join("spawns/1-task/stderr"), stderr).unwrap();
    let outcome = evidence.observe().outcome;
    let Some(Outcome::Failed(failure)) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(failure.class, FailureClass::InvalidConfiguration);
    assert!(failure.evidence.contains("unknown variant `x`"));
}

#[test]
fn only_a_probe_gives_the_version_and_nothing_else() {
    let evidence = Evidence::new();
    let folder = evidence.0.path().join("spawns/1-version");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("stdout"), "codex-cli 0.171.0\n").unwrap();
    let observed = evidence.observe();
    assert_eq!(observed.agent_version.as_deref(), Some("0.171.0"));
    assert_eq!(
        (observed.outcome, observed.turns, observed.usage),
        (None, None, None)
    );
}
