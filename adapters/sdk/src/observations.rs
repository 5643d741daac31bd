//! An empty set of observations: everything `none`, which means "not known".

use crate::types::{AppliedSettings, Observations, TokenUsage};

/// Nothing observed yet.
pub fn none_observed() -> Observations {
    Observations {
        outcome: None,
        unresolved: None,
        agent_version: None,
        native_session_id: None,
        final_message: None,
        turns: None,
        model_requests: None,
        usage: None,
        usage_by_model: None,
        cost_usd: None,
        tool_calls: None,
        applied: AppliedSettings {
            model: None,
            sandbox: None,
            approval_policy: None,
            reasoning_effort: None,
            network_access: None,
        },
        warnings: Vec::new(),
        native_logs: Vec::new(),
        provenance: Vec::new(),
        extra: "{}".to_owned(),
    }
}

/// A usage of which no part is known.
pub const UNKNOWN_USAGE: TokenUsage = TokenUsage {
    input: None,
    cached_input: None,
    cache_write_input: None,
    output: None,
    reasoning_output: None,
    total: None,
};
