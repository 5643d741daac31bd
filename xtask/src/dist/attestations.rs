//! Running the contract suite on what is shipped, and shipping what it found.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::agent::real_cli::{self, Search};
use crate::failure::{Explain, Failure, Outcome};
use crate::steps;
use crate::workspace::Workspace;

/// The adapter whose agent's own program can be looked for here.
const WITH_REAL_CLI: &str = "codex.wasm";

/// Proves every adapter of the laid-out catalog with the laid-out program, and keeps the
/// attestations beside them: with the agent's own program where it is installed. An adapter that
/// fails is not shipped.
///
/// # Errors
///
/// If a case fails, or the suite can't be run.
pub fn make(workspace: &Workspace, layout: &Path) -> Outcome {
    let share = layout.join("share/akbench");
    let catalog = share.join("adapters/catalog.json");
    let doing = || format!("read {}", catalog.display());
    let read: Value = serde_json::from_slice(&fs::read(&catalog).explain(doing)?).explain(doing)?;
    for line in read["adapters"].as_array().into_iter().flatten() {
        let component = line["component"].as_str().unwrap_or_default();
        let recordings = recordings(workspace, component)?;
        let mut command = Command::new(layout.join("bin/akbench"));
        command
            .args(["adapter", "test"])
            .arg(share.join("adapters").join(component))
            .arg("--stub")
            .arg(recordings)
            .arg("--attestations")
            .arg(share.join("attestations"))
            .env("AKBENCH_SHARE", &share);
        if component == WITH_REAL_CLI {
            match real_cli::find()? {
                Search::Found(program) => {
                    command.arg("--cli").arg(program);
                }
                Search::Absent(reason) => eprintln!(
                    "xtask: {component} is attested on recordings only, without its real CLI: {reason}"
                ),
            }
        }
        steps::run(
            &mut command,
            &format!("prove {component} with the contract suite"),
        )?;
    }
    Ok(())
}

/// By convention beside the adapter's sources, in a folder named like the component.
fn recordings(workspace: &Workspace, component: &str) -> Outcome<std::path::PathBuf> {
    let name = component.trim_end_matches(".wasm");
    let folder = workspace.root.join("adapters").join(name).join("suite");
    if folder.join("suite.json").is_file() {
        return Ok(folder);
    }
    Err(Failure::new(format!(
        "{component} has no recordings in {}: an adapter that the contract suite can't prove is \
         not shipped",
        folder.display()
    )))
}
