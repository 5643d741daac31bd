//! `akbench runs recover` of runs whose host was killed.

use super::{
    add_secret_file, at_work, at_work_in, contents, killed_at_work, recover, result_of, the_run,
    work_and_hang,
};
use akbench_e2e::record::{Record, contains};
use akbench_e2e::scene::{CREDENTIAL, Scene};
use akbench_e2e::stub_agent::{
    BEGINNING, StubAgent, add_recording, leave_rollouts, print_events, read_task,
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;

#[test]
fn a_run_whose_host_was_killed_at_work_is_completed_with_all_that_was_observed() {
    let (scene, run) = killed_at_work(&["--param", "sandbox_mode=workspace-write"]);
    let before = contents(&run.join("artifacts"));
    let entries = recover(&scene, &[], 0);
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["outcome"], "recovered");
    assert_eq!(entries[0]["home_evidence"], "collected");

    let result = Record::at(run.clone()).result;
    assert_eq!(result["status"], "failed");
    assert_eq!(result["failure"]["class"], "interrupted");
    assert_eq!(result["failure"]["fault"], "infrastructure");
    assert_eq!(result["failure"]["phase"], "work");
    assert_eq!(result["usage"]["total_tokens"], 2170);
    assert_eq!(result["applied"]["model"], "mock-model");
    assert_eq!(result["final_message"], "Wrote out.txt.");
    assert_eq!(result["agent"]["program"]["version"], "0.171.0");
    assert_eq!(result["workspace"]["files_changed"], 1);
    assert!(result["workspace"]["diff_sha256"].is_string());
    assert_eq!(result["parameters"]["sandbox_mode"], "workspace-write");
    assert!(result["confinement"]["tree"].is_string());
    assert_eq!(result["valid"], false);
    assert!(reasons(&result).contains(&"host_died"), "{result:#}");
    for unknown in ["finished_at", "duration_ms", "evaluation"] {
        assert_eq!(result[unknown], Value::Null, "{unknown}");
    }
    assert_eq!(result["processes"]["survivors"], Value::Null);
    assert!(result["recovery"]["last_recorded_at"].is_string());

    // What was recorded is as it was, byte for byte; what was left over is gone.
    let after = contents(&run.join("artifacts"));
    for (path, bytes) in &before {
        assert_eq!(after.get(path), Some(bytes), "{}", path.display());
    }
    for gone in [
        "agent-home",
        "scratch",
        ".lock",
        ".reserve",
        "recovered.tmp",
    ] {
        assert!(!run.join(gone).exists(), "{gone}");
    }
    let patch = fs::read_to_string(run.join("workspace.diff")).expect("a diff");
    assert!(patch.contains("+hi"), "{patch}");

    // The commands tell of it truthfully, and again there is nothing to do.
    let page = scene.run(&mut scene.akbench(["runs", "show"])).stdout;
    assert!(
        page.contains("the host died before it could write the result"),
        "{page}"
    );
    let verified = scene.run(&mut scene.akbench(["runs", "verify"]));
    assert_eq!(verified.code, 0, "{}", verified.stdout);
    let complete = contents(&run);
    assert_eq!(recover(&scene, &[], 0)[0]["outcome"], "nothing_to_do");
    assert!(contents(&run) == complete);
}

#[test]
fn a_dead_run_is_called_dead_until_it_is_recovered() {
    let (scene, run) = killed_at_work(&[]);
    let id = run.file_name().unwrap().to_str().unwrap();
    let table = scene.run(&mut scene.akbench(["runs", "list"])).stdout;
    assert!(table.contains("dead"), "{table}");
    let shown = scene.run(&mut scene.akbench(["runs", "show"]));
    assert_eq!(shown.code, 2);
    let advice = format!("`akbench runs recover {id}`");
    assert!(shown.stderr.contains(&advice), "{}", shown.stderr);
    let verified = scene.run(&mut scene.akbench(["runs", "verify", "--json"]));
    assert_eq!(verified.result()[0]["differences"][0]["kind"], "dead");
    let recovered = scene.run(&mut scene.akbench(["runs", "recover", &id[..20]]));
    assert_eq!(recovered.code, 0, "{}", recovered.stderr);
    let says = format!("{id}  recovered: failed, interrupted (infrastructure)");
    assert!(recovered.stdout.starts_with(&says), "{}", recovered.stdout);
    let table = scene.run(&mut scene.akbench(["runs", "list"])).stdout;
    assert!(table.contains("interrupted (infrastructure)"), "{table}");
    let again = scene.run(&mut scene.akbench(["runs", "recover"]));
    assert_eq!(again.stdout, "no run has to be recovered\n");
}

#[test]
fn a_run_that_still_goes_on_is_not_touched() {
    let steps = json!([
        read_task(),
        {"on_signal": {"signal": "SIGINT", "steps": [{"exit": 130}]}},
        leave_rollouts(),
        print_events(),
        {"stderr": {"text": "at work\n"}},
        "hang",
    ]);
    let (scene, running) = at_work(&steps, &[]);
    let run = the_run(&scene).expect("a run");
    // The host itself goes on writing its logs.
    let others = || {
        let mut found = contents(&run);
        found.retain(|path, _| path.extension().is_none_or(|it| it != "jsonl"));
        found
    };
    let before = others();
    assert_eq!(recover(&scene, &[], 0)[0]["outcome"], "running");
    let id = run.file_name().unwrap().to_str().unwrap();
    assert_eq!(recover(&scene, &[id], 3)[0]["outcome"], "running");
    assert!(others() == before);
    let table = scene.run(&mut scene.akbench(["runs", "list"])).stdout;
    assert!(table.contains("running"), "{table}");
    running.signal(Signal::INT);
    assert_eq!(running.finish().code, 130);
    assert_eq!(Record::at(run).result["status"], "cancelled");
}

#[test]
fn without_the_credential_the_home_is_kept_and_is_evidence_once_it_can_be_masked() {
    let scene = Scene::new();
    add_recording(&scene, "s01_happy_exec");
    add_secret_file(&scene, "secret.jsonl");
    let steps = json!([
        read_task(),
        leave_rollouts(),
        {"copy": {"from": "secret.jsonl", "into_env": "CODEX_HOME",
                  "path": "sessions/2026/11/30/rollout-secret.jsonl"}},
        print_events(),
        {"stderr": {"text": "at work\n"}},
        "hang",
    ]);
    let (scene, running) = at_work_in(scene, &steps, &[]);
    running.signal(Signal::KILL);
    running.finish();
    let run = the_run(&scene).expect("a run");

    let mut command = scene.akbench(["runs", "recover", "--json"]);
    let ran = scene.run(command.env_remove("AKBENCH_LLM_ROUTER_KEY"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let entry = &ran.result()[0];
    assert_eq!(entry["home_evidence"], "not_collected");
    let warnings = entry["warnings"].to_string();
    assert!(
        warnings.contains("`AKBENCH_LLM_ROUTER_KEY` is not set"),
        "{warnings}"
    );
    let result = result_of(&run);
    assert_eq!(result["failure"]["class"], "interrupted");
    assert_eq!(result["workspace"]["diff_sha256"], Value::Null);
    // The agent's own files stay where they are, and nowhere else is the credential.
    assert!(run.join("agent-home/sessions").is_dir());
    for (path, bytes) in contents(&run) {
        let in_home = path.starts_with(run.join("agent-home"));
        assert!(
            in_home || !contains(&bytes, CREDENTIAL.as_bytes()),
            "{}",
            path.display()
        );
    }
    // Nothing changes until the credential is there.
    let kept = contents(&run);
    let mut command = scene.akbench(["runs", "recover", "--json"]);
    let ran = scene.run(command.env_remove("AKBENCH_LLM_ROUTER_KEY"));
    assert_eq!(ran.result()[0]["outcome"], "nothing_to_do");
    assert!(contents(&run) == kept);

    assert_eq!(recover(&scene, &[], 0)[0]["home_evidence"], "collected");
    let record = Record::at(run.clone());
    assert_eq!(record.result["usage"]["total_tokens"], 2170);
    assert_eq!(record.masks("rollout-secret.jsonl"), 1);
    assert!(!run.join("agent-home").exists());
}

#[test]
fn an_adapter_that_is_gone_is_named_and_can_be_given() {
    let scene = Scene::new();
    add_recording(&scene, "s01_happy_exec");
    let adapter = akbench_e2e::built::adapter("codex.wasm");
    fs::copy(&adapter, scene.path("mine.wasm")).unwrap();
    let descriptor = akbench_e2e::built::repository().join("descriptors/agents/codex.json");
    let program = StubAgent::default().install(&scene, &work_and_hang());
    let mut command = scene.akbench(["run", "--json", "--runtime", "llm-router"]);
    command.args(["--adapter", "mine.wasm", "--workspace", "workspace"]);
    command
        .args(["--task-file", "task.txt", "--descriptor"])
        .arg(descriptor);
    command
        .arg("--program")
        .arg(format!("codex={}", program.display()));
    let running = akbench_e2e::running::Running::start(&mut command);
    let at_work = || {
        let task = the_run(&scene).and_then(|run| super::task_evidence(&run));
        task.is_some_and(|task| {
            fs::read_to_string(task.join("stderr")).is_ok_and(|text| text.contains("at work"))
        })
    };
    assert!(akbench_e2e::processes::wait_until(
        akbench_e2e::processes::PATIENCE,
        at_work
    ));
    running.signal(Signal::KILL);
    running.finish();
    fs::remove_file(scene.path("mine.wasm")).unwrap();
    let run = the_run(&scene).expect("a run");

    // A catalog without a component.
    scene.write(
        "share/adapters/catalog.json",
        r#"{"schema": "akbench.catalog/1", "adapters": []}"#,
    );
    let empty = scene.path("share");
    let mut command = scene.akbench(["runs", "recover", "--json"]);
    let ran = scene.run(command.env("AKBENCH_SHARE", &empty));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let warnings = ran.result()[0]["warnings"].to_string();
    assert!(
        warnings.contains("name one with `--adapter FILE`"),
        "{warnings}"
    );
    let result = result_of(&run);
    assert_eq!(result["failure"]["class"], "interrupted");
    assert_eq!(result["usage"], Value::Null);
    assert!(reasons(&result).contains(&"outcome_not_observed"));
    assert!(run.join("agent-home").is_dir());

    let named = adapter.to_str().unwrap();
    assert_eq!(
        recover(&scene, &["--adapter", named], 0)[0]["outcome"],
        "recovered"
    );
    assert_eq!(Record::at(run).result["usage"]["total_tokens"], 2170);
}

#[test]
fn what_an_agent_reported_as_failed_is_its_failure_although_the_host_died() {
    let scene = Scene::new();
    let failed = json!({"type": "turn.failed", "error": {
        "message": "exceeded retry limit, last status: 401 Unauthorized"}});
    let steps = json!([
        read_task(),
        {"stdout": {"text": format!("{BEGINNING}{failed}\n")}},
        {"exit": 1},
    ]);
    let program = StubAgent::default().install(&scene, &steps);
    let ran = scene.run(&mut scene.run_command(&program, &["--keep"]));
    let run = scene.run_folder(&ran.result());
    // As if the host had died before it wrote down how the session was.
    for file in ["result.json", "session.json"] {
        fs::remove_file(run.join(file)).unwrap();
    }
    recover(&scene, &[], 0);
    let result = result_of(&run);
    assert_eq!(result["failure"], ran.result()["failure"]);
    assert_eq!(result["failure"]["class"], "authentication");
    assert!(reasons(&result).contains(&"host_died"));
}

#[test]
fn a_workspace_in_use_is_left_alone_and_what_it_was_before_is_kept() {
    let (scene, running) = at_work(&work_and_hang(), &["--in-place"]);
    running.signal(Signal::KILL);
    running.finish();
    let run = the_run(&scene).unwrap();
    recover(&scene, &[], 0);
    let result = result_of(&run);
    assert_eq!(result["workspace"]["files_changed"], Value::Null);
    assert!(scene.path("workspace/out.txt").exists());
    assert!(run.join("workspace-before").is_dir());
    let warnings = result["warnings"].to_string();
    assert!(warnings.contains("workspace-before"), "{warnings}");
}

fn reasons(result: &Value) -> Vec<&str> {
    let reasons = result["invalid_reasons"].as_array().expect("reasons");
    reasons.iter().filter_map(Value::as_str).collect()
}
