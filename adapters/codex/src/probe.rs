//! Short probes: which version is there, and does its own sandbox start?

use crate::observe::VERSION;
use crate::version;
use akbench_adapter_sdk::failure::{failure, interrupted, with_evidence};
use akbench_adapter_sdk::process::{
    self, Child, Command, Directory, EnvPart, ExitStatus, Output, SpawnError, StdinMode,
};
use akbench_adapter_sdk::types::{Failure, FailureClass};
use serde_json::json;

/// The program's name in the descriptor.
pub const PROGRAM: &str = "codex";
/// Longer than any probe takes: the engine's deadline comes first.
const TIMEOUT: u32 = 60_000;
/// Bytes of a probe's output that are looked at.
const MAX_OUTPUT: usize = 64 << 10;
/// Characters of a probe's stderr that are quoted.
const EXCERPT: usize = 500;

/// Starts the program in the workspace, with its private home.
pub fn start(
    label: &str,
    args: Vec<String>,
    key: Option<(&str, String)>,
    stdin: StdinMode,
) -> Result<Child, Failure> {
    let mut env = vec![(
        "CODEX_HOME".to_owned(),
        vec![EnvPart::Path(Directory::AgentHome)],
    )];
    if let Some((variable, credential)) = key {
        env.push((variable.to_owned(), vec![EnvPart::Credential(credential)]));
    }
    let command = Command {
        program: PROGRAM.to_owned(),
        label: label.to_owned(),
        args,
        env,
        cwd: Directory::Workspace,
        stdin,
    };
    process::spawn(&command).map_err(|error| not_started(&error))
}

/// The version that the program reports.
pub fn version() -> Result<String, Failure> {
    let ended = run(VERSION, &["--version"])?;
    if let Some(reported) = version::reported(&ended.stdout) {
        return Ok(reported.to_owned());
    }
    let message = "`codex --version` did not print `codex-cli` and a version; check that the \
                   program found is the Codex CLI"
        .to_owned();
    Err(with_evidence(
        FailureClass::EnvironmentInvalid,
        message,
        &ended.facts(),
    ))
}

/// Starts the sandbox that the agent's tools will run in. Returns what a person should know.
pub fn sandbox(mode: &str) -> Result<Option<String>, Failure> {
    if mode == "danger-full-access" {
        return Ok(Some(
            "the agent's tools run without a sandbox: none was probed".to_owned(),
        ));
    }
    // Newer versions take a command; older ones want the system's name before it and
    // answer the newer form with a usage error.
    let forms: [(&str, &[&str]); 2] = [
        ("sandbox-probe", &["sandbox", "--", "/bin/true"]),
        (
            "sandbox-probe-linux",
            &["sandbox", "linux", "--", "/bin/true"],
        ),
    ];
    for (label, args) in forms {
        let ended = run(label, args)?;
        match ended.status {
            ExitStatus::Exited(0) => return Ok(None),
            ExitStatus::Exited(2) if ended.stderr.contains("Usage: ") => {}
            _ => {
                let message = "the agent's own sandbox does not start here, so that every tool \
                               call would fail; allow unprivileged user namespaces, or choose \
                               sandbox_mode danger-full-access inside a container"
                    .to_owned();
                return Err(with_evidence(
                    FailureClass::SandboxUnavailable,
                    message,
                    &ended.facts(),
                ));
            }
        }
    }
    Ok(Some(
        "this version offers no way to probe its sandbox: it was not probed".to_owned(),
    ))
}

struct Ended {
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

impl Ended {
    fn facts(&self) -> serde_json::Value {
        let exit = match self.status {
            ExitStatus::Exited(code) => json!({"exited": code}),
            ExitStatus::Signalled(signal) => json!({"signalled": signal}),
        };
        json!({"exit": exit, "stderr": self.stderr.chars().take(EXCERPT).collect::<String>()})
    }
}

fn run(label: &str, args: &[&str]) -> Result<Ended, Failure> {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    let child = start(label, args, None, StdinMode::Closed)?;
    let back = |_| interrupted("validate-environment");
    let stdout = read(|| child.read_stdout(MAX_OUTPUT as u32, TIMEOUT)).map_err(back)?;
    let stderr = read(|| child.read_stderr(MAX_OUTPUT as u32, TIMEOUT)).map_err(back)?;
    match child.wait(TIMEOUT).map_err(back)? {
        Some(status) => Ok(Ended {
            status,
            stdout,
            stderr,
        }),
        None => {
            child.terminate(0);
            let message = format!("probe `{label}` did not end within {} s", TIMEOUT / 1000);
            Err(failure(FailureClass::EnvironmentInvalid, message))
        }
    }
}

/// Reads a stream to its end, or until it has been silent for the timeout.
fn read(
    mut next: impl FnMut() -> Result<Output, process::WaitError>,
) -> Result<String, process::WaitError> {
    let mut kept = Vec::new();
    while let Output::Bytes(bytes) = next()? {
        let room = MAX_OUTPUT - kept.len();
        kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
    Ok(String::from_utf8_lossy(&kept).into_owned())
}

fn not_started(error: &SpawnError) -> Failure {
    let (kind, message) = match error {
        SpawnError::NotGranted(what) => (
            "not_granted",
            format!("the descriptor does not grant `{what}`; add it there"),
        ),
        SpawnError::NotFound(what) => (
            "not_found",
            format!("the Codex CLI was not found: {what}; install it or put it on the PATH"),
        ),
        SpawnError::NotExecutable(what) => (
            "not_executable",
            format!("the Codex CLI cannot be executed: {what}"),
        ),
        SpawnError::Limit(what) => ("limit", format!("codex was not started: limit {what}")),
        SpawnError::Failed(what) => ("failed", format!("codex could not be started: {what}")),
    };
    with_evidence(
        FailureClass::EnvironmentInvalid,
        message,
        &json!({"spawn": kind}),
    )
}
