//! Observation collection: all that the recording shows, and nothing that it does not.

use super::operations::started;
use crate::contract::observed::{Observations, TokenUsage};
use crate::registry::{Capability, Support};
use crate::suite::case::{Case, Proof, failed, require};
use crate::suite::expectation::summary;
use crate::suite::hand::works;
use crate::suite::lab::Lab;
use serde_json::json;

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "observations.match",
            "all that is observed of the completed work, besides its end, is what its recording shows",
            |lab| Box::pin(matching(lab)),
        ),
        Case::new(
            "observations.repeatable",
            "collecting twice in one session gives the same answer",
            |lab| Box::pin(repeatable(lab)),
        ),
        Case::new(
            "observations.usage_has_provenance",
            "tokens come with their source, and with whether it is complete",
            |lab| Box::pin(usage_has_provenance(lab)),
        ),
        Case::new(
            "observations.null_not_zero",
            "where the agent said nothing, everything measured is null: never 0, never guessed",
            |lab| Box::pin(null_not_zero(lab)),
        ),
        Case::new(
            "observations.supported_is_there",
            "what the descriptor calls supported is observed of the completed work",
            |lab| Box::pin(supported_is_there(lab)),
        ),
    ]
}

pub fn last() -> Vec<Case> {
    vec![Case::new(
        "observations.unsupported_stays_null",
        "what the descriptor calls unsupported was reported in no case at all",
        |lab| Box::pin(unsupported_stays_null(lab)),
    )]
}

async fn matching(lab: &Lab) -> Proof {
    // Whether it is completed is what `completion.detected` asks.
    let expected = lab.recordings()?.completes.expected.clone();
    let expected = expected.without("outcome");
    let differences = expected.differences(&lab.completed().await?.observed);
    require(differences.is_empty(), || differences.join("; "))
}

async fn repeatable(lab: &Lab) -> Proof {
    let place = lab.completing()?;
    let mut hand = started(lab, &place).await?;
    works("submit-task", hand.submit().await)?;
    hand.wait_to_the_end().await?;
    hand.end_agent().await?;
    let first = hand.collect().await?;
    let second = hand.collect().await?;
    require(first == second, || {
        format!(
            "first {}, then {}",
            json!(summary(&first)),
            json!(summary(&second))
        )
    })
}

async fn usage_has_provenance(lab: &Lab) -> Proof {
    let observed = &lab.completed().await?.observed;
    let named = observed.provenance.iter().any(|(name, _)| name == "usage");
    require(observed.usage.is_none() || named, || {
        "usage is reported without an entry `usage` in the provenance".to_owned()
    })
}

async fn null_not_zero(lab: &Lab) -> Proof {
    // Before the first step: nothing is printed, and no file is written.
    let completes = &lab.recordings()?.completes.scenario;
    let place = lab.stage(&completes.clone().begin_with([json!({"exit": 1})]))?;
    let (_, observed) = lab.drive_well(&place).await?;
    let measured = [
        (
            "usage",
            observed.usage.is_some_and(|usage| says_something(&usage)),
        ),
        ("cost_usd", observed.cost_usd.is_some()),
        ("final_message", observed.final_message.is_some()),
        ("model_requests", observed.model_requests.is_some()),
        ("native_session_id", observed.native_session_id.is_some()),
        (
            "usage_by_model",
            observed
                .usage_by_model
                .is_some_and(|shares| !shares.is_empty()),
        ),
        (
            "tool_calls",
            observed.tool_calls.is_some_and(|calls| !calls.is_empty()),
        ),
    ];
    match measured.iter().find(|(_, reported)| *reported) {
        Some((name, _)) => Err(failed(format!("{name} is reported, and nothing was said"))),
        None => Ok(()),
    }
}

fn says_something(usage: &TokenUsage) -> bool {
    *usage != TokenUsage::default()
}

async fn supported_is_there(lab: &Lab) -> Proof {
    let completed = lab.completed().await?;
    let copied = completed.place.grants.folders.evidence.join("home");
    let has_files = std::fs::read_dir(copied).is_ok_and(|mut files| files.next().is_some());
    for &capability in Capability::ALL {
        if !lab.supports(capability) {
            continue;
        }
        let there = reports(capability, &completed.observed) != Some(false)
            // Files of the agent's home are logs as well.
            || (capability == Capability::NativeLogs && has_files);
        require(there, || {
            format!("`{capability}` is called supported, and was not observed")
        })?;
    }
    Ok(())
}

async fn unsupported_stays_null(lab: &Lab) -> Proof {
    let capabilities = &lab.descriptor().capabilities;
    for (case, observed) in lab.seen() {
        for &capability in Capability::ALL {
            let unsupported = capabilities.support(capability) == Support::Unsupported;
            if unsupported && reports(capability, &observed) == Some(true) {
                return Err(failed(format!(
                    "`{capability}` is called unsupported, and was reported in `{case}`"
                )));
            }
        }
    }
    Ok(())
}

/// Is there a value? `None` for capabilities that are no values.
fn reports(capability: Capability, observed: &Observations) -> Option<bool> {
    let usage = observed.usage.unwrap_or_default();
    Some(match capability {
        Capability::TokenUsage => usage != TokenUsage::default(),
        Capability::CachedTokens => {
            usage.cached_input_tokens.is_some() || usage.cache_write_input_tokens.is_some()
        }
        Capability::ReasoningTokens => usage.reasoning_output_tokens.is_some(),
        Capability::CostUsage => observed.cost_usd.is_some(),
        Capability::ToolCalls => observed.tool_calls.is_some(),
        Capability::Turns => observed.turns.is_some(),
        Capability::FinalMessage => observed.final_message.is_some(),
        Capability::AppliedModel => observed.applied.model.is_some(),
        Capability::AppliedSandbox => observed.applied.sandbox.is_some(),
        Capability::NativeLogs => !observed.native_logs.is_empty(),
        Capability::Cancellation | Capability::MultiTurn => return None,
    })
}
