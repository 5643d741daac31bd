#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::registry::{Registry, Source};
use serde_json::json;
use std::fs;

fn paint() -> Value {
    json!({
        "schema": "akbench.task/1", "id": "paint", "version": "1.0.0", "name": "Paint",
        "instruction": {"file": "instruction.txt"}, "attachments": ["picture.png"],
        "time_limit": "30m", "requires": ["tool_calls"], "git": true,
        "mutations": [{"id": "colour", "alternatives": [
            {"id": "red", "operations": [
                {"replace_text": {"path": "a.txt", "find": "blue", "with": "red"}},
                {"apply_diff": {"path": "a.txt", "diff": "a.diff"}},
                {"write_file": {"path": "b.txt", "file": "a.diff"}}]},
            {"id": "blue"}]}],
        "evaluator": {"command": ["./check.sh"], "time_limit": "10s"}
    })
}

/// Lays out a task's folder with the document and all files that it names.
fn lay_out(source: &Path, name: &str, document: &Value) -> PathBuf {
    let folder = source.join("descriptors/tasks/set").join(name);
    for below in ["workspace", "evaluate"] {
        fs::create_dir_all(folder.join(below)).unwrap();
    }
    for file in ["instruction.txt", "picture.png", "a.diff"] {
        fs::write(folder.join(file), "x").unwrap();
    }
    let path = folder.join("task.json");
    fs::write(&path, document.to_string()).unwrap();
    path
}

fn load(document: &Value) -> Result<TaskDescriptor, Vec<RegistryError>> {
    let folder = tempfile::tempdir().unwrap();
    TaskDescriptor::load(&lay_out(folder.path(), "paint", document))
}

#[test]
fn a_task_is_read_whole() {
    let task = load(&paint()).unwrap();
    assert_eq!(task.dataset, "set");
    assert_eq!(task.time_limit, Some(Duration::from_secs(1800)));
    assert_eq!(task.requires, [Capability::ToolCalls]);
    assert_eq!(task.mutations[0].alternatives[0].operations.len(), 3);
    assert_eq!(task.evaluator.unwrap().time_limit, Duration::from_secs(10));
}

/// Turns a valid descriptor into one with a mistake.
type Change = fn(&mut Value);

#[test]
fn each_mistake_is_reported_with_its_place_and_what_was_expected() {
    let cases: Vec<(&str, Change)> = vec![
        (
            "at `/instrction`: unknown key; did you mean `instruction`?",
            |d| {
                d["instrction"] = json!(1);
            },
        ),
        (
            "/operations/0/replace_txt`: unknown key; did you mean `replace_text`?",
            |d| {
                d["mutations"][0]["alternatives"][0]["operations"][0] = json!({"replace_txt": {}});
            },
        ),
        (
            "/operations/0/replace_text/fnd`: unknown key; did you mean `find`?",
            |d| {
                d["mutations"][0]["alternatives"][0]["operations"][0]["replace_text"]["fnd"] =
                    json!("x");
            },
        ),
        ("/replace_text/path`: expected a path of names", |d| {
            d["mutations"][0]["alternatives"][0]["operations"][0]["replace_text"]["path"] =
                json!("../../outside");
        }),
        ("at `/attachments/0`: expected a path of names", |d| {
            d["attachments"][0] = json!("/etc/passwd");
        }),
        ("at `/instruction/file`: expected a path of names", |d| {
            d["instruction"] = json!({"file": "../other/instruction.txt"});
        }),
        (
            "at `/attachments/0`: expected a regular file in the task's folder",
            |d| {
                d["attachments"][0] = json!("none.png");
            },
        ),
        ("apply_diff/diff`: expected a regular file", |d| {
            d["mutations"][0]["alternatives"][0]["operations"][1]["apply_diff"]["diff"] =
                json!("none.diff");
        }),
        ("at `/instruction`: expected either `text` or `file`", |d| {
            d["instruction"] = json!({"text": "a", "file": "instruction.txt"});
        }),
        (
            "operations/0`: expected an object with exactly one operation",
            |d| {
                d["mutations"][0]["alternatives"][0]["operations"][0] =
                    json!({"delete": {"path": "a"}, "rename": {"from": "a", "to": "b"}});
            },
        ),
        (
            "at `/mutations/0/alternatives/1/id`: expected an id that no other",
            |d| {
                d["mutations"][0]["alternatives"][1]["id"] = json!("red");
            },
        ),
        (
            "at `/mutations/0/alternatives`: expected an array of at least 1",
            |d| {
                d["mutations"][0]["alternatives"] = json!([]);
            },
        ),
        ("pattern`: expected a regular expression", |d| {
            d["mutations"][0]["alternatives"][0]["operations"][0] =
                json!({"replace_regex": {"path": "a", "pattern": "(", "with": ""}});
        }),
        ("at `/time_limit`: expected a duration above zero", |d| {
            d["time_limit"] = json!("0s");
        }),
        ("at `/requires/0`: expected one of `token_usage`", |d| {
            d["requires"] = json!(["tokens"]);
        }),
        ("at `/evaluator`: the key `time_limit` is missing", |d| {
            d["evaluator"] = json!({"command": ["x"]});
        }),
        (
            "at `/evaluator/command`: expected an array of at least 1",
            |d| {
                d["evaluator"]["command"] = json!([]);
            },
        ),
        (
            "at `/id`: expected the name of the task's folder, `paint`",
            |d| {
                d["id"] = json!("print");
            },
        ),
    ];
    for (expected, change) in cases {
        let mut document = paint();
        change(&mut document);
        let errors = load(&document).expect_err(expected);
        let shown: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert!(
            shown.iter().any(|error| error.contains(expected)),
            "{expected}\n{shown:#?}"
        );
    }
}

#[test]
fn folders_that_must_be_there_are_asked_for_and_links_lead_nowhere() {
    let source = tempfile::tempdir().unwrap();
    let path = lay_out(source.path(), "paint", &paint());
    let folder = path.parent().unwrap();
    fs::remove_dir(folder.join("workspace")).unwrap();
    fs::remove_dir(folder.join("evaluate")).unwrap();
    fs::remove_file(folder.join("picture.png")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("picture.png")).unwrap();
    let errors = TaskDescriptor::load(&path).unwrap_err();
    let shown: Vec<_> = errors
        .iter()
        .map(|error| error.problem.to_string())
        .collect();
    for expected in [
        "at ``: expected a folder `workspace` beside this file, found none",
        "at `/evaluator`: expected a folder `evaluate` beside this file, found none",
        "at `/attachments/0`: expected a regular file in the task's folder",
    ] {
        assert!(
            shown.iter().any(|it| it.contains(expected)),
            "{expected}\n{shown:#?}"
        );
    }
}

#[test]
fn tasks_are_found_by_version_and_two_of_the_same_are_refused() {
    let source = tempfile::tempdir().unwrap();
    let sources = [Source {
        name: "built-in".to_owned(),
        folder: source.path().to_owned(),
    }];
    lay_out(source.path(), "paint", &paint());
    let mut newer = paint();
    newer["version"] = json!("2.0.0");
    lay_out(source.path(), "paint@2.0.0", &newer);
    let registry = Registry::load(&sources).unwrap();
    assert_eq!(
        registry.task("paint").unwrap().version,
        Version::new(2, 0, 0)
    );
    assert_eq!(
        registry.task("paint@1").unwrap().version,
        Version::new(1, 0, 0)
    );
    let error = registry.task("pant").unwrap_err().to_string();
    assert!(error.contains("did you mean `paint`?"), "{error}");

    lay_out(source.path(), "paint@1.0.0", &paint());
    let errors = Registry::load(&sources).unwrap_err();
    assert!(
        errors[0]
            .to_string()
            .contains("task `paint@1.0.0` is already described in"),
        "{errors:#?}"
    );
}
