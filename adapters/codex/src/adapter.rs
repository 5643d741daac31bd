//! The operations that come before a session: checking, and laying out the agent's home.

use crate::config_toml::{Endpoint, config_toml};
use crate::observe;
use crate::parameters::Parameters;
use crate::probe;
use crate::session::CodexSession;
use crate::version::{self, NEWEST_VERIFIED, OLDEST, OLDEST_VERIFIED, Support, Version};
use akbench_adapter_sdk::bindings::exports::akbench::agent::agent::{Guest, Session};
use akbench_adapter_sdk::evidence::{self, GrantedEvidence};
use akbench_adapter_sdk::failure::{failure, with_evidence};
use akbench_adapter_sdk::files::{self, Folder};
use akbench_adapter_sdk::process::{self, Directory};
use akbench_adapter_sdk::types::{
    AgentConfig, EnvironmentReport, Failure, FailureClass, RuntimeBinding, SessionMode,
};
use serde_json::json;

/// The adapter `codex_cli`.
pub struct CodexAdapter;

akbench_adapter_sdk::bindings::export!(CodexAdapter with_types_in akbench_adapter_sdk::bindings);

impl Guest for CodexAdapter {
    type Session = CodexSession;

    fn validate_environment(config: AgentConfig) -> Result<EnvironmentReport, Failure> {
        let parameters = parameters(&config)?;
        endpoint(&config)?;
        let reported = probe::version()?;
        let mut notes = Vec::new();
        match Version::parse(&reported).map(|version| (version, version::support(version))) {
            Some((version, Support::TooOld)) => {
                let evidence = json!({"version": reported, "oldest_supported": OLDEST.to_string()});
                let message = format!(
                    "codex {version} prints events that this adapter does not read; install \
                     {OLDEST} or newer (verified: {OLDEST_VERIFIED} to {}.x)",
                    newest_series()
                );
                return Err(with_evidence(
                    FailureClass::EnvironmentInvalid,
                    message,
                    &evidence,
                ));
            }
            Some((version, Support::Unverified)) => notes.push(format!(
                "codex {version} is older than what was verified ({OLDEST_VERIFIED} to {}.x)",
                newest_series()
            )),
            Some((version, Support::Newer)) => notes.push(format!(
                "codex {version} is newer than what was verified ({OLDEST_VERIFIED} to {}.x)",
                newest_series()
            )),
            Some((_, Support::Verified)) | None => {}
        }
        if let Some(version) = Version::parse(&reported) {
            notes.extend(version::limits(version, &parameters));
        }
        notes.extend(probe::sandbox(&parameters.sandbox_mode)?);
        Ok(EnvironmentReport {
            agent_version: Some(reported),
            notes,
        })
    }

    fn start_session(config: AgentConfig) -> Result<Session, Failure> {
        if config.mode == SessionMode::Replay {
            return Ok(Session::new(CodexSession::replay()));
        }
        let parameters = parameters(&config)?;
        let endpoint = endpoint(&config)?;
        let version = Version::parse(&probed_version()?);
        let workspace = process::locate(Directory::Workspace, ".").map_err(|reason| {
            failure(
                FailureClass::Unknown,
                format!("the workspace has no path: {reason}"),
            )
        })?;
        let workspace = workspace.strip_suffix("/.").unwrap_or(&workspace);
        let file = config_toml(&parameters, &endpoint, workspace, version);
        files::write(Folder::AgentHome, "config.toml", file.as_bytes()).map_err(|reason| {
            let message = format!("the agent's configuration could not be written: {reason}");
            failure(FailureClass::EnvironmentInvalid, message)
        })?;
        let credential = config.runtime.and_then(|runtime| runtime.credential);
        Ok(Session::new(CodexSession::new(
            parameters.sandbox_mode,
            credential,
        )))
    }
}

/// The version in the evidence of this session's own probe, else of a new one.
fn probed_version() -> Result<String, Failure> {
    let recorded = evidence::spawns(&GrantedEvidence)
        .and_then(|spawns| observe::probed_version(&GrantedEvidence, &spawns));
    match recorded {
        Ok(Some(version)) => Ok(version),
        Ok(None) | Err(_) => probe::version(),
    }
}

fn newest_series() -> String {
    let text = NEWEST_VERIFIED.to_string();
    text.rsplit_once('.')
        .map_or(text.clone(), |(series, _)| series.to_owned())
}

fn parameters(config: &AgentConfig) -> Result<Parameters, Failure> {
    Parameters::parse(&config.parameters)
        .map_err(|message| failure(FailureClass::InvalidConfiguration, message))
}

fn endpoint(config: &AgentConfig) -> Result<Endpoint, Failure> {
    let invalid = |message: String| failure(FailureClass::InvalidConfiguration, message);
    let Some(runtime) = &config.runtime else {
        return Err(invalid(
            "codex needs a runtime to talk to; name one whose wire API is `responses`".to_owned(),
        ));
    };
    let RuntimeBinding {
        name,
        base_url,
        wire_api,
        model,
        headers,
        credential,
    } = runtime;
    if wire_api != "responses" {
        return Err(invalid(format!(
            "runtime `{name}` speaks `{wire_api}`, and codex only `responses`; name another"
        )));
    }
    Ok(Endpoint {
        name: name.clone(),
        base_url: base_url.clone(),
        headers: headers.clone(),
        has_key: credential.is_some(),
        model: model.clone(),
    })
}
