//! Comparing what a replay observed with what the recording shows.

use crate::expectation::Replayed;
use crate::replays::Outcome;
use akbench::contract::observed::Observations;
use serde_json::{Value, json};
use std::fmt;

/// A value that is not what the recording shows.
pub struct Difference {
    name: String,
    field: String,
    expected: Value,
    found: Value,
    cite: Value,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            field,
            expected,
            found,
            cite,
        } = self;
        write!(
            f,
            "{name}: {field}: expected {expected}, found {found} (shown by {cite})"
        )
    }
}

/// All differences of one recording.
pub fn differences(name: &str, recording: &Replayed, outcome: &Outcome) -> Vec<Difference> {
    let mut found = Vec::new();
    for (field, expected) in &recording.expect {
        let value = value_of(field, outcome);
        if value != *expected {
            found.push(Difference {
                name: name.to_owned(),
                field: field.clone(),
                expected: expected.clone(),
                found: value,
                cite: recording.cites[field].clone(),
            });
        }
    }
    for violation in &outcome.violations {
        found.push(broken(name, "violation", violation));
    }
    found
}

/// A replay that brought nothing where the recording has something to tell.
pub fn broken(name: &str, field: &str, what: &str) -> Difference {
    Difference {
        name: name.to_owned(),
        field: field.to_owned(),
        expected: Value::Null,
        found: json!(what),
        cite: json!("the contract"),
    }
}

/// The value of a field of the table, as the result would show it.
fn value_of(field: &str, outcome: &Outcome) -> Value {
    let observed = &outcome.observed;
    let failure = outcome.verdict.failure.as_ref();
    match field {
        "status" => json!(outcome.verdict.status),
        "class" => json!(failure.map(|failure| &failure.class)),
        "fault" => json!(failure.map(|failure| failure.fault)),
        "usage" => json!(observed.usage),
        "usage_complete" => json!(usage_complete(observed)),
        "tool_calls" => json!(observed.tool_calls.as_ref().map(Vec::len)),
        "model" => json!(observed.applied.model),
        "sandbox" => json!(observed.applied.sandbox),
        "approval_policy" => json!(observed.applied.approval_policy),
        "final_message" => json!(observed.final_message),
        "native_session_id" => json!(observed.native_session_id),
        "model_requests" => json!(observed.model_requests),
        "agent_version" => json!(observed.agent_version),
        other => panic!("nothing is compared with the expected field `{other}`"),
    }
}

fn usage_complete(observed: &Observations) -> Option<bool> {
    let entry = observed.provenance.iter().find(|(name, _)| name == "usage");
    entry.map(|(_, provenance)| provenance.complete)
}
