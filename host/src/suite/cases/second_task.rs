//! A second task: the conversation goes on, or the adapter says that it can't.

use super::operations::started;
use crate::contract::observed::FailureClass;
use crate::registry::Capability;
use crate::suite::case::{Case, Proof, not_applicable, require};
use crate::suite::hand::{fails, works};
use crate::suite::lab::Lab;

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "second_task.continues",
            "a second task goes on in the conversation, and only what is its own is observed",
            |lab| Box::pin(continues(lab)),
        ),
        Case::new(
            "second_task.refused",
            "an agent of one task refuses a second one as `invalid-state` or `unsupported`",
            |lab| Box::pin(refused(lab)),
        ),
        Case::new(
            "second_task.not_while_working",
            "a second task is refused while the first one is not over",
            |lab| Box::pin(not_while_working(lab)),
        ),
    ]
}

async fn continues(lab: &Lab) -> Proof {
    if !lab.supports(Capability::MultiTurn) {
        return Err(not_applicable(
            "the descriptor does not call `multi_turn` supported",
        ));
    }
    let Some(recording) = &lab.recordings()?.continues else {
        return Err(not_applicable("suite.json names no scenario `continues`"));
    };
    let place = lab.stage(&recording.scenario)?;
    let mut hand = started(lab, &place).await?;
    for task in ["the first submit-task", "the second submit-task"] {
        works(task, hand.submit().await)?;
        hand.wait_to_the_end().await?;
    }
    hand.end_agent().await?;
    let observed = hand.collect().await?;
    lab.remember(&observed);
    let differences = recording.expected.differences(&observed);
    require(differences.is_empty(), || differences.join("; "))
}

async fn refused(lab: &Lab) -> Proof {
    if lab.supports(Capability::MultiTurn) {
        return Err(not_applicable(
            "the descriptor calls `multi_turn` supported",
        ));
    }
    let place = lab.completing()?;
    let mut hand = started(lab, &place).await?;
    works("submit-task", hand.submit().await)?;
    hand.wait_to_the_end().await?;
    let failure = fails("a second submit-task", hand.submit().await)?;
    let expected = [FailureClass::InvalidState, FailureClass::Unsupported];
    require(expected.contains(&failure.class), || {
        format!(
            "refused as {:?}, expected one of {expected:?}",
            failure.class
        )
    })
}

async fn not_while_working(lab: &Lab) -> Proof {
    let (place, _) = super::cancellation::at_work(lab)?;
    let mut hand = started(lab, &place).await?;
    works("submit-task", hand.submit().await)?;
    place.agent_is_at_work().await?;
    let failure = fails("a second submit-task", hand.submit().await)?;
    let expected = FailureClass::InvalidState;
    require(failure.class == expected, || {
        format!("refused as {:?}, expected {expected:?}", failure.class)
    })?;
    hand.end_agent().await.map(drop)
}
