//! A real endpoint: one small task, which costs real tokens.

use super::replay::same_again;
use super::secrets::is_nowhere;
use crate::registry::Capability;
use crate::suite::case::{Case, Proof, failed, require};
use crate::suite::expectation::outcome;
use crate::suite::lab::Lab;

/// What [`crate::suite::lab::INSTRUCTION`] asks for.
const FILE: &str = "out.txt";
const TEXT: &str = "hi";

pub fn cases() -> Vec<Case> {
    vec![Case::new(
        "live.completes",
        "the real program does a small task with a real endpoint, and its tokens are counted",
        |lab| Box::pin(completes(lab)),
    )]
}

async fn completes(lab: &Lab) -> Proof {
    let place = lab.stage_live()?;
    let (driven, observed) = lab.drive_well(&place).await?;
    let found = outcome(&observed);
    require(found == "completed", || {
        format!("expected the outcome completed, observed {found}")
    })?;
    let written = std::fs::read_to_string(place.in_workspace(FILE))
        .map_err(|_| failed(format!("the agent left no `{FILE}` in the workspace")))?;
    require(written.trim() == TEXT, || {
        format!("`{FILE}` holds `{}`, expected `{TEXT}`", written.trim())
    })?;
    if lab.supports(Capability::TokenUsage) {
        let usage = observed.usage.unwrap_or_default();
        let counted = [usage.input_tokens, usage.output_tokens];
        require(
            counted.iter().all(|tokens| tokens.is_some_and(|t| t > 0)),
            || format!("a real endpoint read and wrote nothing: {usage:?}"),
        )?;
        let complete = observed
            .provenance
            .iter()
            .any(|(name, p)| name == "usage" && p.complete);
        require(complete, || "the usage is not called complete".to_owned())?;
    }
    same_again(lab, &place, &observed).await?;
    is_nowhere(&place, &driven)
}
