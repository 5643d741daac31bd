//! The adapters in Python, JavaScript and C: the same agent, the same behaviour, the same
//! observations, driven through the built `akbench`.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agent;
mod replayed;

use agent::{Language, START, USAGE};
use serde_json::{Value, json};
use std::fs;

/// Makes every test once for each language; each says so and ends if its adapter is not built.
macro_rules! for_each_language {
    ($($test:ident)*) => {
        for_each_language! { @ python Python: $($test)* }
        for_each_language! { @ javascript JavaScript: $($test)* }
        for_each_language! { @ c C: $($test)* }
    };
    (@ $module:ident $language:ident: $($test:ident)*) => {
        mod $module {
            $(#[test]
            fn $test() {
                if super::Language::$language.is_built(stringify!($test)) {
                    super::$test(super::Language::$language);
                }
            })*
        }
    };
}

for_each_language! {
    a_task_is_completed_in_the_workspace_and_everything_that_was_printed_is_observed
    what_the_agent_does_not_say_stays_null
    an_exit_without_the_last_event_is_the_agents_crash
    a_signal_of_its_own_is_a_crash_and_any_other_is_unknown
    a_typed_error_is_classified_by_its_code_and_its_exit_code_changes_nothing
    lines_that_are_no_json_are_counted_and_explain_a_missing_end
    a_cancelled_agent_is_asked_first_so_that_its_last_usage_is_kept
    a_time_limit_ends_an_agent_that_is_deaf_to_being_asked
    a_limit_that_ends_endless_retries_takes_its_fault_from_them
    a_program_that_is_something_else_is_refused_before_any_work
    the_evidence_alone_gives_what_the_run_gave_each_time
    a_session_in_replay_takes_no_task_and_has_nothing_to_wait_for
}

fn a_task_is_completed_in_the_workspace_and_everything_that_was_printed_is_observed(
    language: Language,
) {
    let ran = language.run(
        &json!([
            {"read_stdin": {"require": "Write hi to out.txt.\n"}},
            {"write_file": {"path": "out.txt", "text": "hi\n"}},
            {"stdout": {"text": format!(
                "{START}\n{}\n{}\n{USAGE}\n{}\n",
                r#"{"type":"message","text":"h\u00e9 \ud800 \ud83d\ude00"}"#,
                r#"{"type":"tool","id":"t1","name":"write","status":"denied","exit_code":3,"duration_ms":7}"#,
                r#"{"type":"done"}"#,
            )}},
        ]),
        &["--param", "model=m-2"],
    );
    let result = ran.result();
    assert_eq!(ran.code, 0, "{result:#}");
    assert_eq!(result["status"], "completed");
    assert_eq!(result["violations"], json!([]));
    assert_eq!(result["agent"]["contract"], "akbench:agent@0.1.0");
    assert_eq!(result["agent"]["program"]["version"], "1.4.0");
    assert_eq!(result["applied"]["model"], "m-1");
    assert_eq!(result["native_session_id"], "s-1");
    // Half of a surrogate pair cannot be handed on; all else arrives as it was written.
    assert_eq!(result["final_message"], "hé \u{fffd} 😀");
    assert_eq!(result["usage"]["input_tokens"], 100);
    assert_eq!(result["usage"]["total_tokens"], 9_007_199_254_740_991_u64);
    assert_eq!(
        result["tool_calls"],
        json!([{"id": "t1", "name": "write", "sub_agent": null, "status": "denied",
                "exit_code": 3, "duration_ms": 7}])
    );
    assert_eq!(result["provenance"]["usage"]["complete"], true);
    let workspace = result["workspace"]["path"].as_str().unwrap();
    assert_eq!(
        fs::read_to_string(format!("{workspace}/out.txt")).unwrap(),
        "hi\n"
    );
    let command = ran.evidence("spawns/2-task/command.json");
    let command: Value = serde_json::from_slice(&command).unwrap();
    assert_eq!(command["args"], json!(["run", "--model", "m-2"]));
}

fn what_the_agent_does_not_say_stays_null(language: Language) {
    let ran = language.run(&json!([{"stdout": {"text": "{\"type\":\"done\"}\n"}}]), &[]);
    let result = ran.result();
    assert_eq!(result["status"], "completed", "{result:#}");
    for unknown in [
        "native_session_id",
        "final_message",
        "turns",
        "model_requests",
        "usage",
        "usage_by_model",
        "cost_usd",
        "unresolved",
    ] {
        assert_eq!(result[unknown], Value::Null, "{unknown}");
    }
    for (setting, value) in result["applied"].as_object().unwrap() {
        assert_eq!(value, &Value::Null, "{setting}");
    }
    // A true that stands where a number should is none, and neither is a number too large.
    let odd =
        r#"{"type":"usage","input":true,"output":-1,"total":9007199254740992,"cached_input":2.5}"#;
    let ran = language.run(
        &json!([{"stdout": {"text": format!("{odd}\n{{\"type\":\"done\"}}\n")}}]),
        &[],
    );
    for (count, value) in ran.result()["usage"].as_object().unwrap() {
        assert_eq!(value, &Value::Null, "{count}");
    }
}

fn an_exit_without_the_last_event_is_the_agents_crash(language: Language) {
    let ran = language.run(
        &json!([{"stdout": {"text": format!("{START}\n{USAGE}\n")}}, {"exit": 3}]),
        &[],
    );
    let result = ran.result();
    assert_eq!(ran.code, 1, "{result:#}");
    assert_eq!(result["failure"]["class"], "agent_crash");
    assert_eq!(result["failure"]["fault"], "agent");
    assert_eq!(
        result["failure"]["evidence"],
        json!({"exit": {"exited": 3}})
    );
    assert_eq!(result["usage"]["input_tokens"], 100);
    assert_eq!(
        result["provenance"]["usage"]["missing"],
        json!(["last request"])
    );

    let ran = language.run(
        &json!([{"stdout": {"text": "{\"type\":\"done\"}\n"}}, {"exit": 9}]),
        &[],
    );
    let failure = &ran.result()["failure"];
    assert_eq!(
        failure["class"], "agent_crash",
        "done does not outweigh the exit code"
    );
}

fn a_signal_of_its_own_is_a_crash_and_any_other_is_unknown(language: Language) {
    for (signal, number, class) in [("SIGSEGV", 11, "agent_crash"), ("SIGKILL", 9, "unknown")] {
        let ran = language.run(&json!([{"kill_self": signal}]), &[]);
        let failure = &ran.result()["failure"];
        assert_eq!(failure["class"], class, "{signal}");
        assert_eq!(failure["evidence"], json!({"exit": {"signalled": number}}));
    }
}

fn a_typed_error_is_classified_by_its_code_and_its_exit_code_changes_nothing(language: Language) {
    let error = r#"{"type":"error","code":"rate_limited","message":"slow \"down\""}"#;
    for exit in [0, 1] {
        let ran = language.run(
            &json!([{"stdout": {"text": format!("{START}\n{error}\n")}}, {"exit": exit}]),
            &[],
        );
        let result = ran.result();
        assert_eq!(ran.code, 3, "{result:#}");
        let failure = &result["failure"];
        assert_eq!(failure["class"], "rate_limited");
        assert_eq!(failure["fault"], "infrastructure");
        assert_eq!(failure["retryable"], true);
        assert_eq!(failure["message"], "slow \"down\"");
        assert_eq!(failure["evidence"]["source"], "spawns/2-task/stdout:2");
    }
}

fn lines_that_are_no_json_are_counted_and_explain_a_missing_end(language: Language) {
    let ran = language.run(
        &json!([
            {"stdout": {"text": "no json\n[1]\n{\"a\":NaN}\n{\"a\":01}\n\n{\"type\":\"warning\",\"text\":\"a\u{2028}b\"}\n"}},
            {"stdout": {"bytes": [123, 34, 255, 34, 125, 10]}},
            {"stdout": {"text": "{\"type\":\"do"}},
        ]),
        &[],
    );
    let result = ran.result();
    assert_eq!(
        result["failure"]["class"], "agent_protocol_error",
        "{result:#}"
    );
    assert_eq!(
        result["extra"],
        json!({"unreadable_lines": 5}),
        "the torn last line is none"
    );
    assert_eq!(result["warnings"], json!(["a\u{2028}b"]));
}

fn a_cancelled_agent_is_asked_first_so_that_its_last_usage_is_kept(language: Language) {
    let ran = language.run_and_interrupt(&json!([
        {"on_signal": {"signal": "SIGINT", "steps": [
            {"stdout": {"text": format!("{USAGE}\n")}},
            {"exit": 130},
        ]}},
        {"stdout": {"text": format!("{START}\n")}},
        "hang",
    ]));
    let result = ran.result();
    assert_eq!(ran.code, 130, "{result:#}");
    assert_eq!(result["status"], "cancelled");
    assert_eq!(result["failure"]["class"], "cancelled");
    assert_eq!(result["usage"]["input_tokens"], 100);
    assert_eq!(result["provenance"]["usage"]["complete"], false);
    assert_eq!(result["processes"]["survivors"], 0);
}

fn a_time_limit_ends_an_agent_that_is_deaf_to_being_asked(language: Language) {
    let ran = language.run(
        &json!([
            {"ignore_signals": ["SIGINT", "SIGTERM"]},
            {"stdout": {"text": format!("{START}\n{USAGE}\n")}},
            "hang",
        ]),
        &["--time-limit", "1s"],
    );
    let result = ran.result();
    assert_eq!(ran.code, 1, "{result:#}");
    assert_eq!(result["status"], "timed_out");
    assert_eq!(result["failure"]["class"], "agent_timeout");
    assert_eq!(result["violations"], json!([]));
    assert_eq!(result["usage"]["input_tokens"], 100);
    assert_eq!(result["processes"]["survivors"], 0);
}

fn a_limit_that_ends_endless_retries_takes_its_fault_from_them(language: Language) {
    let retry = r#"{"type":"retry","code":"connection_failed","message":"no route"}"#;
    let ran = language.run(
        &json!([{"stdout": {"text": format!("{START}\n{retry}\n")}}, "hang"]),
        &["--time-limit", "1s"],
    );
    let result = ran.result();
    assert_eq!(result["status"], "timed_out", "{result:#}");
    assert_eq!(result["failure"]["class"], "network");
    assert_eq!(result["failure"]["fault"], "infrastructure");
}

fn a_program_that_is_something_else_is_refused_before_any_work(language: Language) {
    let ran = language.run_scenario(
        &json!({"cases": [{"steps": [{"stdout": {"text": "other 1.4.0\n"}}, {"exit": 4}]}]}),
        &[],
    );
    let result = ran.result();
    assert_eq!(
        result["failure"]["class"], "environment_invalid",
        "{result:#}"
    );
    assert_eq!(result["failure"]["phase"], "validate");
    assert_eq!(
        result["failure"]["evidence"],
        json!({"exit": {"exited": 4}})
    );
    assert_eq!(result["processes"]["spawned"], 1);
}

fn the_evidence_alone_gives_what_the_run_gave_each_time(language: Language) {
    let ran = language.run(
        &json!([{"stdout": {"text": format!(
            "{START}\n{{\"type\":\"message\",\"text\":\"bye\"}}\n{USAGE}\n{{\"type\":\"done\"}}\n"
        )}}]),
        &[],
    );
    let result = ran.result();
    let adapter = replayed::Adapter::load(language);
    let first = adapter.observe(&ran.evidence_folder());
    let second = adapter.observe(&ran.evidence_folder());
    assert_eq!(first, second);
    assert_eq!(first.violations, Vec::<String>::new());
    let seen = first.observations;
    assert_eq!(json!(seen.native_session_id), result["native_session_id"]);
    assert_eq!(json!(seen.final_message), result["final_message"]);
    assert_eq!(
        json!(seen.agent_version),
        result["agent"]["program"]["version"]
    );
    assert_eq!(
        json!(seen.usage.unwrap().input_tokens),
        result["usage"]["input_tokens"]
    );
    assert_eq!(json!(seen.applied.model), result["applied"]["model"]);
    assert!(format!("{:?}", seen.outcome).contains("Completed"));
}

fn a_session_in_replay_takes_no_task_and_has_nothing_to_wait_for(language: Language) {
    let adapter = replayed::Adapter::load(language);
    let (submitted, waited) = adapter.misuse();
    assert_eq!(json!(submitted.class), "invalid_state");
    assert_eq!(json!(waited.class), "invalid_state");
}

#[test]
fn all_languages_observe_the_same() {
    let built: Vec<Language> = Language::ALL
        .into_iter()
        .filter(|language| language.is_built("all_languages_observe_the_same"))
        .collect();
    let scenarios = [
        json!([]),
        json!([{"stdout": {"text": format!("{START}\n{{\"type\":\"done\"}}")}}]),
        json!([{"stdout": {"text": "{\"type\":\"message\",\"text\":\"w\\u0000\\n\\\"\"}\nx\n"}}, {"exit": 2}]),
        json!([{"stdout": {"text": "{\"type\":\"error\"}\n{\"type\":\"done\"}\n"}}]),
        json!([{"stdout": {"text": "{\"type\":\"usage\",\"input\":1e2,\"output\":5,\"output\":6}\n"}}, {"kill_self": "SIGABRT"}]),
        json!([{"flood": {"text": format!("{START}\n"), "total_bytes": 300_000}}]),
    ];
    for scenario in &scenarios {
        let seen: Vec<Value> = built
            .iter()
            .map(|language| observed(&language.run(scenario, &[]).result()))
            .collect();
        for (language, one) in built.iter().zip(&seen) {
            assert_eq!(one, &seen[0], "{language:?}: {scenario}");
        }
    }
}

/// What of a result comes from the adapter.
fn observed(result: &Value) -> Value {
    let fields = [
        "status",
        "failure",
        "violations",
        "applied",
        "native_session_id",
        "final_message",
        "turns",
        "model_requests",
        "usage",
        "cost_usd",
        "tool_calls",
        "provenance",
        "unresolved",
        "warnings",
        "extra",
    ];
    fields
        .into_iter()
        .map(|field| (field.to_owned(), result[field].clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}
