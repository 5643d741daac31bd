//! What a run costs: the time that the host adds, and the memory it takes.
//!
//! Printed, not asserted: the numbers depend on the machine.

mod memory;
mod overhead;
mod peak;
mod rig;
mod scenario;
mod statistics;

use std::path::PathBuf;

use serde_json::json;

use self::rig::Rig;
use crate::failure::Outcome;
use crate::toolchain::Installing;
use crate::workspace::Workspace;
use crate::{atomic, guests, steps};

/// What is to be measured.
pub struct Plan {
    /// How often the overhead is measured.
    pub runs: u32,
    /// The size of the event stream, in 10^6 bytes.
    pub megabytes: u32,
    /// Where the numbers go as JSON; `None`: only the table is printed.
    pub json: Option<PathBuf>,
}

/// Builds the release, measures, prints.
///
/// # Errors
///
/// If something does not build, or a measured run does not end as it should.
pub fn run(workspace: &Workspace, installing: Installing, plan: &Plan) -> Outcome {
    // Two builds: together, cargo could choose other features than for what is released.
    steps::run(
        workspace
            .cargo("build")
            .args(["--release", "--package", "akbench", "--bins"]),
        "build the release",
    )?;
    steps::run(
        workspace
            .cargo("build")
            .args(["--release", "--package", "stub-cli"]),
        "build the stub",
    )?;
    guests::build(workspace, installing)?;

    let rig = Rig::new(workspace)?;
    let overhead = overhead::measure(&rig, plan.runs)?;
    let memory = memory::measure(&rig, u64::from(plan.megabytes) * 1_000_000)?;

    println!();
    overhead.print();
    println!();
    memory.print();
    if let Some(path) = &plan.json {
        let all = json!({ "overhead": overhead.to_json(), "memory": memory.to_json() });
        atomic::write(path, format!("{all:#}\n").as_bytes())?;
    }
    Ok(())
}
