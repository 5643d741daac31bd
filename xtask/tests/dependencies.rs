//! Every direct dependency has a reason that is written down, in `docs/dependencies.md`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

type Names = BTreeSet<String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// The direct dependencies of each package, as cargo sees them.
fn direct() -> BTreeMap<String, Names> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(root())
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
    metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| {
            (
                name(package),
                package["dependencies"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(name)
                    .collect(),
            )
        })
        .collect()
}

/// What the page says: `## package`, then lines of the form ``- `dependency`: reason``.
fn documented() -> BTreeMap<String, Names> {
    let page = fs::read_to_string(root().join("docs/dependencies.md")).unwrap();
    let mut sections: BTreeMap<String, Names> = BTreeMap::new();
    let mut package = None;
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            package = Some(title.trim_matches('`').to_owned());
            sections.entry(package.clone().unwrap()).or_default();
        } else if let Some((name, reason)) = line
            .strip_prefix("- `")
            .and_then(|rest| rest.split_once("`:"))
        {
            assert!(
                reason.trim().len() > 10,
                "docs/dependencies.md gives no reason for `{name}`"
            );
            let section = package
                .as_ref()
                .expect("a dependency before the first section");
            let new = sections.get_mut(section).unwrap().insert(name.to_owned());
            assert!(
                new,
                "docs/dependencies.md lists `{name}` twice in `{section}`"
            );
        }
    }
    sections
}

#[test]
fn every_direct_dependency_has_its_reason_and_no_reason_outlives_its_dependency() {
    let (direct, documented) = (direct(), documented());
    let mut problems = Vec::new();
    for package in direct
        .keys()
        .chain(documented.keys())
        .collect::<BTreeSet<_>>()
    {
        let nothing = Names::new();
        let used = direct.get(package).unwrap_or(&nothing);
        let listed = documented.get(package).unwrap_or(&nothing);
        for name in used.difference(listed) {
            problems.push(format!("section `## {package}` lacks `{name}`"));
        }
        for name in listed.difference(used) {
            problems.push(format!(
                "section `## {package}` lists `{name}`, which it does not use"
            ));
        }
    }
    assert!(
        problems.is_empty(),
        "docs/dependencies.md:\n  {}",
        problems.join("\n  ")
    );
}

#[test]
fn every_dependency_of_the_workspace_is_used_by_a_package() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let used: Names = direct().into_values().flatten().collect();
    let unused: Vec<_> = manifest
        .lines()
        .skip_while(|line| *line != "[workspace.dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once('=').map(|(name, _)| name.trim()))
        .filter(|name| !name.starts_with('#') && !used.contains(*name))
        .collect();
    assert!(
        unused.is_empty(),
        "Cargo.toml: no package uses the dependencies {unused:?}"
    );
}
