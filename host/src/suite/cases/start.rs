//! Starting a session: laid out, and no work yet.

use super::operations::started;
use crate::contract::v0_1::AgentStatus;
use crate::suite::case::{Case, Proof, could_not, require};
use crate::suite::hand::works;
use crate::suite::lab::Lab;

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "start.no_work_yet",
            "a started session has status `created`, and nothing runs in it",
            |lab| Box::pin(no_work_yet(lab)),
        ),
        Case::new(
            "start.replay_starts_nothing",
            "a session in replay starts no program and writes nothing into the agent's home",
            |lab| Box::pin(replay_starts_nothing(lab)),
        ),
    ]
}

async fn no_work_yet(lab: &Lab) -> Proof {
    let place = lab.completing()?;
    let mut hand = started(lab, &place).await?;
    let status = hand.status().await?;
    require(status == AgentStatus::Created, || {
        format!("the status is {status:?}, expected Created")
    })?;
    let census = hand.end_agent().await?;
    require(census.ended == 0, || {
        format!("{} processes run before a task was submitted", census.ended)
    })
}

async fn replay_starts_nothing(lab: &Lab) -> Proof {
    let place = lab.completing()?;
    let mut hand = lab.hand(&place).await?;
    hand.config().replay = true;
    works("start-session", hand.start().await)?;
    works("close", hand.close().await)?;
    hand.end_agent().await?;
    let folders = &place.grants.folders;
    for folder in [&folders.evidence.join("spawns"), &folders.agent_home] {
        let mut entries = std::fs::read_dir(folder).map_err(could_not("list a folder"))?;
        require(entries.next().is_none(), || {
            format!("something was left in `{}`", folder.display())
        })?;
    }
    Ok(())
}
