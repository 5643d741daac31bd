//! Observing a finished run again, from its evidence alone, with today's adapter.
//!
//! The result is assembled by the same code as the run's own. What no evidence tells of
//! (the workspace, the evaluator's verdict, when it was) is taken from the result there is.

use super::interpreter::{Interpreter, Tools};
use super::stored::{RunState, StoredRun};
use super::verify::{Difference, verify};
use crate::process::redaction::Redactor;
use crate::runner::assemble::assemble;
use crate::runner::plan_record::PlanRecord;
use crate::runner::result::{RunResult, RunStatus};
use crate::runner::run_folder::RunFolder;
use crate::runner::session_record::SessionRecord;
use crate::runner::validity;
use serde::Serialize;
use serde_json::Value;
use std::io;
use std::path::PathBuf;
use ulid::Ulid;

/// The folder, in a run's own, where results that were derived again are kept.
pub const REPARSED: &str = "reparsed";

/// A field that is not as it was.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldChange {
    /// A JSON pointer into the result.
    pub field: String,
    /// As the run's own result has it; `None` if it has no such field.
    pub was: Option<Value>,
    /// As it was derived now; `None` if there is no such field.
    pub is: Option<Value>,
}

/// A run that was observed again.
#[derive(Debug)]
pub struct Reparsed {
    /// As it was derived now.
    pub result: RunResult,
    /// What differs from the run's own result, by field.
    pub changes: Vec<FieldChange>,
    /// How adapter and descriptor differ from those of the run.
    pub notes: Vec<String>,
}

/// Why a run could not be observed again, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotReparsed(String);

impl From<io::Error> for NotReparsed {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

/// Derives the result of a run again. Nothing of the run is changed.
///
/// # Errors
///
/// If the run has no result, its evidence is not what it was, a record of it can't be read, or
/// there is no adapter to read it with.
pub async fn reparse(run: &StoredRun, tools: &Tools<'_>) -> Result<Reparsed, NotReparsed> {
    let old = match &run.state {
        RunState::Finished(result) => result,
        RunState::Running => return Err(NotReparsed("it still runs".to_owned())),
        RunState::Dead => {
            let text =
                "it has no result: its host died; `akbench runs recover` completes the record";
            return Err(NotReparsed(text.to_owned()));
        }
        RunState::Unreadable(reason) => {
            return Err(NotReparsed(format!("its result can't be read: {reason}")));
        }
    };
    if old.status == RunStatus::Refused {
        return Err(NotReparsed(
            "it was refused: nothing was started, so there is nothing to observe".to_owned(),
        ));
    }
    check_evidence(run)?;
    let folder = RunFolder::existing(&run.id, &run.folder.canonicalize()?);
    let plan = PlanRecord::load(&folder.plan()).map_err(|error| NotReparsed(error.to_string()))?;
    let session = SessionRecord::load(&folder.session())
        .map_err(|error| NotReparsed(format!("session.json can't be used: {error}")))?;
    let Some(session) = session else {
        let text = "it has no session.json, so how its session ended is not known; if it was \
                    recovered without its credential, recover it again with it";
        return Err(NotReparsed(text.to_owned()));
    };
    let interpreter = tools.of_today(&plan).map_err(NotReparsed)?;
    // The adapter may leave logs; the run's own stay as they are.
    let artifacts = tempfile::tempdir()?;
    // The evidence is masked already.
    let redactor = Redactor::new([]).map_err(|error| NotReparsed(error.to_string()))?;
    let mut driven = session.into_driven();
    tools
        .observe(
            &interpreter,
            &plan,
            &folder,
            artifacts.path(),
            &redactor,
            &mut driven,
        )
        .await?;
    let mut result = assemble(&plan, &driven, old.confinement.clone(), &[]);
    keep_what_was_not_observed(&mut result, old, &interpreter);
    validity::judge(
        &mut result,
        &driven,
        &interpreter.descriptor,
        tools.standing(&interpreter),
    );
    let evaluation_failed = "evaluation_failed".to_owned();
    if old.invalid_reasons.contains(&evaluation_failed) {
        result.invalid_reasons.push(evaluation_failed);
        result.valid = false;
    }
    let changes = compare(old, &result)?;
    Ok(Reparsed {
        result,
        changes,
        notes: interpreter.notes,
    })
}

impl Reparsed {
    /// Keeps the new result in the run's folder, beside the run's own. Returns where.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn keep(&self, run: &StoredRun) -> io::Result<PathBuf> {
        let folder = run.folder.join(REPARSED);
        crate::files::create_private_folders(&folder)?;
        let name = format!("{}.json", Ulid::generate().to_string().to_lowercase());
        let path = folder.join(name);
        crate::files::write_json_durably(&path, &self.result)?;
        Ok(path)
    }
}

/// Evidence that was touched proves nothing.
fn check_evidence(run: &StoredRun) -> Result<(), NotReparsed> {
    let differences = verify(run).differences;
    let in_evidence = |difference: &&Difference| match difference {
        Difference::Changed { path, .. }
        | Difference::Missing { path }
        | Difference::Added { path }
        | Difference::Unreadable { path, .. } => !path.starts_with("adapter/"),
        _ => true,
    };
    match differences.iter().find(in_evidence) {
        Some(difference) => Err(NotReparsed(format!(
            "its evidence is not what it was: {difference}; `akbench runs verify` tells all"
        ))),
        None => Ok(()),
    }
}

fn keep_what_was_not_observed(result: &mut RunResult, old: &RunResult, it: &Interpreter) {
    result.agent.contract = Some(it.component.contract_name());
    result.agent.component_sha256 = Some(it.component.sha256);
    result.agent.descriptor_sha256 = it.descriptor.digest;
    result.workspace = old.workspace.clone();
    result.evaluation = old.evaluation.clone();
    result.recovery = old.recovery.clone();
    result.finished_at = old.finished_at.clone();
    result.duration_ms = old.duration_ms;
    result.artifacts = old.artifacts.clone();
    result.native_logs = old.native_logs.clone();
    // The engine's own of that time. Those of the adapter are observed anew, so a warning that
    // is in both counts once.
    for warning in &old.warnings {
        if !result.warnings.contains(warning) {
            result.warnings.push(warning.clone());
        }
    }
}

fn compare(old: &RunResult, new: &RunResult) -> Result<Vec<FieldChange>, NotReparsed> {
    let document = |result: &RunResult| {
        serde_json::to_value(result).map_err(|error| NotReparsed(error.to_string()))
    };
    let mut changes = Vec::new();
    differences(
        &document(old)?,
        &document(new)?,
        String::new(),
        &mut changes,
    );
    Ok(changes)
}

/// Objects by member; a list that differs counts as a whole: its items have no names.
fn differences(old: &Value, new: &Value, at: String, changes: &mut Vec<FieldChange>) {
    if old == new {
        return;
    }
    let (Value::Object(was), Value::Object(is)) = (old, new) else {
        changes.push(FieldChange {
            field: at,
            was: Some(old.clone()),
            is: Some(new.clone()),
        });
        return;
    };
    let place = |name: &str| format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
    for (name, was) in was {
        match is.get(name) {
            Some(is) => differences(was, is, place(name), changes),
            None => changes.push(FieldChange {
                field: place(name),
                was: Some(was.clone()),
                is: None,
            }),
        }
    }
    for (name, is) in is.iter().filter(|(name, _)| !was.contains_key(*name)) {
        changes.push(FieldChange {
            field: place(name),
            was: None,
            is: Some(is.clone()),
        });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn a_change_is_named_by_the_innermost_field_that_differs() {
        let old = json!({"usage": {"input": 1, "output": 2}, "turns": null, "gone": 1, "a/b": [1]});
        let new = json!({"usage": {"input": 1, "output": 3}, "turns": 1, "more": 1, "a/b": [1, 2]});
        let mut changes = Vec::new();
        differences(&old, &new, String::new(), &mut changes);
        let found: Vec<(String, Option<Value>, Option<Value>)> = changes
            .into_iter()
            .map(|change| (change.field, change.was, change.is))
            .collect();
        assert_eq!(
            found,
            [
                ("/usage/output".to_owned(), Some(json!(2)), Some(json!(3))),
                ("/turns".to_owned(), Some(json!(null)), Some(json!(1))),
                ("/gone".to_owned(), Some(json!(1)), None),
                ("/a~1b".to_owned(), Some(json!([1])), Some(json!([1, 2]))),
                ("/more".to_owned(), None, Some(json!(1))),
            ]
        );
    }
}
