//! What must be observed of a recording: `expect.json`.

use super::stub_folder::StubError;
use crate::contract::observed::{Observations, Outcome};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;

/// Everything that an expectation can name.
const KEYS: [&str; 11] = [
    "outcome",
    "agent_version",
    "native_session_id",
    "final_message",
    "turns",
    "model_requests",
    "usage",
    "cost_usd",
    "tool_calls",
    "model",
    "sandbox",
];

/// What an expectation has to name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// Everything.
    Everything,
    /// How the work ended.
    Outcome,
    /// What is the same in each run of a real program: all but its version and its names.
    OfRealWork,
}

impl Named {
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Everything => &KEYS,
            Self::Outcome => &["outcome"],
            Self::OfRealWork => &["outcome", "final_message", "usage", "tool_calls", "model"],
        }
    }
}

/// Values by name; `null` = must not be reported.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation(Map<String, Value>);

impl Expectation {
    /// Reads an expectation, which must name at least these values.
    ///
    /// # Errors
    ///
    /// If the file is missing, names something unknown, or lacks a value.
    pub fn load(path: &Path, named: Named) -> Result<Self, StubError> {
        let wrong = |problem: String| StubError::new(path, problem);
        let bytes = fs::read(path).map_err(|error| {
            wrong(format!(
                "can't be read: {error}; write there what must be observed of this recording, an \
                 object with {}",
                KEYS.join(", ")
            ))
        })?;
        let values: Map<String, Value> = serde_json::from_slice(&bytes)
            .map_err(|error| wrong(format!("is no JSON object: {error}")))?;
        if let Some(unknown) = values.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let known = KEYS.join(", ");
            return Err(wrong(format!(
                "names `{unknown}`, expected some of {known}"
            )));
        }
        let missing: Vec<&str> = named
            .keys()
            .iter()
            .copied()
            .filter(|key| !values.contains_key(*key))
            .collect();
        if !missing.is_empty() {
            return Err(wrong(format!(
                "does not say {}; write `null` where the recording does not tell",
                missing.join(", ")
            )));
        }
        Ok(Self(values))
    }

    /// The value expected under a name; `None` if nothing is said about it.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The same, but for one value.
    pub fn without(mut self, name: &str) -> Self {
        self.0.shift_remove(name);
        self
    }

    /// Where the observations differ: one sentence each.
    pub fn differences(&self, observed: &Observations) -> Vec<String> {
        let found = summary(observed);
        self.0
            .iter()
            .filter(|(name, wanted)| found.get(*name) != Some(wanted))
            .map(|(name, wanted)| {
                let found = found.get(name).unwrap_or(&Value::Null);
                format!("{name}: expected {wanted}, observed {found}")
            })
            .collect()
    }
}

/// Observations in the form in which expectations are written.
pub fn summary(observed: &Observations) -> Map<String, Value> {
    let calls = observed.tool_calls.as_ref().map(|calls| {
        let call = |call: &crate::contract::observed::ToolCall| {
            json!({"name": call.name, "status": call.status, "exit_code": call.exit_code})
        };
        calls.iter().map(call).collect::<Vec<_>>()
    });
    let values = [
        ("outcome", outcome(observed)),
        ("agent_version", json!(observed.agent_version)),
        ("native_session_id", json!(observed.native_session_id)),
        ("final_message", json!(observed.final_message)),
        ("turns", json!(observed.turns)),
        ("model_requests", json!(observed.model_requests)),
        ("usage", json!(observed.usage)),
        ("cost_usd", json!(observed.cost_usd)),
        ("tool_calls", json!(calls)),
        ("model", json!(observed.applied.model)),
        ("sandbox", json!(observed.applied.sandbox)),
    ];
    values
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// `completed`, `cancelled`, the class of a failure, or null.
pub fn outcome(observed: &Observations) -> Value {
    match &observed.outcome {
        None => Value::Null,
        Some(Outcome::Completed) => json!("completed"),
        Some(Outcome::Cancelled) => json!("cancelled"),
        Some(Outcome::Failed(failure)) => json!(failure.class),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn load(text: &str, named: Named) -> Result<Expectation, StubError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("expect.json");
        fs::write(&path, text).unwrap();
        Expectation::load(&path, named)
    }

    #[test]
    fn what_differs_is_named_and_what_is_not_mentioned_is_not_compared() {
        let expected = load(r#"{"outcome": "completed", "turns": null}"#, Named::Outcome).unwrap();
        let observed = Observations {
            outcome: Some(Outcome::Completed),
            turns: Some(0),
            final_message: Some("x".to_owned()),
            ..Observations::default()
        };
        let differences = expected.differences(&observed);
        assert_eq!(differences, ["turns: expected null, observed 0"]);
    }

    #[test]
    fn a_whole_expectation_leaves_nothing_out() {
        let problem = load(r#"{"outcome": "completed"}"#, Named::Everything)
            .unwrap_err()
            .problem;
        assert!(problem.contains("final_message"), "{problem}");
        assert!(
            load(r#"{"outcom": 1}"#, Named::Outcome)
                .unwrap_err()
                .problem
                .contains("`outcom`")
        );
    }
}
