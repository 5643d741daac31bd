//! Replay: the same evidence gives the same answer, in an instance that has nothing else.

use crate::contract::observed::Observations;
use crate::runner::stop::stop_pair;
use crate::suite::case::{Case, Proof, require};
use crate::suite::expectation::summary;
use crate::suite::lab::{INSTRUCTION, Lab, NO_LIMITS};
use crate::suite::place::Place;
use serde_json::json;

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "replay.completed_work",
            "completed work is observed the same in the session and twice from its evidence alone",
            |lab| Box::pin(completed_work(lab)),
        ),
        Case::new(
            "replay.failed_work",
            "failed work is observed the same in the session and twice from its evidence alone",
            |lab| Box::pin(failed_work(lab)),
        ),
        Case::new(
            "replay.cancelled_work",
            "cancelled work is observed the same in the session and twice from its evidence alone",
            |lab| Box::pin(cancelled_work(lab)),
        ),
    ]
}

async fn completed_work(lab: &Lab) -> Proof {
    let completed = lab.completed().await?;
    same_again(lab, &completed.place, &completed.observed).await
}

async fn failed_work(lab: &Lab) -> Proof {
    let place = lab.stage(&lab.recordings()?.fails.scenario)?;
    let (_, live) = lab.drive_well(&place).await?;
    same_again(lab, &place, &live).await
}

async fn cancelled_work(lab: &Lab) -> Proof {
    let (place, _) = super::cancellation::at_work(lab)?;
    let (handle, stop) = stop_pair();
    let driving = lab.drive(&place, INSTRUCTION, NO_LIMITS, stop);
    let stopping = async {
        place.agent_is_at_work().await?;
        handle.request();
        Ok::<_, crate::suite::case::Unproven>(())
    };
    let (driven, stopped) = tokio::join!(driving, stopping);
    let driven = driven?;
    stopped?;
    let live = driven.observations.unwrap_or_default();
    same_again(lab, &place, &live).await
}

/// Two fresh instances observe the same of the evidence.
///
/// # Errors
///
/// If one does not.
pub async fn same_again(lab: &Lab, place: &Place, live: &Observations) -> Proof {
    for which in ["first", "second"] {
        let replayed = lab.replay(&place.grants.folders.evidence).await?;
        require(replayed.violations.is_empty(), || {
            replayed.violations.join("; ")
        })?;
        require(replayed.observations == *live, || {
            format!(
                "the {which} replay differs: live {}, replayed {}",
                json!(summary(live)),
                json!(summary(&replayed.observations))
            )
        })?;
    }
    Ok(())
}
