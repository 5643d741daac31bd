//! The record of a run: everything in its folder, and what must hold for each of them.

use crate::built;
use crate::scene::{CREDENTIAL, Ran, Scene};
use serde_json::Value;
use sha2::Digest;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The record of one run.
pub struct Record {
    /// Its folder.
    pub folder: PathBuf,
    /// `result.json`, which is also what was printed.
    pub result: Value,
}

impl Record {
    /// Reads the record of a run that was made with `--json`, and checks what must hold for
    /// every run: it fits the published schemas, its logs parse, its digests are right, it is
    /// the owner's alone and holds no credential.
    pub fn checked(scene: &Scene, ran: &Ran) -> Self {
        let printed = ran.result();
        let record = Self::at(scene.run_folder(&printed));
        assert_eq!(record.result, printed, "stdout and result.json");
        let text = fs::read_to_string(record.folder.join("result.json")).expect("a result");
        assert_eq!(text, ran.stdout, "stdout and result.json, byte for byte");
        assert!(!ran.stderr.contains(CREDENTIAL), "{}", ran.stderr);
        record
    }

    /// As [`Record::checked`], of a run whose output nobody has.
    pub fn at(folder: PathBuf) -> Self {
        let read = |name: &str| json_of(&folder.join(name));
        let (result, plan) = (read("result.json"), read("plan.json"));
        assert_fits("result.schema.json", &result);
        assert_fits("plan.schema.json", &plan);
        assert_eq!(result["run_id"], plan["run_id"]);
        let record = Self { folder, result };
        for line in record
            .lines("events.jsonl")
            .iter()
            .chain(&record.lines("audit.jsonl"))
        {
            assert!(line["at"].is_string(), "{line}");
        }
        record.check_artifacts();
        record.check_modes();
        record.check_credential();
        record
    }

    /// A file of JSON lines in the folder.
    pub fn lines(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.folder.join(name)).expect("a log of the run");
        assert!(text.is_empty() || text.ends_with('\n'), "{name} is cut");
        text.lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|e| panic!("{name}: {e}: {line}"))
            })
            .collect()
    }

    /// The evidence of the program that was started with this label.
    pub fn spawn(&self, label: &str) -> Option<PathBuf> {
        let spawns = fs::read_dir(self.folder.join("artifacts/evidence/spawns")).ok()?;
        spawns
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.split_once('-')
                    .is_some_and(|(_, found)| found == label)
            })
    }

    /// A file of the evidence of the task's program.
    pub fn task_file(&self, name: &str) -> Vec<u8> {
        let folder = self.spawn("task").expect("the task was started");
        fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// How the task's program ended, and what the engine did to it.
    pub fn task_exit(&self) -> Value {
        serde_json::from_slice(&self.task_file("exit.json")).expect("exit.json is JSON")
    }

    /// Masks that were set in a file of the artifacts.
    pub fn masks(&self, path_ends: &str) -> u64 {
        let artifacts = self.result["artifacts"].as_array().expect("artifacts");
        artifacts
            .iter()
            .filter(|artifact| {
                artifact["path"]
                    .as_str()
                    .is_some_and(|p| p.ends_with(path_ends))
            })
            .map(|artifact| artifact["masks"].as_u64().expect("a count of masks"))
            .sum()
    }

    fn check_artifacts(&self) {
        let artifacts = self.folder.join("artifacts");
        let mut listed: Vec<&str> = Vec::new();
        for artifact in self.result["artifacts"].as_array().expect("artifacts") {
            let path = artifact["path"].as_str().expect("a path");
            let bytes = fs::read(artifacts.join(path)).expect("a listed artifact exists");
            assert_eq!(artifact["bytes"], bytes.len(), "{path}");
            let digest = hex(&sha2::Sha256::digest(&bytes));
            assert_eq!(artifact["sha256"], digest, "{path}");
            listed.push(path);
        }
        listed.sort_unstable();
        let mut found: Vec<String> = files_below(&artifacts)
            .iter()
            .filter_map(|path| Some(path.strip_prefix(&artifacts).ok()?.display().to_string()))
            .collect();
        found.sort_unstable();
        assert_eq!(listed, found, "every file of the artifacts is listed");
    }

    /// The owner's alone: folders 0700, files 0600. What agent and adapter wrote lies behind
    /// the folder's own 0700.
    fn check_modes(&self) {
        let mode = |path: &Path| {
            let metadata = fs::symlink_metadata(path).expect("a file of the run");
            metadata.permissions().mode() & 0o7777
        };
        assert_eq!(mode(&self.folder), 0o700);
        let not_the_engines = ["workspace", "agent-home", "artifacts/adapter"];
        for path in everything_below(&self.folder) {
            let relative = path.strip_prefix(&self.folder).expect("below the folder");
            if not_the_engines
                .iter()
                .any(|other| relative.starts_with(other))
            {
                continue;
            }
            let expected = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(
                mode(&path),
                expected,
                "{}: {:o}",
                path.display(),
                mode(&path)
            );
        }
    }

    fn check_credential(&self) {
        for path in files_below(&self.folder) {
            let bytes = fs::read(&path).unwrap_or_default();
            let found = contains(&bytes, CREDENTIAL.as_bytes());
            assert!(!found, "{} holds the credential", path.display());
        }
    }
}

/// Whether `needle` is in `bytes`.
pub fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    // Lossy on both sides, because the standard library searches fast in text only.
    String::from_utf8_lossy(bytes).contains(&*String::from_utf8_lossy(needle))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks a document against a published schema.
pub fn assert_fits(schema: &str, document: &Value) {
    let path = built::repository().join("descriptors/schemas").join(schema);
    let validator = jsonschema::draft202012::new(&json_of(&path)).expect("a valid schema");
    let problems: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(problems.is_empty(), "{schema}: {problems:#?}\n{document:#}");
}

/// The runs below a folder for runs; empty if there is no such folder.
pub fn runs(folder: &Path) -> Vec<PathBuf> {
    match fs::read_dir(folder) {
        Ok(entries) => entries
            .map(|entry| entry.expect("an entry").path())
            .collect(),
        Err(_) => Vec::new(),
    }
}

fn json_of(path: &Path) -> Value {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The regular files below a folder.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut all = everything_below(folder);
    all.retain(|path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file()));
    all
}

fn everything_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the run") {
            let entry = entry.expect("an entry");
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
            found.push(entry.path());
        }
    }
    found
}
