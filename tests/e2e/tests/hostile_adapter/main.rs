//! What a hostile adapter can do to its host: each attack is made in a real run, by
//! `tests/guests/misbehaving`, and the table in `docs/sandbox.md` is what these tests saw.

#![allow(clippy::expect_used, clippy::panic)]

mod attacks;
mod scene;

use akbench_e2e::page::documented;
use akbench_e2e::processes;
use akbench_e2e::record::{Record, contains};
use akbench_e2e::scene::{CREDENTIAL, Ran, Scene};
use attacks::{ATTACKS, Attack, How};
use scene::{attacked, hostile};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::thread;

/// Attacks at a time that break something: most of them compute or wait.
const AT_A_TIME: usize = 8;

#[test]
fn a_hostile_adapter_gets_nothing_and_the_host_survives() {
    let mut outcomes: BTreeMap<usize, &str> = denied();
    let queue: Mutex<Vec<(usize, &Attack)>> =
        Mutex::new(ATTACKS.iter().enumerate().rev().collect());
    let found = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some((at, attack)) = { queue.lock().expect("the queue").pop() } {
                    if let Some(outcome) = ended(attack) {
                        found.lock().expect("what was found").push((at, outcome));
                    }
                }
            });
        }
    });
    let mut wrong = Vec::new();
    for (at, outcome) in found.into_inner().expect("what was found") {
        match outcome {
            Ok(outcome) => drop(outcomes.insert(at, outcome)),
            Err(what) => wrong.push(what),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));

    let mut table = String::from("| channel | attack | outcome |\n| --- | --- | --- |\n");
    for (at, attack) in ATTACKS.iter().enumerate() {
        let outcome = outcomes[&at];
        writeln!(
            table,
            "| {} | {} | {outcome} |",
            attack.channel, attack.what
        )
        .expect("a string");
    }
    documented("adapter-attacks", &table);
}

#[test]
fn at_least_five_attacks_are_made_in_each_channel() {
    let mut channels: BTreeMap<&str, usize> = BTreeMap::new();
    for attack in ATTACKS {
        *channels.entry(attack.channel).or_default() += 1;
    }
    let names: Vec<&str> = channels.keys().copied().collect();
    let expected = [
        "CPU",
        "environment and secrets",
        "files",
        "host state",
        "memory and handles",
        "network",
        "programs",
        "time",
    ];
    assert_eq!(names, expected);
    assert!(channels.values().all(|count| *count >= 5), "{channels:?}");
}

/// All attacks that are over when they have failed, in one run that then goes on as usual.
fn denied() -> BTreeMap<usize, &'static str> {
    let scene = hostile();
    let ran = attacked(&scene, &["--param", "attack=all"]);
    let record = checked(&scene, &ran);
    assert_eq!(record.result["status"], "completed", "{}", ran.stderr);
    let told = told(&record);
    let mut outcomes = BTreeMap::new();
    let mut expected = Vec::new();
    for (at, attack) in ATTACKS.iter().enumerate() {
        if let How::Denied(name) = attack.how {
            let (outcome, detail) = told
                .get(name)
                .unwrap_or_else(|| panic!("`{name}` was not made: {told:#?}"));
            assert_eq!(outcome, "denied", "{name}: {detail}");
            outcomes.insert(at, "denied");
            expected.push(name);
        }
    }
    let unknown: Vec<_> = told
        .keys()
        .filter(|name| !expected.contains(&name.as_str()))
        .collect();
    assert!(
        unknown.is_empty(),
        "attacks without a line in the table: {unknown:?}"
    );
    nothing_was_forged(&record, &ran);
    outcomes
}

/// An attack that breaks its session, in a run of its own: what came of it, or what is wrong
/// with that.
fn ended(attack: &Attack) -> Option<Result<&'static str, String>> {
    let (parameter, limit, expected, says) = match attack.how {
        How::Denied(_) => return None,
        How::Stopped {
            parameter,
            limit,
            ends,
            says,
            ..
        } => (parameter, limit, ends, says),
    };
    let scene = hostile();
    let mut more = vec!["--param", parameter];
    more.extend(limit.iter().flat_map(|limit| ["--time-limit", limit]));
    let ran = attacked(&scene, &more);
    let record = checked(&scene, &ran);
    let failure = &record.result["failure"];
    let class = failure["class"].as_str().unwrap_or("none");
    let message = failure["message"].as_str().unwrap_or_default();
    let violations = &record.result["violations"];
    let events = record.lines("events.jsonl");
    let warnings = events.iter().filter(|event| event["event"] == "warning");
    let warnings: Vec<_> = warnings.map(|event| event["text"].to_string()).collect();
    let about = format!(
        "{message} {:?} {violations} {}",
        told(&record),
        warnings.join(" ")
    );
    let log = std::fs::metadata(record.folder.join("events.jsonl")).expect("the log");
    assert!(log.len() < 70 << 20, "{}: {} bytes", attack.what, log.len());
    if class == expected && about.contains(says) && !about.contains("ESCAPED") {
        return Some(Ok(attack.outcome()));
    }
    Some(Err(format!(
        "{}: expected {expected} and `{says}`: {class}: {about}",
        attack.what
    )))
}

/// The host has come to its end in an orderly way, whatever the adapter did.
fn checked(scene: &Scene, ran: &Ran) -> Record {
    let record = Record::checked(scene, ran);
    assert_eq!(record.result["processes"]["survivors"], 0, "{}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert_eq!(processes::of_scene(scene), Vec::<String>::new());
    record
}

/// What the adapter says came of each attack.
fn told(record: &Record) -> BTreeMap<String, (String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let events = record.lines("events.jsonl");
    let own = events.iter().filter(|event| event["name"] == "attack");
    own.map(|event| {
        let data = &event["data"];
        (
            text(&data["attack"]),
            (text(&data["outcome"]), text(&data["detail"])),
        )
    })
    .collect()
}

/// What only the host's own records show.
fn nothing_was_forged(record: &Record, ran: &Ran) {
    // Every line parsed already; none of them is the adapter's.
    for log in ["events.jsonl", "audit.jsonl"] {
        for line in record.lines(log) {
            assert_ne!(line["event"], "forged", "{line}");
            assert!(
                line["at"].as_str().is_some_and(|at| at.ends_with('Z')),
                "{line}"
            );
        }
    }
    for line in ran.stderr.lines() {
        assert!(
            !line.contains("\"event\":\"forged\"") || !line.starts_with('{'),
            "{line}"
        );
        assert!(
            !line.contains(['\u{1b}', '\u{7}', '\u{8}', '\r']),
            "{line:?}"
        );
    }
    let artifacts = record.result["artifacts"].as_array().expect("artifacts");
    let link = artifacts.iter().find(|artifact| {
        artifact["path"]
            .as_str()
            .is_some_and(|path| path.ends_with("log.txt"))
    });
    assert_eq!(link, None, "a link is no artifact");
    for artifact in artifacts {
        let path = record
            .folder
            .join("artifacts")
            .join(artifact["path"].as_str().expect("a path"));
        let bytes = std::fs::read(path).expect("an artifact");
        assert!(!contains(&bytes, CREDENTIAL.as_bytes()), "{artifact}");
    }
    let denials = record.lines("audit.jsonl");
    let denials = denials
        .iter()
        .filter(|line| line["audit"] == "refused")
        .count();
    assert!(
        denials >= 20,
        "every refused program is in the audit: {denials}"
    );
}
