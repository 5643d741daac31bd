//! What came out: for people, as JSON, and as the base of an attestation.

use super::case::{Case, Proof, Unproven};
use super::cost::Cost;
use crate::attestation::{ProgramTested, Rung};
use crate::digest::Sha256;
use crate::registry::AgentDescriptor;
use crate::sandbox::component::AdapterComponent;
use serde::Serialize;
use std::time::Duration;

/// The name and version of the format.
pub const SCHEMA: &str = "akbench.suite-report/1";

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It is shown.
    Passed,
    /// The adapter did something else.
    Failed,
    /// It says nothing about this adapter, for a reason.
    NotApplicable,
}

/// One case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaseReport {
    /// `group.name`.
    pub name: String,
    /// What is shown if it passed.
    pub proves: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it is not passed; `None` if it is.
    pub reason: Option<String>,
    /// How long it took.
    pub duration_ms: u64,
}

impl CaseReport {
    /// The report of a case.
    pub fn new(case: &Case, proof: Proof, took: Duration) -> Self {
        let (outcome, reason) = match proof {
            Ok(()) => (Outcome::Passed, None),
            Err(Unproven::Failed(what)) => (Outcome::Failed, Some(what)),
            Err(Unproven::NotApplicable(why)) => (Outcome::NotApplicable, Some(why)),
        };
        Self {
            name: case.name.clone(),
            proves: case.proves.clone(),
            outcome,
            reason,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// All cases of one adapter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SuiteReport {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The version of the cases.
    pub suite_version: &'static str,
    /// The agent that the adapter is for.
    pub agent: String,
    /// The adapter's contract.
    pub contract: String,
    /// Of the component's file.
    pub component_sha256: Sha256,
    /// Of the descriptor's file.
    pub descriptor_sha256: Sha256,
    /// True if no case failed.
    pub passed: bool,
    /// How far the adapter has come; `None` if a case failed, or if only some were run.
    pub rung: Option<Rung>,
    /// The agent's own program; `None` if only recordings were played.
    pub program: Option<ProgramTested>,
    /// The runtime whose real endpoint was asked; `None` if none was.
    pub live_runtime: Option<String>,
    /// What all of them took together.
    #[serde(flatten)]
    pub cost: Cost,
    /// The longest case.
    pub longest_case_ms: u64,
    /// The cases.
    pub cases: Vec<CaseReport>,
}

/// What was tested, and how much of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// True if the descriptor grants a program of which there are no recordings.
    pub lacks_recordings: bool,
    /// True if only some of the cases were run.
    pub partial: bool,
    /// The agent's own program; `None` if it was not tested.
    pub program: Option<ProgramTested>,
    /// The runtime whose real endpoint was asked; `None` if none was.
    pub live_runtime: Option<String>,
}

impl SuiteReport {
    /// The report of an adapter.
    pub fn new(
        component: &AdapterComponent,
        descriptor: &AgentDescriptor,
        extent: Extent,
        cases: Vec<CaseReport>,
        cost: Cost,
    ) -> Self {
        let passed = cases.iter().all(|case| case.outcome != Outcome::Failed);
        let rung = rung(&extent, &cases);
        Self {
            schema: SCHEMA,
            suite_version: super::VERSION,
            agent: format!("{}@{}", descriptor.id, descriptor.version),
            contract: component.contract_name(),
            component_sha256: component.sha256,
            descriptor_sha256: descriptor.digest,
            passed,
            rung: rung.filter(|_| passed),
            program: extent.program,
            live_runtime: extent.live_runtime,
            cost,
            longest_case_ms: cases.iter().map(|c| c.duration_ms).max().unwrap_or(0),
            cases,
        }
    }

    /// How many cases ended so.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.cases
            .iter()
            .filter(|case| case.outcome == outcome)
            .count()
    }

    /// The names of the cases that failed.
    pub fn failed(&self) -> Vec<String> {
        let failed = self.cases.iter().filter(|c| c.outcome == Outcome::Failed);
        failed.map(|case| case.name.clone()).collect()
    }
}

/// How far an adapter has come of which no case failed. Without recordings of a program that its
/// descriptor grants it has shown that it works at all, and no more.
fn rung(extent: &Extent, cases: &[CaseReport]) -> Option<Rung> {
    if extent.partial {
        return None;
    }
    if extent.lacks_recordings {
        return Some(Rung::Implemented);
    }
    let shown = |name: &str| {
        let mut cases = cases.iter();
        cases.any(|case| case.name == name && case.outcome == Outcome::Passed)
    };
    Some(match (shown("cli.completes"), shown("live.completes")) {
        (true, true) => Rung::LiveQualified,
        (true, false) => Rung::CliConformant,
        (false, _) => Rung::FixtureConformant,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, outcome: Outcome) -> CaseReport {
        CaseReport {
            name: name.to_owned(),
            proves: String::new(),
            outcome,
            reason: None,
            duration_ms: 0,
        }
    }

    fn extent() -> Extent {
        Extent {
            lacks_recordings: false,
            partial: false,
            program: None,
            live_runtime: None,
        }
    }

    #[test]
    fn a_rung_is_what_was_shown_and_no_more() {
        let skipped = [case("cli.completes", Outcome::NotApplicable)];
        assert_eq!(rung(&extent(), &skipped), Some(Rung::FixtureConformant));
        let real = [case("cli.completes", Outcome::Passed)];
        assert_eq!(rung(&extent(), &real), Some(Rung::CliConformant));
        let live = [
            case("cli.completes", Outcome::Passed),
            case("live.completes", Outcome::Passed),
        ];
        assert_eq!(rung(&extent(), &live), Some(Rung::LiveQualified));
        // Each rung stands on the one below.
        assert_eq!(rung(&extent(), &live[1..]), Some(Rung::FixtureConformant));
    }

    #[test]
    fn a_part_of_the_cases_and_a_lack_of_recordings_show_little() {
        let real = [case("cli.completes", Outcome::Passed)];
        let part = Extent {
            partial: true,
            ..extent()
        };
        assert_eq!(rung(&part, &real), None);
        let none = Extent {
            lacks_recordings: true,
            ..extent()
        };
        assert_eq!(rung(&none, &real), Some(Rung::Implemented));
    }
}
