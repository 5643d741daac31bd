//! Limits: the engine ends the work, and what was observed stays.

use crate::contract::observed::{Observations, Outcome};
use crate::runner::drive::StopCause;
use crate::runner::limits::RunLimits;
use crate::runner::stop::stop_pair;
use crate::suite::case::{Case, Proof, Unproven, failed, require};
use crate::suite::expectation::outcome;
use crate::suite::lab::{INSTRUCTION, Lab, no_fault};
use crate::suite::place::{Place, marker};
use crate::suite::scenario::{Keep, Scenario};
use serde_json::json;
use std::time::Duration;

/// Limits in the middle of the work, in milliseconds: the next one if an agent is not yet at
/// work at the end of one.
const MID_STREAM: [u64; 3] = [1_500, 6_000, 24_000];

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "limits.time_at_once",
            "a time limit that is over at once ends the work",
            |lab| Box::pin(at_once(lab)),
        ),
        Case::new(
            "limits.time_mid_stream",
            "a time limit in the middle of the output ends the work, and the agent as its protocol asks",
            |lab| Box::pin(mid_stream(lab)),
        ),
        Case::new(
            "limits.deaf_agent",
            "an agent and a daemon of it that are deaf to signals are dead after the limit",
            |lab| Box::pin(deaf(lab)),
        ),
        Case::new(
            "limits.idle",
            "an agent that stays silent is ended by the idle limit",
            |lab| Box::pin(idle(lab)),
        ),
    ]
}

fn time(milliseconds: u64) -> RunLimits {
    RunLimits {
        time: Some(Duration::from_millis(milliseconds)),
        idle: None,
    }
}

async fn at_once(lab: &Lab) -> Proof {
    let scenario = hanging(lab)?;
    stopped_by(lab, &scenario, time(1)).await.map(drop)
}

async fn mid_stream(lab: &Lab) -> Proof {
    let Some(recording) = &lab.recordings()?.interrupted else {
        return stopped_by(lab, &hanging(lab)?, time(MID_STREAM[0]))
            .await
            .map(drop);
    };
    let scenario = recording.scenario.clone().before_hang([marker()]);
    for milliseconds in MID_STREAM {
        let (place, observed) = stopped_by(lab, &scenario, time(milliseconds)).await?;
        if !place.agent_was_at_work() {
            // The machine is too slow for this limit: the agent could save nothing yet.
            continue;
        }
        let (wanted, found) = (recording.expected.get("usage"), json!(observed.usage));
        return require(wanted.is_none_or(|wanted| *wanted == found), || {
            format!(
                "of what the agent saved when it was interrupted, usage was expected as {}, and \
                 observed as {found}",
                json!(wanted)
            )
        });
    }
    Err(failed("the agent was never at work when its time was over"))
}

async fn deaf(lab: &Lab) -> Proof {
    let scenario = hanging(lab)?.without("on_signal").begin_with([
        json!({"ignore_signals": ["SIGINT", "SIGTERM", "SIGHUP"]}),
        json!({"daemon": {"seconds": 600, "ignore_signals": true}}),
    ]);
    stopped_by(lab, &scenario, time(1000)).await.map(drop)
}

async fn idle(lab: &Lab) -> Proof {
    let limits = RunLimits {
        time: None,
        idle: Some(Duration::from_millis(700)),
    };
    stopped_by(lab, &hanging(lab)?, limits).await.map(drop)
}

/// Half of the work, and then nothing.
fn hanging(lab: &Lab) -> Result<Scenario, Unproven> {
    let completes = lab.recordings()?.completes.scenario.clone();
    let cut = completes.cut(Keep::Half).map_err(super::unusable)?;
    Ok(cut.end_with([json!("hang")]))
}

/// Where it was stopped, and what is observed of it.
async fn stopped_by(
    lab: &Lab,
    scenario: &Scenario,
    limits: RunLimits,
) -> Result<(Place, Observations), Unproven> {
    let place = lab.stage(scenario)?;
    let (_handle, stop) = stop_pair();
    let driven = lab.drive(&place, INSTRUCTION, limits, stop).await?;
    no_fault(&driven)?;
    let expected = match limits.time {
        Some(limit) => Some(StopCause::TimeLimit(limit)),
        None => limits.idle.map(StopCause::IdleLimit),
    };
    require(driven.stopped == expected, || {
        format!(
            "the work was ended by {:?}, expected {expected:?}",
            driven.stopped
        )
    })?;
    let Some(observed) = driven.observations else {
        return Err(failed("nothing was observed"));
    };
    require(observed.outcome != Some(Outcome::Completed), || {
        format!("work that was cut off is {}", outcome(&observed))
    })?;
    Ok((place, observed))
}
