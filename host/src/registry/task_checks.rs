//! What a JSON Schema can't say of a task: files that must be there, and names that must
//! differ.
//!
//! As for agents, what is not of the expected shape is skipped: the schema complains.

use super::error::Problem;
use super::expectation::show;
use super::task::{EVALUATE, WORKSPACE};
use crate::dataset::RelativePath;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// All problems of a task that its schema can't find. `folder` holds its files.
pub(super) fn check(document: &Value, folder: &Path) -> Vec<Problem> {
    let mut problems = check_folder_name(document, folder);
    let mut expect_file = |pointer: String| {
        problems.extend(missing_file(document, pointer, folder));
    };
    expect_file("/instruction/file".to_owned());
    for (at, _) in list(document, "/attachments") {
        expect_file(at);
    }
    for (mutation, _) in list(document, "/mutations") {
        for (alternative, _) in list(document, &format!("{mutation}/alternatives")) {
            for (operation, _) in list(document, &format!("{alternative}/operations")) {
                expect_file(format!("{operation}/apply_diff/diff"));
                expect_file(format!("{operation}/write_file/file"));
            }
        }
    }
    problems.extend(repeated_ids(document, "/mutations", "mutation"));
    for (mutation, _) in list(document, "/mutations") {
        let alternatives = format!("{mutation}/alternatives");
        problems.extend(repeated_ids(document, &alternatives, "alternative"));
    }
    problems.extend(missing_folder(folder, WORKSPACE, String::new()));
    if document.get("evaluator").is_some() {
        problems.extend(missing_folder(folder, EVALUATE, "/evaluator".to_owned()));
    }
    problems
}

/// The elements of an array, with their pointers.
fn list<'a>(document: &'a Value, pointer: &str) -> Vec<(String, &'a Value)> {
    let items = document.pointer(pointer).and_then(Value::as_array);
    let with_pointer = |(index, item)| (format!("{pointer}/{index}"), item);
    items
        .into_iter()
        .flatten()
        .enumerate()
        .map(with_pointer)
        .collect()
}

/// A folder is found by its name, so the name has to be the task's.
fn check_folder_name(document: &Value, folder: &Path) -> Vec<Problem> {
    let (Some(id), Some(version)) = (
        document.get("id").and_then(Value::as_str),
        document.get("version").and_then(Value::as_str),
    ) else {
        return Vec::new();
    };
    let Some(name) = folder.file_name().map(|name| name.to_string_lossy()) else {
        return Vec::new();
    };
    let versioned = format!("{id}@{version}");
    if *name == *id || *name == *versioned {
        return Vec::new();
    }
    vec![Problem::Value {
        pointer: "/id".to_owned(),
        expected: format!("the name of the task's folder, `{name}`, or a folder `{id}`"),
        found: show(&Value::from(id)),
    }]
}

fn missing_file(document: &Value, pointer: String, folder: &Path) -> Option<Problem> {
    let text = document.pointer(&pointer)?.as_str()?;
    // What is no such path is the schema's business.
    let path = RelativePath::try_from(text.to_owned()).ok()?;
    let expected = match path.below(folder) {
        Ok(file) if file.symlink_metadata().is_ok_and(|found| found.is_file()) => return None,
        Ok(_) => "a regular file in the task's folder".to_owned(),
        Err(link) => format!(
            "a file that is not reached over the symbolic link `{}`",
            link.display()
        ),
    };
    Some(Problem::Value {
        pointer,
        expected,
        found: show(&Value::from(text)),
    })
}

fn missing_folder(folder: &Path, name: &str, pointer: String) -> Option<Problem> {
    let there = folder
        .join(name)
        .symlink_metadata()
        .is_ok_and(|found| found.is_dir());
    (!there).then(|| Problem::Value {
        pointer,
        expected: format!("a folder `{name}` beside this file"),
        found: "none".to_owned(),
    })
}

fn repeated_ids(document: &Value, pointer: &str, what: &str) -> Vec<Problem> {
    let mut seen = BTreeSet::new();
    let mut problems = Vec::new();
    for (at, item) in list(document, pointer) {
        if let Some(id) = item.get("id").and_then(Value::as_str)
            && !seen.insert(id)
        {
            problems.push(Problem::Value {
                pointer: format!("{at}/id"),
                expected: format!("an id that no other {what} here has"),
                found: show(&Value::from(id)),
            });
        }
    }
    problems
}
