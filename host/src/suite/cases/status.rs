//! Status normalisation: five words that mean the same for every agent.

use super::cancellation::at_work;
use super::operations::started;
use crate::contract::v0_1::AgentStatus;
use crate::suite::case::{Case, Proof, require};
use crate::suite::hand::{Hand, works};
use crate::suite::lab::Lab;

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "status.completed",
            "a session is `created`, and after its work `completed`",
            |lab| Box::pin(completed(lab)),
        ),
        Case::new(
            "status.failed",
            "after work that the agent itself reports as failed it is `failed`",
            |lab| Box::pin(failed(lab)),
        ),
        Case::new(
            "status.cancelled",
            "while the agent works it is `running`, and after a cancel `cancelled`",
            |lab| Box::pin(cancelled(lab)),
        ),
    ]
}

async fn completed(lab: &Lab) -> Proof {
    let place = lab.completing()?;
    let mut hand = started(lab, &place).await?;
    is(&mut hand, AgentStatus::Created).await?;
    works("submit-task", hand.submit().await)?;
    hand.wait_to_the_end().await?;
    is(&mut hand, AgentStatus::Completed).await
}

async fn failed(lab: &Lab) -> Proof {
    let place = lab.stage(&lab.recordings()?.fails.scenario)?;
    let mut hand = started(lab, &place).await?;
    works("submit-task", hand.submit().await)?;
    hand.wait_to_the_end().await?;
    is(&mut hand, AgentStatus::Failed).await
}

async fn cancelled(lab: &Lab) -> Proof {
    let (place, _) = at_work(lab)?;
    let mut hand = started(lab, &place).await?;
    works("submit-task", hand.submit().await)?;
    place.agent_is_at_work().await?;
    is(&mut hand, AgentStatus::Running).await?;
    works("cancel", hand.cancel().await)?;
    is(&mut hand, AgentStatus::Cancelled).await?;
    hand.end_agent().await.map(drop)
}

async fn is(hand: &mut Hand, expected: AgentStatus) -> Proof {
    let found = hand.status().await?;
    require(found == expected, || {
        format!("the status is {found:?}, expected {expected:?}")
    })
}
