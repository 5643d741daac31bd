//! The probes: the fake adapter's, and one of the agent's own sandbox.

use crate::breaks::Break;
use crate::configuration::Configured;
use akbench_adapter_sdk::failure::{failure, interrupted};
use akbench_adapter_sdk::process::{Child, Signal, StdinMode};
use akbench_adapter_sdk::types::{EnvironmentReport, Failure, FailureClass};
use akbench_fake_adapter::adapter::{FakeAdapter, not_started, read_all};
use akbench_fake_adapter::session::start;
use serde_json::Value;
use std::cell::RefCell;

/// The label of the process that tries the agent's own sandbox.
pub const SANDBOX: &str = "sandbox";

/// How long the probe that is left may take to go when it is asked to, in milliseconds.
const LEFT_WAIT: u32 = 2_000;

thread_local! {
    static LEFT: RefCell<Option<Child>> = const { RefCell::new(None) };
}

/// Ends the probe that was left running, if any, and waits for its end.
pub fn end_left() {
    let Some(child) = LEFT.with_borrow_mut(Option::take) else {
        return;
    };
    // Asked to go, it is none of those that the engine had to end, which another case counts.
    child.signal(Signal::Terminate);
    if child.wait(LEFT_WAIT) == Ok(None) {
        child.terminate(0);
    }
}

/// `validate-environment`, once the configuration is checked.
pub fn validate(configured: Configured) -> Result<EnvironmentReport, Failure> {
    let broken = configured.broken;
    let mut report = version(configured).map_err(|failure| reclassified(broken, failure))?;
    sandbox(broken).map_err(|failure| reclassified(broken, failure))?;
    match broken {
        Break::VersionMisread => report.agent_version = Some("1.0.1".to_owned()),
        Break::ProbeLeft => {
            let child = start("left", &["work"], StdinMode::Piped);
            LEFT.set(Some(child.map_err(|error| not_started(&error))?));
        }
        _ => {}
    }
    Ok(report)
}

fn version(configured: Configured) -> Result<EnvironmentReport, Failure> {
    use akbench_adapter_sdk::bindings::exports::akbench::agent::agent::Guest;
    let broken = configured.broken;
    let refused = match FakeAdapter::validate_environment(configured.config) {
        Ok(report) => return Ok(report),
        Err(refused) => refused,
    };
    // The facts of the failure say what was found.
    let facts: Value = serde_json::from_str(&refused.evidence).unwrap_or_default();
    let said_nothing = facts["version"].is_null() && facts["spawn"].is_null();
    let passes = match broken {
        Break::AnyVersion => facts["version"].is_string(),
        Break::ProbeCrashIgnored => {
            said_nothing && refused.class == FailureClass::EnvironmentInvalid
        }
        _ => false,
    };
    if !passes {
        return Err(refused);
    }
    Ok(EnvironmentReport {
        agent_version: facts["version"].as_str().map(str::to_owned),
        notes: Vec::new(),
    })
}

fn sandbox(broken: Break) -> Result<(), Failure> {
    let child = start(SANDBOX, &["--sandbox"], StdinMode::Closed);
    let child = child.map_err(|error| not_started(&error))?;
    let printed = read_all(&child).map_err(|_| interrupted("validate-environment"))?;
    if sandbox_in(&printed).is_some() {
        return Ok(());
    }
    if printed.is_empty() {
        let crashed = failure(
            FailureClass::EnvironmentInvalid,
            "the probe of the agent's sandbox printed nothing",
        );
        return match broken {
            Break::ProbeCrashIgnored => Ok(()),
            _ => Err(crashed),
        };
    }
    match broken {
        Break::SandboxFailureIgnored => Ok(()),
        _ => Err(failure(
            FailureClass::SandboxUnavailable,
            String::from_utf8_lossy(&printed),
        )),
    }
}

/// The agent's name for its sandbox, in what its probe printed.
pub fn sandbox_in(printed: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(printed).ok()?.lines().next()?;
    line.strip_prefix("sandbox ").map(str::to_owned)
}

fn reclassified(broken: Break, mut failure: Failure) -> Failure {
    let not_found = failure.evidence.contains("\"spawn\"");
    match broken {
        Break::MissingProgramUnnamed if not_found => failure.class = FailureClass::Unknown,
        Break::InterruptedProbeIsInvalid if failure.class == FailureClass::Interrupted => {
            failure.class = FailureClass::EnvironmentInvalid;
        }
        _ => {}
    }
    failure
}
