//! What came out: for people, as JSON, and as the base of an attestation.

use super::case::{Case, Proof, Unproven};
use crate::attestation::Rung;
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
    /// How far the adapter has come; `None` if a case failed.
    pub rung: Option<Rung>,
    /// How long all of them took together.
    pub duration_ms: u64,
    /// The cases.
    pub cases: Vec<CaseReport>,
}

impl SuiteReport {
    /// The report of an adapter. Without recordings of a program that its descriptor grants
    /// it has shown that it works at all, and no more.
    pub fn new(
        component: &AdapterComponent,
        descriptor: &AgentDescriptor,
        lacks_recordings: bool,
        cases: Vec<CaseReport>,
        took: Duration,
    ) -> Self {
        let passed = cases.iter().all(|case| case.outcome != Outcome::Failed);
        let rung = if lacks_recordings {
            Rung::Implemented
        } else {
            Rung::FixtureConformant
        };
        Self {
            schema: SCHEMA,
            suite_version: super::VERSION,
            agent: format!("{}@{}", descriptor.id, descriptor.version),
            contract: component.contract_name(),
            component_sha256: component.sha256,
            descriptor_sha256: descriptor.digest,
            passed,
            rung: passed.then_some(rung),
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
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
