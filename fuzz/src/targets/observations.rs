//! What agents print and write, and what adapters make of it.

use crate::recorded::Recorded;
use crate::sections;
use akbench_adapter_sdk::types::Observations;
use akbench_codex_adapter::observe::observe;

const COMMAND: &[u8] = br#"{"program": "codex", "args": ["exec", "--json"]}"#;
const EXIT: &[u8] = br#"{"status": {"kind": "exited", "code": 0}, "signals": []}"#;
const META: &[u8] = br#"{"timestamp":"t","type":"session_meta","payload":{"id":"m","session_id":"m","cli_version":"0.171.0"}}
"#;
const ROLLOUT: &str = "home/sessions/2026/11/30/rollout-2026-11-30T00-00-00-m.jsonl";

/// The input is what the program printed.
pub fn event_stream(input: &[u8]) {
    observed(&[("spawns/1-task/stdout", input)]);
    observed(&[("spawns/1-task/stdout", input), (ROLLOUT, META)]);
}

/// The input is the program's session file.
pub fn rollout(input: &[u8]) {
    observed(&[("spawns/1-task/stdout", b""), (ROLLOUT, input)]);
}

/// The input is any evidence.
pub fn evidence(input: &[u8]) {
    let evidence = Recorded::new(sections::split(input));
    same_twice(|| observe(&evidence).map_err(|error| error.to_string()));
}

/// The same for the adapter that others are written after.
pub fn fake_evidence(input: &[u8]) {
    let evidence = Recorded::new(sections::split(input));
    same_twice(|| {
        akbench_fake_adapter::observe::observe(&evidence).map_err(|error| error.to_string())
    });
}

fn observed(files: &[(&str, &[u8])]) {
    let always = [
        ("spawns/1-task/command.json", COMMAND),
        ("spawns/1-task/exit.json", EXIT),
        ("spawns/1-task/stderr", b"".as_slice()),
    ];
    let evidence = Recorded::new(always.iter().chain(files).copied());
    same_twice(|| observe(&evidence).map_err(|error| error.to_string()));
}

/// Evidence is all that counts, so it says the same each time.
fn same_twice(look: impl Fn() -> Result<Observations, String>) {
    let (first, second) = (look(), look());
    assert_eq!(format!("{first:?}"), format!("{second:?}"));
}
