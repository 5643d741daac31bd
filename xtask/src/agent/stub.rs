//! Laying out the stand-in: the stub program under the agent's name, its scenario beside it.

use std::fs;
use std::path::{Path, PathBuf};

use super::PROGRAM;
use crate::failure::{Explain, Outcome};
use crate::{atomic, folder};

/// Puts the stub into `into` under the agent's name, playing the scenario in `scenario`.
///
/// # Errors
///
/// If something cannot be copied.
pub fn with_scenario_folder(stub: &Path, into: &Path, scenario: &Path) -> Outcome<PathBuf> {
    let program = place(stub, into)?;
    folder::copy(scenario, &scenario_folder(into))?;
    Ok(program)
}

/// Puts the stub into `into` under the agent's name, playing this `scenario.json`.
///
/// # Errors
///
/// If something cannot be written.
pub fn with_scenario(stub: &Path, into: &Path, scenario: &serde_json::Value) -> Outcome<PathBuf> {
    let program = place(stub, into)?;
    let file = scenario_folder(into).join("scenario.json");
    atomic::write(&file, format!("{scenario:#}\n").as_bytes())?;
    Ok(program)
}

fn place(stub: &Path, into: &Path) -> Outcome<PathBuf> {
    let program = into.join(PROGRAM);
    fs::create_dir_all(into).explain(|| format!("create {}", into.display()))?;
    // A link, where the file system allows it: a fresh copy can be "busy" when it is started
    // while another thread forks.
    fs::hard_link(stub, &program)
        .or_else(|_| fs::copy(stub, &program).map(drop))
        .explain(|| format!("copy {} to {}", stub.display(), program.display()))?;
    Ok(program)
}

fn scenario_folder(into: &Path) -> PathBuf {
    into.join(format!("{PROGRAM}.scenario"))
}
