//! May this run count? Only with an attested adapter, no violation, and complete evidence.

use super::drive::Driven;
use super::result::{RunResult, RunStatus};
use crate::attestation;
use crate::contract::observed::TokenUsage;
use crate::registry::{AgentDescriptor, Capability, Standing, Support};

/// Drops what the descriptor calls unsupported, and lists why the run may not count.
pub fn judge(
    result: &mut RunResult,
    driven: &Driven,
    descriptor: &AgentDescriptor,
    adapter: attestation::Standing,
) {
    enforce_capabilities(result, descriptor);
    let mut reasons: Vec<String> = Vec::new();
    reasons.extend(adapter.invalid_reason().map(str::to_owned));
    if !result.violations.is_empty() {
        reasons.push("contract_violation".to_owned());
    }
    if result.status == RunStatus::Completed {
        reasons.extend(incomplete_usage(result, descriptor));
    }
    if result.recovery.is_some() {
        reasons.push("host_died".to_owned());
    }
    match result.processes.survivors {
        Some(0) => {}
        Some(_) => reasons.push("survivors".to_owned()),
        None => reasons.push("survivors_unknown".to_owned()),
    }
    let outcome = driven
        .observations
        .as_ref()
        .and_then(|o| o.outcome.as_ref());
    if driven.submitted && outcome.is_none() {
        reasons.push("outcome_not_observed".to_owned());
    }
    reasons.extend(unverified_program(result, descriptor));
    result.valid = reasons.is_empty();
    result.invalid_reasons = reasons;
}

fn incomplete_usage(result: &RunResult, descriptor: &AgentDescriptor) -> Option<String> {
    if descriptor.capabilities.support(Capability::TokenUsage) == Support::Unsupported {
        return None;
    }
    let complete = result
        .provenance
        .get("usage")
        .is_some_and(|usage| usage.complete);
    (result.usage.is_none() || !complete).then(|| "usage_incomplete".to_owned())
}

fn unverified_program(result: &RunResult, descriptor: &AgentDescriptor) -> Option<String> {
    let program = result.agent.program.as_ref()?;
    let policy = &descriptor.program(&program.name)?.versions;
    let Some(version) = &program.version else {
        return Some("program_version_unknown".to_owned());
    };
    match semver::Version::parse(version).map(|version| policy.standing(&version)) {
        Ok(Standing::Supported) => None,
        Ok(Standing::Unverified) => Some("program_version_unverified".to_owned()),
        Ok(Standing::Refused) => Some("program_version_unsupported".to_owned()),
        Err(_) => Some("program_version_unknown".to_owned()),
    }
}

/// A value for what the descriptor calls unsupported can't be trusted: it is dropped and named.
fn enforce_capabilities(result: &mut RunResult, descriptor: &AgentDescriptor) {
    let unsupported =
        |capability| descriptor.capabilities.support(capability) == Support::Unsupported;
    let mut dropped: Vec<(&str, Capability)> = Vec::new();
    if unsupported(Capability::CostUsage) && result.cost_usd.take().is_some() {
        dropped.push(("cost_usd", Capability::CostUsage));
    }
    if unsupported(Capability::TokenUsage) {
        if result.usage.take().is_some() {
            dropped.push(("usage", Capability::TokenUsage));
        }
        if result.usage_by_model.take().is_some() {
            dropped.push(("usage_by_model", Capability::TokenUsage));
        }
    }
    let shares = result
        .usage_by_model
        .iter_mut()
        .flatten()
        .map(|share| &mut share.usage);
    for usage in result.usage.iter_mut().chain(shares) {
        dropped.extend(enforce_token_parts(usage, &unsupported));
    }
    if unsupported(Capability::ToolCalls) && result.tool_calls.take().is_some() {
        dropped.push(("tool_calls", Capability::ToolCalls));
    }
    if unsupported(Capability::Turns) && result.turns.take().is_some() {
        dropped.push(("turns", Capability::Turns));
    }
    if unsupported(Capability::FinalMessage) && result.final_message.take().is_some() {
        dropped.push(("final_message", Capability::FinalMessage));
    }
    if unsupported(Capability::AppliedModel) && result.applied.model.take().is_some() {
        dropped.push(("applied.model", Capability::AppliedModel));
    }
    if unsupported(Capability::AppliedSandbox) && result.applied.sandbox.take().is_some() {
        dropped.push(("applied.sandbox", Capability::AppliedSandbox));
    }
    for (value, capability) in dropped {
        result.violations.push(format!(
            "the adapter reported {value}, but its descriptor calls {capability} unsupported; \
             the value was dropped"
        ));
    }
}

fn enforce_token_parts(
    usage: &mut TokenUsage,
    unsupported: &impl Fn(Capability) -> bool,
) -> Vec<(&'static str, Capability)> {
    let mut dropped = Vec::new();
    if unsupported(Capability::CachedTokens) {
        if usage.cached_input_tokens.take().is_some() {
            dropped.push(("usage.cached_input_tokens", Capability::CachedTokens));
        }
        if usage.cache_write_input_tokens.take().is_some() {
            dropped.push(("usage.cache_write_input_tokens", Capability::CachedTokens));
        }
    }
    if unsupported(Capability::ReasoningTokens) && usage.reasoning_output_tokens.take().is_some() {
        dropped.push(("usage.reasoning_output_tokens", Capability::ReasoningTokens));
    }
    dropped
}
