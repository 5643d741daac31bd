//! The operations before a session.

use crate::breaks::Break;
use crate::configuration::Configured;
use crate::probes;
use crate::session::BrokenSession;
use akbench_adapter_sdk::bindings::exports::akbench::agent::agent::{Guest, Session};
use akbench_adapter_sdk::failure::failure;
use akbench_adapter_sdk::files::{self, Folder};
use akbench_adapter_sdk::types::{
    AgentConfig, EnvironmentReport, Failure, FailureClass, SessionMode,
};

struct Broken;

akbench_adapter_sdk::bindings::export!(Broken with_types_in akbench_adapter_sdk::bindings);

impl Guest for Broken {
    type Session = BrokenSession;

    fn validate_environment(config: AgentConfig) -> Result<EnvironmentReport, Failure> {
        let configured = Configured::split(config);
        traps_if(configured.broken == Break::TrapInValidate);
        configured.check()?;
        probes::validate(configured)
    }

    fn start_session(config: AgentConfig) -> Result<Session, Failure> {
        let configured = Configured::split(config);
        traps_if(configured.broken == Break::TrapInStart);
        probes::end_left();
        if configured.config.mode == SessionMode::Replay {
            if configured.broken == Break::ReplayWrites {
                files::write(Folder::AgentHome, "replayed", b"")
                    .map_err(|reason| failure(FailureClass::Unknown, reason))?;
            }
            return Ok(Session::new(BrokenSession::replay(configured.broken)));
        }
        configured.check()?;
        Ok(Session::new(BrokenSession::new(configured)?))
    }
}

/// Ends the instance, if it is time for that.
pub fn traps_if(now: bool) {
    if now {
        core::arch::wasm32::unreachable();
    }
}
