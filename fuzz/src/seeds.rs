//! What the fuzzer begins with: recordings, the shipped descriptors and tasks, and a few
//! inputs made here.

use crate::sections::join;
use akbench::supervisor::protocol::{OsText, Reply, Request, SpawnCommand, SpawnId, encode};
use std::fs;
use std::path::{Path, PathBuf};
use wasm_encoder::{Component, ComponentTypeSection, Module, RawSection};

/// Longer recordings would only make the fuzzer slow.
const MAX_SEED: u64 = 24 << 10;

/// The seeds of a target; none for a name that is no target's.
pub fn of(target: &str) -> Vec<Vec<u8>> {
    match target {
        "event_stream" => files("tests/fixtures/codex/recordings", "stdout.jsonl"),
        "rollout" => files("tests/fixtures/codex/recordings", "rollout-"),
        "evidence" => recordings(),
        "fake_evidence" => fake_evidence(),
        "agent" => {
            let mut seeds = files("descriptors/agents", "");
            seeds.extend(files("adapters", "descriptor.json"));
            seeds.extend(files("tests/guests", "descriptor.json"));
            seeds
        }
        "runtime" => files("descriptors/runtimes", ""),
        "catalog" => files("adapters", "catalog.json"),
        "task" => tasks(),
        "component" => components(),
        "run" => files("fuzz/seeds/run", ""),
        "protocol" => protocol(),
        "redaction" => [
            "sk-can\"ary/4711+x\n\x05\x02\nkey: sk-can\"ary/4711+x sk-can%22ary%2F4711%2Bx\n",
            "12345678\n\x01\n{\"n\": 112345678, \"key\": \"12345678\"}",
            "aaaaaaaa\n\x03\x00\x07\naaaaaaaaaaaaaaaaaaaaaaaaYWFhYWFhYWE",
        ]
        .map(|seed| seed.as_bytes().to_vec())
        .to_vec(),
        _ => Vec::new(),
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files below a folder whose name begins so, without the large ones, sorted.
fn paths(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            if metadata.is_dir() {
                folders.push(entry.path());
            } else if metadata.len() <= MAX_SEED
                && entry.file_name().to_string_lossy().starts_with(name)
            {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// Their contents, each once.
fn files(folder: &str, name: &str) -> Vec<Vec<u8>> {
    let paths = paths(&repository().join(folder), name);
    let mut contents: Vec<Vec<u8>> = paths
        .iter()
        .filter_map(|path| fs::read(path).ok())
        .collect();
    contents.sort();
    contents.dedup();
    contents
}

/// Whole recordings, as an engine would have recorded them.
fn recordings() -> Vec<Vec<u8>> {
    let root = repository().join("tests/fixtures/codex/recordings");
    let mut seeds = Vec::new();
    for stdout in paths(&root, "stdout.jsonl") {
        let Some(folder) = stdout.parent() else {
            continue;
        };
        let read = |name: &str| fs::read(folder.join(name)).unwrap_or_default();
        let code = String::from_utf8_lossy(&read("exit_code"))
            .trim()
            .to_owned();
        let exit = format!(r#"{{"status": {{"kind": "exited", "code": {code}}}, "signals": []}}"#);
        let command = br#"{"program": "codex", "args": ["exec", "--json"]}"#.to_vec();
        let mut parts = vec![
            ("spawns/1-task/command.json".to_owned(), command),
            ("spawns/1-task/exit.json".to_owned(), exit.into_bytes()),
            ("spawns/1-task/stderr".to_owned(), read("stderr.txt")),
            ("spawns/1-task/stdout".to_owned(), read("stdout.jsonl")),
        ];
        for rollout in paths(&folder.join("rollouts"), "rollout-") {
            let name = rollout.file_name().unwrap_or_default().to_string_lossy();
            let path = format!("home/sessions/2026/11/30/{name}");
            parts.push((path, fs::read(&rollout).unwrap_or_default()));
        }
        seeds.push(joined(&parts));
    }
    seeds
}

fn joined(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
    join(
        parts
            .iter()
            .map(|(name, bytes)| (name.as_str(), bytes.as_slice())),
    )
}

fn fake_evidence() -> Vec<Vec<u8>> {
    let command = br#"{"program": "agent", "args": []}"#;
    let exit = br#"{"status": {"kind": "exited", "code": 0}, "signals": []}"#;
    files("adapters/fake/suite", "stdout")
        .iter()
        .map(|stdout| {
            join([
                ("spawns/1-task/command.json", command.as_slice()),
                ("spawns/1-task/exit.json", exit.as_slice()),
                ("spawns/1-task/stderr", b"".as_slice()),
                ("spawns/1-task/stdout", stdout),
                ("home/session.jsonl", stdout),
            ])
        })
        .collect()
}

fn tasks() -> Vec<Vec<u8>> {
    let root = repository().join("descriptors/tasks");
    let mut seeds = vec![with_links()];
    for task in paths(&root, "task.json") {
        let Some(folder) = task.parent() else {
            continue;
        };
        let parts: Vec<(String, Vec<u8>)> = paths(folder, "")
            .into_iter()
            .filter_map(|path| {
                let name = path.strip_prefix(folder).ok()?.display().to_string();
                Some((name, fs::read(&path).ok()?))
            })
            .collect();
        seeds.push(joined(&parts));
    }
    seeds
}

/// Every kind of mutation, on paths that lead over links.
fn with_links() -> Vec<u8> {
    let task = br#"{"schema": "akbench.task/1", "id": "linked-001", "version": "1.0.0",
  "name": "Links", "instruction": {"text": "Do it."}, "time_limit": "60s",
  "evaluator": {"command": ["sh", "evaluate.sh"], "time_limit": "10s"},
  "mutations": [{"id": "m", "alternatives": [{"id": "a", "operations": [
    {"replace_text": {"path": "f", "find": "a", "with": "b", "count": 3}},
    {"replace_regex": {"path": "f", "pattern": "(b)+", "with": "$1"}},
    {"apply_diff": {"path": "f", "diff": "d.diff"}},
    {"write_file": {"path": "g/h", "text": "x"}},
    {"rename": {"from": "f", "to": "i"}},
    {"delete": {"path": "i"}},
    {"write_file": {"path": "l/outside.txt", "text": "forged"}}]}]}]}
"#;
    join([
        ("task.json", task.as_slice()),
        ("workspace/f", b"aaa\n".as_slice()),
        ("link workspace/l", b"../../..".as_slice()),
        (
            "d.diff",
            b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-b\n+ccc\n".as_slice(),
        ),
    ])
}

fn components() -> Vec<Vec<u8>> {
    let mut types = ComponentTypeSection::new();
    types
        .defined_type()
        .primitive(wasm_encoder::PrimitiveValType::String);
    let mut component = Component::new();
    component.section(&types);
    let mut seeds = vec![
        Module::new().finish(),
        Component::new().finish(),
        component.finish(),
    ];
    let mut nested = Component::new();
    nested.section(&RawSection {
        id: wasm_encoder::ComponentSectionId::CoreModule as u8,
        data: &Module::new().finish(),
    });
    seeds.push(nested.finish());
    // A real one, where the adapters have been built.
    let program = std::env::current_exe().unwrap_or_default();
    let built = program
        .ancestors()
        .map(|folder| folder.join("adapters/fake.wasm"));
    seeds.extend(built.filter_map(|path| fs::read(path).ok()).take(1));
    seeds
}

fn protocol() -> Vec<Vec<u8>> {
    let spawn = SpawnId(1);
    let text = |text: &str| OsText(text.into());
    let requests = [
        Request::Spawn {
            spawn,
            command: SpawnCommand {
                program: "/bin/true".into(),
                args: vec![text("-x"), OsText::from(vec![0xff])],
                env: vec![(text("A"), text("b"))],
                cwd: "/".into(),
            },
        },
        Request::Signal { spawn, signal: 9 },
        Request::Terminate {
            spawn,
            grace_ms: 100,
        },
        Request::Listen { port: 80 },
        Request::TerminateAll { grace_ms: 0 },
    ];
    let replies = [
        Reply::Ready {
            pid_namespace: true,
        },
        Reply::Spawned { spawn, pid: 7 },
        Reply::Exited {
            spawn,
            raw_status: 256,
        },
        Reply::Cleared {
            spawn,
            ended: 1,
            survivors: 0,
        },
        Reply::AllEnded {
            ended: 1,
            survivors: 0,
        },
    ];
    let frames = |frames: Vec<std::io::Result<Vec<u8>>>| -> Vec<u8> {
        frames.into_iter().flatten().flatten().collect()
    };
    vec![
        frames(requests.iter().map(encode_one).collect()),
        frames(replies.iter().map(encode_one).collect()),
    ]
}

fn encode_one(message: &impl serde::Serialize) -> std::io::Result<Vec<u8>> {
    encode(message)
}
