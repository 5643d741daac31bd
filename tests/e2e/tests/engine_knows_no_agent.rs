//! The engine knows no agent: what is particular to one lies in its adapter and descriptor.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use akbench_e2e::built;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Ids of agents and of their adapters.
fn names() -> BTreeSet<String> {
    let agents = built::repository().join("descriptors/agents");
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(agents).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let agent: Value = serde_json::from_str(&text).unwrap();
        for name in [&agent["id"], &agent["agent"]["adapter"]] {
            names.insert(name.as_str().unwrap().to_lowercase());
        }
    }
    names
}

#[test]
fn no_file_of_the_engine_names_an_agent() {
    let names = names();
    assert!(names.contains("codex"), "{names:?}");
    let mut files = Vec::new();
    files_below(&built::repository().join("host"), &mut files);
    assert!(files.len() > 50);
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap().to_lowercase();
        let path = file.display();
        let named = names.iter().filter(|name| text.contains(*name));
        found.extend(named.map(|name| format!("{path}: {name}")));
    }
    assert_eq!(found, Vec::<String>::new());
}
