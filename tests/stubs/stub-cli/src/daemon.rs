//! A process that outlives this one, in a session of its own.
//!
//! Two re-executions of this program stand in for two forks: `LAUNCH` makes the session and
//! ends once `STAY`, its child and so no leader of the session, is ready.

use crate::failure::Failure;
use crate::signals;
use rustix::stdio;
use serde::{Deserialize, Serialize};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// The hidden first argument of the process that makes the session.
pub(crate) const LAUNCH: &str = "--stub-cli-launch-daemon";
/// The hidden first argument of the process that stays.
pub(crate) const STAY: &str = "--stub-cli-daemon";

const READY: &[u8] = b"!";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Daemon {
    /// How long it lives.
    seconds: u64,
    /// Where it writes its process id, relative to the current folder; `None`: nowhere.
    #[serde(default)]
    pid_file: Option<PathBuf>,
    /// Ignores SIGTERM, SIGINT and SIGHUP.
    #[serde(default)]
    ignore_signals: bool,
    /// Keeps this program's stdout open.
    #[serde(default)]
    keep_stdout: bool,
    /// Keeps this program's stderr open.
    #[serde(default)]
    keep_stderr: bool,
}

/// Starts a daemon and returns when it is ready: its session made, its signals ignored, its
/// process id written.
pub(crate) fn start(daemon: &Daemon) -> Result<(), Failure> {
    let status = reexecute(LAUNCH, daemon)
        .and_then(|mut command| command.stdin(Stdio::null()).status())
        .map_err(|error| Failure::step(format!("failed to start a daemon: {error}")))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::step(format!(
            "a daemon did not get ready: its launcher ended with {status}"
        )))
    }
}

/// What the launching process does.
pub(crate) fn launch(arguments: &[OsString]) -> Result<(), Failure> {
    let daemon = parse(arguments)?;
    let attempt = || -> io::Result<bool> {
        rustix::process::setsid()?;
        let (ours, theirs) = UnixStream::pair()?;
        let keep = |keep: bool| {
            if keep {
                Stdio::inherit()
            } else {
                Stdio::null()
            }
        };
        let mut command = reexecute(STAY, &daemon)?;
        command
            .stdin(OwnedFd::from(theirs))
            .stdout(keep(daemon.keep_stdout))
            .stderr(keep(daemon.keep_stderr))
            .spawn()?;
        // Dropped, so that the daemon's end is the only one left: if it dies, reading ends.
        drop(command);
        let mut answer = Vec::new();
        (&ours).take(READY.len() as u64).read_to_end(&mut answer)?;
        Ok(answer == READY)
    };
    match attempt() {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::step("the daemon ended before it was ready")),
        Err(error) => Err(Failure::step(format!(
            "failed to launch the daemon: {error}"
        ))),
    }
}

/// What the daemon does.
pub(crate) fn stay(arguments: &[OsString]) -> Result<(), Failure> {
    let daemon = parse(arguments)?;
    get_ready(&daemon)
        .map_err(|error| Failure::step(format!("the daemon failed to get ready: {error}")))?;
    thread::sleep(Duration::from_secs(daemon.seconds));
    Ok(())
}

fn get_ready(daemon: &Daemon) -> io::Result<()> {
    if daemon.ignore_signals {
        for signal in ["SIGTERM", "SIGINT", "SIGHUP"] {
            let signal =
                signals::Catchable::try_from(signal.to_owned()).map_err(io::Error::other)?;
            signals::ignore(signal.number())?;
        }
    }
    if let Some(path) = &daemon.pid_file {
        fs::write(path, format!("{}\n", std::process::id()))?;
    }
    // Stdin is the launcher's socket.
    rustix::io::write(stdio::stdin(), READY)?;
    Ok(stdio::dup2_stdin(File::open("/dev/null")?)?)
}

fn reexecute(role: &str, daemon: &Daemon) -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.arg(role).arg(serde_json::to_string(daemon)?);
    Ok(command)
}

fn parse(arguments: &[OsString]) -> Result<Daemon, Failure> {
    arguments
        .first()
        .and_then(|text| serde_json::from_str(OsStr::to_str(text)?).ok())
        .ok_or_else(|| {
            Failure::scenario(format!(
                "{LAUNCH} and {STAY} are for this program's own use"
            ))
        })
}
