//! Laying out the folder that the agent works in.

use super::changes::Before;
use super::plan::Plan;
use super::run::RunError;
use super::run_folder::RunFolder;
use super::workspace::{Snapshot, copy_tree};
use crate::dataset::prepare::{self, Variant};

/// What is ready for the agent.
pub(super) struct LaidOut {
    pub(super) before: Before,
    /// Of a dataset's task.
    pub(super) variant: Option<Variant>,
    pub(super) attachments: Vec<String>,
    pub(super) warnings: Vec<String>,
}

/// Makes the folder that the agent works in, and sees to it that what was there is kept.
pub(super) fn lay_out(plan: &Plan, folder: &RunFolder) -> Result<LaidOut, RunError> {
    let (mut variant, mut attachments, mut warnings) = (None, Vec::new(), Vec::new());
    let (workspace, pristine) = if let Some(task) = &plan.task {
        let (pristine, workspace) = (folder.pristine(), folder.workspace());
        variant = Some(prepare::prepare_tree(
            &task.descriptor,
            task.seed,
            &pristine,
        )?);
        copy_tree(&pristine, &workspace).map_err(RunError::Workspace)?;
        prepare::finish_workspace(&task.descriptor, &workspace)?;
        attachments = prepare::copy_attachments(&task.descriptor, &folder.attachments())?;
        (workspace, pristine)
    } else if plan.in_place {
        // Without it there is no diff, which is no reason not to run.
        if let Err(error) = copy_tree(&plan.workspace, &folder.pristine()) {
            warnings.push(format!(
                "the workspace could not be copied before the run: {error}"
            ));
        }
        (plan.workspace.clone(), folder.pristine())
    } else {
        copy_tree(&plan.workspace, &folder.workspace()).map_err(RunError::Workspace)?;
        (folder.workspace(), plan.workspace.clone())
    };
    let snapshot = match &variant {
        Some(variant) => variant.snapshot.clone(),
        None => Snapshot::take(&workspace).map_err(RunError::Workspace)?,
    };
    Ok(LaidOut {
        before: Before {
            workspace,
            pristine,
            snapshot,
        },
        variant,
        attachments,
        warnings,
    })
}
