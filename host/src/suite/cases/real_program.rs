//! The agent's own program: what recordings showed, shown once more with the real one, which
//! asks an endpoint that plays a script.

use super::replay::same_again;
use crate::contract::observed::{Fault, Outcome};
use crate::registry::{Capability, Standing};
use crate::runner::drive::{Driven, StopCause};
use crate::runner::limits::RunLimits;
use crate::runner::stop::stop_pair;
use crate::suite::case::{Case, Proof, Unproven, failed, not_applicable, require};
use crate::suite::endpoint::carries_the_canary;
use crate::suite::expectation::outcome;
use crate::suite::lab::{INSTRUCTION, Lab, NO_LIMITS, no_fault};
use crate::suite::real_agent::{Role, Staged};
use semver::Version;
use std::time::Duration;

/// Time limits, tried in turn: the agent has to be at work when one is over, and nobody knows
/// how fast the machine is.
const LIMITS: [Duration; 3] = [
    Duration::from_secs(6),
    Duration::from_secs(25),
    Duration::from_secs(75),
];

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "cli.environment",
            "the real program is there, can run, and has a version that the descriptor supports",
            |lab| Box::pin(environment(lab)),
        ),
        Case::new(
            "cli.completes",
            "the real program does its task, and what is observed is what its endpoint played",
            |lab| Box::pin(completes(lab)),
        ),
        Case::new(
            "cli.workspace",
            "two real agents at once each see the workspace of their own session",
            |lab| Box::pin(workspace(lab)),
        ),
        Case::new(
            "cli.credential",
            "the endpoint is asked with the credential, which is in nothing that is kept",
            |lab| Box::pin(credential(lab)),
        ),
        Case::new(
            "cli.provider_error",
            "an endpoint that fails is the infrastructure's fault, in the class that it shows",
            |lab| Box::pin(provider_error(lab)),
        ),
        Case::new(
            "cli.cancelled",
            "a cancel during a tool call ends the real program and all that it started",
            |lab| Box::pin(cancelled(lab)),
        ),
        Case::new(
            "cli.time_limit",
            "a time limit during a tool call ends the real program and all that it started",
            |lab| Box::pin(time_limit(lab)),
        ),
        Case::new(
            "cli.replay",
            "real work, completed and cancelled, is observed the same twice from its evidence alone",
            |lab| Box::pin(replayed(lab)),
        ),
    ]
}

async fn environment(lab: &Lab) -> Proof {
    let staged = lab.stage_real(&lab.real()?.suite.completes).await?;
    let driven = lab.validate(&staged.place).await?;
    no_fault(&driven)?;
    if let Some((_, failure)) = &driven.failed {
        let (class, message) = (&failure.class, &failure.message);
        return Err(failed(format!("the environment is {class:?}: {message}")));
    }
    let Some(reported) = &driven.report.agent_version else {
        return Err(failed("no version is reported"));
    };
    let Ok(version) = Version::parse(reported) else {
        return Err(failed(format!(
            "`{reported}` is no version that can be compared"
        )));
    };
    let program = lab.descriptor().programs.first();
    let standing = program.map(|program| program.versions.standing(&version));
    require(standing == Some(Standing::Supported), || {
        format!(
            "the descriptor calls version {version} {standing:?}, expected one that is supported"
        )
    })
}

async fn completes(lab: &Lab) -> Proof {
    let role = &lab.real()?.suite.completes;
    let staged = lab.stage_real(role).await?;
    staged.give()?;
    let (_, observed) = lab.drive_well(&staged.place).await?;
    let differences = role.expected.differences(&observed);
    require(differences.is_empty(), || differences.join("; "))?;
    staged.has_changed(role)
}

async fn workspace(lab: &Lab) -> Proof {
    let role = &lab.real()?.suite.completes;
    let (one, other) = (lab.stage_real(role).await?, lab.stage_real(role).await?);
    one.give()?;
    other.give()?;
    let (first, second) = tokio::join!(lab.drive_well(&one.place), lab.drive_well(&other.place));
    first?;
    second?;
    one.was_seen()?;
    other.was_seen()
}

async fn credential(lab: &Lab) -> Proof {
    let staged = lab.stage_real(&lab.real()?.suite.completes).await?;
    let Some(endpoint) = &staged.endpoint else {
        return Err(not_applicable(
            "the agent uses no runtime, so it gets no credential",
        ));
    };
    staged.give()?;
    let (driven, _) = lab.drive_well(&staged.place).await?;
    let requests = endpoint.requests()?;
    require(!requests.is_empty(), || {
        "the endpoint was never asked".to_owned()
    })?;
    require(requests.iter().any(carries_the_canary), || {
        "the endpoint was asked without the credential".to_owned()
    })?;
    super::secrets::is_nowhere(&staged.place, &driven)
}

async fn provider_error(lab: &Lab) -> Proof {
    let Some(role) = &lab.real()?.suite.provider_error else {
        return Err(not_applicable(
            "suite.json names no `provider_error` under `cli`",
        ));
    };
    let staged = lab.stage_real(role).await?;
    let (_, observed) = lab.drive_well(&staged.place).await?;
    let differences = role.expected.differences(&observed);
    require(differences.is_empty(), || differences.join("; "))?;
    match &observed.outcome {
        Some(Outcome::Failed(failure)) if failure.class.fault() == Fault::Infrastructure => Ok(()),
        _ => Err(failed(format!(
            "the endpoint failed, and the outcome is {}, expected a class that is the \
             infrastructure's fault",
            outcome(&observed)
        ))),
    }
}

async fn cancelled(lab: &Lab) -> Proof {
    let role = at_work(lab)?;
    let staged = lab.stage_real(role).await?;
    let driven = cancel(lab, &staged).await?;
    ended_in_the_middle(role, &driven)
}

async fn time_limit(lab: &Lab) -> Proof {
    let role = at_work(lab)?;
    for limit in LIMITS {
        let staged = lab.stage_real(role).await?;
        let limits = RunLimits {
            time: Some(limit),
            idle: None,
        };
        let (_handle, stop) = stop_pair();
        let driven = lab.drive(&staged.place, INSTRUCTION, limits, stop).await?;
        no_fault(&driven)?;
        if !staged.place.has_marker() {
            continue;
        }
        require(driven.stopped == Some(StopCause::TimeLimit(limit)), || {
            format!(
                "the work was ended by {:?}, expected the limit",
                driven.stopped
            )
        })?;
        return ended_in_the_middle(role, &driven);
    }
    Err(failed(format!(
        "the agent was not in its tool call when {} s were over",
        LIMITS[2].as_secs()
    )))
}

async fn replayed(lab: &Lab) -> Proof {
    let staged = lab.stage_real(&lab.real()?.suite.completes).await?;
    staged.give()?;
    let (_, live) = lab.drive_well(&staged.place).await?;
    same_again(lab, &staged.place, &live).await?;
    let role = match at_work(lab) {
        Ok(role) => role,
        // There is no such work, so there is nothing more to show.
        Err(Unproven::NotApplicable(_)) => return Ok(()),
        Err(other) => return Err(other),
    };
    let staged = lab.stage_real(role).await?;
    let driven = cancel(lab, &staged).await?;
    let live = driven.observations.unwrap_or_default();
    same_again(lab, &staged.place, &live).await
}

/// The script in which the agent waits in a tool call.
fn at_work(lab: &Lab) -> Result<&Role, Unproven> {
    let real = lab.real()?;
    if !lab.supports(Capability::Cancellation) {
        return Err(not_applicable(
            "the descriptor does not call `cancellation` supported",
        ));
    }
    let role = real.suite.interrupted.as_ref();
    role.ok_or_else(|| not_applicable("suite.json names no `interrupted` under `cli`"))
}

async fn cancel(lab: &Lab, staged: &Staged) -> Result<Driven, Unproven> {
    let (handle, stop) = stop_pair();
    let mut driving = std::pin::pin!(lab.drive(&staged.place, INSTRUCTION, NO_LIMITS, stop));
    let driven = tokio::select! {
        // It ended by itself, so it will not be at work any more.
        driven = &mut driving => driven?,
        at_work = staged.place.real_agent_is_at_work() => {
            handle.request();
            let driven = driving.await?;
            at_work?;
            driven
        }
    };
    no_fault(&driven)?;
    require(driven.stopped == Some(StopCause::Cancelled), || {
        let failed = driven.failed.as_ref().map(|(_, failure)| &failure.message);
        let observed = driven.observations.as_ref().map(outcome);
        format!(
            "the work was ended by {:?}, expected a cancel; failed: {failed:?}, outcome: {observed:?}",
            driven.stopped
        )
    })?;
    Ok(driven)
}

fn ended_in_the_middle(role: &Role, driven: &Driven) -> Proof {
    let Some(observed) = &driven.observations else {
        return Err(failed("nothing was observed"));
    };
    let differences = role.expected.differences(observed);
    require(differences.is_empty(), || differences.join("; "))?;
    let census = driven.census;
    require(census.is_some_and(|census| census.survivors == 0), || {
        format!("what is left of the process tree is not known to be nothing: {census:?}")
    })
}
