#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use std::os::unix::fs::symlink;

fn program(find: serde_json::Value) -> Program {
    let value = serde_json::json!({"name": "acme", "find": find, "versions": {"supported": ">=1.2.0, <2.0.0", "unverified": ">=1.0.0, <1.2.0"}});
    serde_json::from_value(value).expect("a program")
}

fn write(path: &Path, mode: u32) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
    fs::write(path, "#!/bin/sh\n").expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

/// A package manager's layout: `bin/acme` links to a wrapper in a package, and the real
/// program lies in a package beside it.
fn installation() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = fs::canonicalize(folder.path()).expect("a real path");
    write(&root.join("lib/acme/bin/acme.js"), 0o755);
    write(&root.join("lib/acme-x64/vendor/linux/bin/acme"), 0o755);
    fs::create_dir(root.join("bin")).expect("a folder");
    symlink("../lib/acme/bin/acme.js", root.join("bin/acme")).expect("a link");
    (folder, root)
}

#[test]
fn the_first_rule_that_yields_an_executable_wins() {
    let (_folder, root) = installation();
    let path = root.join("bin").into_os_string();
    let native = root.join("lib/acme-x64/vendor/linux/bin/acme");
    let wrapper = root.join("lib/acme/bin/acme.js");
    let beside = serde_json::json!({"beside": "acme", "glob": "../../acme-x64/vendor/*/bin/acme"});
    let elsewhere =
        serde_json::json!({"beside": "acme", "glob": "../../acme-arm/vendor/*/bin/acme"});
    let in_path = serde_json::json!({"path": "acme"});
    let fixed = serde_json::json!({"file": native});
    for (rules, expected) in [
        (serde_json::json!([elsewhere, beside, in_path]), &native),
        (serde_json::json!([elsewhere, in_path, beside]), &wrapper),
        (serde_json::json!([fixed]), &native),
    ] {
        let found = program(rules.clone()).find(Some(&path)).expect("found");
        assert_eq!(&found.path, expected, "{rules}");
        assert_eq!(found.name, "acme");
    }
}

#[test]
fn a_search_that_fails_says_where_it_looked() {
    let (_folder, root) = installation();
    write(&root.join("bin/plain"), 0o644);
    fs::create_dir(root.join("bin/folder")).expect("a folder");
    let rules = serde_json::json!([
        {"beside": "acme", "glob": "../../acme-arm/*/acme"},
        {"path": "plain"},
        {"path": "folder"},
        {"path": "absent"},
        {"file": root.join("nowhere")},
    ]);
    let path = root.join("bin").into_os_string();
    let error = program(rules)
        .find(Some(&path))
        .expect_err("nothing to find");
    assert_eq!(error.tried.len(), 5);
    for (tried, part) in error.tried.iter().zip([
        "nothing matches",
        "plain: not an executable file",
        "folder: not an executable file",
        "`absent` is in no folder of PATH",
        "No such file",
    ]) {
        assert!(tried.contains(part), "{tried}");
    }
    assert!(
        error
            .to_string()
            .starts_with("program `acme` was not found"),
        "{error}"
    );
}

#[test]
fn without_a_path_and_through_relative_folders_nothing_is_found() {
    let rules = serde_json::json!([{"path": "sh"}]);
    assert!(program(rules.clone()).find(None).is_err());
    for path in ["", ".", "bin:../bin"] {
        assert!(
            program(rules.clone()).find(Some(OsStr::new(path))).is_err(),
            "{path}"
        );
    }
}

#[test]
fn a_name_that_is_not_executable_does_not_hide_a_later_one() {
    let (_folder, root) = installation();
    write(&root.join("first/acme"), 0o644);
    let path = env::join_paths([root.join("first"), root.join("bin")]).expect("a path");
    assert!(
        program(serde_json::json!([{"path": "acme"}]))
            .find(Some(&path))
            .is_ok()
    );
}

#[test]
fn versions_are_supported_unverified_or_refused() {
    let policy = program(serde_json::json!([{"path": "acme"}])).versions;
    for (version, expected) in [
        ("0.9.9", Standing::Refused),
        ("1.0.0", Standing::Unverified),
        ("1.1.9", Standing::Unverified),
        ("1.2.0", Standing::Supported),
        ("1.99.0", Standing::Supported),
        ("1.99.0-alpha.1", Standing::Unverified),
        ("2.0.0", Standing::Refused),
        ("2.0.0-rc.1", Standing::Refused),
    ] {
        assert_eq!(
            policy.standing(&Version::parse(version).expect(version)),
            expected,
            "{version}"
        );
    }
}
