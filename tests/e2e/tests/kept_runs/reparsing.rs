//! `akbench runs reparse`: observing again with today's adapter.

use super::{contents, killed_at_work, recover, task_evidence};
use akbench_e2e::built;
use akbench_e2e::record::assert_fits;
use akbench_e2e::scene::{Ran, Scene};
use akbench_e2e::stub_agent::{StubAgent, add_recording, leave_rollouts, print_events, read_task};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn finished(more: &[&str]) -> (Scene, PathBuf) {
    let scene = Scene::new();
    add_recording(&scene, "s01_happy_exec");
    let steps = json!([read_task(), leave_rollouts(), print_events()]);
    let program = StubAgent::default().install(&scene, &steps);
    let ran = scene.run(&mut scene.run_command(&program, more));
    let run = scene.run_folder(&ran.result());
    (scene, run)
}

fn reparse(scene: &Scene, run: &Path, more: &[&str]) -> Ran {
    let id = run.file_name().unwrap().to_str().unwrap();
    let mut command = scene.akbench(["runs", "reparse", id, "--adapter"]);
    scene.run(command.arg(built::adapter("codex.wasm")).args(more))
}

fn changes(ran: &Ran) -> Vec<(String, Value, Value)> {
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let found = ran.result()[0]["changes"]
        .as_array()
        .expect("changes")
        .clone();
    let field = |change: &Value| change["field"].as_str().expect("a field").to_owned();
    found
        .iter()
        .map(|change| (field(change), change["was"].clone(), change["is"].clone()))
        .collect()
}

#[test]
fn with_the_same_adapter_nothing_changes() {
    for more in [
        &["--in-place"][..],
        &["--param", "sandbox_mode=workspace-write"],
    ] {
        let (scene, run) = finished(more);
        let before = contents(&run);
        assert_eq!(changes(&reparse(&scene, &run, &["--json"])), []);
        let told = reparse(&scene, &run, &[]).stdout;
        assert!(told.ends_with("  nothing changed\n"), "{told}");
        assert!(contents(&run) == before);
    }
}

#[test]
fn a_failed_run_and_a_recovered_one_are_derived_as_they_were() {
    let (scene, run) = killed_at_work(&[]);
    recover(&scene, &[], 0);
    assert_eq!(changes(&reparse(&scene, &run, &["--json"])), []);
    let (scene, run) = {
        let scene = Scene::new();
        let steps = json!([read_task(), {"exit": 7}]);
        let program = StubAgent::default().install(&scene, &steps);
        let ran = scene.run(&mut scene.run_command(&program, &[]));
        assert_eq!(ran.result()["status"], "failed");
        let run = scene.run_folder(&ran.result());
        (scene, run)
    };
    assert_eq!(changes(&reparse(&scene, &run, &["--json"])), []);
}

#[test]
fn what_changed_is_shown_by_field_and_kept_beside_the_result_if_asked_for() {
    let (scene, run) = finished(&[]);
    // As an older adapter would have left it.
    let file = run.join("result.json");
    let mut old: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    old["usage"]["output_tokens"] = json!(1);
    old["applied"]["model"] = Value::Null;
    let old = serde_json::to_vec_pretty(&old).unwrap();
    fs::write(&file, &old).unwrap();

    let expected = [
        (
            "/applied/model".to_owned(),
            Value::Null,
            json!("mock-model"),
        ),
        ("/usage/output_tokens".to_owned(), json!(1), json!(70)),
    ];
    assert_eq!(changes(&reparse(&scene, &run, &["--json"])), expected);
    assert!(!run.join("reparsed").exists());
    let told = reparse(&scene, &run, &["--write"]).stdout;
    assert!(told.contains("2 fields changed"), "{told}");
    for line in ["/applied/model", "/usage/output_tokens", "kept"] {
        assert!(told.contains(line), "{told}");
    }
    let kept: Vec<PathBuf> = fs::read_dir(run.join("reparsed"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(kept.len(), 1);
    let kept: Value = serde_json::from_slice(&fs::read(&kept[0]).unwrap()).unwrap();
    assert_fits("result.schema.json", &kept);
    assert_eq!(kept["usage"]["output_tokens"], 70);
    // The run's own result is never touched, and is still intact.
    assert_eq!(fs::read(&file).unwrap(), old);
    let verified = scene.run(&mut scene.akbench(["runs", "verify"]));
    assert_eq!(verified.code, 0, "{}", verified.stdout);
}

#[test]
fn evidence_that_was_touched_is_not_observed_again() {
    let (scene, run) = finished(&[]);
    let stdout = task_evidence(&run).unwrap().join("stdout");
    let mut bytes = fs::read(&stdout).unwrap();
    bytes.extend_from_slice(b"{}\n");
    fs::write(&stdout, bytes).unwrap();
    let ran = reparse(&scene, &run, &["--json"]);
    assert_eq!(ran.code, 3);
    let reason = ran.result()[0]["reason"].to_string();
    assert!(reason.contains("was changed"), "{reason}");
}

#[test]
fn a_run_without_a_result_is_not_observed_again() {
    let (scene, run) = killed_at_work(&[]);
    let ran = reparse(&scene, &run, &[]);
    assert_eq!(ran.code, 3);
    assert!(
        ran.stdout.contains("`akbench runs recover`"),
        "{}",
        ran.stdout
    );
    let mut command = scene.akbench(["runs", "reparse"]);
    assert_eq!(scene.run(&mut command).code, 2, "a run has to be named");
}
