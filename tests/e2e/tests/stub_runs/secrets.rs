//! The credential, in whatever form the agent lets it out, never reaches the disk.

use super::Run;
use akbench_e2e::record::contains;
use akbench_e2e::scene::Scene;
use akbench_e2e::stub_agent::{BEGINNING, StubAgent, TURN_COMPLETED};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// With characters that JSON, URLs and shells write otherwise.
const CREDENTIAL: &str = r#"sk-can"ary\4711/+x?ok=1"#;
/// The credential in base64, as it stands at the three possible places in a longer text.
const BASE64: [&str; 3] = [
    // "" + credential
    "c2stY2FuImFyeVw0NzExLyt4P29rPTE=",
    // "a" + credential
    "YXNrLWNhbiJhcnlcNDcxMS8reD9vaz0x",
    // "ab" + credential
    "YWJzay1jYW4iYXJ5XDQ3MTEvK3g/b2s9MQ==",
];

/// All forms in which it must not be found afterwards.
fn forms() -> Vec<String> {
    let mut forms = vec![
        CREDENTIAL.to_owned(),
        escaped(),
        "sk-can%22ary%5C4711%2F%2Bx%3Fok%3D1".to_owned(),
    ];
    // Without the ends, which also hold bits of the neighbours.
    forms.extend(BASE64.iter().map(|text| text[4..text.len() - 4].to_owned()));
    forms
}

/// As it stands inside a JSON string.
fn escaped() -> String {
    let json = json!(CREDENTIAL).to_string();
    json[1..json.len() - 1].to_owned()
}

fn run(steps: &[Value]) -> Run {
    let scene = Scene::new();
    let mut all = vec![json!({"stdout": {"text": BEGINNING}})];
    all.extend_from_slice(steps);
    all.push(json!({"stdout": {"text": TURN_COMPLETED}}));
    let program = StubAgent::default().install(&scene, &Value::Array(all));
    let mut command = scene.run_command(&program, &[]);
    command.env("AKBENCH_LLM_ROUTER_KEY", CREDENTIAL);
    let ran = scene.run(&mut command);
    for form in forms() {
        assert!(!ran.stdout.contains(&form), "{form} was printed");
        assert!(!ran.stderr.contains(&form), "{form} was said");
    }
    let run = Run::checked(scene, ran);
    assert_eq!(run.verdict()[0], "completed");
    for path in files(&run.record.folder) {
        let bytes = fs::read(&path).expect("a file of the run");
        for form in forms() {
            assert!(
                !contains(&bytes, form.as_bytes()),
                "{} holds {form}",
                path.display()
            );
        }
    }
    run
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of the run").flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(files(&entry.path())),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
    found
}

#[test]
fn the_environment_that_the_agent_prints_is_masked() {
    let run = run(&[json!({"report_env": {}})]);
    assert_eq!(run.record.masks("-task/stdout"), 1);
    let stdout = String::from_utf8(run.record.task_file("stdout")).expect("UTF-8");
    assert!(stdout.contains(&"*".repeat(escaped().len())), "{stdout}");
}

#[test]
fn each_form_is_masked_on_both_streams_and_counted() {
    let mut text = String::new();
    for form in [
        CREDENTIAL,
        &escaped(),
        "sk-can%22ary%5C4711%2F%2Bx%3Fok%3D1",
    ] {
        text.push_str(&format!("key: {form}\n"));
    }
    for form in BASE64 {
        text.push_str(&format!("authorization: {form}\n"));
    }
    let run = run(&[
        json!({"stdout": {"text": text}}),
        json!({"stderr": {"text": text}}),
    ]);
    for stream in ["stdout", "stderr"] {
        assert_eq!(run.record.masks(&format!("-task/{stream}")), 6, "{stream}");
        assert_eq!(run.record.task_exit()[format!("{stream}_masks")], 6);
    }
    // Masks have the length of what they hide, so offsets stay true.
    assert_eq!(run.record.task_file("stderr").len(), text.len());
}

#[test]
fn a_form_that_is_written_in_pieces_is_masked_as_a_whole() {
    let text = format!("key {CREDENTIAL} and {}\n", BASE64[0]);
    let run = run(&[
        json!({"stderr": {"text": text, "piece_bytes": 3, "delay_ms": 20}}),
        json!({"stdout": {"text": text, "piece_bytes": 13, "delay_ms": 100}}),
    ]);
    assert_eq!(run.record.masks("-task/stderr"), 2);
    assert_eq!(run.record.masks("-task/stdout"), 2);
}

#[test]
fn session_files_are_masked_when_they_are_copied() {
    let path = "sessions/2026/11/30/rollout-2026-11-30T13-28-10-x.jsonl";
    let line = json!({"type": "note", "text": CREDENTIAL}).to_string() + "\n" + BASE64[1] + "\n";
    let run = run(&[json!({"write_file": {
        "into_env": "CODEX_HOME", "path": path, "text": line,
    }})]);
    assert_eq!(run.record.masks("-x.jsonl"), 2);
    let copied = run.record.folder.join("artifacts/evidence/home").join(path);
    assert_eq!(fs::read(copied).expect("the copy").len(), line.len());
}

#[test]
fn what_the_agent_says_is_masked_in_events_and_result() {
    let item =
        json!({"id": "item_0", "type": "agent_message", "text": format!("it is {CREDENTIAL}!")});
    let event = json!({"type": "item.completed", "item": item}).to_string() + "\n";
    let run = run(&[json!({"stdout": {"text": event}})]);
    let message = run.result()["final_message"].as_str().expect("a message");
    assert!(
        message.starts_with("it is ***") && message.ends_with("***!"),
        "{message}"
    );
    let events = run.record.lines("events.jsonl");
    assert!(
        events
            .iter()
            .any(|event| event.to_string().contains("it is ***"))
    );
}

#[test]
fn a_credential_among_the_parameters_is_masked() {
    const WORD: &str = "canary-model";
    let scene = Scene::new();
    let steps = json!([{"stdout": {"text": BEGINNING}}, {"stdout": {"text": TURN_COMPLETED}}]);
    let program = StubAgent::default().install(&scene, &steps);
    let more = ["--param", "model=m-canary-model"];
    let mut command = scene.run_command(&program, &more);
    command.env("AKBENCH_LLM_ROUTER_KEY", WORD);
    let ran = scene.run(&mut command);
    let run = Run::checked(scene, ran);
    assert_eq!(run.result()["parameters"]["model"], "m-************");
    let plan = fs::read_to_string(run.record.folder.join("plan.json")).expect("a plan");
    assert!(
        plan.contains("m-************") && !plan.contains(WORD),
        "{plan}"
    );
}
