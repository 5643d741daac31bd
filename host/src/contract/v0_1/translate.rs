//! Between the generated types of this version and the host's own.

use super::bindings::akbench::agent::types as wit;
use crate::contract::grants::is_inside;
use crate::contract::observed::{
    AppliedSettings, EnvironmentReport, FailureClass, ModelUsage, Observations, Origin, Outcome,
    Provenance, ReportedFailure, TokenUsage, ToolCall, ToolStatus,
};
use serde_json::{Map, Value};

/// A value that the contract does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {problem}")]
pub struct Violation {
    /// Which value.
    pub what: &'static str,
    /// What is wrong with it.
    pub problem: String,
}

/// Parses a JSON text that must be an object.
pub fn object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(other) => Err(format!("expected a JSON object, found {other}")),
        Err(error) => Err(format!("expected a JSON object: {error}")),
    }
}

/// A failure; its evidence, if it is no object, is kept as text.
pub fn failure(failure: wit::Failure) -> ReportedFailure {
    let evidence = object(&failure.evidence).unwrap_or_else(|problem| {
        let text = Value::String(failure.evidence.clone());
        Map::from_iter([
            ("text".to_owned(), text),
            ("problem".to_owned(), Value::String(problem)),
        ])
    });
    ReportedFailure {
        class: class(failure.class),
        message: failure.message,
        evidence,
        retryable: failure.retryable,
    }
}

fn class(class: wit::FailureClass) -> FailureClass {
    use wit::FailureClass as W;
    match class {
        W::AgentError => FailureClass::AgentError,
        W::AgentCrash => FailureClass::AgentCrash,
        W::AgentRefusal => FailureClass::AgentRefusal,
        W::ContextWindowExceeded => FailureClass::ContextWindowExceeded,
        W::OutputLimitExceeded => FailureClass::OutputLimitExceeded,
        W::AgentLimit => FailureClass::AgentLimit,
        W::ApprovalRequired => FailureClass::ApprovalRequired,
        W::AgentProtocolError => FailureClass::AgentProtocolError,
        W::EnvironmentInvalid => FailureClass::EnvironmentInvalid,
        W::Authentication => FailureClass::Authentication,
        W::QuotaExceeded => FailureClass::QuotaExceeded,
        W::RateLimited => FailureClass::RateLimited,
        W::Network => FailureClass::Network,
        W::ProviderError => FailureClass::ProviderError,
        W::ProviderTimeout => FailureClass::ProviderTimeout,
        W::ModelNotFound => FailureClass::ModelNotFound,
        W::SandboxUnavailable => FailureClass::SandboxUnavailable,
        W::InvalidConfiguration => FailureClass::InvalidConfiguration,
        W::Unsupported => FailureClass::Unsupported,
        W::Cancelled => FailureClass::Cancelled,
        W::Interrupted => FailureClass::Interrupted,
        W::InvalidState => FailureClass::InvalidState,
        W::OutOfMemory => FailureClass::OutOfMemory,
        W::DiskFull => FailureClass::DiskFull,
        W::Unknown => FailureClass::Unknown,
        W::Other(name) => FailureClass::Other(name),
    }
}

/// What `validate-environment` found.
pub fn report(report: wit::EnvironmentReport) -> EnvironmentReport {
    EnvironmentReport {
        agent_version: report.agent_version,
        notes: report.notes,
    }
}

/// Token counts.
pub fn usage(usage: &wit::TokenUsage) -> TokenUsage {
    TokenUsage {
        input_tokens: usage.input,
        cached_input_tokens: usage.cached_input,
        cache_write_input_tokens: usage.cache_write_input,
        output_tokens: usage.output,
        reasoning_output_tokens: usage.reasoning_output,
        total_tokens: usage.total,
    }
}

/// A tool call.
pub fn tool_call(call: wit::ToolCall) -> ToolCall {
    ToolCall {
        id: call.id,
        name: call.name,
        sub_agent: call.sub_agent,
        status: call.status.map(|status| match status {
            wit::ToolStatus::Completed => ToolStatus::Completed,
            wit::ToolStatus::Failed => ToolStatus::Failed,
            wit::ToolStatus::Denied => ToolStatus::Denied,
            wit::ToolStatus::Unfinished => ToolStatus::Unfinished,
        }),
        exit_code: call.exit_code,
        duration_ms: call.duration,
    }
}

fn provenance(provenance: wit::Provenance) -> (String, Provenance) {
    let translated = Provenance {
        origin: match provenance.origin {
            wit::Origin::Provider => Origin::Provider,
            wit::Origin::Agent => Origin::Agent,
            wit::Origin::Derived => Origin::Derived,
            wit::Origin::Configured => Origin::Configured,
        },
        source: provenance.source,
        complete: provenance.complete,
        missing: provenance.missing,
    };
    (provenance.observation, translated)
}

/// Everything measured. Values that the contract does not allow are dropped and named.
pub fn observations(observed: wit::Observations) -> (Observations, Vec<Violation>) {
    let mut violations = Vec::new();
    let extra = object(&observed.extra).unwrap_or_else(|problem| {
        violations.push(Violation {
            what: "observations.extra",
            problem,
        });
        Map::new()
    });
    let cost_usd = observed.cost_usd.filter(|cost| {
        let sound = cost.is_finite() && *cost >= 0.0;
        if !sound {
            violations.push(Violation {
                what: "observations.cost-usd",
                problem: format!("expected an amount of at least 0, found {cost}"),
            });
        }
        sound
    });
    let native_logs = observed.native_logs.into_iter().filter(|path| {
        let inside = !path.is_empty() && is_inside(path);
        if !inside {
            violations.push(Violation {
                what: "observations.native-logs",
                problem: format!("expected a path in /artifacts, found `{path}`"),
            });
        }
        inside
    });
    let native_logs = native_logs.collect();
    let translated = Observations {
        outcome: observed.outcome.map(|outcome| match outcome {
            wit::Outcome::Completed => Outcome::Completed,
            wit::Outcome::Failed(reported) => Outcome::Failed(failure(reported)),
            wit::Outcome::Cancelled => Outcome::Cancelled,
        }),
        unresolved: observed.unresolved.map(failure),
        agent_version: observed.agent_version,
        native_session_id: observed.native_session_id,
        final_message: observed.final_message,
        turns: observed.turns,
        model_requests: observed.model_requests,
        usage: observed.usage.as_ref().map(usage),
        usage_by_model: observed.usage_by_model.map(|shares| {
            shares
                .into_iter()
                .map(|share| ModelUsage {
                    usage: usage(&share.usage),
                    model: share.model,
                })
                .collect()
        }),
        cost_usd,
        tool_calls: observed
            .tool_calls
            .map(|calls| calls.into_iter().map(tool_call).collect()),
        applied: AppliedSettings {
            model: observed.applied.model,
            sandbox: observed.applied.sandbox,
            approval_policy: observed.applied.approval_policy,
            reasoning_effort: observed.applied.reasoning_effort,
            network_access: observed.applied.network_access,
        },
        warnings: observed.warnings,
        native_logs,
        provenance: observed.provenance.into_iter().map(provenance).collect(),
        extra,
    };
    (translated, violations)
}
