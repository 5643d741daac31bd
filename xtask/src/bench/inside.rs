//! What is measured inside one process: `akbench-bench` does it, and prints rows.

use std::process::Command;

use super::rig::Rig;
use crate::failure::{Explain, Outcome};
use crate::steps;
use crate::workspace::Workspace;
use akbench_recorded::row::Row;

/// How often each reader reads the short and the long stream: the long one takes its time.
const PAIRS: [u32; 2] = [5, 2];

/// The program that measures, and what it needs.
pub struct Bench<'a> {
    workspace: &'a Workspace,
    rig: &'a Rig,
}

impl<'a> Bench<'a> {
    /// Everything has to be built.
    pub fn new(workspace: &'a Workspace, rig: &'a Rig) -> Self {
        Self { workspace, rig }
    }

    /// Compiling, loading, instantiating and calling adapters.
    pub fn components(&self) -> Outcome<Vec<Row>> {
        rows(self.section("components").args(self.parts()))
    }

    /// Long streams or session files.
    pub fn long(&self, section: &str, megabytes: [u32; 2]) -> Outcome<Vec<Row>> {
        let native = self.workspace.target.join("guest/akbench-native-reader");
        let mut all = Vec::new();
        for (megabytes, pairs) in megabytes.into_iter().zip(PAIRS) {
            let mut command = self.section(section);
            command
                .arg("--adapter")
                .arg(self.workspace.adapters().join("codex.wasm"))
                .arg("--native")
                .arg(&native)
                .arg("--cache")
                .arg(self.rig.folder().join("components"))
                .arg(format!("--megabytes={megabytes}"))
                .arg(format!("--pairs={pairs}"));
            all.extend(rows(&mut command)?);
        }
        Ok(all)
    }

    /// Many sessions.
    pub fn sessions(&self, count: u32) -> Outcome<Vec<Row>> {
        let mut command = self.section("sessions");
        command
            .args(self.parts())
            .arg(format!("--count={count}"))
            .arg(format!("--long={}", count.saturating_mul(2)));
        rows(&mut command)
    }

    /// Workspaces.
    pub fn workspaces(&self) -> Outcome<Vec<Row>> {
        rows(&mut self.section("workspaces"))
    }

    fn section(&self, name: &str) -> Command {
        let mut command = Command::new(self.workspace.release_program("akbench-bench"));
        command.arg(name).env("TMPDIR", self.rig.folder());
        command
    }

    fn parts(&self) -> Vec<std::ffi::OsString> {
        let mut arguments = Vec::new();
        for (name, path) in [
            ("--repository", self.workspace.root.clone()),
            ("--akbench", self.workspace.release_program("akbench")),
            ("--adapters", self.workspace.adapters()),
        ] {
            arguments.extend([name.into(), path.into_os_string()]);
        }
        arguments
    }
}

fn rows(command: &mut Command) -> Outcome<Vec<Row>> {
    let text = steps::read(command, "measure")?;
    serde_json::from_str(&text).explain(|| format!("read the rows of `{}`", steps::shown(command)))
}
