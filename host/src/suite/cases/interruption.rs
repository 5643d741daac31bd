//! Interruption: the engine wants the session back, and gets it within the grace.

use super::cancellation::at_work;
use super::operations::started;
use crate::contract::observed::FailureClass;
use crate::contract::v0_1::Progress;
use crate::suite::case::{Case, Proof, not_applicable, require};
use crate::suite::hand::{fails, works};
use crate::suite::lab::Lab;
use serde_json::json;
use std::time::Duration;

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "interruption.wait_gives_back",
            "an interrupted `wait-for-completion` returns `pending` within the grace",
            |lab| Box::pin(wait_gives_back(lab)),
        ),
        Case::new(
            "interruption.wait_keeps_its_timeout",
            "`wait-for-completion` returns `pending` when its time is over",
            |lab| Box::pin(wait_keeps_its_timeout(lab)),
        ),
        Case::new(
            "interruption.validate_gives_back",
            "an interrupted `validate-environment` fails with the class `interrupted`",
            |lab| Box::pin(validate_gives_back(lab)),
        ),
    ]
}

async fn wait_gives_back(lab: &Lab) -> Proof {
    let (place, _) = at_work(lab)?;
    let mut hand = started(lab, &place).await?;
    works("submit-task", hand.submit().await)?;
    let waited = hand.wait_interrupted(place.agent_is_at_work()).await;
    is_pending(works("wait-for-completion", waited)?)?;
    works("cancel", hand.cancel().await)?;
    hand.end_agent().await.map(drop)
}

async fn wait_keeps_its_timeout(lab: &Lab) -> Proof {
    let (place, _) = at_work(lab)?;
    let mut hand = started(lab, &place).await?;
    works("submit-task", hand.submit().await)?;
    place.agent_is_at_work().await?;
    let waited = hand.wait(Duration::from_millis(200)).await;
    is_pending(works("wait-for-completion", waited)?)?;
    works("cancel", hand.cancel().await)?;
    hand.end_agent().await.map(drop)
}

async fn validate_gives_back(lab: &Lab) -> Proof {
    let scenario = &lab.recordings()?.completes.scenario;
    if !scenario.has_probes() {
        return Err(not_applicable("the recording plays no probe"));
    }
    let place = lab.stage(&scenario.clone().with_probes(&[json!("hang")]))?;
    let mut hand = lab.hand(&place).await?;
    let failure = fails("validate-environment", hand.validate_interrupted().await)?;
    require(failure.class == FailureClass::Interrupted, || {
        format!("failed as {:?}, expected Interrupted", failure.class)
    })?;
    hand.end_agent().await.map(drop)
}

fn is_pending(progress: Progress) -> Proof {
    require(progress == Progress::Pending, || {
        format!("returned {progress:?}, expected Pending: the agent is still at work")
    })
}
