//! Sessions at the same time, which must not see each other.

use crate::suite::case::{Case, Proof, Unproven, could_not, failed, require};
use crate::suite::lab::Lab;
use crate::suite::place::{LEFT_IN, Place};
use serde_json::{Value, json};

const REPORT: &str = "akbench-suite-env.json";

pub fn cases() -> Vec<Case> {
    vec![Case::new(
        "concurrency.homes_are_apart",
        "two sessions at once each give their agent a home of its own, and observe the same",
        |lab| Box::pin(homes_are_apart(lab)),
    )]
}

async fn homes_are_apart(lab: &Lab) -> Proof {
    let report = json!({"report_env": {"file": REPORT, "into_env": LEFT_IN}});
    let completes = &lab.recordings()?.completes.scenario;
    let scenario = completes.clone().begin_with([report]);
    let (one, other) = (lab.stage(&scenario)?, lab.stage(&scenario)?);
    let (first, second) = tokio::join!(lab.drive_well(&one), lab.drive_well(&other));
    let ((_, first), (_, second)) = (first?, second?);
    require(first == second, || {
        "the same recording was observed differently in two sessions at once".to_owned()
    })?;
    for (own, foreign) in [(&one, &other), (&other, &one)] {
        let variable = &lab.descriptor().home.environment;
        let environment = environment(own)?;
        let home = own.grants.folders.agent_home.display().to_string();
        require(environment[variable] == json!(home), || {
            format!("`{variable}` is {}, expected {home}", environment[variable])
        })?;
        let foreign = foreign.folder.path().display().to_string();
        require(!environment.to_string().contains(&foreign), || {
            "the agent was told a folder of the other session".to_owned()
        })?;
    }
    Ok(())
}

fn environment(place: &Place) -> Result<Value, Unproven> {
    let text = std::fs::read(place.left_by_agent(REPORT))
        .map_err(|_| failed("the agent left no report of its environment"))?;
    serde_json::from_slice(&text).map_err(could_not("read the agent's report"))
}
