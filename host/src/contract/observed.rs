//! What adapters report, independent of the contract's version.
//!
//! In every type here `None` means "not known", never zero.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What went wrong, as the result names it. The contract's classes and those that only the
/// engine can see.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The agent reported that it failed.
    AgentError,
    /// The agent ended by a signal or without the ending that its protocol promises.
    AgentCrash,
    /// The task's time was over while the agent worked.
    AgentTimeout,
    /// The model or the agent declined the task.
    AgentRefusal,
    /// The conversation no longer fits the model's context window.
    ContextWindowExceeded,
    /// The model stopped at its output limit.
    OutputLimitExceeded,
    /// A limit of the agent's own ended the work.
    AgentLimit,
    /// The agent's own output could not be understood.
    AgentProtocolError,
    /// The agent's program is missing, unsupported, or can't start here.
    EnvironmentInvalid,
    /// The endpoint refused the credential, or there is none.
    Authentication,
    /// The account has no quota left.
    QuotaExceeded,
    /// The endpoint kept answering "too many requests".
    RateLimited,
    /// The endpoint could not be reached, or the connection broke for good.
    Network,
    /// The endpoint answered with an error of its own.
    ProviderError,
    /// The endpoint accepted the request and then stayed silent.
    ProviderTimeout,
    /// The endpoint does not serve the model asked for.
    ModelNotFound,
    /// The agent's own sandbox could not start.
    SandboxUnavailable,
    /// Memory ran out.
    OutOfMemory,
    /// The disk is full.
    DiskFull,
    /// The configuration was refused.
    InvalidConfiguration,
    /// An approval was needed that nobody was there to give.
    ApprovalRequired,
    /// The operation is declared unsupported.
    Unsupported,
    /// The operation makes no sense in the session's state.
    InvalidState,
    /// The adapter trapped.
    AdapterTrap,
    /// The adapter did not return in time.
    AdapterTimeout,
    /// The adapter broke the contract.
    AdapterContractViolation,
    /// The adapter ran into a limit of its sandbox.
    AdapterLimit,
    /// Somebody asked for the end.
    Cancelled,
    /// No byte came for too long.
    IdleTimeout,
    /// The engine took the session back.
    Interrupted,
    /// None of the others can be shown.
    Unknown,
    /// A name that this version does not know.
    #[serde(untagged)]
    Other(String),
}

/// Whose failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The agent's: it counts.
    Agent,
    /// The environment's: it never counts against the agent.
    Infrastructure,
    /// The experiment's configuration.
    Configuration,
    /// The adapter's.
    Adapter,
    /// Whoever ended the run.
    Operator,
    /// Nobody can say: neither a win nor a loss.
    Unknown,
}

impl FailureClass {
    /// Whose fault a failure of this class is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::AgentError
            | Self::AgentCrash
            | Self::AgentTimeout
            | Self::AgentRefusal
            | Self::ContextWindowExceeded
            | Self::OutputLimitExceeded
            | Self::AgentLimit
            | Self::AgentProtocolError => Fault::Agent,
            Self::EnvironmentInvalid
            | Self::Authentication
            | Self::QuotaExceeded
            | Self::RateLimited
            | Self::Network
            | Self::ProviderError
            | Self::ProviderTimeout
            | Self::ModelNotFound
            | Self::SandboxUnavailable
            | Self::OutOfMemory
            | Self::DiskFull => Fault::Infrastructure,
            Self::InvalidConfiguration
            | Self::ApprovalRequired
            | Self::Unsupported
            | Self::InvalidState => Fault::Configuration,
            Self::AdapterTrap
            | Self::AdapterTimeout
            | Self::AdapterContractViolation
            | Self::AdapterLimit => Fault::Adapter,
            Self::Cancelled => Fault::Operator,
            Self::IdleTimeout | Self::Interrupted | Self::Unknown | Self::Other(_) => {
                Fault::Unknown
            }
        }
    }
}

/// Where in a run something failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Before anything was started.
    Plan,
    /// `validate-environment`.
    Validate,
    /// `start-session`.
    Start,
    /// `submit-task` and `wait-for-completion`.
    Work,
    /// `cancel`.
    Cancel,
    /// `collect-observations`.
    Collect,
    /// `close`.
    Close,
}

/// A failure as an adapter reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedFailure {
    /// What went wrong.
    pub class: FailureClass,
    /// For people.
    pub message: String,
    /// The structured facts that the class rests on.
    pub evidence: Map<String, Value>,
    /// Whether the same may well succeed later.
    pub retryable: bool,
}

/// What `validate-environment` found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvironmentReport {
    /// The agent's version as it reports it.
    pub agent_version: Option<String>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// How the work ended, as far as the evidence shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The agent says that it is done.
    Completed,
    /// It failed.
    Failed(ReportedFailure),
    /// It was stopped.
    Cancelled,
}

/// Tokens of one task, over all requests and sub-agents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenUsage {
    /// Read by the model, cached ones included.
    pub input_tokens: Option<u64>,
    /// The part of the input that came from a cache.
    pub cached_input_tokens: Option<u64>,
    /// The part of the input that was written to a cache.
    pub cache_write_input_tokens: Option<u64>,
    /// Written by the model, reasoning included.
    pub output_tokens: Option<u64>,
    /// The part of the output that was reasoning.
    pub reasoning_output_tokens: Option<u64>,
    /// Input and output.
    pub total_tokens: Option<u64>,
}

/// The share of one model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelUsage {
    /// The model's name.
    pub model: String,
    /// Its tokens.
    pub usage: TokenUsage,
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It ran.
    Completed,
    /// It ran and failed.
    Failed,
    /// It was not allowed to run.
    Denied,
    /// No end was observed.
    Unfinished,
}

/// One use of a tool by the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// Pairs a start with its end.
    pub id: String,
    /// The agent's name for the tool.
    pub name: String,
    /// The sub-agent that called it; `None` for the main agent.
    pub sub_agent: Option<String>,
    /// How it ended.
    pub status: Option<ToolStatus>,
    /// Of a command.
    pub exit_code: Option<i32>,
    /// Milliseconds.
    pub duration_ms: Option<u32>,
}

/// The settings that the agent says it really ran with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppliedSettings {
    /// The model.
    pub model: Option<String>,
    /// The agent's own sandbox.
    pub sandbox: Option<String>,
    /// When the agent asks before it acts.
    pub approval_policy: Option<String>,
    /// How hard the model thinks.
    pub reasoning_effort: Option<String>,
    /// Whether the agent's tools may use the network.
    pub network_access: Option<bool>,
}

/// Who worked a value out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The endpoint, as the agent passed it on.
    Provider,
    /// The agent itself.
    Agent,
    /// The adapter, from several observed values.
    Derived,
    /// Only asked for, not seen in effect.
    Configured,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Who worked it out.
    pub origin: Origin,
    /// For example a file and the kind of line in it.
    pub source: String,
    /// False if the source omits something or is cut.
    pub complete: bool,
    /// What it omits.
    pub missing: Vec<String>,
}

/// Everything measured about one task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observations {
    /// `None` if the evidence shows no end.
    pub outcome: Option<Outcome>,
    /// What the agent was still struggling with when the evidence stops.
    pub unresolved: Option<ReportedFailure>,
    /// The agent's version.
    pub agent_version: Option<String>,
    /// The agent's own name for the conversation.
    pub native_session_id: Option<String>,
    /// The agent's last words.
    pub final_message: Option<String>,
    /// User turns.
    pub turns: Option<u32>,
    /// Requests to the model.
    pub model_requests: Option<u32>,
    /// Tokens of this task.
    pub usage: Option<TokenUsage>,
    /// The same by model.
    pub usage_by_model: Option<Vec<ModelUsage>>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Every use of a tool.
    pub tool_calls: Option<Vec<ToolCall>>,
    /// What really applied.
    pub applied: AppliedSettings,
    /// The agent's own warnings.
    pub warnings: Vec<String>,
    /// Logs that the adapter left, relative to its artifacts.
    pub native_logs: Vec<String>,
    /// By the observation's name.
    pub provenance: Vec<(String, Provenance)>,
    /// What has no field yet.
    pub extra: Map<String, Value>,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_class_keeps_a_name_that_this_version_does_not_know() {
        let other = FailureClass::Other("solar_flare".to_owned());
        assert_eq!(serde_json::to_string(&other).unwrap(), "\"solar_flare\"");
        assert_eq!(
            serde_json::from_str::<FailureClass>("\"solar_flare\"").unwrap(),
            other
        );
        let known: FailureClass = serde_json::from_str("\"rate_limited\"").unwrap();
        assert_eq!(known, FailureClass::RateLimited);
    }

    #[test]
    fn infrastructure_is_never_the_agents_fault() {
        for class in [
            FailureClass::Network,
            FailureClass::RateLimited,
            FailureClass::Authentication,
            FailureClass::SandboxUnavailable,
            FailureClass::ProviderError,
        ] {
            assert_eq!(class.fault(), Fault::Infrastructure);
        }
        assert_eq!(FailureClass::Other("x".to_owned()).fault(), Fault::Unknown);
    }
}
