//! Every recording of the real CLI, replayed through the production component: what it
//! observes, and what the engine makes of it, is what the recording shows.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod differences;
mod evidence;
mod expectation;
mod replays;

use differences::{broken, differences};
use expectation::{Kind, fixtures, recorded, table};
use replays::Adapter;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// What every entry of the table says something about.
const FIELDS: [&str; 13] = [
    "agent_version",
    "approval_policy",
    "class",
    "fault",
    "final_message",
    "model",
    "model_requests",
    "native_session_id",
    "sandbox",
    "status",
    "tool_calls",
    "usage",
    "usage_complete",
];

#[test]
fn every_recording_is_listed_once_and_whatever_is_left_out_has_a_reason() {
    let mut listed = BTreeSet::new();
    for entry in table() {
        let name = entry.name;
        match entry.kind {
            Kind::Excluded { reason } => assert!(!reason.trim().is_empty(), "{name}: no reason"),
            Kind::Replayed(replayed) => {
                let mut fields: Vec<_> = replayed.expect.keys().map(String::as_str).collect();
                fields.sort_unstable();
                assert_eq!(fields, FIELDS, "{name}");
            }
        }
        assert!(listed.insert(name.clone()), "{name} is listed twice");
    }
    let recorded = recorded();
    let unlisted: Vec<_> = recorded.difference(&listed).collect();
    let missing: Vec<_> = listed.difference(&recorded).collect();
    assert!(
        unlisted.is_empty() && missing.is_empty(),
        "expected.json and the recordings differ: not listed {unlisted:?}, not recorded \
         {missing:?}"
    );
    assert!(!recorded.is_empty());
}

#[test]
fn every_cited_line_exists() {
    let mut wrong = Vec::new();
    for entry in table() {
        let Kind::Replayed(replayed) = entry.kind else {
            continue;
        };
        for (field, value) in &replayed.expect {
            let cite = replayed.cites[field].as_str().unwrap();
            let shown = cite.split(' ').all(|cite| is_shown(&entry.name, cite));
            if !shown || (cite == "absent" && !value.is_null()) {
                wrong.push(format!("{}: {field}: {cite}", entry.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether `FILE:LINE+LINE` exists; rules and absence are no lines.
fn is_shown(name: &str, cite: &str) -> bool {
    if cite == "absent" || cite.starts_with("rule:") {
        return true;
    }
    let (file, lines) = cite.rsplit_once(':').unwrap();
    let Ok(bytes) = fs::read(fixtures().join(name).join(file)) else {
        return false;
    };
    let count = bytes.split(|byte| *byte == b'\n').count();
    lines
        .split('+')
        .all(|line| (1..=count).contains(&line.parse().unwrap()))
}

#[test]
fn the_table_is_what_the_extractor_works_out() {
    let extractor = fixtures().join("extract.py");
    let checked = Command::new("python3")
        .arg(extractor)
        .arg("--check")
        .output();
    match checked {
        Ok(output) => assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: needs python3 to work the table out again");
        }
        Err(error) => panic!("python3 did not start: {error}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_recording_is_observed_as_it_shows() {
    let adapter = Adapter::load();
    let mut found = Vec::new();
    let mut replayed = 0;
    for entry in table() {
        let Kind::Replayed(recording) = entry.kind else {
            continue;
        };
        replayed += 1;
        match adapter.replay(&entry.name, &recording).await {
            Ok(outcome) => found.extend(differences(&entry.name, &recording, &outcome)),
            Err(error) => found.push(broken(&entry.name, "replay", &error)),
        }
    }
    assert!(replayed > 0);
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(
        lines.is_empty(),
        "{} differences in {replayed} recordings:\n{}",
        lines.len(),
        lines.join("\n")
    );
}
