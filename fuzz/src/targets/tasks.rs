//! Tasks and their mutations: whatever they say, nothing but the new workspace is written.

use crate::sections;
use akbench::dataset::prepare::{instruction, prepare_tree};
use akbench::registry::TaskDescriptor;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path};

const OUTSIDE: &str = "not yours\n";

/// The input is a task: `task.json`, and files beside it. A section `link PATH` makes a
/// symbolic link to what it holds.
pub fn task(input: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = folder.path().join("dataset/task");
    fs::create_dir_all(root.join("workspace")).expect("a folder");
    fs::create_dir_all(root.join("evaluate")).expect("a folder");
    fs::write(root.join("evaluate/evaluate.sh"), "#!/bin/sh\n").expect("a file");
    let outside = folder.path().join("outside.txt");
    fs::write(&outside, OUTSIDE).expect("a file");
    for (name, bytes) in sections::split(input).into_iter().take(20) {
        lay_out(&root, name, bytes);
    }
    let before = listing(&root);
    if let Ok(task) = TaskDescriptor::load(&root.join("task.json")) {
        for seed in [0, 7] {
            let target = folder.path().join(format!("workspace-{seed}"));
            if let Err(error) = prepare_tree(&task, seed, &target) {
                assert!(!error.to_string().is_empty());
            }
        }
        if let Err(error) = instruction(&task) {
            assert!(!error.to_string().is_empty());
        }
    }
    assert_eq!(listing(&root), before, "the task itself was changed");
    assert_eq!(
        fs::read_to_string(&outside).expect("the file outside"),
        OUTSIDE
    );
    let mut left: Vec<_> = fs::read_dir(folder.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .filter(|name| !name.to_string_lossy().starts_with("workspace-"))
        .collect();
    left.sort();
    assert_eq!(
        left,
        ["dataset", "outside.txt"],
        "something was made outside"
    );
}

fn lay_out(root: &Path, name: &str, bytes: &[u8]) {
    let (link, name) = match name.strip_prefix("link ") {
        Some(name) => (true, name),
        None => (false, name),
    };
    let path = Path::new(name);
    let plain = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if !plain || name.is_empty() || name.contains('\0') || name.len() > 200 {
        return;
    }
    let path = root.join(path);
    // What another section put in the way stays.
    let Some(parent) = path.parent() else { return };
    if parent.ancestors().any(|part| part.is_symlink()) || fs::create_dir_all(parent).is_err() {
        return;
    }
    if link {
        let target = String::from_utf8_lossy(bytes);
        let target = target.trim_end();
        if !target.is_empty() && !target.contains('\0') {
            let _ = symlink(target, path);
        }
    } else if !path.is_symlink() {
        let _ = fs::write(path, bytes);
    }
}

/// Every path below a folder, with the bytes of files and the targets of links.
fn listing(root: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let content = if path.is_symlink() {
                fs::read_link(&path)
                    .expect("a link")
                    .into_os_string()
                    .into_encoded_bytes()
            } else if path.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).expect("a file")
            };
            found.push((path, content));
        }
    }
    found.sort();
    found
}
