//! Completion detection: done is only what says so and ends so.

use crate::contract::observed::Outcome;
use crate::runner::limits::RunLimits;
use crate::runner::stop::stop_pair;
use crate::suite::case::{Case, Proof, require};
use crate::suite::expectation::outcome;
use crate::suite::lab::{INSTRUCTION, Lab, no_fault};
use crate::suite::scenario::Keep;
use serde_json::json;
use std::time::Duration;

/// What an agent that does not exit may cost.
const STAYS_LIMIT: Duration = Duration::from_secs(3);

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "completion.detected",
            "the end of the work is noticed by itself, and the agent has completed it",
            |lab| Box::pin(detected(lab)),
        ),
        Case::new(
            "completion.failure_reported",
            "a failure that the agent itself reports is that failure",
            |lab| Box::pin(failure_reported(lab)),
        ),
        Case::new(
            "completion.terminal_event_without_exit",
            "an agent that says it is done and stays is ended, and its end is known",
            |lab| Box::pin(terminal_without_exit(lab)),
        ),
        Case::new(
            "completion.exit_without_terminal_event",
            "exit code 0 without the event that ends the work is no success",
            |lab| Box::pin(exit_without_terminal(lab)),
        ),
        Case::new(
            "completion.silent_exit",
            "an agent that says nothing and exits with 0 has completed nothing",
            |lab| Box::pin(silent_exit(lab)),
        ),
    ]
}

async fn detected(lab: &Lab) -> Proof {
    let found = outcome(&lab.completed().await?.observed);
    require(found == "completed", || {
        format!("expected the outcome completed, observed {found}")
    })
}

async fn failure_reported(lab: &Lab) -> Proof {
    let fails = &lab.recordings()?.fails;
    let (_, observed) = lab.drive_well(&lab.stage(&fails.scenario)?).await?;
    let differences = fails.expected.differences(&observed);
    require(differences.is_empty(), || differences.join("; "))
}

async fn terminal_without_exit(lab: &Lab) -> Proof {
    let completes = &lab.recordings()?.completes.scenario;
    let place = lab.stage(&completes.clone().end_with([json!("hang")]))?;
    let limits = RunLimits {
        time: Some(STAYS_LIMIT),
        idle: None,
    };
    let (_handle, stop) = stop_pair();
    let driven = lab.drive(&place, INSTRUCTION, limits, stop).await?;
    no_fault(&driven)?;
    let known = driven.observations.is_some_and(|o| o.outcome.is_some());
    require(known, || "how the work ended is not known".to_owned())
}

async fn exit_without_terminal(lab: &Lab) -> Proof {
    let completes = &lab.recordings()?.completes.scenario;
    let cut = completes.clone().cut(Keep::AllButTheLastLine);
    let place = lab.stage(&cut.map_err(super::unusable)?)?;
    fails_on_its_own(lab, &place).await
}

async fn silent_exit(lab: &Lab) -> Proof {
    let completes = &lab.recordings()?.completes.scenario;
    let place = lab.stage(&completes.clone().begin_with([json!({"exit": 0})]))?;
    fails_on_its_own(lab, &place).await
}

async fn fails_on_its_own(lab: &Lab, place: &crate::suite::place::Place) -> Proof {
    let (_, observed) = lab.drive_well(place).await?;
    require(matches!(observed.outcome, Some(Outcome::Failed(_))), || {
        format!("expected a failure, observed {}", outcome(&observed))
    })
}
