#![allow(clippy::unwrap_used)]

use super::*;
use serde_json::json;
use std::process::Command;

/// A task with one file and two mutations.
fn task(folder: &Path, git: bool) -> TaskDescriptor {
    let root = folder.join("set/colours");
    fs::create_dir_all(root.join("workspace")).unwrap();
    fs::write(root.join("workspace/a.txt"), "red\n").unwrap();
    let alternative = |id: &str, with: &str| {
        json!({"id": id, "operations": [
            {"replace_text": {"path": "a.txt", "find": "red", "with": with}}]})
    };
    let document = json!({
        "schema": "akbench.task/1", "id": "colours", "version": "1.0.0", "name": "Colours",
        "instruction": {"text": "Paint."}, "git": git,
        "mutations": [
            {"id": "colour", "alternatives": [
                alternative("green", "green red"), alternative("blue", "blue red"), {"id": "none"}]},
            {"id": "file", "alternatives": [
                {"id": "kept"},
                {"id": "moved", "operations": [{"rename": {"from": "a.txt", "to": "b/c.txt"}}]}]}
        ]
    });
    fs::write(root.join("task.json"), document.to_string()).unwrap();
    TaskDescriptor::load(&root.join("task.json")).unwrap()
}

#[test]
fn a_seed_always_gives_the_same_tree_and_seeds_differ() {
    let folder = tempfile::tempdir().unwrap();
    let task = task(folder.path(), false);
    let prepare = |seed, name: &str| prepare_tree(&task, seed, &folder.path().join(name)).unwrap();
    let mut digests = std::collections::BTreeMap::new();
    for seed in 0..24 {
        let variant = prepare(seed, &format!("{seed}"));
        assert_eq!(variant, prepare(seed, &format!("{seed}-again")));
        let chosen: Vec<_> = variant.choices.iter().map(ToString::to_string).collect();
        let known = digests.insert(chosen.join(" "), variant.digest());
        assert!(known.is_none_or(|known| known == variant.digest()));
    }
    assert_eq!(digests.len(), 6, "{digests:#?}");
}

/// A task with these files; a mutation of each of them may rename, delete or rewrite it.
fn task_of(folder: &Path, files: &[Vec<u8>]) -> TaskDescriptor {
    let root = folder.join("set/random");
    fs::create_dir_all(root.join("workspace/deep")).unwrap();
    let mut mutations = Vec::new();
    for (number, bytes) in files.iter().enumerate() {
        let path = format!("deep/{number}.bin");
        fs::write(root.join("workspace").join(&path), bytes).unwrap();
        let one = |id: &str, operation| json!({"id": id, "operations": [operation]});
        mutations.push(json!({"id": format!("m{number}"), "alternatives": [
            {"id": "kept"},
            one("gone", json!({"delete": {"path": path}})),
            one("moved", json!({"rename": {"from": path, "to": format!("{number}/x")}})),
            one("new", json!({"write_file": {"path": path, "text": "new", "replace": true}})),
        ]}));
    }
    let document = json!({
        "schema": "akbench.task/1", "id": "random", "version": "1.0.0", "name": "Random",
        "instruction": {"text": "Look."}, "mutations": mutations
    });
    fs::write(root.join("task.json"), document.to_string()).unwrap();
    TaskDescriptor::load(&root.join("task.json")).unwrap()
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(40))]

    #[test]
    fn any_task_and_seed_give_the_same_tree_wherever_it_is_prepared(
        files in proptest::collection::vec(proptest::collection::vec(proptest::prelude::any::<u8>(), 0..40), 1..6),
        seed in proptest::prelude::any::<u64>(),
    ) {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let prepare = |folder: &Path| {
            prepare_tree(&task_of(folder, &files), seed, &folder.join("prepared")).unwrap()
        };
        let (one, other) = (prepare(here.path()), prepare(there.path()));
        proptest::prop_assert_eq!(&one.choices, &other.choices);
        proptest::prop_assert_eq!(one.digest(), other.digest());
        // The digest is that of what lies there.
        let found = Snapshot::take(&there.path().join("prepared")).unwrap();
        proptest::prop_assert_eq!(found.digest(), one.digest());
    }
}

#[test]
fn a_mutation_that_does_not_fit_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let task = task(folder.path(), false);
    fs::write(task.folder().join("workspace/a.txt"), "yellow\n").unwrap();
    let mut failures = 0;
    for seed in 0..24 {
        match prepare_tree(&task, seed, &folder.path().join(seed.to_string())) {
            Ok(variant) => assert_eq!(variant.choices[0].alternative, "none"),
            Err(error) => {
                failures += 1;
                let error = error.to_string();
                assert!(error.starts_with("mutation `colour="), "{error}");
                assert!(error.contains("found 0"), "{error}");
            }
        }
    }
    assert!(failures > 0);
}

#[test]
fn a_repository_has_the_same_commit_everywhere_and_does_not_change_the_digest() {
    let folder = tempfile::tempdir().unwrap();
    let task = task(folder.path(), true);
    let commits = ["one", "two"].map(|name| {
        let path = folder.path().join(name);
        let variant = prepare_tree(&task, 3, &path).unwrap();
        finish_workspace(&task, &path).unwrap();
        let again = Snapshot::take(&path).unwrap();
        assert_eq!(again.digest(), variant.digest());
        let output = Command::new("git")
            .args(["log", "--format=%H %an %s"])
            .current_dir(&path)
            .output()
            .unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    });
    assert_eq!(commits[0], commits[1]);
    assert!(commits[0].ends_with(" akbench The workspace as it was given\n"));
}
