//! Cancellation, in every state of a session.

use super::operations::started;
use crate::registry::Capability;
use crate::runner::drive::StopCause;
use crate::runner::stop::stop_pair;
use crate::suite::case::{Case, Proof, Unproven, failed, not_applicable, require};
use crate::suite::expectation::outcome;
use crate::suite::hand::works;
use crate::suite::lab::{INSTRUCTION, Lab, NO_LIMITS, no_fault};
use crate::suite::place::{Place, marker};
use crate::suite::stub_folder::Recording;

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "cancellation.before_submission",
            "a session without a task can be cancelled, and then closed",
            |lab| Box::pin(before_submission(lab)),
        ),
        Case::new(
            "cancellation.while_working",
            "an agent at work is stopped as its protocol asks, and what it saved is observed",
            |lab| Box::pin(while_working(lab)),
        ),
        Case::new(
            "cancellation.twice",
            "a second cancel does nothing and does not fail",
            |lab| Box::pin(twice(lab)),
        ),
        Case::new(
            "cancellation.after_completion",
            "work that is over stays what it was when it is cancelled",
            |lab| Box::pin(after_completion(lab)),
        ),
    ]
}

/// The recording of an agent that hangs in its work, with the suite's marker before that.
pub fn at_work(lab: &Lab) -> Result<(Place, &Recording), Unproven> {
    let recordings = lab.recordings()?;
    if !lab.supports(Capability::Cancellation) {
        return Err(not_applicable(
            "the descriptor does not call `cancellation` supported",
        ));
    }
    let Some(recording) = &recordings.interrupted else {
        return Err(not_applicable("suite.json names no scenario `interrupted`"));
    };
    let scenario = recording.scenario.clone().before_hang([marker()]);
    Ok((lab.stage(&scenario)?, recording))
}

async fn before_submission(lab: &Lab) -> Proof {
    let place = lab.completing()?;
    let mut hand = started(lab, &place).await?;
    works("cancel", hand.cancel().await)?;
    works("close", hand.close().await)
}

async fn while_working(lab: &Lab) -> Proof {
    let (place, recording) = at_work(lab)?;
    let (handle, stop) = stop_pair();
    let driving = lab.drive(&place, INSTRUCTION, NO_LIMITS, stop);
    let stopping = async {
        place.agent_is_at_work().await?;
        handle.request();
        Ok::<_, Unproven>(())
    };
    let (driven, stopped) = tokio::join!(driving, stopping);
    let driven = driven?;
    no_fault(&driven)?;
    stopped?;
    require(driven.stopped == Some(StopCause::Cancelled), || {
        format!(
            "the work was ended by {:?}, expected a cancel",
            driven.stopped
        )
    })?;
    let Some(observed) = driven.observations else {
        return Err(failed("nothing was observed"));
    };
    let differences = recording.expected.differences(&observed);
    require(differences.is_empty(), || differences.join("; "))
}

async fn twice(lab: &Lab) -> Proof {
    let (place, _) = at_work(lab)?;
    let mut hand = started(lab, &place).await?;
    works("submit-task", hand.submit().await)?;
    place.agent_is_at_work().await?;
    works("cancel", hand.cancel().await)?;
    works("a second cancel", hand.cancel().await)?;
    works("close", hand.close().await)?;
    hand.end_agent().await.map(drop)
}

async fn after_completion(lab: &Lab) -> Proof {
    let place = lab.completing()?;
    let mut hand = started(lab, &place).await?;
    works("submit-task", hand.submit().await)?;
    hand.wait_to_the_end().await?;
    works("cancel", hand.cancel().await)?;
    hand.end_agent().await?;
    let found = outcome(&hand.collect().await?);
    let before = outcome(&lab.completed().await?.observed);
    require(found == before, || {
        format!("expected the outcome {before} as without a cancel, observed {found}")
    })
}
