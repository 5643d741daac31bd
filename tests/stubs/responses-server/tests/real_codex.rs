//! The server against the real Codex CLI, where there is one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use akbench_responses_server::{Script, Server, scripts};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const PROGRAM: &str = "AKBENCH_TEST_CODEX";

/// One run of the CLI with folders of its own.
struct Lab {
    server: Server,
    folder: TempDir,
    child: Child,
}

impl Lab {
    /// `None`, after saying so, where there is no CLI.
    fn start(script: Script) -> Option<Self> {
        let Some(program) = std::env::var_os(PROGRAM) else {
            println!("skipped: needs {PROGRAM}, the path of a native Codex CLI");
            return None;
        };
        let server = Server::start(script).unwrap();
        // The CLI refuses a home in the system's folder for temporary files.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        for name in ["codex-home", "home", "workspace"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(
            folder.path().join("codex-home/config.toml"),
            config(&server.base_url()),
        )
        .unwrap();
        let child = Command::new(program)
            .args([
                "exec",
                "--json",
                "--sandbox",
                "danger-full-access",
                "--skip-git-repo-check",
                "do the task",
            ])
            .current_dir(folder.path().join("workspace"))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", folder.path().join("home"))
            .env("CODEX_HOME", folder.path().join("codex-home"))
            .env("TEST_API_KEY", "test-key")
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Some(Self {
            server,
            folder,
            child,
        })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn finish(child: Child) -> (Output, Vec<Value>) {
    let output = child.wait_with_output().unwrap();
    let events = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    (output, events)
}

fn config(base_url: &str) -> String {
    format!(
        r#"
model = "mock-model"
model_provider = "lab"
approval_policy = "never"
check_for_update_on_startup = false
web_search = "disabled"
allow_login_shell = false
project_doc_max_bytes = 0

[model_providers.lab]
name = "lab"
base_url = "{base_url}"
env_key = "TEST_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 1

[agents]
enabled = false

[features]
plugins = false
apps = false
goals = false
image_generation = false
unbounded_connection_retries = false

[skills]
include_instructions = false

[history]
persistence = "none"

[analytics]
enabled = false

[feedback]
enabled = false

[otel]
exporter = "none"
metrics_exporter = "none"
trace_exporter = "none"
"#
    )
}

#[test]
fn the_happy_script_writes_its_file_and_its_usage_adds_up() {
    let Some(lab) = Lab::start(scripts::happy()) else {
        return;
    };
    let out = lab.path().join("workspace/out.txt");
    let (output, events) = finish(lab.child);
    assert_eq!(output.status.code(), Some(0), "{events:#?}");
    assert_eq!(fs::read_to_string(out).unwrap(), "hi\n");
    let usage = &events.last().unwrap()["usage"];
    assert_eq!(usage["input_tokens"], 2100);
    assert_eq!(usage["cached_input_tokens"], 900);
    assert_eq!(usage["output_tokens"], 70);
    let requests = lab.server.model_requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].headers["authorization"], "Bearer test-key");
    assert!(
        requests[1]
            .tool_output("call_1")
            .unwrap()
            .contains("Process exited with code 0")
    );
}

#[test]
fn the_patch_script_adds_its_file() {
    let Some(lab) = Lab::start(scripts::patch()) else {
        return;
    };
    let new = lab.path().join("workspace/new.txt");
    let (_, events) = finish(lab.child);
    assert_eq!(fs::read_to_string(new).unwrap(), "line one\nline two\n");
    assert!(
        events
            .iter()
            .any(|event| event["item"]["type"] == "file_change"),
        "{events:#?}"
    );
}

#[test]
fn errors_of_the_endpoint_end_the_turn_with_the_message_of_each() {
    // Requests: the retries in the configuration count for what the CLI retries at all.
    for (script, requests, message) in [
        (scripts::unauthorized(), 2, "Incorrect API key provided."),
        (scripts::rate_limited_always(), 2, "429"),
        (scripts::quota_exceeded(), 1, "Quota exceeded"),
        (scripts::server_error_always(), 2, "high demand"),
        (scripts::overloaded(), 1, "at capacity"),
        (scripts::model_not_found(), 1, "The model does not exist"),
        (scripts::context_window(), 1, "context window"),
        (scripts::output_limit(), 1, "max_output_tokens"),
        (scripts::cut_always(), 2, "stream"),
    ] {
        let Some(lab) = Lab::start(script) else {
            return;
        };
        let (output, events) = finish(lab.child);
        let last = events.last().unwrap();
        assert_eq!(output.status.code(), Some(1), "{events:#?}");
        assert_eq!(last["type"], "turn.failed", "{events:#?}");
        let said = last["error"]["message"].as_str().unwrap();
        assert!(
            said.to_lowercase().contains(&message.to_lowercase()),
            "expected {message:?} in {said:?}"
        );
        assert_eq!(lab.server.model_requests().len(), requests, "{said}");
    }
}

#[test]
fn a_rate_limit_that_passes_does_no_harm() {
    let Some(lab) = Lab::start(scripts::rate_limited_once_then_happy()) else {
        return;
    };
    let (output, events) = finish(lab.child);
    assert_eq!(output.status.code(), Some(0), "{events:#?}");
    assert_eq!(lab.server.model_requests().len(), 3);
}

#[test]
fn a_hanging_endpoint_is_seen_waiting_and_left_by_a_killed_client() {
    let Some(mut lab) = Lab::start(scripts::hang_before_headers()) else {
        return;
    };
    assert!(lab.server.wait_for_requests(1, Duration::from_secs(60)));
    lab.child.kill().unwrap();
    finish(lab.child);
    assert!(lab.server.wait_until_idle(Duration::from_secs(60)));
}
