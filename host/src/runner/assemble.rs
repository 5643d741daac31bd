//! From what was planned and what came of it to the result.

use super::classify::classify;
use super::drive::Driven;
use super::plan_record::PlanRecord;
use super::result::{
    ConfinementRecord, ProcessRecord, RunResult, SCHEMA, Unresolved, WorkspaceRecord,
};
use crate::contract::observed::Observations;

/// The result as far as the session and its evidence tell it. Whether it may count, what
/// became of the workspace and how long it all took is still to be filled in.
pub(crate) fn assemble(
    record: &PlanRecord,
    driven: &Driven,
    mut confinement: ConfinementRecord,
    prepared_warnings: &[String],
) -> RunResult {
    confinement.limits.clone_from(&driven.resources.records);
    let verdict = classify(driven);
    let observed = driven.observations.clone().unwrap_or_default();
    let mut agent = record.agent.clone();
    if let Some(program) = &mut agent.program {
        program.version = driven
            .report
            .agent_version
            .clone()
            .or(observed.agent_version.clone());
    }
    let provenance = observed.provenance.iter().cloned().collect();
    let unresolved = unresolved(&observed);
    let mut warnings = record.notes.clone();
    warnings.extend(prepared_warnings.iter().cloned());
    warnings.extend(driven.report.notes.iter().cloned());
    warnings.extend(observed.warnings);
    if verdict.failure.is_none()
        && let Some(hit) = &driven.resources.hit
    {
        warnings.push(format!("{}, but the agent was done", hit.describe()));
    }
    RunResult {
        schema: SCHEMA.to_owned(),
        run_id: record.run_id.clone(),
        status: verdict.status,
        valid: false,
        invalid_reasons: Vec::new(),
        violations: [&driven.violations[..], &driven.observed_violations].concat(),
        failure: verdict.failure,
        agent,
        task: record.task.clone(),
        workspace: WorkspaceRecord::default(),
        runtime: record.runtime.clone(),
        parameters: record.parameters.clone(),
        applied: observed.applied,
        native_session_id: observed.native_session_id,
        final_message: observed.final_message,
        turns: observed.turns,
        model_requests: observed.model_requests,
        usage: observed.usage,
        usage_by_model: observed.usage_by_model,
        cost_usd: observed.cost_usd,
        tool_calls: observed.tool_calls,
        provenance,
        unresolved,
        warnings,
        native_logs: observed.native_logs,
        extra: observed.extra,
        started_at: record.created_at.clone(),
        finished_at: None,
        duration_ms: None,
        phases: driven.phases.clone(),
        processes: ProcessRecord {
            spawned: driven.spawned,
            killed: driven.census.map(|census| census.ended),
            survivors: driven.census.map(|census| census.survivors),
        },
        confinement,
        evaluation: None,
        recovery: None,
        artifacts: Vec::new(),
    }
}

fn unresolved(observed: &Observations) -> Option<Unresolved> {
    observed.unresolved.as_ref().map(|failure| Unresolved {
        fault: failure.class.fault(),
        class: failure.class.clone(),
        message: failure.message.clone(),
        evidence: failure.evidence.clone(),
    })
}
