//! A scene: a workspace, a task, a folder for runs, and the built `akbench` with a cleared
//! environment.

use crate::built;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The credential of scenes; tests look for it where it must not be.
pub const CREDENTIAL: &str = "canary-credential-4711";

/// A place to run `akbench` in.
pub struct Scene {
    folder: TempDir,
}

/// What a run printed and how it ended.
pub struct Ran {
    /// The process's exit code.
    pub code: i32,
    /// Data.
    pub stdout: String,
    /// For people.
    pub stderr: String,
}

impl Ran {
    /// The result on standard output.
    pub fn result(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| {
            panic!(
                "stdout is no JSON ({error}): {}\n{}",
                self.stdout, self.stderr
            )
        })
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Default for Scene {
    fn default() -> Self {
        Self::new()
    }
}

impl Scene {
    /// An empty workspace and a task.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("akbench-e2e-")
            .tempdir()
            .expect("a temporary folder");
        fs::create_dir(folder.path().join("workspace")).expect("a workspace");
        fs::write(folder.path().join("task.txt"), "Write hi to out.txt.\n").expect("a task file");
        Self { folder }
    }

    /// A path in the scene.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    /// Writes a file in the scene; folders are made.
    pub fn write(&self, relative: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }

    /// Puts the stub in place as a program of this name that plays `scenario`
    /// (`scenario.json`); other files of the scenario are written with [`Scene::write`] below
    /// `programs/NAME.scenario/`.
    pub fn stub(&self, name: &str, scenario: &Value) -> PathBuf {
        self.write(
            &format!("programs/{name}.scenario/scenario.json"),
            scenario.to_string(),
        );
        let program = self.path(&format!("programs/{name}"));
        fs::copy(built::stub_cli(), &program).expect("a copy of the stub");
        program
    }

    /// `akbench` with a cleared environment and folders of its own.
    pub fn akbench<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(built::akbench());
        command
            .args(args)
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.path("host-home"))
            .env("XDG_CACHE_HOME", shared_cache())
            .env("AKBENCH_SHARE", built::repository())
            .env("AKBENCH_LLM_ROUTER_URL", "http://127.0.0.1:9/v1")
            .env("AKBENCH_LLM_ROUTER_KEY", CREDENTIAL)
            .env("NO_COLOR", "1");
        command
    }

    /// `akbench run --json` of the production adapter with `program` as the agent's program.
    pub fn run_command(&self, program: &Path, more: &[&str]) -> Command {
        let mut command = self.akbench(["run", "--json", "--runtime", "llm-router"]);
        command
            .arg("--adapter")
            .arg(built::adapter("codex.wasm"))
            .arg("--program")
            .arg(format!("codex={}", program.display()))
            .args([
                "--workspace",
                "workspace",
                "--task-file",
                "task.txt",
                "--out",
                "runs",
            ])
            .args(more);
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, command: &mut Command) -> Ran {
        command.output().expect("akbench starts").into()
    }

    /// The folder of a run.
    pub fn run_folder(&self, result: &Value) -> PathBuf {
        self.path("runs")
            .join(result["run_id"].as_str().expect("a run id"))
    }
}

/// One cache of compiled components for all tests: compiling is not what they test.
fn shared_cache() -> PathBuf {
    let target = built::adapter("codex.wasm");
    target
        .ancestors()
        .nth(2)
        .expect("adapters lie in the target folder")
        .join("test-cache")
}
