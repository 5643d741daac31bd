//! Closing: everything is released, whatever state the session is in.

use super::operations::started;
use crate::suite::case::{Case, Proof};
use crate::suite::hand::works;
use crate::suite::lab::Lab;
use crate::suite::place::marker;
use crate::suite::scenario::Keep;
use serde_json::json;

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "closing.idempotent",
            "a second close does nothing and does not fail",
            |lab| Box::pin(idempotent(lab)),
        ),
        Case::new(
            "closing.unused_session",
            "a session that never had a task can be closed",
            |lab| Box::pin(unused(lab)),
        ),
        Case::new(
            "closing.agent_running",
            "a session whose agent is at work can be closed, and nothing of it is left",
            |lab| Box::pin(agent_running(lab)),
        ),
    ]
}

async fn idempotent(lab: &Lab) -> Proof {
    let place = lab.completing()?;
    let mut hand = started(lab, &place).await?;
    works("submit-task", hand.submit().await)?;
    hand.wait_to_the_end().await?;
    works("close", hand.close_and_keep().await)?;
    works("a second close", hand.close().await)
}

async fn unused(lab: &Lab) -> Proof {
    let place = lab.completing()?;
    let mut hand = started(lab, &place).await?;
    works("close", hand.close().await)
}

async fn agent_running(lab: &Lab) -> Proof {
    let completes = lab.recordings()?.completes.scenario.clone();
    let half = completes.cut(Keep::Half).map_err(super::unusable)?;
    let place = lab.stage(&half.end_with([marker(), json!("hang")]))?;
    let mut hand = started(lab, &place).await?;
    works("submit-task", hand.submit().await)?;
    place.agent_is_at_work().await?;
    works("close", hand.close().await)?;
    hand.end_agent().await.map(drop)
}
