//! The folders and the command line of a measured run.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::agent::{self, stub};
use crate::failure::{Explain, Failure, Outcome};
use crate::steps;
use crate::workspace::Workspace;

const INSTRUCTION: &str = "Do nothing.\n";

/// Release programs, and a folder for everything that the measured runs need and leave.
pub struct Rig {
    akbench: PathBuf,
    adapter: PathBuf,
    stub: PathBuf,
    root: PathBuf,
    folder: TempDir,
}

impl Rig {
    /// Makes the folders, in this one.
    ///
    /// # Errors
    ///
    /// If they cannot be made.
    pub fn new(workspace: &Workspace, folder: &Path) -> Outcome<Self> {
        let folder = folder
            .canonicalize()
            .explain(|| format!("find the folder {}", folder.display()))?;
        let folder = tempfile::Builder::new()
            .prefix("bench-")
            .tempdir_in(&folder)
            .explain(|| format!("create a folder in {}", folder.display()))?;
        Ok(Self {
            akbench: workspace.release_program("akbench"),
            adapter: workspace.adapters().join("codex.wasm"),
            stub: workspace.release_program("stub-cli"),
            root: workspace.root.clone(),
            folder,
        })
    }

    /// Lays out the stub, playing this scenario, in a folder of this name.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn stub(&self, name: &str, scenario: &Value) -> Outcome<Stub> {
        let folder = self.folder.path().join(name);
        let program = stub::with_scenario(&self.stub, &folder.join("bin"), scenario)?;
        let (files, task) = (folder.join("workspace"), folder.join("task.txt"));
        fs::create_dir_all(&files).explain(|| format!("create {}", files.display()))?;
        fs::write(&task, INSTRUCTION).explain(|| format!("write {}", task.display()))?;
        let path = agent::path_with(&folder.join("bin"))?;
        Ok(Stub {
            program,
            path,
            files,
            task,
        })
    }

    /// A folder that is removed in the end.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where runs are kept.
    pub fn runs(&self) -> PathBuf {
        self.folder.path().join("runs")
    }

    /// Removes all runs that were kept.
    ///
    /// # Errors
    ///
    /// If one cannot be removed.
    pub fn clear(&self) -> Outcome {
        let runs = self.runs();
        fs::remove_dir_all(&runs).explain(|| format!("remove {}", runs.display()))
    }

    /// The runner's program.
    pub fn akbench(&self) -> &Path {
        &self.akbench
    }

    /// `akbench run` on the stub, its result to come on stdout.
    pub fn run(&self, stub: &Stub) -> Command {
        let mut command = Command::new(&self.akbench);
        command
            .arg("run")
            .arg("--adapter")
            .arg(&self.adapter)
            .arg("--workspace")
            .arg(&stub.files)
            .arg("--task-file")
            .arg(&stub.task)
            .args([
                "--param",
                "sandbox_mode=workspace-write",
                "--runtime",
                "llm-router",
            ])
            .args(["--json", "--quiet"])
            .arg("--out")
            .arg(self.runs())
            .current_dir(&self.root)
            .env("PATH", &stub.path)
            .env("AKBENCH_SHARE", &self.root)
            // This user's descriptors and cache must not take part.
            .env("XDG_DATA_HOME", self.folder.path().join("data"))
            .env("XDG_CACHE_HOME", self.folder.path().join("cache"))
            // Never called: the stub talks to nobody.
            .env("AKBENCH_LLM_ROUTER_URL", "http://127.0.0.1:9/v1")
            .env("AKBENCH_LLM_ROUTER_KEY", "benchmark-key")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// A laid-out stub with the folder it works in.
pub struct Stub {
    program: PathBuf,
    path: OsString,
    files: PathBuf,
    task: PathBuf,
}

impl Stub {
    /// The stub's task run by hand, as akbench would start it.
    pub fn by_hand(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(["exec", "--json", "-"])
            .current_dir(&self.files)
            .env_clear()
            .env("PATH", &self.path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// Runs a command to its end: how long that took and what it printed on stdout.
///
/// # Errors
///
/// If it cannot be started or fails; what it printed on stderr is in the message.
pub fn timed(mut command: Command) -> Outcome<(Duration, Vec<u8>)> {
    let shown = steps::shown(&command);
    let begin = Instant::now();
    let output = command.output().explain(|| format!("start `{shown}`"))?;
    let wall = begin.elapsed();
    if !output.status.success() {
        return Err(Failure::new(format!(
            "a measured run failed: `{shown}` ended with {}\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr),
            String::from_utf8_lossy(&output.stdout),
        )));
    }
    Ok((wall, output.stdout))
}
