//! A copy of the program with a scenario, in a folder of its own.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

pub struct Stub {
    folder: TempDir,
}

impl Stub {
    pub fn new(scenario: Value) -> Self {
        // On the file system of the program, so that it can be linked.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let stub = Self { folder };
        fs::create_dir(stub.cwd()).unwrap();
        stub.add("agent", scenario);
        stub
    }

    /// One case for every command line.
    pub fn steps(steps: Value) -> Self {
        Self::new(json!({"cases": [{"steps": steps}]}))
    }

    /// Adds a further program with its scenario.
    pub fn add(&self, name: &str, scenario: Value) {
        let program = self.folder().join(name);
        let folder = self.folder().join(format!("{name}.scenario"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("scenario.json"), scenario.to_string()).unwrap();
        fs::hard_link(env!("CARGO_BIN_EXE_stub-cli"), program).unwrap();
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn cwd(&self) -> PathBuf {
        self.folder().join("cwd")
    }

    pub fn scenario_file(&self, name: &str) -> PathBuf {
        self.folder().join("agent.scenario").join(name)
    }

    /// The program with a cleared environment and no stdin.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.folder().join("agent"));
        command
            .args(arguments)
            .env_clear()
            .current_dir(self.cwd())
            .stdin(Stdio::null());
        command
    }
}
