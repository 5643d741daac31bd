//! The projects that `akbench adapter new` writes hold what this repository tests.
#![allow(clippy::expect_used, clippy::panic)]

use akbench_contract::Bench;
use akbench_e2e::built;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const NAME: &str = "my-agent";
const PLACEHOLDER: &str = "AKBENCH_NAME";

fn project(bench: &Bench) -> PathBuf {
    let mut command = bench.akbench();
    let output = command.args(["adapter", "new", NAME, "--lang", "rust"]);
    let output = output.output().expect("akbench starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    bench.path(NAME)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files below a folder, relative to it, with their text.
fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(current) = folders.pop() {
        for entry in fs::read_dir(current).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("below the folder");
                found.insert(name.to_owned(), read(&path));
            }
        }
    }
    found
}

#[test]
fn a_project_in_rust_is_the_fake_adapter_with_its_sdk() {
    let bench = Bench::new();
    let project = project(&bench);
    for (own, from) in [
        ("adapter/src", "adapters/fake/src"),
        ("adapter/tests", "adapters/fake/tests"),
        ("suite", "adapters/fake/suite"),
        ("sdk/src", "adapters/sdk/src"),
    ] {
        let mut there = files(&built::repository().join(from));
        for text in there.values_mut() {
            *text = text
                .replace("akbench_fake_adapter", "my_agent")
                .replace("akbench-fake-adapter", NAME)
                .replace("\"../../wit\"", "\"../wit\"");
        }
        let seen = files(&project.join(own));
        let names = |files: &BTreeMap<PathBuf, String>| -> BTreeSet<PathBuf> {
            files.keys().cloned().collect()
        };
        assert_eq!(names(&seen), names(&there), "{own}");
        for (name, text) in &there {
            assert_eq!(&seen[name], text, "{own}/{}", name.display());
        }
    }
    let everything = files(&project);
    for (name, text) in &everything {
        assert!(!text.contains(PLACEHOLDER), "{}", name.display());
    }
}

/// The lines of a table in a manifest, without comments.
fn table(manifest: &str, name: &str) -> BTreeSet<String> {
    let lines = manifest.lines().skip_while(|line| *line != name).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

#[test]
fn a_project_in_rust_uses_what_this_repository_uses() {
    let bench = Bench::new();
    let theirs = read(&project(&bench).join("Cargo.toml"));
    let ours = read(&built::repository().join("Cargo.toml"));
    let mut wanted = table(&theirs, "[workspace.dependencies]");
    // The only one that lies elsewhere.
    assert!(wanted.remove("akbench-adapter-sdk = { path = \"sdk\" }"));
    assert!(wanted.len() > 4);
    let known = table(&ours, "[workspace.dependencies]");
    assert!(wanted.is_subset(&known), "{wanted:?}");
    for name in ["[workspace.package]", "[workspace.lints.clippy]"] {
        assert_eq!(table(&theirs, name), table(&ours, name), "{name}");
    }
}

#[test]
fn the_descriptor_of_a_project_in_rust_is_that_of_its_adapter() {
    let bench = Bench::new();
    let parsed = |path: PathBuf| -> Value { serde_json::from_str(&read(&path)).expect("JSON") };
    let mut own = parsed(built::repository().join("descriptors/agents/fake.json"));
    own["id"] = NAME.into();
    own["name"] = NAME.into();
    own["agent"]["adapter"] = NAME.into();
    assert_eq!(parsed(project(&bench).join("adapter/descriptor.json")), own);
}
