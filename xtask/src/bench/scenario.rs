//! What the stub plays while it is measured.

use serde_json::{Value, json};

use crate::agent::PROGRAM;

const BEGIN: &str = concat!(
    r#"{"type":"thread.started","thread_id":"01900000-0000-7000-8000-000000000000"}"#,
    "\n",
    r#"{"type":"turn.started"}"#,
    "\n",
);

/// One event of the flood: 128 bytes with its newline, a plausible size for the real ones.
const EVENT: &str = concat!(
    r#"{"type":"item.completed","item":{"id":"item_1","type":"agent_message","#,
    r#""text":"one of very many, none of which matters......"}}"#,
    "\n",
);

const END: &str = concat!(
    r#"{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"#,
    r#""output_tokens":1,"reasoning_output_tokens":0}}"#,
    "\n",
);

/// Answers the probes, begins a task and ends it at once.
pub fn trivial() -> Value {
    playing(json!([{ "read_stdin": {} }, { "stdout": { "text": format!("{BEGIN}{END}") } }]))
}

/// Answers the probes, begins a task, floods `bytes` bytes of events (rounded down to whole
/// ones) and ends the task.
pub fn flood(bytes: u64) -> Value {
    let event = EVENT.len() as u64;
    playing(json!([
        { "read_stdin": {} },
        { "stdout": { "text": BEGIN } },
        { "flood": { "text": EVENT, "total_bytes": bytes / event * event } },
        { "stdout": { "text": END } },
    ]))
}

fn playing(task: Value) -> Value {
    json!({ "cases": [
        {
            "when": { "args_start": ["--version"] },
            "steps": [{ "stdout": { "text": format!("{PROGRAM}-cli 0.171.0\n") } }],
        },
        { "when": { "args_start": ["sandbox"] }, "steps": [] },
        { "when": { "args_contain": ["exec"] }, "steps": task },
    ]})
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_line_is_an_event_and_the_flood_holds_only_whole_ones() {
        for line in [BEGIN, EVENT, END].concat().lines() {
            assert!(serde_json::from_str::<Value>(line).unwrap()["type"].is_string());
        }
        let scenario = flood(1_000_000);
        let total = scenario["cases"][2]["steps"][2]["flood"]["total_bytes"]
            .as_u64()
            .unwrap();
        assert_eq!(total % EVENT.len() as u64, 0);
        assert!(total > 999_000);
    }
}
