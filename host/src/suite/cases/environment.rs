//! Environment validation: a broken environment is found before anything is spent.

use crate::contract::observed::FailureClass;
use crate::suite::case::{Case, Proof, failed, not_applicable, require};
use crate::suite::hand::{fails, works};
use crate::suite::lab::Lab;
use crate::suite::scenario::Scenario;
use serde_json::json;

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "environment.version",
            "the version that the program reports is the one in the report",
            |lab| Box::pin(version(lab)),
        ),
        Case::new(
            "environment.program_missing",
            "a program that is not there is an invalid environment",
            |lab| Box::pin(program_missing(lab)),
        ),
        Case::new(
            "environment.wrong_version",
            "a version that the adapter does not understand is an invalid environment",
            |lab| Box::pin(wrong_version(lab)),
        ),
        Case::new(
            "environment.sandbox_broken",
            "an agent whose own sandbox does not start is refused as `sandbox-unavailable`",
            |lab| Box::pin(sandbox_broken(lab)),
        ),
        Case::new(
            "environment.probe_crashes",
            "a probe that crashes is an environment that does not work, not a trap",
            |lab| Box::pin(probe_crashes(lab)),
        ),
        Case::new(
            "environment.probes_end",
            "after `validate-environment` none of its probes is still running",
            |lab| Box::pin(probes_end(lab)),
        ),
    ]
}

async fn version(lab: &Lab) -> Proof {
    let completes = &lab.recordings()?.completes;
    let place = lab.stage(&completes.scenario)?;
    let mut hand = lab.hand(&place).await?;
    let report = works("validate-environment", hand.validate().await)?;
    let found = json!(report.agent_version);
    let wanted = completes.expected.get("agent_version").cloned();
    require(wanted.as_ref() == Some(&found), || {
        format!("expected the version {}, found {found}", json!(wanted))
    })
}

async fn program_missing(lab: &Lab) -> Proof {
    let place = lab.stage(&lab.recordings()?.completes.scenario)?;
    for program in place.grants.programs.values() {
        let removed = std::fs::remove_file(program);
        removed.map_err(crate::suite::case::could_not("remove a program"))?;
    }
    let mut hand = lab.hand(&place).await?;
    let failure = fails("validate-environment", hand.validate().await)?;
    one_of(&failure.class, &[FailureClass::EnvironmentInvalid])
}

async fn wrong_version(lab: &Lab) -> Proof {
    let Some(scenario) = &lab.recordings()?.wrong_version else {
        return Err(not_applicable(
            "suite.json names no scenario `wrong_version`: the adapter takes any version",
        ));
    };
    refused_as(lab, scenario, &[FailureClass::EnvironmentInvalid]).await
}

async fn sandbox_broken(lab: &Lab) -> Proof {
    let Some(scenario) = &lab.recordings()?.sandbox_broken else {
        return Err(not_applicable("the agent has no sandbox of its own"));
    };
    refused_as(lab, scenario, &[FailureClass::SandboxUnavailable]).await
}

async fn probe_crashes(lab: &Lab) -> Proof {
    let scenario = &lab.recordings()?.completes.scenario;
    if !scenario.has_probes() {
        return Err(not_applicable("the recording plays no probe"));
    }
    let crashing = scenario
        .clone()
        .with_probes(&[json!({"kill_self": "SIGSEGV"})]);
    let classes = [
        FailureClass::EnvironmentInvalid,
        FailureClass::SandboxUnavailable,
        FailureClass::AgentCrash,
    ];
    refused_as(lab, &crashing, &classes).await
}

async fn probes_end(lab: &Lab) -> Proof {
    let place = lab.completing()?;
    let mut hand = lab.hand(&place).await?;
    works("validate-environment", hand.validate().await)?;
    let census = hand.end_agent().await?;
    require(census.ended == 0, || {
        format!("{} processes were still running", census.ended)
    })
}

async fn refused_as(lab: &Lab, scenario: &Scenario, classes: &[FailureClass]) -> Proof {
    let place = lab.stage(scenario)?;
    let mut hand = lab.hand(&place).await?;
    let failure = fails("validate-environment", hand.validate().await)?;
    one_of(&failure.class, classes)
}

fn one_of(found: &FailureClass, expected: &[FailureClass]) -> Proof {
    if expected.contains(found) {
        return Ok(());
    }
    Err(failed(format!(
        "refused as {found:?}, expected {expected:?}"
    )))
}
