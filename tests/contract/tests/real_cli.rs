//! The suite with the agent's own program, where it is installed: what it takes to be
//! `cli-conformant`, and what does not.
#![allow(clippy::expect_used, clippy::panic)]

use akbench_contract::{Bench, Verdict, edit};
use akbench_e2e::built;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

const ADAPTER: &str = "codex.wasm";

/// A bench with the recordings and scripts of the production adapter.
struct RealBench {
    bench: Bench,
    program: String,
}

impl RealBench {
    /// `None`, after saying so, where the program is not installed.
    fn new(test: &str) -> Option<Self> {
        let program = built::real_cli(test)?.display().to_string();
        let bench = Bench::new();
        bench.copy_suite("codex");
        Some(Self { bench, program })
    }

    fn suite(&self, file: &str) -> PathBuf {
        self.bench.path("suite").join(file)
    }

    fn test(&self, more: &[&str]) -> Verdict {
        let suite = self.bench.path("suite").display().to_string();
        let mut all = vec!["--stub", &suite, "--cli", &self.program];
        all.extend(more);
        self.bench.test(ADAPTER, &all)
    }

    /// The only case that fails, and why.
    fn the_failure_in(&self, more: &[&str]) -> (String, String) {
        let verdict = self.test(more);
        assert_eq!(verdict.code, 4, "{}", verdict.stderr);
        let mut failed = verdict.cases("failed");
        assert_eq!(failed.len(), 1, "{failed:?}");
        failed.remove(0)
    }
}

#[test]
fn the_production_adapter_is_cli_conformant_with_its_real_program() {
    let test = "the_production_adapter_is_cli_conformant_with_its_real_program";
    let Some(real) = RealBench::new(test) else {
        return;
    };
    let bench = &real.bench;
    bench.install("codex", "codex_cli", ADAPTER);
    let verdict = real.test(&[]);
    assert_eq!(
        (verdict.code, verdict.failed()),
        (0, Vec::new()),
        "{}",
        verdict.stderr
    );
    assert_eq!(verdict.report["rung"], "cli_conformant");
    let program = &verdict.report["program"];
    assert_eq!(program["name"], "codex");
    assert!(program["version"].is_string(), "{program}");
    let passed = verdict.cases("passed");
    for case in [
        "environment",
        "completes",
        "workspace",
        "credential",
        "provider_error",
        "cancelled",
        "time_limit",
        "replay",
    ] {
        let name = format!("cli.{case}");
        assert!(
            passed.iter().any(|(passed, _)| *passed == name),
            "{name} in {passed:?}"
        );
    }
    // Without a real endpoint nothing is said about one.
    let live = verdict.cases("not_applicable");
    assert!(live.iter().any(|(name, _)| name == "live.completes"));
    assert_eq!(verdict.report["live_runtime"], Value::Null);

    let listed = bench.installed().args(["agent", "list"]).output();
    let listed = listed.expect("akbench starts").stdout;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    assert!(listed.contains("cli-conformant"), "{listed}");
}

#[test]
fn an_endpoint_on_this_machine_qualifies_nobody() {
    let bench = Bench::new();
    bench.copy_suite("codex");
    let suite = bench.path("suite").display().to_string();
    let program = built::stub_cli().display().to_string();
    let more = ["--stub", &suite, "--cli", &program, "--live", "--runtime"];
    let mut command = bench.test_command(ADAPTER, &more);
    let output = command
        .arg("llm-router")
        .env("AKBENCH_LLM_ROUTER_URL", "http://127.0.0.1:8080/v1")
        .env("AKBENCH_LLM_ROUTER_KEY", "key-that-opens-nothing")
        .output()
        .expect("akbench starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("on this machine"), "{stderr}");
    assert!(stderr.contains("llm-router"), "{stderr}");
    assert!(
        !bench
            .path("host-home/.local/share/akbench/attestations")
            .exists()
    );
}

/// The address by which other machines know this one; `None` if there is none.
fn network_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    // Nothing is sent: the system only chooses the way out.
    socket.connect("192.0.2.1:9").ok()?;
    let own = socket.local_addr().ok()?.ip();
    (!own.is_loopback() && !own.is_unspecified()).then_some(own)
}

/// A scripted endpoint, and a way to it from the network, as if it were another machine's.
struct Elsewhere {
    server: Child,
    base_url: String,
}

impl Elsewhere {
    fn start(bench: &Bench, script: &Value) -> Option<Self> {
        let listener = TcpListener::bind((network_address()?, 0)).ok()?;
        let path = bench.path("live.json");
        fs::write(&path, script.to_string()).expect("written");
        let mut server = Command::new(built::responses_server())
            .arg("--script")
            .arg(path)
            .arg("--until-stdin-closes")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        let stdout = server.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let inside = line
            .trim()
            .trim_start_matches("http://")
            .trim_end_matches("/v1");
        let inside: SocketAddr = inside.parse().expect("an address");
        let outside = listener.local_addr().expect("an address");
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                thread::spawn(move || carry(&client, inside));
            }
        });
        Some(Self {
            server,
            base_url: format!("http://{outside}/v1"),
        })
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn carry(client: &TcpStream, inside: SocketAddr) {
    let Ok(server) = TcpStream::connect(inside) else {
        return;
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = io::copy(&mut &*client, &mut &server);
            let _ = server.shutdown(std::net::Shutdown::Write);
        });
        let _ = io::copy(&mut &server, &mut &*client);
        let _ = client.shutdown(std::net::Shutdown::Write);
    });
}

#[test]
fn an_endpoint_elsewhere_is_asked_with_its_own_credential() {
    let test = "an_endpoint_elsewhere_is_asked_with_its_own_credential";
    let Some(real) = RealBench::new(test) else {
        return;
    };
    let call = json!({"function_call": {"name": "exec_command", "call_id": "call_1",
        "arguments": {"cmd": "echo hi > out.txt"}}});
    let usage = json!({"completed": {"usage": {"input": 1000, "output": 50}}});
    let script = json!({"replies": [
        {"do": {"stream": {"items": [call], "end": usage}}},
        {"do": {"stream": {"items": [{"message": {"text": "Done."}}], "end": usage}}},
    ]});
    let Some(elsewhere) = Elsewhere::start(&real.bench, &script) else {
        eprintln!("{test}: skipped: needs a network address besides the loopback interface");
        return;
    };
    let suite = real.bench.path("suite").display().to_string();
    let more = ["--stub", &suite, "--cli", &real.program, "--only", "live"];
    let mut command = real.bench.test_command(ADAPTER, &more);
    let output = command
        .args(["--live", "--runtime", "llm-router"])
        .env("AKBENCH_LLM_ROUTER_URL", &elsewhere.base_url)
        .env("AKBENCH_LLM_ROUTER_KEY", "key-that-opens-nothing")
        .output()
        .expect("akbench starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let cases = report["cases"].as_array().expect("cases");
    let live = cases.iter().find(|case| case["name"] == "live.completes");
    assert_eq!(live.expect("the case")["outcome"], "passed", "{stderr}");
    assert_eq!(report["live_runtime"], "llm-router");
    // A part of the cases is no rung, whatever it shows.
    assert_eq!(report["rung"], Value::Null);
}

#[test]
fn a_program_without_scripts_for_its_endpoint_is_refused_by_file_and_fix() {
    let bench = Bench::new();
    let suite = built::repository().join("adapters/fake/suite");
    let suite = suite.display().to_string();
    let program = built::stub_cli().display().to_string();
    let verdict = bench.test("fake.wasm", &["--stub", &suite, "--cli", &program]);
    assert_eq!(verdict.code, 2, "{}", verdict.stderr);
    assert!(verdict.stderr.contains("suite.json` has no `cli`"));
    let verdict = bench.test("fake.wasm", &["--stub", &suite, "--cli", "no-such-file"]);
    assert_eq!(verdict.code, 2, "{}", verdict.stderr);
    assert!(verdict.stderr.contains("`--cli no-such-file`"));
}

#[test]
fn an_incomplete_folder_for_the_real_program_names_every_file() {
    let bench = Bench::new();
    bench.copy_suite("codex");
    let suite = bench.path("suite");
    edit(&suite.join("suite.json"), |suite| {
        let cli = suite["cli"].as_object_mut().expect("an object");
        cli.remove("interrupted");
        cli.remove("provider_error");
    });
    fs::remove_file(suite.join("cli/completes/endpoint.json")).expect("removed");
    edit(&suite.join("cli/completes/expect.json"), |expect| {
        expect.as_object_mut().expect("an object").remove("usage");
    });
    let verdict = bench.test(ADAPTER, &["--stub", &suite.display().to_string()]);
    assert_eq!(verdict.code, 2, "{}", verdict.stderr);
    for part in [
        "suite.json` names no `provider_error` under `cli`",
        "suite.json` names no `interrupted` under `cli`",
        "cli/completes/endpoint.json` can't be read",
        "cli/completes/expect.json` does not say usage",
    ] {
        assert!(
            verdict.stderr.contains(part),
            "no `{part}` in {}",
            verdict.stderr
        );
    }
}

#[test]
fn what_the_endpoint_played_has_to_be_what_is_observed() {
    let Some(real) = RealBench::new("what_the_endpoint_played_has_to_be_what_is_observed") else {
        return;
    };
    edit(&real.suite("cli/completes/expect.json"), |expect| {
        expect["usage"]["output_tokens"] = json!(71);
    });
    let (case, reason) = real.the_failure_in(&["--only", "cli.completes"]);
    assert_eq!(case, "cli.completes");
    assert!(reason.starts_with("usage: expected"), "{reason}");
}

#[test]
fn a_file_that_the_agent_did_not_write_is_missed() {
    let Some(real) = RealBench::new("a_file_that_the_agent_did_not_write_is_missed") else {
        return;
    };
    fs::write(real.suite("cli/completes/workspace/more.txt"), "x").expect("written");
    let (case, reason) = real.the_failure_in(&["--only", "cli.completes"]);
    assert_eq!(case, "cli.completes");
    assert!(reason.contains("no `more.txt`"), "{reason}");
}

/// What the scripted model asks the agent to run first.
fn first_command(script: &mut Value) -> &mut Value {
    let call = &mut script["replies"][0]["do"]["stream"]["items"][0]["function_call"];
    &mut call["arguments"]["cmd"]
}

#[test]
fn an_agent_that_saw_another_workspace_is_caught() {
    let Some(real) = RealBench::new("an_agent_that_saw_another_workspace_is_caught") else {
        return;
    };
    edit(&real.suite("cli/completes/endpoint.json"), |script| {
        *first_command(script) = json!("echo other > akbench-suite-seen.txt");
    });
    let (case, reason) = real.the_failure_in(&["--only", "cli.workspace"]);
    assert_eq!(case, "cli.workspace");
    assert!(reason.contains("not what was in the workspace"), "{reason}");
}

#[test]
fn a_failure_that_is_not_the_endpoints_is_caught() {
    let Some(real) = RealBench::new("a_failure_that_is_not_the_endpoints_is_caught") else {
        return;
    };
    // The model's context window is nobody's infrastructure.
    let failing = json!({"replies": [{"do": {"stream": {"end": {"failed": {
        "code": "context_length_exceeded",
        "message": "Your input exceeds the context window of this model.",
    }}}}}], "exhausted": "repeat_last"});
    fs::write(
        real.suite("cli/provider-error/endpoint.json"),
        failing.to_string(),
    )
    .expect("written");
    fs::write(
        real.suite("cli/provider-error/expect.json"),
        json!({"outcome": "context_window_exceeded"}).to_string(),
    )
    .expect("written");
    let (case, reason) = real.the_failure_in(&["--only", "cli.provider_error"]);
    assert_eq!(case, "cli.provider_error");
    assert!(reason.contains("infrastructure's fault"), "{reason}");
}

#[test]
fn work_that_ends_before_the_cancel_is_caught() {
    let Some(real) = RealBench::new("work_that_ends_before_the_cancel_is_caught") else {
        return;
    };
    fs::copy(
        real.suite("cli/completes/endpoint.json"),
        real.suite("cli/interrupted/endpoint.json"),
    )
    .expect("copied");
    let (case, reason) = real.the_failure_in(&["--only", "cli.cancelled"]);
    assert_eq!(case, "cli.cancelled");
    assert!(reason.contains("expected a cancel"), "{reason}");
}

#[test]
fn work_that_ends_before_the_limit_is_caught() {
    let Some(real) = RealBench::new("work_that_ends_before_the_limit_is_caught") else {
        return;
    };
    // The tool call is over at once, and so is the work.
    edit(&real.suite("cli/interrupted/endpoint.json"), |script| {
        *first_command(script) = json!("touch akbench-suite-working");
        let usage = json!({"completed": {"usage": {"input": 1000, "output": 50}}});
        let done =
            json!({"do": {"stream": {"items": [{"message": {"text": "Done."}}], "end": usage}}});
        let replies = script["replies"].as_array_mut().expect("replies");
        replies.push(done);
    });
    let (case, reason) = real.the_failure_in(&["--only", "cli.time_limit"]);
    assert_eq!(case, "cli.time_limit");
    assert!(reason.contains("expected the limit"), "{reason}");
}

#[test]
fn a_version_that_nobody_measured_is_not_conformant() {
    let Some(real) = RealBench::new("a_version_that_nobody_measured_is_not_conformant") else {
        return;
    };
    let descriptor = real.bench.path("descriptor.json");
    fs::copy(
        built::repository().join("descriptors/agents/codex.json"),
        &descriptor,
    )
    .expect("copied");
    edit(&descriptor, |descriptor| {
        descriptor["programs"][0]["versions"]["supported"] = json!("=0.118.0");
    });
    let descriptor = descriptor.display().to_string();
    let (case, reason) =
        real.the_failure_in(&["--descriptor", &descriptor, "--only", "cli.environment"]);
    assert_eq!(case, "cli.environment");
    assert!(reason.contains("Unverified"), "{reason}");
}

#[test]
fn an_endpoint_that_was_never_asked_proves_nothing() {
    let Some(real) = RealBench::new("an_endpoint_that_was_never_asked_proves_nothing") else {
        return;
    };
    // Plays the script, and its log is somewhere else.
    let silent = real.bench.path("silent-endpoint");
    let log = real.bench.path("elsewhere");
    write_script(
        &silent,
        &format!(
            "#!/bin/sh\n: > \"$4\"\nexec {} --script \"$2\" --log {} --until-stdin-closes\n",
            built::responses_server().display(),
            log.display()
        ),
    );
    let silent = silent.display().to_string();
    let (case, reason) =
        real.the_failure_in(&["--endpoint-program", &silent, "--only", "cli.credential"]);
    assert_eq!(case, "cli.credential");
    assert!(reason.contains("never asked"), "{reason}");
}

fn write_script(path: &Path, text: &str) {
    fs::write(path, text).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("made executable");
}
