#![allow(clippy::unwrap_used)]

use super::*;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

/// A workspace and a task's folder.
fn scene() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (task, workspace) = (folder.path().join("task"), folder.path().join("workspace"));
    fs::create_dir_all(workspace.join("src")).unwrap();
    fs::create_dir_all(&task).unwrap();
    fs::write(workspace.join("src/a.txt"), "red red blue\n").unwrap();
    fs::write(
        task.join("a.diff"),
        "--- a\n+++ b\n@@ -1 +1 @@\n-red red blue\n+green\n",
    )
    .unwrap();
    symlink("/etc", workspace.join("out")).unwrap();
    (folder, task, workspace)
}

fn run(document: Value, task: &Path, workspace: &Path) -> Result<(), OperationError> {
    let operation: Operation = serde_json::from_value(document).unwrap();
    apply(&operation, task, workspace)
}

#[test]
fn each_operation_does_what_it_says() {
    let (_folder, task, workspace) = scene();
    let read = |path: &str| fs::read_to_string(workspace.join(path)).unwrap();
    let did = |document| run(document, &task, &workspace).unwrap();
    did(json!({"apply_diff": {"path": "src/a.txt", "diff": "a.diff"}}));
    assert_eq!(read("src/a.txt"), "green\n");
    did(json!({"replace_text": {"path": "src/a.txt", "find": "e", "with": "3", "count": 2}}));
    assert_eq!(read("src/a.txt"), "gr33n\n");
    did(json!({"replace_regex": {"path": "src/a.txt", "pattern": "(r)3+", "with": "${1}ai"}}));
    assert_eq!(read("src/a.txt"), "grain\n");
    did(json!({"rename": {"from": "src/a.txt", "to": "lib/deep/b.txt"}}));
    assert_eq!(read("lib/deep/b.txt"), "grain\n");
    did(json!({"write_file": {"path": "run.sh", "text": "true\n", "executable": true}}));
    let mode = fs::metadata(workspace.join("run.sh"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o755);
    did(json!({"write_file": {"path": "run.sh", "file": "a.diff", "replace": true}}));
    assert!(read("run.sh").starts_with("---"));
    did(json!({"delete": {"path": "lib"}}));
    assert!(!workspace.join("lib").exists());
    did(json!({"delete": {"path": "out"}}));
    assert!(Path::new("/etc").exists());
}

#[test]
fn what_does_not_fit_exactly_is_an_error() {
    let (_folder, task, workspace) = scene();
    for (document, says) in [
        (
            json!({"replace_text": {"path": "src/a.txt", "find": "red", "with": "x"}}),
            "expected 1 occurrence(s), found 2",
        ),
        (
            json!({"replace_text": {"path": "src/a.txt", "find": "pink", "with": "x"}}),
            "found 0",
        ),
        (
            json!({"replace_regex": {"path": "src/a.txt", "pattern": "re.", "with": "x"}}),
            "found 2",
        ),
        (
            json!({"replace_text": {"path": "none", "find": "x", "with": "y"}}),
            "No such file",
        ),
        (
            json!({"replace_text": {"path": "src", "find": "x", "with": "y"}}),
            "no regular file",
        ),
        (
            json!({"write_file": {"path": "src/a.txt", "text": ""}}),
            "exists already",
        ),
        (
            json!({"write_file": {"path": "b.txt", "text": "", "replace": true}}),
            "No such file",
        ),
        (json!({"delete": {"path": "none"}}), "No such file"),
        (
            json!({"rename": {"from": "none", "to": "x"}}),
            "No such file",
        ),
        (
            json!({"rename": {"from": "src", "to": "out"}}),
            "exists already",
        ),
        (
            json!({"apply_diff": {"path": "src/a.txt", "diff": "none.diff"}}),
            "No such file",
        ),
        (
            json!({"write_file": {"path": "out/x", "text": ""}}),
            "symbolic link `out`",
        ),
        (
            json!({"write_file": {"path": "out", "text": "", "replace": true}}),
            "no regular file",
        ),
    ] {
        let error = run(document.clone(), &task, &workspace)
            .unwrap_err()
            .to_string();
        assert!(error.contains(says), "{document}: {error}");
    }
    let unchanged = fs::read_to_string(workspace.join("src/a.txt")).unwrap();
    assert_eq!(unchanged, "red red blue\n");
}
