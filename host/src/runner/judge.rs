//! Having a task's evaluator judge, once the agent is gone.

use super::blocking::while_others_go_on;
use super::changes::{self, After, Before};
use super::confine::{Confine, ConfinementRequest, Network, resource_limits};
use super::drive::{Driven, StopCause};
use super::evaluate::{Evaluation, EvaluationError, EvaluationSetup, evaluate};
use super::plan::Plan;
use super::run_folder::RunFolder;
use super::stop::StopSignal;
use crate::dataset::prepare::Variant;
use crate::process::confinement::FileView;
use crate::process::launch::Containment;
use crate::process::redaction::Redactor;
use crate::process::tree::TreeOptions;
use std::path::{Path, PathBuf};

/// What a judgement needs.
pub(super) struct Judging<'a> {
    pub(super) plan: &'a Plan,
    pub(super) variant: Option<&'a Variant>,
    pub(super) folder: &'a RunFolder,
    pub(super) before: &'a Before,
    pub(super) after: &'a After,
    pub(super) driven: &'a Driven,
    pub(super) supervisor: &'a Path,
    pub(super) request: &'a ConfinementRequest,
    pub(super) redactor: &'a Redactor,
    pub(super) stop: StopSignal,
}

/// Lets the task's evaluator judge; `None` if there is nobody who could, or nothing to judge.
pub(super) async fn judge(it: Judging<'_>) -> Result<Option<Evaluation>, EvaluationError> {
    let (Some(task), Some(variant)) = (&it.plan.task, it.variant) else {
        return Ok(None);
    };
    let Some(evaluator) = &task.descriptor.evaluator else {
        return Ok(None);
    };
    if !it.driven.submitted || it.driven.stopped == Some(StopCause::Cancelled) {
        return Ok(None);
    }
    if it.driven.census.is_none_or(|census| census.survivors > 0) {
        let reason = "not all of the agent's processes are proven to have ended";
        return Err(EvaluationError::Setup(reason.to_owned()));
    }
    let folder = it.folder.evaluation();
    let workspace = folder.join("workspace");
    crate::files::create_private_folders(&folder)
        .map_err(|error| EvaluationError::Setup(error.to_string()))?;
    let scratch = folder.join("apply.git");
    while_others_go_on(|| changes::fresh_copy(it.before, it.after, &workspace, &scratch))
        .map_err(EvaluationError::Setup)?;
    let tree = TreeOptions {
        supervisor: it.supervisor.to_owned(),
        attempts: attempts(it.request, it.folder, &it.before.pristine),
        // The evaluator runs the agent's code.
        limits: resource_limits(it.request, &it.plan.descriptor),
    };
    let setup = EvaluationSetup {
        task: &task.descriptor,
        evaluator,
        variant,
        prepared: &it.before.pristine,
        workspace: &workspace,
        folder: &folder,
        log: &it.folder.evaluation_log(),
        tree: &tree,
        redactor: it.redactor,
        stop: it.stop,
    };
    evaluate(setup).await.map(Some)
}

/// As the agent, whose code the evaluator runs: no more of the network than the agent had, and
/// nothing of this user's home and of other runs.
fn attempts(request: &ConfinementRequest, folder: &RunFolder, prepared: &Path) -> Vec<Containment> {
    let network = request.network == Network::Full;
    let namespaces = |files: Option<FileView>, network| Containment::Namespaces {
        files,
        network,
        hosts: None,
    };
    let view = FileView {
        writable: vec![folder.evaluation()],
        readable: std::iter::once(prepared.to_owned())
            .chain(request.expose.iter().cloned())
            .collect(),
        hidden: std::env::var_os("HOME")
            .map(PathBuf::from)
            .into_iter()
            .chain(folder.path().parent().map(Path::to_owned))
            .collect(),
        temporary: folder.evaluation().join("tmp"),
    };
    match request.confine {
        Confine::Required => vec![namespaces(Some(view), network)],
        Confine::BestEffort => vec![
            namespaces(Some(view), network),
            namespaces(None, network),
            namespaces(None, true),
            Containment::SubReaper,
        ],
        Confine::Off => vec![
            namespaces(None, network),
            namespaces(None, true),
            Containment::SubReaper,
        ],
    }
}
