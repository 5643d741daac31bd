//! The operations that come before a session.

use crate::observe::{VERSION, version_in};
use crate::parameters::Parameters;
use crate::session::{FakeSession, start};
use crate::simulate;
use akbench_adapter_sdk::bindings::exports::akbench::agent::agent::{Guest, Session};
use akbench_adapter_sdk::failure::{failure, interrupted, with_evidence};
use akbench_adapter_sdk::process::{Child, Output, SpawnError, StdinMode, WaitError};
use akbench_adapter_sdk::types::{
    AgentConfig, EnvironmentReport, Failure, FailureClass, SessionMode,
};
use serde_json::json;

/// The oldest major version that this adapter understands, and the only one.
const MAJOR: &str = "1";
/// Longer than a probe takes: the engine's deadline comes first.
const TIMEOUT: u32 = 60_000;

/// The adapter `fake`.
pub struct FakeAdapter;

impl Guest for FakeAdapter {
    type Session = FakeSession;

    fn validate_environment(config: AgentConfig) -> Result<EnvironmentReport, Failure> {
        parameters(&config)?;
        // Without a program there is nothing to probe: the agent will be simulated.
        let child = match start(VERSION, &["--version"], StdinMode::Closed) {
            Err(SpawnError::NotGranted(_)) => return Ok(simulate::report()),
            started => started.map_err(|error| not_started(&error))?,
        };
        let printed = read_all(&child).map_err(|_| interrupted("validate-environment"))?;
        let version = version_in(&printed).ok_or_else(|| {
            let message = "the program did not print `fake-agent` and a version; check that it is \
                           the program meant";
            failure(FailureClass::EnvironmentInvalid, message)
        })?;
        if version.split('.').next() != Some(MAJOR) {
            let message = format!("version {version} is not understood; install version {MAJOR}.x");
            let facts = json!({"version": version});
            return Err(with_evidence(
                FailureClass::EnvironmentInvalid,
                message,
                &facts,
            ));
        }
        Ok(EnvironmentReport {
            agent_version: Some(version),
            notes: Vec::new(),
        })
    }

    fn start_session(config: AgentConfig) -> Result<Session, Failure> {
        // In replay the work is over: prepare nothing, start nothing.
        if config.mode == SessionMode::Replay {
            return Ok(Session::new(FakeSession::replay()));
        }
        Ok(Session::new(FakeSession::new(parameters(&config)?)))
    }
}

/// Why a program was not started, as a failure.
pub fn not_started(error: &SpawnError) -> Failure {
    let (kind, message) = match error {
        SpawnError::NotGranted(what) => ("not_granted", format!("{what} is not granted")),
        SpawnError::NotFound(what) => ("not_found", format!("the agent was not found: {what}")),
        SpawnError::NotExecutable(what) => {
            ("not_executable", format!("the agent cannot be run: {what}"))
        }
        SpawnError::Limit(what) => ("limit", format!("the agent was not started: limit {what}")),
        SpawnError::Failed(what) => ("failed", format!("the agent was not started: {what}")),
    };
    with_evidence(
        FailureClass::EnvironmentInvalid,
        message,
        &json!({"spawn": kind}),
    )
}

fn parameters(config: &AgentConfig) -> Result<Parameters, Failure> {
    Parameters::parse(&config.parameters)
        .map_err(|message| failure(FailureClass::InvalidConfiguration, message))
}

/// Everything that a probe prints.
///
/// # Errors
///
/// If the engine wants the session back.
pub fn read_all(child: &Child) -> Result<Vec<u8>, WaitError> {
    let mut read = Vec::new();
    while let Output::Bytes(bytes) = child.read_stdout(64 << 10, TIMEOUT)? {
        read.extend_from_slice(&bytes);
    }
    Ok(read)
}
