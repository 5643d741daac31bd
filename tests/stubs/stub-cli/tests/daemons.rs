//! Processes that outlive the program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

// Each test binary uses its own part of it.
#[allow(dead_code)]
mod stub;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::fs;
use std::io::Read;
use std::process::Stdio;
use stub::Stub;

/// A daemon found by its file, killed when the test ends.
struct Daemon(Pid);

impl Daemon {
    fn of(stub: &Stub) -> Self {
        let text = fs::read_to_string(stub.cwd().join("daemon.pid")).unwrap();
        Self(Pid::from_raw(text.trim().parse().unwrap()).unwrap())
    }

    /// Whether it handles a signal itself, so that the signal does not end it.
    fn catches(&self, signal: Signal) -> bool {
        let status =
            fs::read_to_string(format!("/proc/{}/status", self.0.as_raw_nonzero())).unwrap();
        let mask = status
            .lines()
            .find_map(|line| line.strip_prefix("SigCgt:"))
            .unwrap();
        u64::from_str_radix(mask.trim(), 16).unwrap() & (1 << (signal.as_raw() - 1)) != 0
    }
}

/// The session of a process, by its leader's id. Read from `/proc`, because the id is 0
/// where the leader lives outside of the PID namespace, as it may under a CI runner, and the
/// typed system call takes that for impossible.
fn session_of(process: &str) -> String {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    fields.split_ascii_whitespace().nth(3).unwrap().to_owned()
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::KILL);
    }
}

#[test]
fn a_daemon_lives_on_in_a_session_of_its_own_without_holding_stdout() {
    let stub =
        Stub::steps(json!([{"daemon": {"seconds": 600, "pid_file": "daemon.pid"}}, {"exit": 7}]));
    // Returns only once stdout and stderr have ended.
    let output = stub.command(&[]).output().unwrap();
    let daemon = Daemon::of(&stub);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let own = daemon.0.as_raw_nonzero().to_string();
    let session = session_of(&own);
    assert_ne!(session, session_of("self"));
    assert_ne!(session, own, "a leader could take a terminal");
    assert!(!daemon.catches(Signal::TERM));
}

#[test]
fn a_daemon_may_be_deaf_and_hold_stdout() {
    let stub = Stub::steps(json!([{"daemon": {
        "seconds": 600, "pid_file": "daemon.pid", "ignore_signals": true, "keep_stdout": true,
    }}]));
    let mut child = stub.command(&[]).stdout(Stdio::piped()).spawn().unwrap();
    assert!(child.wait().unwrap().success());
    let daemon = Daemon::of(&stub);
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        assert!(daemon.catches(signal), "{signal:?}");
        kill_process(daemon.0, signal).unwrap();
    }
    let held = fs::read_link(format!("/proc/{}/fd/1", daemon.0.as_raw_nonzero())).unwrap();
    assert!(held.to_str().unwrap().starts_with("pipe:"), "{held:?}");
    drop(daemon);
    let mut rest = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty());
}

#[test]
fn a_daemon_that_cannot_get_ready_is_a_failed_step() {
    let stub = Stub::steps(
        json!([{"daemon": {"seconds": 1, "pid_file": "no/such/folder/pid", "keep_stderr": true}}]),
    );
    let output = stub.command(&[]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(96), "{message}");
    assert!(
        message.contains("the daemon failed to get ready"),
        "{message}"
    );
    assert!(
        message.contains("its launcher ended with exit status: 96"),
        "{message}"
    );
}
