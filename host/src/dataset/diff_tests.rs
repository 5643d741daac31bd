#![allow(clippy::unwrap_used)]

use super::*;
use crate::runner::workspace::copy_tree;
use proptest::collection::btree_map;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

#[derive(Debug, Clone)]
enum Thing {
    File(Vec<u8>, bool),
    Link(String),
}

type Tree = BTreeMap<String, Thing>;

fn thing() -> impl Strategy<Value = Thing> {
    let text = "([abc\r\t ]{0,3}\n){0,20}[abc]{0,2}".prop_map(String::into_bytes);
    let bytes = proptest::collection::vec(any::<u8>(), 0..40);
    let large = any::<u8>().prop_map(|seed| {
        let byte = |at: usize| (at as u8).wrapping_mul(seed).wrapping_add((at >> 8) as u8);
        (0..20_000).map(byte).collect()
    });
    let content = prop_oneof![4 => text, 2 => bytes, 1 => large];
    prop_oneof![
        6 => (content, any::<bool>()).prop_map(|(content, x)| Thing::File(content, x)),
        1 => "[a-d/.]{1,6}".prop_map(Thing::Link),
    ]
}

/// Names that often collide, also as folder in one tree and file in the other, and some that
/// need quoting; and attributes that ask git to convert what it must not.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[a-c](/[a-c]){0,2}",
        1 => Just("d \"é\\\t".to_owned()),
        1 => Just("-e\n".to_owned()),
        1 => Just(".gitignore".to_owned()),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    (btree_map(name(), thing(), 0..8), any::<bool>()).prop_map(|(mut tree, attributes)| {
        if attributes {
            let text = b"* text=auto eol=crlf ident\n* working-tree-encoding=UTF-16\n".to_vec();
            tree.insert(".gitattributes".to_owned(), Thing::File(text, false));
        }
        tree
    })
}

/// Later names that need a file to be a folder, or the other way round, are left out.
fn lay_out(root: &Path, tree: &Tree) {
    fs::create_dir(root).unwrap();
    for (name, thing) in tree {
        let path = root.join(name);
        let blocked = path
            .ancestors()
            .skip(1)
            .take_while(|above| *above != root)
            .any(|above| fs::symlink_metadata(above).is_ok_and(|found| !found.is_dir()));
        if blocked || fs::symlink_metadata(&path).is_ok() {
            continue;
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match thing {
            Thing::File(content, executable) => {
                fs::write(&path, content).unwrap();
                let mode = if *executable { 0o755 } else { 0o644 };
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            }
            Thing::Link(target) => symlink(target, &path).unwrap(),
        }
    }
}

fn round_trip(before: &Path, after: &Path, folder: &Path) -> (Snapshot, Snapshot, String) {
    let [first, second] = [before, after].map(|root| Snapshot::take(root).unwrap());
    let patch = folder.join("patch");
    let at = |root, snapshot| TreeAt { root, snapshot };
    write(
        at(before, &first),
        at(after, &second),
        &folder.join("write.git"),
        &patch,
    )
    .unwrap();
    let applied = folder.join("applied");
    copy_tree(before, &applied).unwrap();
    apply(&patch, &applied, &folder.join("apply.git")).unwrap();
    let text = String::from_utf8_lossy(&fs::read(patch).unwrap()).into_owned();
    (second, Snapshot::take(&applied).unwrap(), text)
}

/// Whether a symbolic link became a folder, or a folder a link. The patch is right then, but
/// git refuses to apply some of these ("beyond a symbolic link"), depending on where the link
/// pointed; such a run is reported as not evaluated.
fn a_link_and_a_folder_swap(before: &Tree, after: &Tree) -> bool {
    let links_to_folders = |links: &Tree, paths: &Tree| {
        links
            .iter()
            .filter(|(_, thing)| matches!(thing, Thing::Link(_)))
            .any(|(link, _)| {
                let inside = format!("{link}/");
                paths.keys().any(|path| path.starts_with(&inside))
            })
    };
    links_to_folders(before, after) || links_to_folders(after, before)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_diff_of_two_trees_turns_one_into_the_other_byte_for_byte(
        before in tree(), after in tree()
    ) {
        prop_assume!(!a_link_and_a_folder_swap(&before, &after));
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = ["before", "after"].map(|name| folder.path().join(name));
        lay_out(&first, &before);
        lay_out(&second, &after);
        let (expected, found, patch) = round_trip(&first, &second, folder.path());
        prop_assert_eq!(expected, found, "{}", patch);
    }
}

#[test]
fn renames_modes_links_deletions_and_binary_files_are_in_the_patch() {
    let folder = tempfile::tempdir().unwrap();
    let [before, after] = ["before", "after"].map(|name| folder.path().join(name));
    let file = |content: &[u8], x| Thing::File(content.to_vec(), x);
    let long = "a line that is long enough to be recognised\n".repeat(5);
    let old = [
        ("moved", file(long.as_bytes(), false)),
        ("gone", file(b"x\n", false)),
        ("mode", file(b"x\n", false)),
        ("binary", file(&[0, 1, 2], false)),
        ("link", file(b"x\n", false)),
    ];
    let new = [
        ("folder/moved", file(long.as_bytes(), false)),
        ("mode", file(b"x\n", true)),
        ("binary", file(&[0, 3, 2], false)),
        ("link", Thing::Link("mode".to_owned())),
    ];
    let tree = |things: &[(&str, Thing)]| -> Tree {
        things
            .iter()
            .map(|(name, thing)| ((*name).to_owned(), thing.clone()))
            .collect()
    };
    lay_out(&before, &tree(&old));
    lay_out(&after, &tree(&new));
    let (expected, found, patch) = round_trip(&before, &after, folder.path());
    assert_eq!(expected, found);
    for part in [
        "rename from moved\nrename to folder/moved",
        "deleted file mode 100644",
        "old mode 100644\nnew mode 100755",
        "GIT binary patch",
        "new file mode 120000",
    ] {
        assert!(patch.contains(part), "{part}\n{patch}");
    }
}

#[test]
fn a_tree_that_no_longer_is_what_was_seen_gives_no_patch() {
    let folder = tempfile::tempdir().unwrap();
    let [before, after] = ["before", "after"].map(|name| folder.path().join(name));
    for (root, text) in [(&before, "old"), (&after, "new")] {
        fs::create_dir(root).unwrap();
        fs::write(root.join("file"), text).unwrap();
    }
    let [first, second] = [&before, &after].map(|root| Snapshot::take(root).unwrap());
    fs::write(before.join("file"), "odd").unwrap();
    let result = write(
        TreeAt {
            root: &before,
            snapshot: &first,
        },
        TreeAt {
            root: &after,
            snapshot: &second,
        },
        &folder.path().join("git"),
        &folder.path().join("patch"),
    );
    assert!(matches!(result, Err(GitError::Changed(path)) if path.as_os_str() == "file"));
}
