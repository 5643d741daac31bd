//! Evidence of small runs, and what is observed of them.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod completeness;
mod evidence;
mod sub_agents;

use akbench_adapter_sdk::types::{FailureClass, Outcome};
use evidence::{Evidence, FRESH, RESUMED, complete, line, meta, of_usage, printed, record, turn};
use serde_json::json;
use std::fs;

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

fn stopped(evidence: &Evidence) -> akbench_adapter_sdk::types::Observations {
    let exit = json!({"status": {"kind": "signalled", "signal": 9},
                      "signals": [{"signal": "SIGKILL", "reason": "time_limit"}]});
    let path = evidence.0.path().join("spawns/1-task/exit.json");
    fs::write(path, exit.to_string()).unwrap();
    evidence.observe()
}

#[test]
fn a_model_that_never_answered_is_nobodys_fault() {
    let started = &printed("m", 10)[..2];
    for stdout in [&[], started] {
        let evidence = Evidence::new();
        evidence.task(1, FRESH, stdout, None);
        let unresolved = stopped(&evidence).unresolved.unwrap();
        assert_eq!(unresolved.class, FailureClass::Unknown);
        // One that ended by itself says why, or its exit does.
        evidence.task(1, FRESH, stdout, Some(1));
        assert_eq!(evidence.observe().unresolved, None);
    }
    let answered = &printed("m", 10)[..3];
    let evidence = Evidence::new();
    evidence.task(1, FRESH, answered, None);
    assert_eq!(stopped(&evidence).unresolved, None);
}
