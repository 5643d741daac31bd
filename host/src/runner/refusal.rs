//! What can't be run is written down too: what was asked for, and everything that was wrong with
//! it. Nothing was started and nothing spent.

use super::masking::masked;
use super::plan::{Draft, Plan};
use super::plan_record::{agent_record, task_record};
use super::result::{
    ConfinementRecord, Failure, Phases, ProcessRecord, RunResult, RunStatus, RuntimeRecord, SCHEMA,
    WorkspaceRecord,
};
use super::run::{FinishedRun, RunError, check_apart};
use super::run_folder::RunFolder;
use crate::contract::observed::{AppliedSettings, FailureClass, Phase};
use crate::process::redaction::Redactor;
use crate::sandbox::component::AdapterComponent;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// Why a run may not count that was not begun.
const REASON: &str = "refused";

/// Keeps a refusal as a run of its own, with the status `refused`. `component` is the adapter if
/// it could be loaded; `class` what stands in the way.
///
/// # Errors
///
/// If the folder of the runs can't be used.
pub fn keep(
    runs: &Path,
    draft: &Draft,
    component: Option<&AdapterComponent>,
    class: FailureClass,
    problems: &[String],
) -> Result<FinishedRun, RunError> {
    let plan = &draft.0;
    // A workspace that could not be used has no path.
    if !plan.workspace.as_os_str().is_empty() {
        check_apart(runs, &plan.workspace)?;
    }
    let redactor = Redactor::new(plan.secret.iter().map(|secret| secret.expose().as_bytes()))?;
    let write = |id: &str, staged: &Path| {
        let result = result(id, plan, component, class, problems);
        let result = masked(&result, &redactor)?;
        crate::files::write_json_durably(&staged.join("result.json"), &result)?;
        Ok(result)
    };
    let kept = RunFolder::keep_record(runs, write);
    let (folder, result) = kept.map_err(|error| RunError::OutputFolder {
        path: runs.to_owned(),
        error,
    })?;
    Ok(FinishedRun {
        folder: folder.path().to_owned(),
        result,
    })
}

fn result(
    id: &str,
    plan: &Plan,
    component: Option<&AdapterComponent>,
    class: FailureClass,
    problems: &[String],
) -> RunResult {
    let now = crate::clock::now();
    let programs: Vec<_> = plan
        .programs
        .iter()
        .map(|(name, path)| (name.clone(), path.clone(), None))
        .collect();
    let evidence = Map::from_iter([("problems".to_owned(), Value::from(problems))]);
    RunResult {
        schema: SCHEMA.to_owned(),
        run_id: id.to_owned(),
        status: RunStatus::Refused,
        valid: false,
        invalid_reasons: vec![REASON.to_owned()],
        violations: Vec::new(),
        failure: Some(Failure {
            fault: class.fault(),
            class,
            phase: Phase::Plan,
            message: problems.join("; "),
            retryable: false,
            evidence,
        }),
        agent: agent_record(&plan.descriptor, component, &programs),
        task: task_record(plan, None),
        workspace: WorkspaceRecord {
            path: plan.workspace.display().to_string(),
            ..WorkspaceRecord::default()
        },
        runtime: plan.runtime.as_ref().map(RuntimeRecord::from),
        parameters: plan.parameters.clone(),
        applied: AppliedSettings::default(),
        native_session_id: None,
        final_message: None,
        turns: None,
        model_requests: None,
        usage: None,
        usage_by_model: None,
        cost_usd: None,
        tool_calls: None,
        provenance: BTreeMap::new(),
        unresolved: None,
        warnings: plan.notes.clone(),
        native_logs: Vec::new(),
        extra: Map::new(),
        started_at: now.clone(),
        finished_at: Some(now),
        duration_ms: Some(0),
        phases: Phases::default(),
        processes: ProcessRecord {
            spawned: 0,
            killed: Some(0),
            survivors: Some(0),
        },
        confinement: ConfinementRecord::default(),
        evaluation: None,
        recovery: None,
        artifacts: Vec::new(),
    }
}
