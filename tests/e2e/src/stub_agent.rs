//! The stub program as the agent of a scene: answers the probes, then plays what a test says.

use crate::built;
use crate::scene::Scene;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the stub: as the descriptor names the agent's program.
pub const NAME: &str = "codex";

/// The version that the stub reports unless a test says otherwise: a verified one.
pub const VERSION: &str = "0.171.0";

/// A stub program in a scene.
pub struct StubAgent {
    version: Value,
    sandbox: Value,
}

impl Default for StubAgent {
    fn default() -> Self {
        Self {
            version: json!([{"stdout": {"text": format!("codex-cli {VERSION}\n")}}]),
            sandbox: json!([]),
        }
    }
}

impl StubAgent {
    /// Reports this version.
    pub fn version(mut self, version: &str) -> Self {
        self.version = json!([{"stdout": {"text": format!("codex-cli {version}\n")}}]);
        self
    }

    /// Plays these steps when its version is asked for.
    pub fn when_asked_for_its_version(mut self, steps: Value) -> Self {
        self.version = steps;
        self
    }

    /// Plays these steps when its sandbox is probed.
    pub fn when_its_sandbox_is_probed(mut self, steps: Value) -> Self {
        self.sandbox = steps;
        self
    }

    /// Puts the program in place; `task` are its steps once it is given a task.
    pub fn install(self, scene: &Scene, task: &Value) -> PathBuf {
        scene.stub(
            NAME,
            &json!({"cases": [
                {"when": {"args_start": ["--version"]}, "steps": self.version},
                {"when": {"args_start": ["sandbox"]}, "steps": self.sandbox},
                {"when": {"args_contain": "exec"}, "steps": task},
            ]}),
        )
    }
}

/// Puts a file beside the scenario, for steps that name it.
pub fn add_file(scene: &Scene, name: &str, bytes: impl AsRef<[u8]>) {
    scene.write(&format!("programs/{NAME}.scenario/{name}"), bytes);
}

/// Puts `stdout.jsonl` and `rollouts` of a recording beside the scenario.
pub fn add_recording(scene: &Scene, recording: &str) {
    let from = built::repository()
        .join("tests/fixtures/codex/recordings")
        .join(recording);
    let read = |path: &Path| fs::read(path).expect("a recording's file");
    add_file(scene, "stdout.jsonl", read(&from.join("stdout.jsonl")));
    for rollout in fs::read_dir(from.join("rollouts")).expect("a recording's session files") {
        let path = rollout.expect("a session file").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        add_file(scene, &format!("rollouts/{name}"), read(&path));
    }
}

/// Leaves the recording's session files in the agent's home.
pub fn leave_rollouts() -> Value {
    json!({"copy": {"from": "rollouts", "into_env": "CODEX_HOME", "path": "sessions/2026/11/30"}})
}

/// Prints the recording's events.
pub fn print_events() -> Value {
    json!({"stdout": {"file": "stdout.jsonl"}})
}

/// Reads the task, as the real program does before it works.
pub fn read_task() -> Value {
    json!({"read_stdin": {}})
}

/// The first lines of an event stream: the agent has begun to work.
pub const BEGINNING: &str = concat!(
    r#"{"type":"thread.started","thread_id":"01a22ca4-3c00-7af3-8002-e1fc68081c14"}"#,
    "\n",
    r#"{"type":"turn.started"}"#,
    "\n",
);

/// As [`BEGINNING`], and the model has answered once: from here on a time limit is the agent's.
pub const AT_WORK: &str = concat!(
    r#"{"type":"thread.started","thread_id":"01a22ca4-3c00-7af3-8002-e1fc68081c14"}"#,
    "\n",
    r#"{"type":"turn.started"}"#,
    "\n",
    r#"{"type":"item.completed","item":{"id":"item_0","type":"reasoning","text":"thinking"}}"#,
    "\n",
);

/// The event with which a turn ends well.
pub const TURN_COMPLETED: &str = concat!(
    r#"{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":0,"output_tokens":2}}"#,
    "\n",
);
