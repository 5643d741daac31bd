//! A recording laid out as the engine records a run.

use akbench::process::exit::{ExitRecord, ExitStatus, SentSignal, SignalReason, SignalTarget};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Lays the recording in `from` out below `evidence`. There is no spawn that asks for the
/// version: the recordings have none, and what it would say is not theirs to tell.
pub fn lay_out(from: &Path, signals: &[Value], evidence: &Path) {
    let recorded: Value = read_json(&from.join("command.json"));
    let spawn = evidence.join("spawns/1-task");
    fs::create_dir_all(&spawn).unwrap();
    let command = json!({
        "program": "codex",
        "label": "task",
        "args": arguments(&recorded),
        "cwd": "workspace",
    });
    fs::write(spawn.join("command.json"), command.to_string()).unwrap();
    fs::write(spawn.join("stdin"), "").unwrap();
    fs::copy(from.join("stdout.jsonl"), spawn.join("stdout")).unwrap();
    fs::copy(from.join("stderr.txt"), spawn.join("stderr")).unwrap();
    let exit = exit_record(exit_code(from), signals);
    fs::write(spawn.join("exit.json"), serde_json::to_vec(&exit).unwrap()).unwrap();
    lay_out_home(&from.join("rollouts"), &evidence.join("home"));
}

/// The arguments of the CLI itself: some recordings ran it below another program.
fn arguments(recorded: &Value) -> Vec<&str> {
    let argv: Vec<&str> = recorded["argv"]
        .as_array()
        .unwrap()
        .iter()
        .map(|argument| argument.as_str().unwrap())
        .collect();
    let exec = argv.iter().position(|argument| *argument == "exec");
    let program = exec.expect("every recording is of `codex exec`") - 1;
    let name = argv[program].rsplit('/').next().unwrap();
    assert!(
        matches!(name, "codex" | "codex.js"),
        "{argv:?}: `exec` does not follow the CLI"
    );
    argv[program + 1..].to_vec()
}

fn exit_code(from: &Path) -> i32 {
    let text = fs::read_to_string(from.join("exit_code")).unwrap();
    text.trim().parse().unwrap()
}

/// Negative codes are the signal that ended the process.
fn exit_record(code: i32, signals: &[Value]) -> ExitRecord {
    let status = if code < 0 {
        ExitStatus::Signalled { signal: -code }
    } else {
        ExitStatus::Exited { code }
    };
    ExitRecord {
        status,
        raw_status: if code < 0 { -code } else { code << 8 },
        finished_at: "2026-11-30T00:00:00Z".to_owned(),
        duration_ms: 1000,
        signals: signals.iter().map(sent).collect(),
        ended: 0,
        survivors: 0,
        stdout_bytes: 0,
        stderr_bytes: 0,
        stdout_masks: 0,
        stderr_masks: 0,
    }
}

fn sent(signal: &Value) -> SentSignal {
    let reason = match signal["reason"].as_str().unwrap() {
        "cancel" => SignalReason::Cancel,
        "time_limit" => SignalReason::TimeLimit,
        other => panic!("unknown reason `{other}` of a signal"),
    };
    SentSignal {
        signal: signal["signal"].as_str().unwrap().to_owned(),
        reason,
        target: SignalTarget::Program,
        at_ms: 900,
    }
}

/// `rollout-2026-11-30T…jsonl` lies in `sessions/2026/11/30`.
fn lay_out_home(rollouts: &Path, home: &Path) {
    fs::create_dir_all(home).unwrap();
    if !rollouts.exists() {
        return;
    }
    for entry in fs::read_dir(rollouts).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let date = name.strip_prefix("rollout-").unwrap();
        let day = date[..10].replace('-', "/");
        let folder = home.join("sessions").join(day);
        fs::create_dir_all(&folder).unwrap();
        fs::copy(entry.path(), folder.join(name)).unwrap();
    }
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}
