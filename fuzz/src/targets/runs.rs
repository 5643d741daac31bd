//! Records of earlier runs, as they are listed, shown and verified.

use crate::sections;
use akbench::runs;
use std::fs;

const ID: &str = "01jdzzzzzzzzzzzzzzzzzzzzzz";

/// The files that a section may be.
const FILES: [&str; 6] = [
    "plan.json",
    "result.json",
    "events.jsonl",
    "audit.jsonl",
    "artifacts/evidence/spawns/1-task/stdout",
    "artifacts/adapter/notes.txt",
];

/// The input is a run's folder.
pub fn run(input: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join(ID);
    fs::create_dir_all(run.join("artifacts/evidence/spawns/1-task")).expect("a folder");
    fs::create_dir_all(run.join("artifacts/adapter")).expect("a folder");
    for (name, bytes) in sections::split(input) {
        if FILES.contains(&name) {
            fs::write(run.join(name), bytes).expect("a file");
        }
    }
    let listed = runs::list(folder.path()).expect("the folder can be read");
    for stored in &listed {
        let verification = runs::verify(stored);
        assert_eq!(verification.intact, verification.differences.is_empty());
        for difference in &verification.differences {
            assert!(!difference.to_string().is_empty());
        }
        let timeline = runs::timeline(&stored.folder).expect("the events can be read");
        let text = fs::read(stored.folder.join("events.jsonl")).unwrap_or_default();
        let lines = text.split(|byte| *byte == b'\n').count();
        assert!(timeline.moments.len() + timeline.unreadable <= lines);
    }
    let _ = runs::find(folder.path(), Some("01j"));
    let is_run = run.join("plan.json").exists() || run.join("result.json").exists();
    assert_eq!(listed.len(), usize::from(is_run));
}
