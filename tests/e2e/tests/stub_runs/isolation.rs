//! What the agent's process gets to see of this machine.

use super::Run;
use akbench_e2e::scene::Scene;
use akbench_e2e::stub_agent::{BEGINNING, StubAgent, TURN_COMPLETED};
use serde_json::{Map, Value, json};
use std::path::Path;

fn reported(change: impl FnOnce(&mut std::process::Command)) -> (Run, Map<String, Value>) {
    let scene = Scene::new();
    let steps = json!([
        {"report_env": {}},
        {"stdout": {"text": BEGINNING}},
        {"stdout": {"text": TURN_COMPLETED}},
    ]);
    let program = StubAgent::default().install(&scene, &steps);
    let mut command = scene.run_command(&program, &[]);
    change(&mut command);
    let ran = scene.run(&mut command);
    let run = Run::checked(scene, ran);
    let stdout = String::from_utf8(run.record.task_file("stdout")).expect("UTF-8");
    let line = stdout.lines().next().expect("a report");
    let environment = serde_json::from_str(line).expect("a report is a JSON object");
    (run, environment)
}

#[test]
fn the_environment_holds_what_is_allowed_and_nothing_else() {
    let (_, environment) = reported(|command| {
        command
            .env("TZ", "UTC")
            .env("SSL_CERT_FILE", "/etc/ssl/cert.pem")
            .env("SSH_AUTH_SOCK", "/tmp/agent.sock")
            .env("CODEX_API_KEY", "another-key-of-the-person")
            .env("LD_LIBRARY_PATH", "/opt/lib")
            .env("HTTP_PROXY", "http://proxy.example");
    });
    let mut names: Vec<&str> = environment.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "AKBENCH_CODEX_API_KEY",
            "CODEX_HOME",
            "HOME",
            "LANG",
            "PATH",
            "SSL_CERT_FILE",
            "TMPDIR",
            "TZ",
        ]
    );
    assert_eq!(environment["TZ"], "UTC");
    assert_eq!(environment["LANG"], "C.UTF-8");
}

#[test]
fn homes_and_temporary_files_are_the_runs_own() {
    let (run, environment) = reported(|_| {});
    let path = |name: &str| Path::new(environment[name].as_str().expect("a path")).to_owned();
    let (home, temporary, agent_home) = (path("HOME"), path("TMPDIR"), path("CODEX_HOME"));
    let host_home = run.scene.path("host-home");
    for folder in [&home, &temporary, &agent_home] {
        assert!(!folder.starts_with(&host_home), "{}", folder.display());
    }
    assert_ne!(home, agent_home);
    // An agent may refuse a home that lies in its temporary folder.
    assert!(!agent_home.starts_with(&temporary));
    assert!(
        !host_home.exists(),
        "something was written to the person's home"
    );
}

#[test]
fn the_credential_is_passed_on_and_masked_where_it_is_recorded() {
    let (run, environment) = reported(|_| {});
    let masked = "*".repeat(akbench_e2e::scene::CREDENTIAL.len());
    assert_eq!(environment["AKBENCH_CODEX_API_KEY"], masked);
    assert_eq!(run.record.masks("-task/stdout"), 1);
    let command = run.record.task_file("command.json");
    let command: Value = serde_json::from_slice(&command).expect("JSON");
    let names = command["env"].as_array().expect("names");
    assert!(names.iter().any(|name| name == "AKBENCH_CODEX_API_KEY"));
}

#[test]
fn standard_input_is_a_pipe_and_no_other_file_is_open() {
    let steps = json!([
        {"report_self": {}},
        {"stdout": {"text": BEGINNING}},
        {"stdout": {"text": TURN_COMPLETED}},
    ]);
    let run = Run::of(&steps, &[]);
    let stdout = String::from_utf8(run.record.task_file("stdout")).expect("UTF-8");
    let report: Value =
        serde_json::from_str(stdout.lines().next().expect("a report")).expect("JSON");
    let open = report["open_files"].to_string();
    assert!(open.contains("pipe:"), "{open}");
    for foreign in ["socket:", "events.jsonl", "audit.jsonl", "evidence"] {
        assert!(!open.contains(foreign), "{foreign} is open: {open}");
    }
}
