//! The built program plays scenarios.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod stub;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use stub::Stub;

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

#[test]
fn the_first_case_that_matches_is_played_with_its_exit_code() {
    let stub = Stub::new(json!({"cases": [
        {"when": {"args_start": ["--version"]}, "steps": [{"stdout": {"text": "fake 1.2.3\n"}}]},
        {"when": {"args_contain": "exec"}, "steps": [{"stderr": {"text": "no\n"}}, {"exit": 3}, {"stdout": {"text": "never"}}]},
        {"when": {"args_contain": "exec"}, "steps": []},
    ]}));
    let version = stub.command(&["--version"]).output().unwrap();
    assert_eq!(
        (version.stdout.as_slice(), version.status.code()),
        (&b"fake 1.2.3\n"[..], Some(0))
    );
    let exec = stub.command(&["--json", "exec"]).output().unwrap();
    assert_eq!(
        (exec.stderr.as_slice(), exec.status.code()),
        (&b"no\n"[..], Some(3))
    );
    assert_eq!(exec.stdout, b"");
    let other = stub.command(&["login"]).output().unwrap();
    assert_eq!(other.status.code(), Some(97));
    let message = String::from_utf8(other.stderr).unwrap();
    assert_eq!(
        message,
        "stub-cli: none of the 3 cases of the scenario matches the arguments [\"login\"]\n"
    );
}

#[test]
fn malformed_scenarios_are_refused_with_place_and_reason() {
    for (scenario, reason) in [
        (json!({"cases": [], "case": []}), "unknown field `case`"),
        (
            json!({"cases": [{"steps": ["dance"]}]}),
            "unknown variant `dance`",
        ),
        (
            json!({"cases": [{"steps": [{"stdout": {"txt": "a"}}]}]}),
            "unknown field `txt`",
        ),
        (
            json!({"cases": [{"steps": [{"stdout": {"text": "a", "file": "b"}}]}]}),
            "exactly one of `text`, `file` and `bytes`",
        ),
        (
            json!({"cases": [{"steps": [{"ignore_signals": ["SIGKILL"]}]}]}),
            "`SIGKILL` can be neither handled nor ignored",
        ),
        (
            json!({"cases": [{"steps": [{"kill_self": "SEGV"}]}]}),
            "unknown signal `SEGV`",
        ),
    ] {
        let output = Stub::new(scenario).command(&[]).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(98), "{message}");
        assert!(
            message.contains(reason) && message.contains("line 1"),
            "{message}"
        );
    }
}

#[test]
fn a_missing_scenario_and_a_missing_file_of_it_are_named() {
    let stub = Stub::steps(json!([{"stdout": {"file": "nowhere.txt"}}]));
    let output = stub.command(&[]).output().unwrap();
    assert_eq!(output.status.code(), Some(98));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("agent.scenario/nowhere.txt")
    );
    fs::remove_file(stub.scenario_file("scenario.json")).unwrap();
    let output = stub.command(&[]).output().unwrap();
    assert_eq!(output.status.code(), Some(98));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("agent.scenario/scenario.json")
    );
}

#[test]
fn bytes_are_written_as_they_are_in_pieces_or_not() {
    let stub = Stub::steps(json!([
        {"stdout": {"file": "raw", "delay_ms": 1}},
        {"stdout": {"bytes": [255, 254, 10, 0], "piece_bytes": 1, "delay_ms": 1}},
        {"stdout": {"text": "no newline"}},
    ]));
    fs::write(stub.scenario_file("raw"), b"\xc3\n\xa9\n\ntail").unwrap();
    let output = stub.command(&[]).output().unwrap();
    assert_eq!(output.stdout, b"\xc3\n\xa9\n\ntail\xff\xfe\n\0no newline");
}

#[test]
fn a_flood_has_exactly_the_size_asked_for() {
    let stub = Stub::steps(json!([
        {"flood": {"text": "0123456789\n", "total_bytes": 1_000_000}},
        {"flood": {"text": "e", "total_bytes": 70_000, "to": "stderr"}},
    ]));
    let output = stub.command(&[]).output().unwrap();
    assert_eq!(
        (output.stdout.len(), output.stderr.len()),
        (1_000_000, 70_000)
    );
    assert!(
        output
            .stdout
            .chunks_exact(11)
            .all(|line| line == b"0123456789\n")
    );
}

#[test]
fn folders_and_files_are_copied_to_where_the_environment_says() {
    let stub = Stub::steps(json!([
        {"copy": {"from": "rollouts", "into_env": "AGENT_HOME", "path": "sessions/2026/11/30"}},
        {"copy": {"from": "rollouts/deep/b.jsonl"}},
        {"write_file": {"into_env": "AGENT_HOME", "path": "config.toml", "text": "x = 1\n"}},
    ]));
    fs::create_dir_all(stub.scenario_file("rollouts/deep")).unwrap();
    fs::write(stub.scenario_file("rollouts/a.jsonl"), "a").unwrap();
    fs::write(stub.scenario_file("rollouts/deep/b.jsonl"), b"\xff").unwrap();
    let home = stub.folder().join("home");
    let output = stub.command(&[]).env("AGENT_HOME", &home).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        fs::read(home.join("sessions/2026/11/30/a.jsonl")).unwrap(),
        b"a"
    );
    assert_eq!(
        fs::read(home.join("sessions/2026/11/30/deep/b.jsonl")).unwrap(),
        b"\xff"
    );
    assert_eq!(fs::read(stub.cwd().join("b.jsonl")).unwrap(), b"\xff");
    assert_eq!(fs::read(home.join("config.toml")).unwrap(), b"x = 1\n");

    let output = stub.command(&[]).output().unwrap();
    assert_eq!(output.status.code(), Some(96));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("AGENT_HOME is not set")
    );
}

#[test]
fn files_are_written_appended_to_deleted_and_made_special() {
    let stub = Stub::steps(json!([
        {"write_file": {"path": "deep/out.txt", "text": "one\n"}},
        {"append_file": {"path": "deep/out.txt", "text": "two\n"}},
        {"delete_file": {"path": "old"}},
        {"make_fifo": {"path": "pipe"}},
        {"make_symlink": {"path": "link", "target": "/nowhere"}},
        {"write_file": {"path": "/proc/no/such/place", "text": "", "may_fail": true}},
        {"write_file": {"path": "/proc/no/such/place", "text": ""}},
    ]));
    fs::create_dir(stub.cwd().join("old")).unwrap();
    let output = stub.command(&[]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(96), "{message}");
    assert_eq!(
        message
            .matches("failed to write /proc/no/such/place")
            .count(),
        2,
        "{message}"
    );
    assert_eq!(
        fs::read_to_string(stub.cwd().join("deep/out.txt")).unwrap(),
        "one\ntwo\n"
    );
    assert!(!stub.cwd().join("old").exists());
    assert!(
        fs::symlink_metadata(stub.cwd().join("pipe"))
            .unwrap()
            .file_type()
            .is_fifo()
    );
    assert_eq!(
        fs::read_link(stub.cwd().join("link")).unwrap().to_str(),
        Some("/nowhere")
    );
}

#[test]
fn stdin_is_saved_and_compared() {
    let stub = Stub::steps(
        json!([{"read_stdin": {"save_to": "prompt.txt", "require": "do it"}}, {"stdout": {"text": "ok"}}]),
    );
    let feed = |bytes: &[u8]| {
        let mut child = stub
            .command(&[])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(bytes).unwrap();
        child.wait_with_output().unwrap()
    };
    let output = feed(b"do it");
    assert_eq!(
        (output.stdout.as_slice(), output.status.code()),
        (&b"ok"[..], Some(0))
    );
    let output = feed(b"do\xff");
    assert_eq!(output.status.code(), Some(96));
    assert_eq!(fs::read(stub.cwd().join("prompt.txt")).unwrap(), b"do\xff");
}

/// Starts the stub and reads the line that says that it is ready.
fn start_and_wait(stub: &Stub) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = stub.command(&[]).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (child, stdout)
}

#[test]
fn ignored_signals_do_nothing_and_handled_ones_play_their_steps() {
    let stub = Stub::steps(json!([
        {"ignore_signals": ["SIGTERM", "SIGHUP"]},
        {"on_signal": {"signal": "SIGUSR1", "steps": [{"stdout": {"text": "usr1\n"}}]}},
        {"on_signal": {"signal": "SIGINT", "steps": [{"stdout": {"text": "bye\n"}}, {"exit": 130}]}},
        {"stdout": {"text": "ready\n"}},
        "hang",
        {"stdout": {"text": "went on\n"}},
        "hang",
    ]));
    let (mut child, mut stdout) = start_and_wait(&stub);
    let mut line = String::new();
    for signal in [Signal::TERM, Signal::HUP, Signal::USR1] {
        kill_process(pid(&child), signal).unwrap();
    }
    for expected in ["usr1\n", "went on\n"] {
        line.clear();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, expected);
    }
    kill_process(pid(&child), Signal::INT).unwrap();
    line.clear();
    stdout.read_to_string(&mut line).unwrap();
    assert_eq!(line, "bye\n");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_hang_without_a_handler_ends_as_the_signal_wants() {
    let stub = Stub::steps(json!([{"stdout": {"text": "ready\n"}}, "hang"]));
    let (mut child, _stdout) = start_and_wait(&stub);
    kill_process(pid(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(15));
}

#[test]
fn it_ends_by_any_signal_even_one_that_it_ignores() {
    for (name, number) in [
        ("SIGSEGV", 11),
        ("SIGKILL", 9),
        ("SIGTERM", 15),
        ("SIGABRT", 6),
        ("SIGPIPE", 13),
    ] {
        let stub = Stub::steps(json!([{"ignore_signals": ["SIGTERM"]}, {"kill_self": name}]));
        let output = stub.command(&[]).output().unwrap();
        assert_eq!(output.status.signal(), Some(number), "{name}");
    }
}

#[test]
fn it_stops_itself_and_goes_on_when_told() {
    let stub = Stub::steps(json!(["stop_self", {"exit": 4}]));
    let mut child = stub.command(&[]).spawn().unwrap();
    let (_, status) = waitpid(Some(pid(&child)), WaitOptions::UNTRACED)
        .unwrap()
        .unwrap();
    assert!(status.stopped(), "{status:?}");
    kill_process(pid(&child), Signal::CONT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(4));
}

#[test]
fn a_closed_stdout_ends_for_the_reader_while_the_program_lives() {
    let stub = Stub::steps(
        json!([{"stdout": {"text": "ready\n"}}, "close_stdout", {"stdout": {"text": "lost"}}, "hang"]),
    );
    let (mut child, mut stdout) = start_and_wait(&stub);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_environment_and_the_process_are_reported() {
    let stub = Stub::steps(json!([{"report_env": {}}, {"report_self": {"file": "self.json"}}]));
    let output = stub
        .command(&["a", "b"])
        .env("ONLY", "this = that")
        .output()
        .unwrap();
    let environment: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(environment, json!({"ONLY": "this = that"}));
    let process: Value =
        serde_json::from_slice(&fs::read(stub.cwd().join("self.json")).unwrap()).unwrap();
    assert_eq!(process["args"], json!(["a", "b"]));
    assert_eq!(
        process["cwd"],
        stub.cwd().canonicalize().unwrap().to_str().unwrap()
    );
    assert_eq!(process["parent_pid"], std::process::id());
    assert!(
        process["open_files"]["1"]
            .as_str()
            .unwrap()
            .starts_with("pipe:"),
        "{process}"
    );
}

#[test]
fn what_was_given_is_kept_outside_of_the_current_folder_where_a_variable_says() {
    let stub = Stub::steps(json!([
        {"read_stdin": {"save_to": "prompt.txt", "into_env": "INTO"}},
        {"report_self": {"file": "self.json", "into_env": "INTO"}},
    ]));
    let other = stub.folder().join("other");
    fs::create_dir(&other).unwrap();
    let output = stub.command(&[]).env("INTO", &other).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(fs::read(other.join("prompt.txt")).unwrap(), b"");
    let report = fs::read(other.join("self.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    let cwd = stub.cwd().canonicalize().unwrap();
    assert_eq!(report["cwd"], cwd.to_str().unwrap());
    assert_eq!(fs::read_dir(stub.cwd()).unwrap().count(), 0);
    assert_eq!(stub.command(&[]).output().unwrap().status.code(), Some(96));
}

#[test]
fn a_wrapper_runs_the_real_program_with_its_arguments() {
    let stub = Stub::steps(
        json!([{"run": {"program": "vendor/real", "args": ["--inner"], "pass_args": true, "require_exit": 5}}, {"exit": 6}]),
    );
    stub.add("vendor/real", json!({"cases": [
        {"when": {"args_are": ["--inner", "exec"]}, "steps": [{"stdout": {"text": "real\n"}}, {"exit": 5}]},
        {"steps": [{"exit": 1}]},
    ]}));
    let output = stub.command(&["exec"]).output().unwrap();
    assert_eq!(
        (output.stdout.as_slice(), output.status.code()),
        (&b"real\n"[..], Some(6))
    );
    let output = stub.command(&["other"]).output().unwrap();
    assert_eq!(output.status.code(), Some(96));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("expected exit status 5")
    );
}
