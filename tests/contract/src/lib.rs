//! What the tests of the contract suite share: running it, and reading its report.
//!
//! Everything is built before the tests by `cargo xtask test`.

#![forbid(unsafe_code)]
#![allow(clippy::expect_used, clippy::panic)]

pub mod reference;

use akbench_e2e::built;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A folder of one test: its recordings, its data, its temporary files.
pub struct Bench {
    folder: TempDir,
}

/// What the suite printed and how it ended.
pub struct Verdict {
    /// The process's exit code; -1 if a signal ended it.
    pub code: i32,
    /// The report.
    pub report: Value,
    /// For people.
    pub stderr: String,
}

impl Verdict {
    /// The cases that ended so, with their reasons.
    pub fn cases(&self, outcome: &str) -> Vec<(String, String)> {
        let cases = self.report["cases"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let ended = cases.iter().filter(|case| case["outcome"] == outcome);
        ended
            .map(|case| (text(&case["name"]), text(&case["reason"])))
            .collect()
    }

    /// The names of the cases that failed.
    pub fn failed(&self) -> Vec<String> {
        let failed = self.cases("failed");
        failed.into_iter().map(|(name, _)| name).collect()
    }
}

impl Default for Bench {
    fn default() -> Self {
        Self::new()
    }
}

impl Bench {
    /// An empty one.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("akbench-contract-")
            .tempdir();
        Self {
            folder: folder.expect("a temporary folder"),
        }
    }

    /// A path in it.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    /// `akbench` with a cleared environment and folders of its own.
    pub fn akbench(&self) -> Command {
        let mut command = Command::new(built::akbench());
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.path("host-home"))
            .env("XDG_CACHE_HOME", cache())
            .env("AKBENCH_SHARE", built::repository())
            .env("AKBENCH_SECRET_OF_THE_HOST", "host-variable-0815")
            .env("NO_COLOR", "1");
        command
    }

    /// `akbench adapter test` on a built adapter.
    pub fn test_command(&self, adapter: &str, more: &[&str]) -> Command {
        let mut command = self.akbench();
        command
            .args(["adapter", "test", "--json"])
            .arg(built::adapter(adapter))
            .args(more);
        command
    }

    /// Runs the suite on a built adapter.
    pub fn test(&self, adapter: &str, more: &[&str]) -> Verdict {
        let output = self.test_command(adapter, more).output();
        let output = output.expect("akbench starts");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Verdict {
            code: output.status.code().unwrap_or(-1),
            report: serde_json::from_slice(&output.stdout).unwrap_or_default(),
            stderr,
        }
    }

    /// Makes an installation with one adapter and one agent of this repository. Attestations
    /// come from the user's data alone.
    pub fn install(&self, agent: &str, adapter: &str, component: &str) {
        let share = self.path("share");
        fs::create_dir_all(share.join("adapters")).expect("a folder");
        fs::create_dir_all(share.join("descriptors/agents")).expect("a folder");
        let installed = share.join("adapters").join(component);
        fs::copy(built::adapter(component), installed).expect("a copy");
        let descriptor = format!("descriptors/agents/{agent}.json");
        fs::copy(
            built::repository().join(&descriptor),
            share.join(&descriptor),
        )
        .expect("a copy");
        let catalog = json!({"schema": "akbench.catalog/1", "adapters": [
            {"id": adapter, "component": component, "sha256": null}
        ]});
        fs::write(share.join("adapters/catalog.json"), catalog.to_string()).expect("a file");
    }

    /// `akbench` as it was installed.
    pub fn installed(&self) -> Command {
        let mut command = self.akbench();
        command.env("AKBENCH_SHARE", self.path("share"));
        command
    }

    /// Copies what an adapter of this repository supplies to the suite.
    pub fn copy_suite(&self, adapter: &str) -> PathBuf {
        let to = self.path("suite");
        let adapters = built::repository().join("adapters");
        copy(&adapters.join(adapter).join("suite"), &to);
        to
    }

    /// Copies the recordings of the fake adapter, with these parameters.
    pub fn recordings(&self, parameters: &Value) -> PathBuf {
        let to = self.copy_suite("fake");
        edit(&to.join("suite.json"), |suite| {
            suite["parameters"] = parameters.clone();
        });
        to
    }
}

/// Changes a JSON file.
pub fn edit(path: &Path, change: impl FnOnce(&mut Value)) {
    let text = fs::read(path).expect("the file exists");
    let mut value: Value = serde_json::from_slice(&text).expect("the file is JSON");
    change(&mut value);
    fs::write(path, value.to_string()).expect("the file can be written");
}

/// Adds a step at the beginning of the task of a scenario.
pub fn begin_with(scenario: &Path, step: &Value) {
    edit(scenario, |scenario| {
        let cases = scenario["cases"].as_array_mut().expect("cases");
        let task = cases.last_mut().expect("a task");
        let steps = task["steps"].as_array_mut().expect("steps");
        steps.insert(0, json!(step));
    });
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).expect("a copy");
        }
    }
}

/// One cache of compiled components for all tests: compiling is not what they test.
fn cache() -> PathBuf {
    let adapter = built::adapter("fake.wasm");
    let target = adapter.ancestors().nth(2);
    target
        .expect("adapters lie in the target folder")
        .join("test-cache")
}
