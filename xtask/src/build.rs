//! What the demo and the tests both need.

use crate::failure::Outcome;
use crate::guests::{self, Built};
use crate::share;
use crate::steps;
use crate::toolchain::Installing;
use crate::workspace::Workspace;

/// Builds host, stand-ins and adapters with the one profile that demo and tests share, and lays
/// out the share folder in which the host finds them.
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
    let guests = guests::build(workspace, installing)?;
    share::lay_out(workspace, &guests)?;
    Ok(guests)
}

/// Builds everything, and says how it is used.
///
/// # Errors
///
/// If anything does not build.
pub fn run(workspace: &Workspace, installing: Installing) -> Outcome {
    everything(workspace, installing)?;
    let program = workspace.debug_program("akbench");
    println!("built {}:", workspace.shown(&program));
    println!("it finds descriptors and adapters in {}", {
        let share = workspace.target.join("share/akbench");
        workspace.shown(&share).to_string()
    });
    Ok(())
}
