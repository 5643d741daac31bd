//! Recordings of the real program, cut at every line and within lines, as a crash or a full
//! disk leaves them: less is observed, and nothing that is not so.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use akbench_adapter_sdk::evidence::{Entry, Evidence, EvidenceError};
use akbench_adapter_sdk::types::{Observations, Outcome, Provenance, TokenUsage};
use akbench_codex_adapter::observe::observe;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Evidence in memory: thousands of cuts would wear out a disk.
#[derive(Clone, Default)]
struct Memory(BTreeMap<String, Vec<u8>>);

impl Evidence for Memory {
    fn list(&self, folder: &str) -> Result<Vec<Entry>, EvidenceError> {
        let inside = self.0.keys().filter_map(|path| {
            let rest = path.strip_prefix(folder)?.strip_prefix('/')?;
            Some(
                rest.split_once('/')
                    .map_or((rest, false), |(name, _)| (name, true)),
            )
        });
        let entries: BTreeSet<_> = inside
            .map(|(name, is_folder)| Entry {
                name: name.to_owned(),
                is_folder,
            })
            .collect();
        Ok(entries.into_iter().collect())
    }

    fn open(&self, path: &str) -> Result<Option<Box<dyn Read + '_>>, EvidenceError> {
        let bytes = self.0.get(path);
        Ok(bytes.map(|bytes| Box::new(bytes.as_slice()) as Box<dyn Read>))
    }
}

/// A recording in memory, with what is cut of it.
struct Recording {
    name: &'static str,
    evidence: Memory,
    stdout: String,
    rollout: String,
}

/// A run to its end, several requests, streams that broke, interrupted and failed turns, an old version
/// that marks no turns, one that records running totals only, and a continued conversation.
const RECORDINGS: [&[&str]; 10] = [
    &["recordings/s01_happy_exec"],
    &["recordings/s03_multiturn_usage"],
    &["recordings/s08_stream_cut_then_ok"],
    &["recordings/s08b_stream_cut_after_toolcall_then_ok"],
    &["versions/0.155.1/d_context_sse"],
    &["recordings/s11a_sigint_tool"],
    &["versions/0.47.0/a2_happy_known_slug"],
    &["versions/0.118.0/a2_happy_known_slug"],
    &[
        "recordings/s14_resume_1_first",
        "recordings/s14_resume_2_by_id",
    ],
    &["versions/0.118.0/h1_first", "versions/0.118.0/h2_resume_id"],
];

impl Recording {
    /// The last of `folders`, after the others as earlier tasks of the same session.
    fn load(folders: &[&'static str]) -> Self {
        let mut evidence = Memory::default();
        for (number, folder) in (1..).zip(folders) {
            lay_out(&mut evidence, number, &fixtures().join(folder));
        }
        let name = folders.last().unwrap();
        let stdout = format!("spawns/{}-task/stdout", folders.len());
        let thread = lines(&evidence.0[&stdout]).find_map(|line| {
            let event: Value = serde_json::from_slice(line).ok()?;
            Some(event.get("thread_id")?.as_str()?.to_owned())
        });
        let thread = thread.expect("a thread");
        let rollout = evidence.0.keys().find(|path| path.contains(&thread));
        Self {
            name,
            rollout: rollout.expect("a rollout").clone(),
            stdout,
            evidence,
        }
    }

    fn cut(&self, path: &str, at: usize) -> Memory {
        let mut cut = self.evidence.clone();
        cut.0.get_mut(path).unwrap().truncate(at);
        cut
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/codex")
}

fn lay_out(evidence: &mut Memory, number: u32, from: &Path) {
    let read = |name: &str| fs::read(from.join(name)).unwrap();
    let recorded: Value = serde_json::from_slice(&read("command.json")).unwrap();
    let spawn = format!("spawns/{number}-task");
    let mut put = |name: String, bytes: Vec<u8>| evidence.0.insert(name, bytes);
    let command = json!({"program": "codex", "args": recorded["argv"].as_array().unwrap()[1..]});
    put(format!("{spawn}/command.json"), command.to_string().into());
    put(format!("{spawn}/stdout"), read("stdout.jsonl"));
    put(format!("{spawn}/stderr"), read("stderr.txt"));
    let code: i32 = String::from_utf8(read("exit_code"))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let signals = match recorded.get("signal") {
        Some(_) => json!([{"signal": "SIGINT", "reason": "cancel"}]),
        None => json!([]),
    };
    let exit = json!({"status": {"kind": "exited", "code": code}, "signals": signals});
    put(format!("{spawn}/exit.json"), exit.to_string().into());
    for entry in fs::read_dir(from.join("rollouts")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        put(
            format!("home/sessions/2026/11/30/{name}"),
            fs::read(entry.path()).unwrap(),
        );
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n')
}

/// Every end of a line, with and without its newline, and five places within lines.
fn cuts(bytes: &[u8]) -> Vec<usize> {
    let mut cuts = vec![0];
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == b'\n' {
            cuts.extend([at, at + 1]);
        }
    }
    // Any fixed sequence will do, as long as a failure can be repeated.
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    for _ in 0..5 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        cuts.push(usize::try_from(state >> 33).unwrap() % bytes.len());
    }
    cuts
}

/// Whether a whole line of the stream says that the turn was completed.
fn says_completed(stdout: &[u8]) -> bool {
    lines(stdout).any(|line| {
        let event = serde_json::from_slice::<Value>(line).ok();
        event.is_some_and(|event| event["type"] == "turn.completed")
    })
}

/// Whether the last turn of the session file has its end; `None` in versions that mark none.
fn has_its_end(rollout: &[u8]) -> Option<bool> {
    let kinds: Vec<String> = lines(rollout)
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
        .filter_map(|line| Some(line["payload"]["type"].as_str()?.to_owned()))
        .filter(|kind| {
            matches!(
                kind.as_str(),
                "task_started" | "task_complete" | "turn_aborted"
            )
        })
        .collect();
    let marked = kinds.iter().any(|kind| kind == "task_started");
    marked.then(|| kinds.last().is_some_and(|kind| kind != "task_started"))
}

fn provenance<'a>(observed: &'a Observations, of: &str) -> Option<&'a Provenance> {
    observed
        .provenance
        .iter()
        .find(|entry| entry.observation == of)
}

fn is_complete(observed: &Observations, of: &str) -> bool {
    provenance(observed, of).is_some_and(|entry| entry.complete)
}

fn parts(usage: &TokenUsage) -> [Option<u64>; 6] {
    [
        usage.input,
        usage.cached_input,
        usage.cache_write_input,
        usage.output,
        usage.reasoning_output,
        usage.total,
    ]
}

/// What holds of any cut: `whole` is what was observed before it.
fn check(name: &str, whole: &Observations, cut: &Memory, recording: &Recording) {
    let observed = observe(cut).unwrap_or_else(|error| panic!("{name}: {error}"));
    let stdout = &cut.0[&recording.stdout];
    if observed.outcome == Some(Outcome::Completed) {
        assert!(says_completed(stdout), "{name}: completed was not said");
    }
    if is_complete(&observed, "usage") {
        let (found, known) = (observed.usage.as_ref(), whole.usage.as_ref());
        assert_eq!(
            found.map(parts),
            known.map(parts),
            "{name}: called complete"
        );
        assert!(
            is_complete(whole, "usage"),
            "{name}: what shows that some is missing was cut, and was believed not to exist"
        );
        let end = has_its_end(&cut.0[&recording.rollout]);
        assert_ne!(end, Some(false), "{name}: complete without the turn's end");
    }
    if let (Some(found), Some(known)) = (&observed.usage, &whole.usage) {
        for (found, known) in parts(found).into_iter().zip(parts(known)) {
            assert!(
                found <= known || known.is_none(),
                "{name}: {found:?} of {known:?}"
            );
        }
    }
    let calls = |observed: &Observations| observed.tool_calls.as_ref().map(Vec::len);
    assert!(
        calls(&observed) <= calls(whole),
        "{name}: calls were invented"
    );
    if is_complete(&observed, "tool_calls") && has_its_end(&cut.0[&recording.rollout]).is_some() {
        assert_eq!(
            calls(&observed),
            calls(whole),
            "{name}: calls called complete"
        );
    }
    if observed.model_requests.is_some() {
        assert_eq!(
            observed.model_requests, whole.model_requests,
            "{name}: requests"
        );
    }
}

#[test]
fn a_cut_session_file_never_passes_for_a_whole_one() {
    for folders in RECORDINGS {
        let recording = Recording::load(folders);
        let whole = observe(&recording.evidence).unwrap();
        for at in cuts(&recording.evidence.0[&recording.rollout]) {
            let name = format!("{}, rollout cut at {at}", recording.name);
            let cut = recording.cut(&recording.rollout, at);
            check(&name, &whole, &cut, &recording);
        }
    }
}

#[test]
fn a_cut_stream_never_passes_for_a_whole_one() {
    for folders in RECORDINGS {
        let recording = Recording::load(folders);
        let whole = observe(&recording.evidence).unwrap();
        for at in cuts(&recording.evidence.0[&recording.stdout]) {
            let name = format!("{}, stdout cut at {at}", recording.name);
            let cut = recording.cut(&recording.stdout, at);
            check(&name, &whole, &cut, &recording);
        }
    }
}

#[test]
fn both_cut_at_once_never_pass_for_whole_ones() {
    for folders in RECORDINGS {
        let recording = Recording::load(folders);
        let whole = observe(&recording.evidence).unwrap();
        let stdout = cuts(&recording.evidence.0[&recording.stdout]);
        let rollout = cuts(&recording.evidence.0[&recording.rollout]);
        for (step, at) in rollout.iter().enumerate() {
            let other = stdout[step * stdout.len() / rollout.len()];
            let name = format!("{}, cut at {at} and {other}", recording.name);
            let mut cut = recording.cut(&recording.rollout, *at);
            cut.0.get_mut(&recording.stdout).unwrap().truncate(other);
            check(&name, &whole, &cut, &recording);
        }
    }
}

#[test]
fn the_recordings_say_something_that_a_cut_can_take_away() {
    for folders in RECORDINGS {
        let recording = Recording::load(folders);
        let whole = observe(&recording.evidence).unwrap();
        let name = recording.name;
        assert!(whole.usage.is_some(), "{name}");
        assert!(whole.outcome.is_some(), "{name}");
        let empty = observe(&recording.cut(&recording.rollout, 0)).unwrap();
        assert!(!is_complete(&empty, "usage"), "{name}");
        assert_eq!(empty.tool_calls, None, "{name}");
    }
}
