//! The credential is where it has to be, and nowhere else: in no process but the agent's, on
//! no command line, in no file and no message.

#![allow(clippy::expect_used, clippy::panic)]

use akbench_e2e::processes::{self, Process};
use akbench_e2e::record::{Record, contains};
use akbench_e2e::running::Running;
use akbench_e2e::scene::{CREDENTIAL, Scene};
use akbench_e2e::secrets::files_with;
use akbench_e2e::stub_agent::{self, BEGINNING, StubAgent, TURN_COMPLETED};
use serde_json::json;
use std::fs;
use std::path::PathBuf;

/// The credential in base64, at each of the three places in a longer text, without the ends
/// that also hold bits of the neighbours.
const BASE64: [&str; 3] = [
    "Y2FuYXJ5LWNyZWRlbnRpYWwtNDcx",
    "NhbmFyeS1jcmVkZW50aWFsLTQ3M",
    "jYW5hcnktY3JlZGVudGlhbC00Nz",
];

fn environment(process: &Process) -> Vec<u8> {
    fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default()
}

fn is_the_agents(process: &Process, scene: &Scene) -> bool {
    let programs = scene.path("programs").display().to_string();
    process.command_line.starts_with(&programs)
}

#[test]
fn no_process_but_the_agents_has_the_credential_and_no_command_line() {
    for confine in ["best-effort", "off"] {
        let scene = Scene::new();
        let steps = json!([{"stdout": {"text": BEGINNING}}, "hang"]);
        let program = StubAgent::default().install(&scene, &steps);
        let mut command = scene.run_command(&program, &["--confine", confine]);
        let running = Running::start(&mut command);
        let agent = processes::wait_for("the agent at work", || {
            let all = processes::descendants(running.pid());
            let mut agents = all.into_iter().filter(|one| is_the_agents(one, &scene));
            agents.find(|one| one.command_line.contains(" exec "))
        });
        let all = processes::descendants(running.pid());
        // The supervisor at least, besides the agent and the host.
        assert!(all.len() >= 3, "{all:#?}");
        for process in &all {
            let line = fs::read(format!("/proc/{}/cmdline", process.pid)).unwrap_or_default();
            for form in [CREDENTIAL].iter().chain(&BASE64) {
                assert!(!contains(&line, form.as_bytes()), "{process:?}");
            }
            // The host has it from the operator.
            let may = process.pid == running.pid() || is_the_agents(process, &scene);
            let has = contains(&environment(process), CREDENTIAL.as_bytes());
            assert!(may || !has, "{process:?} has the credential");
        }
        assert!(contains(&environment(&agent), CREDENTIAL.as_bytes()));
        running.signal(rustix::process::Signal::TERM);
        let ran = running.finish();
        assert_eq!(ran.code, 130, "{}", ran.stderr);
        assert!(!ran.stderr.contains(CREDENTIAL), "{}", ran.stderr);
        Record::checked(&scene, &ran);
    }
}

#[test]
fn a_secret_among_bytes_that_are_no_text_is_masked() {
    let scene = Scene::new();
    let mut bytes = vec![0xff, 0xfe, 0];
    bytes.extend_from_slice(CREDENTIAL.as_bytes());
    bytes.extend([0xc3, 0x28, 0]);
    bytes.extend_from_slice(b"xY2FuYXJ5LWNyZWRlbnRpYWwtNDcxMQ==y");
    bytes.extend([0x80, b'\n']);
    stub_agent::add_file(&scene, "bytes", &bytes);
    let rollout = "sessions/2026/11/30/rollout-2026-11-30T13-28-10-x.jsonl";
    let steps = json!([
        {"stdout": {"text": BEGINNING}},
        {"stdout": {"file": "bytes", "piece_bytes": 7, "delay_ms": 5}},
        {"stderr": {"file": "bytes"}},
        {"write_file": {"into_env": "CODEX_HOME", "path": rollout, "file": "bytes"}},
        {"stdout": {"text": TURN_COMPLETED}},
    ]);
    let program = StubAgent::default().install(&scene, &steps);
    let ran = scene.run(&mut scene.run_command(&program, &[]));
    let record = Record::checked(&scene, &ran);
    for file in ["-task/stdout", "-task/stderr", "-x.jsonl"] {
        assert_eq!(record.masks(file), 2, "{file}");
    }
    assert_eq!(record.task_file("stderr").len(), bytes.len());
    for form in [CREDENTIAL].iter().chain(&BASE64) {
        assert_eq!(files_with(form, &record.folder), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_patch_of_what_the_agent_wrote_is_masked_and_the_workspace_is_left_as_it_is() {
    let scene = Scene::new();
    let steps = json!([
        {"stdout": {"text": BEGINNING}},
        {"write_file": {"path": "notes.txt", "text": format!("key: {CREDENTIAL}\n")}},
        {"stdout": {"text": TURN_COMPLETED}},
    ]);
    let program = StubAgent::default().install(&scene, &steps);
    let ran = scene.run(&mut scene.run_command(&program, &["--in-place"]));
    let record = Record::checked(&scene, &ran);
    let patch = fs::read_to_string(record.folder.join("workspace.diff")).expect("the patch");
    assert!(patch.contains("+key: **********************"), "{patch}");
    // The workspace is the agent's and the operator's: it is no record.
    let notes = fs::read_to_string(scene.path("workspace/notes.txt")).expect("the notes");
    assert_eq!(notes, format!("key: {CREDENTIAL}\n"));
}

#[test]
fn a_credential_that_could_not_be_masked_is_refused_before_anything_is_written() {
    for (credential, why) in [
        ("hunter2", "fewer than 8 bytes"),
        ("4711471147114711", "looks like a number"),
        ("hunter2\nhunter2", "a line break"),
    ] {
        let scene = Scene::new();
        let program = StubAgent::default().install(&scene, &json!([]));
        let mut command = scene.run_command(&program, &[]);
        command.env("AKBENCH_LLM_ROUTER_KEY", credential);
        let ran = scene.run(&mut command);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(
            ran.stderr.contains("AKBENCH_LLM_ROUTER_KEY"),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!said.contains(credential), "{said}");
        let runs = scene.path("runs");
        if runs.exists() {
            assert_eq!(files_with(credential, &runs), Vec::<PathBuf>::new());
        }
    }
}

#[test]
fn no_error_about_a_program_tells_the_credential() {
    let scene = Scene::new();
    let broken = json!([
        {"stderr": {"text": format!("cannot use {CREDENTIAL}\n")}},
        {"stdout": {"text": format!("{CREDENTIAL} is no version\n")}},
        {"exit": 3},
    ]);
    let program = StubAgent::default()
        .when_asked_for_its_version(broken)
        .install(&scene, &json!([]));
    let ran = scene.run(&mut scene.run_command(&program, &[]));
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!said.contains(CREDENTIAL), "{said}");
    Record::checked(&scene, &ran);
}
