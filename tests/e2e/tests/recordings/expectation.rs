//! What a replay of each recording must observe: `tests/fixtures/codex/expected.json`, worked
//! out from the recordings by a program that shares no code with the adapter.

use akbench_e2e::built;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the recordings.
pub fn fixtures() -> PathBuf {
    built::repository().join("tests/fixtures/codex")
}

/// One entry of the table.
pub struct Expectation {
    /// The recording's folder, relative to the fixtures.
    pub name: String,
    /// What is expected of it.
    pub kind: Kind,
}

/// A recording is replayed, or left out for a reason.
pub enum Kind {
    /// It is not replayed.
    Excluded {
        /// Why.
        reason: String,
    },
    /// It is replayed.
    Replayed(Replayed),
}

/// What a replay is given beside the recording, and what it must observe.
pub struct Replayed {
    /// The signals that the engine sent: `{signal, reason}`.
    pub signals: Vec<Value>,
    /// Why the engine ended the work; `None` if it did not.
    pub cause: Option<String>,
    /// Field to value; null is "not known".
    pub expect: Map<String, Value>,
    /// Field to the line that shows it.
    pub cites: Map<String, Value>,
}

impl Expectation {
    fn read(entry: &Value) -> Self {
        let name = entry["name"].as_str().unwrap().to_owned();
        let kind = match entry["excluded"].as_str() {
            Some(reason) => Kind::Excluded {
                reason: reason.to_owned(),
            },
            None => Kind::Replayed(Replayed {
                signals: entry["engine"]["signals"].as_array().unwrap().clone(),
                cause: entry["engine"]["cause"].as_str().map(str::to_owned),
                expect: entry["expect"].as_object().unwrap().clone(),
                cites: entry["cites"].as_object().unwrap().clone(),
            }),
        };
        Self { name, kind }
    }
}

/// The whole table.
pub fn table() -> Vec<Expectation> {
    let bytes = fs::read(fixtures().join("expected.json")).unwrap();
    let entries: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
    entries.iter().map(Expectation::read).collect()
}

/// The folders of all recordings that exist, relative to the fixtures.
pub fn recorded() -> BTreeSet<String> {
    let root = fixtures();
    let mut names: BTreeSet<String> = folders(&root.join("recordings")).into_iter().collect();
    for version in folders(&root.join("versions")) {
        names.extend(folders(&root.join(version)));
    }
    names
}

fn folders(parent: &Path) -> Vec<String> {
    let entries = fs::read_dir(parent).unwrap().map(Result::unwrap);
    entries
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| {
            let path = entry.path();
            let relative = path.strip_prefix(fixtures()).unwrap();
            relative.to_str().unwrap().to_owned()
        })
        .collect()
}
