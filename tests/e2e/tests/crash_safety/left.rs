//! What a run left behind, however it ended.

use akbench_e2e::record::{Record, assert_fits, files_below, runs};
use akbench_e2e::scene::Scene;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Checks what must hold of every folder for runs: what is there parses, and is the beginning
/// of what the agent printed.
pub fn check(folder: &Path, expected: &str) {
    for run in runs(folder) {
        check_run(&run, expected);
    }
}

fn check_run(run: &Path, expected: &str) {
    let plan = json(run, "plan.json");
    if let Some(plan) = &plan {
        assert_fits("plan.schema.json", plan);
    }
    for log in ["events.jsonl", "audit.jsonl"] {
        whole_lines(&run.join(log));
    }
    let task = run.join("artifacts/evidence/spawns/3-task");
    let stdout = fs::read(task.join("stdout")).unwrap_or_default();
    assert!(
        expected.as_bytes().starts_with(&stdout),
        "{}: {}",
        run.display(),
        String::from_utf8_lossy(&stdout)
    );
    let noted: u64 = whole_lines(&task.join("io.jsonl"))
        .iter()
        .filter(|line| line["stream"] == "stdout")
        .map(|line| line["bytes"].as_u64().expect("a number"))
        .sum();
    assert!(noted <= stdout.len() as u64, "{}: {noted}", run.display());
    if let Some(result) = json(run, "result.json") {
        assert_fits("result.schema.json", &result);
        if result["status"] == "completed" {
            assert_eq!(stdout, expected.as_bytes(), "{}", run.display());
        }
    }
}

/// As [`check`], and every run that has a plan has a whole record and no leftovers.
pub fn check_records(folder: &Path, expected: &str) {
    check(folder, expected);
    for run in runs(folder) {
        if run.join("plan.json").exists() {
            for leftover in ["scratch", "evaluation", ".reserve"] {
                let path = run.join(leftover);
                assert!(!path.exists(), "{} was left", path.display());
            }
            assert!(run.join("result.json").exists(), "{}", run.display());
            // A host that died before it began has no logs.
            if run.join("audit.jsonl").exists() && run.join("events.jsonl").exists() {
                Record::at(run);
            }
        }
    }
}

/// A document is there whole or not at all.
fn json(run: &Path, name: &str) -> Option<Value> {
    let text = fs::read(run.join(name)).ok()?;
    let parsed = serde_json::from_slice(&text);
    Some(parsed.unwrap_or_else(|error| panic!("{}/{name}: {error}", run.display())))
}

/// The lines of a log. The last may be torn: the host died while it wrote it.
fn whole_lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let end = text.rfind('\n').map_or(0, |at| at + 1);
    text[..end]
        .lines()
        .map(|line| {
            serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{}: {error}: {line}", path.display()))
        })
        .collect()
}

/// Everything that was recorded, to compare it later.
pub fn evidence(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for run in runs(folder) {
        let evidence = run.join("artifacts/evidence/spawns");
        if evidence.exists() {
            for path in files_below(&evidence) {
                let bytes = fs::read(&path).expect("a recorded file");
                found.push((path, bytes));
            }
        }
    }
    found.sort();
    found
}

/// After whatever came before, a run is as any other.
pub fn next_run_works(scene: &Scene, program: &Path, expected: &str) {
    let ran = scene.run(&mut scene.run_command(program, &[]));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let record = Record::checked(scene, &ran);
    assert_eq!(record.result["status"], "completed");
    assert_eq!(record.task_file("stdout"), expected.as_bytes());
}
