//! Workspace binding: the agent works in the workspace and nowhere else.

use crate::suite::case::{Case, Proof, could_not, failed, require};
use crate::suite::lab::{Lab, whole};
use crate::suite::place::{LEFT_IN, Place};
use serde_json::{Value, json};
use std::path::Path;

const REPORT: &str = "akbench-suite-self.json";

pub fn cases() -> Vec<Case> {
    vec![Case::new(
        "workspace.agent_works_there",
        "the agent's current folder is the workspace of its session",
        |lab| Box::pin(agent_works_there(lab)),
    )]
}

async fn agent_works_there(lab: &Lab) -> Proof {
    let report = json!({"report_self": {"file": REPORT, "into_env": LEFT_IN}});
    let completes = &lab.recordings()?.completes.scenario;
    let place = lab.stage(&completes.clone().begin_with([report]))?;
    let (driven, _) = lab.drive_well(&place).await?;
    whole(&driven)?;
    let reported = read(&place)?;
    let cwd = reported["cwd"].as_str().unwrap_or_default();
    let workspace = &place.grants.folders.workspace;
    require(Path::new(cwd) == workspace, || {
        format!(
            "the agent ran in `{cwd}`, expected `{}`",
            workspace.display()
        )
    })
}

fn read(place: &Place) -> Result<Value, crate::suite::case::Unproven> {
    let text = std::fs::read(place.left_by_agent(REPORT))
        .map_err(|_| failed("the agent left no report of where it runs"))?;
    serde_json::from_slice(&text).map_err(could_not("read the agent's report"))
}
