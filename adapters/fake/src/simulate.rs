//! An agent without a program: what it would have printed goes into its home, and from there,
//! as the descriptor declares, into the evidence.

use crate::observe::SIMULATED;
use crate::parameters::Behaviour;
use akbench_adapter_sdk::failure::failure;
use akbench_adapter_sdk::files::{self, Folder};
use akbench_adapter_sdk::types::{AgentStatus, EnvironmentReport, Failure, FailureClass};

const BEGINNING: &str = concat!(
    r#"{"event":"session","id":"simulated","model":"none"}"#,
    "\n",
    r#"{"event":"message","text":"Nothing was done: this agent is simulated."}"#,
    "\n",
);
const DONE: &str = "{\"event\":\"done\"}\n";
const FAILED: &str = "{\"event\":\"failed\",\"message\":\"this agent was told to fail\"}\n";

/// What there is to say about an environment without a program.
pub fn report() -> EnvironmentReport {
    EnvironmentReport {
        agent_version: None,
        notes: vec!["no program is granted: the agent is simulated".to_owned()],
    }
}

/// Does the work at once.
pub fn work(behaviour: Behaviour) -> Result<AgentStatus, Failure> {
    let (ending, status) = match behaviour {
        Behaviour::Complete => (DONE, AgentStatus::Completed),
        Behaviour::Fail => (FAILED, AgentStatus::Failed),
        Behaviour::NoEnding => ("", AgentStatus::Failed),
    };
    let lines = format!("{BEGINNING}{ending}");
    files::write(Folder::AgentHome, SIMULATED, lines.as_bytes())
        .map_err(|reason| failure(FailureClass::Unknown, reason))?;
    Ok(status)
}
