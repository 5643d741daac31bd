#![allow(clippy::unwrap_used)]

use super::*;
use std::os::unix::fs::symlink;

/// A run whose agent rewrote, added, removed and linked files, one with a secret in it.
fn scene(root: &Path) -> (RunFolder, Before) {
    let folder = RunFolder::create(&root.join("runs")).unwrap();
    let pristine = root.join("pristine");
    fs::create_dir(&pristine).unwrap();
    for name in ["kept", "changed", "gone", "becomes-folder"] {
        fs::write(pristine.join(name), format!("{name}\n")).unwrap();
    }
    let workspace = folder.workspace();
    copy_tree(&pristine, &workspace).unwrap();
    let snapshot = Snapshot::take(&workspace).unwrap();
    fs::write(workspace.join("changed"), "key topsecret-1\n").unwrap();
    fs::remove_file(workspace.join("gone")).unwrap();
    fs::remove_file(workspace.join("becomes-folder")).unwrap();
    fs::create_dir(workspace.join("becomes-folder")).unwrap();
    fs::write(workspace.join("becomes-folder/binary"), [0, 255]).unwrap();
    symlink("/nowhere", workspace.join("link")).unwrap();
    fs::create_dir(workspace.join(".agents")).unwrap();
    let before = Before {
        workspace,
        pristine,
        snapshot,
    };
    (folder, before)
}

#[test]
fn the_diff_is_masked_and_a_fresh_copy_is_the_tree_that_was_left() {
    let root = tempfile::tempdir().unwrap();
    let (folder, before) = scene(root.path());
    let redactor = Redactor::new([b"topsecret-1".as_slice()]).unwrap();
    let after = keep(&before, &folder, &redactor);
    assert_eq!(after.record.files_changed, Some(5));
    assert_eq!(
        after.record.droppings.as_deref(),
        Some(&[".agents/".to_owned()][..])
    );
    let kept = fs::read_to_string(folder.diff()).unwrap();
    assert!(kept.contains("+key ***********"), "{kept}");
    assert!(
        after.warnings[0].contains("1 masked secret"),
        "{:?}",
        after.warnings
    );

    let copy = root.path().join("copy");
    fresh_copy(&before, &after, &copy, &root.path().join("apply.git")).unwrap();
    assert_eq!(
        fs::read_to_string(copy.join("changed")).unwrap(),
        "key topsecret-1\n"
    );
    assert_eq!(
        fs::read(copy.join("becomes-folder/binary")).unwrap(),
        [0, 255]
    );
}

#[test]
fn without_a_diff_the_copy_is_made_from_the_files() {
    let root = tempfile::tempdir().unwrap();
    let (folder, before) = scene(root.path());
    let mut after = keep(&before, &folder, &Redactor::new([]).unwrap());
    after.patch = None;
    let copy = root.path().join("copy");
    fresh_copy(&before, &after, &copy, &root.path().join("apply.git")).unwrap();
    assert_eq!(
        Snapshot::take(&copy).unwrap().digest(),
        after.snapshot.unwrap().digest()
    );
}

#[test]
fn a_source_that_changed_meanwhile_is_noticed_and_said() {
    let root = tempfile::tempdir().unwrap();
    let (folder, before) = scene(root.path());
    fs::write(before.pristine.join("changed"), "somebody else was here\n").unwrap();
    let after = keep(&before, &folder, &Redactor::new([]).unwrap());
    assert!(after.patch.is_none() && !folder.diff().exists());
    assert!(
        after.warnings[0].contains("no workspace.diff"),
        "{:?}",
        after.warnings
    );
}
