//! Whether an agent has what a run requires of it.

use crate::registry::{AgentDescriptor, Capability, Support};
use std::collections::BTreeSet;

/// Checks what is required against the agent's descriptor. Returns what the result has to say
/// about capabilities that were taken for present.
pub(super) fn check(
    agent: &AgentDescriptor,
    required: &[Capability],
    allow_unverified: bool,
    problems: &mut Vec<String>,
) -> Vec<String> {
    let mut notes = Vec::new();
    for capability in required.iter().collect::<BTreeSet<_>>() {
        let claim = agent.capabilities.get(*capability);
        let reason = claim
            .and_then(|claim| claim.reason.as_deref())
            .unwrap_or("its descriptor gives no reason");
        let agent = &agent.id;
        match claim.map_or(Support::Unsupported, |claim| claim.support) {
            Support::Supported => {}
            Support::Unsupported => problems.push(format!(
                "`{capability}` is required, and agent `{agent}` does not support it: {reason}"
            )),
            Support::Unverified if allow_unverified => notes.push(format!(
                "the required capability `{capability}` is unverified for agent `{agent}`: \
                 {reason}; --allow-unverified accepted that"
            )),
            Support::Unverified => problems.push(format!(
                "`{capability}` is required, and for agent `{agent}` it is unverified: {reason}; \
                 pass --allow-unverified to run nevertheless"
            )),
        }
    }
    notes
}
