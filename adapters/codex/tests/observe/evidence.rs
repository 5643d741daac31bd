//! Evidence of small runs, written line by line.

use akbench_adapter_sdk::evidence::FolderEvidence;
use akbench_adapter_sdk::types::{Observations, Provenance};
use akbench_codex_adapter::observe::observe;
use serde_json::{Value, json};
use std::fs;

/// A folder of evidence.
pub struct Evidence(pub tempfile::TempDir);

impl Evidence {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn task(&self, number: u32, args: &[&str], stdout: &[Value], exit: Option<i32>) -> &Self {
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

    pub fn rollout(&self, name: &str, content: &[Value]) -> &Self {
        let folder = self.0.path().join("home/sessions/2026/01/01");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("rollout-{name}.jsonl")), lines(content)).unwrap();
        self
    }

    pub fn observe(&self) -> Observations {
        observe(&FolderEvidence(self.0.path().to_owned())).unwrap()
    }
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

pub fn line(kind: &str, payload: Value) -> Value {
    json!({"timestamp": "t", "type": kind, "payload": payload})
}

pub fn meta(id: &str, session: &str) -> Value {
    line(
        "session_meta",
        json!({"id": id, "session_id": session, "cli_version": "0.171.0"}),
    )
}

pub fn turn(id: &str, root: &str) -> Value {
    line(
        "event_msg",
        json!({"type": "task_started", "turn_id": id, "root_turn_id": root}),
    )
}

pub fn record(thread: &str, response: &str, input: u64) -> Value {
    let usage = json!({"input_tokens": input, "output_tokens": 1, "total_tokens": input + 1});
    line(
        "token_usage_record",
        json!({"thread_id": thread, "response_id": response, "usage": usage}),
    )
}

pub fn complete(message: &str) -> Value {
    line(
        "event_msg",
        json!({"type": "task_complete", "last_agent_message": message}),
    )
}

pub fn printed(thread: &str, input: u64) -> Vec<Value> {
    let usage = json!({"input_tokens": input, "output_tokens": 1});
    vec![
        json!({"type": "thread.started", "thread_id": thread}),
        json!({"type": "turn.started"}),
        json!({"type": "item.completed", "item": {"type": "agent_message", "text": "said"}}),
        json!({"type": "turn.completed", "usage": usage}),
    ]
}

pub fn of_usage(observed: &Observations) -> &Provenance {
    observed
        .provenance
        .iter()
        .find(|entry| entry.observation == "usage")
        .unwrap()
}

pub const FRESH: &[&str] = &["exec", "--json", "-"];
pub const RESUMED: &[&str] = &["exec", "--json", "resume", "m", "-"];
