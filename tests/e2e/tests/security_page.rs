//! `SECURITY.md` names a test for each promise, and each of these exists.

#![allow(clippy::expect_used, clippy::panic)]

use akbench_e2e::built;
use std::fs;

#[test]
fn every_promise_names_tests_that_exist() {
    let root = built::repository();
    let page = fs::read_to_string(root.join("SECURITY.md")).expect("SECURITY.md");
    let promises = page
        .split_once("## What is promised")
        .and_then(|(_, rest)| rest.split_once("## What is not promised"))
        .map(|(promises, _)| promises)
        .expect("the section of promises");
    let rows: Vec<&str> = promises
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| ---"))
        .skip(1)
        .collect();
    assert!(rows.len() >= 10, "{rows:#?}");
    for row in rows {
        let proofs: Vec<(&str, &str)> = row
            .split('`')
            .filter_map(|word| word.split_once(".rs::"))
            .collect();
        assert!(!proofs.is_empty(), "a promise without a test: {row}");
        for (file, test) in proofs {
            let path = root.join(format!("{file}.rs"));
            let source = fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let declared = format!("#[test]\n    fn {test}()");
            let source = source.replace("#[test]\nfn", "#[test]\n    fn");
            assert!(source.contains(&declared), "{file}.rs has no test `{test}`");
        }
    }
}
