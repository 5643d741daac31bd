//! What the adapter observes in evidence, read natively.
#![allow(clippy::unwrap_used)]

use akbench_adapter_sdk::evidence::FolderEvidence;
use akbench_adapter_sdk::types::{FailureClass, Observations, Outcome};
use akbench_fake_adapter::observe::observe;
use std::fs;

const WORK: &str = concat!(
    r#"{"event":"session","id":"s-1","model":"small-1"}"#,
    "\n",
    r#"{"event":"tool","id":"t-1","name":"write","exit_code":0}"#,
    "\n",
    r#"{"event":"message","text":"Wrote out.txt."}"#,
    "\n",
    r#"{"event":"usage","input":120,"output":30}"#,
    "\n",
);

fn exited(code: i32, signals: &str) -> String {
    format!(r#"{{"status":{{"kind":"exited","code":{code}}},"signals":[{signals}]}}"#)
}

fn observed(stdout: &str, exit: Option<&str>) -> Observations {
    let folder = tempfile::tempdir().unwrap();
    let spawn = folder.path().join("spawns/2-task");
    fs::create_dir_all(&spawn).unwrap();
    fs::write(spawn.join("stdout"), stdout).unwrap();
    if let Some(exit) = exit {
        fs::write(spawn.join("exit.json"), exit).unwrap();
    }
    observe(&FolderEvidence(folder.path().to_owned())).unwrap()
}

#[test]
fn what_the_agent_prints_is_observed() {
    let stdout = format!("{WORK}{{\"event\":\"done\"}}\n");
    let seen = observed(&stdout, Some(&exited(0, "")));
    assert_eq!(seen.outcome, Some(Outcome::Completed));
    assert_eq!(seen.final_message.as_deref(), Some("Wrote out.txt."));
    assert_eq!(seen.usage.unwrap().total, Some(150));
    assert_eq!(seen.tool_calls.unwrap().len(), 1);
    assert_eq!(seen.applied.model.as_deref(), Some("small-1"));
}

#[test]
fn a_good_exit_without_the_last_line_is_a_crash() {
    let seen = observed(WORK, Some(&exited(0, "")));
    assert!(
        matches!(seen.outcome, Some(Outcome::Failed(failure)) if failure.class == FailureClass::AgentCrash)
    );
}

#[test]
fn an_end_that_was_not_recorded_is_no_end() {
    let stdout = format!("{WORK}{{\"event\":\"done\"}}\n");
    assert_eq!(observed(&stdout, None).outcome, None);
}

#[test]
fn a_line_torn_in_the_middle_of_a_number_is_not_read() {
    let torn = r#"{"event":"usage","input":1,"output":3}"#;
    assert_eq!(observed(torn, Some(&exited(0, ""))).usage, None);
}

#[test]
fn an_agent_that_the_engine_stopped_is_cancelled() {
    let sent = r#"{"signal":"SIGINT","reason":"cancel"}"#;
    let seen = observed(WORK, Some(&exited(0, sent)));
    assert_eq!(seen.outcome, Some(Outcome::Cancelled));
}

#[test]
fn nothing_recorded_is_nothing_known() {
    let folder = tempfile::tempdir().unwrap();
    let seen = observe(&FolderEvidence(folder.path().to_owned())).unwrap();
    assert_eq!(
        (seen.outcome, seen.usage, seen.tool_calls),
        (None, None, None)
    );
}
