//! What the demo and the tests both need.

use crate::failure::Outcome;
use crate::guests::{self, Built};
use crate::steps;
use crate::toolchain::Installing;
use crate::workspace::Workspace;

/// Builds host, stand-ins and adapters with the one profile that demo and tests share.
///
/// # Errors
///
/// If anything does not build.
pub fn everything(workspace: &Workspace, installing: Installing) -> Outcome<Vec<Built>> {
    // All of the workspace at once: cargo then chooses the same features as it does for the
    // tests, so nothing is compiled twice.
    steps::run(
        workspace.cargo("build").args(["--workspace", "--bins"]),
        "build the workspace",
    )?;
    guests::build(workspace, installing)
}
