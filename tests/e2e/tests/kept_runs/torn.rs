//! A host can die at any instant. Each of these is a folder as it would be then.

use super::{contents, killed_at_work, recover, result_of, task_evidence};
use akbench_e2e::scene::Scene;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::Path;

/// Cuts the last line of a file in two.
fn tear(path: &Path) {
    let bytes = fs::read(path).expect("a file to tear");
    let end = bytes.len() - 1;
    let last_line = bytes[..end]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let middle = last_line + (end - last_line) / 2;
    fs::write(path, &bytes[..middle]).expect("a torn file");
}

fn recovered(scene: &Scene, run: &Path) -> Value {
    let entries = recover(scene, &[], 0);
    assert_eq!(entries[0]["outcome"], "recovered", "{entries:#?}");
    let result = result_of(run);
    assert_eq!(result["status"], "failed");
    assert_eq!(result["failure"]["class"], "interrupted");
    assert_eq!(result["failure"]["fault"], "infrastructure");
    assert_eq!(recover(scene, &[], 0)[0]["outcome"], "nothing_to_do");
    let verified = scene.run(&mut scene.akbench(["runs", "verify"]));
    assert_eq!(verified.code, 0, "{}", verified.stdout);
    result
}

#[test]
fn right_after_the_folder_got_its_name_there_is_a_plan_and_nothing_else() {
    let (scene, run) = killed_at_work(&[]);
    for file in ["events.jsonl", "audit.jsonl"] {
        fs::remove_file(run.join(file)).unwrap();
    }
    for folder in ["workspace", "artifacts/evidence/spawns"] {
        fs::remove_dir_all(run.join(folder)).unwrap();
    }
    fs::create_dir(run.join("artifacts/evidence/spawns")).unwrap();
    let result = recovered(&scene, &run);
    assert_eq!(result["failure"]["phase"], "plan");
    assert_eq!(result["processes"]["spawned"], 0);
    assert_eq!(result["recovery"]["last_recorded_at"], Value::Null);
    assert_eq!(result["workspace"]["before_sha256"], Value::Null);
}

#[test]
fn lines_that_a_crash_cut_lose_nothing_else_and_stay_as_they_are() {
    let (scene, run) = killed_at_work(&[]);
    let task = task_evidence(&run).unwrap();
    for file in [
        run.join("events.jsonl"),
        run.join("audit.jsonl"),
        task.join("io.jsonl"),
    ] {
        tear(&file);
    }
    assert!(!task.join("exit.json").exists());
    // Half an event of the agent's own.
    let stdout = fs::read(task.join("stdout")).unwrap();
    let half = [&stdout[..], br#"{"type":"item.comp"#].concat();
    fs::write(task.join("stdout"), half).unwrap();
    let before = contents(&run.join("artifacts/evidence"));
    let result = recovered(&scene, &run);
    assert_eq!(result["usage"]["total_tokens"], 2170);
    let streams = result["artifacts"].as_array().unwrap().iter();
    let of_task = streams.filter(|it| it["path"].as_str().unwrap().ends_with("-task/stdout"));
    assert_eq!(
        of_task.map(|it| &it["masks"]).collect::<Vec<_>>(),
        [&Value::Null]
    );
    let after = contents(&run.join("artifacts/evidence"));
    assert!(
        before
            .iter()
            .all(|(path, bytes)| after.get(path) == Some(bytes))
    );
}

/// Keeps the lines of a run's events before the one with which the work began, and as many
/// bytes of that one as are asked for.
fn cut_events_at_work(run: &Path, kept: usize) {
    let path = run.join("events.jsonl");
    let events = fs::read_to_string(&path).unwrap();
    let work = events.find(r#""phase":"work""#).expect("the work began");
    let line = events[..work].rfind('\n').expect("a line before") + 1;
    fs::write(&path, &events[..line + kept]).unwrap();
}

#[test]
fn where_the_line_that_began_the_work_is_torn_or_lost_the_evidence_tells() {
    for kept in [0, 40] {
        let (scene, run) = killed_at_work(&[]);
        cut_events_at_work(&run, kept);
        let result = recovered(&scene, &run);
        assert_eq!(result["usage"]["total_tokens"], 2170, "{kept}");
        // The last that is recorded, whatever the evidence shows.
        assert_eq!(result["failure"]["phase"], "start", "{kept}");
    }
}

#[test]
fn where_the_work_had_not_begun_nothing_is_made_up() {
    let (scene, run) = killed_at_work(&[]);
    cut_events_at_work(&run, 0);
    fs::remove_dir_all(task_evidence(&run).unwrap()).unwrap();
    fs::remove_dir_all(run.join("agent-home/sessions")).unwrap();
    let result = recovered(&scene, &run);
    assert_eq!(result["failure"]["phase"], "start");
    for nobody_saw in ["usage", "native_session_id", "final_message", "turns"] {
        assert_eq!(result[nobody_saw], Value::Null, "{nobody_saw}");
    }
}

#[test]
fn a_home_that_was_half_copied_is_copied_anew() {
    let (scene, run) = killed_at_work(&[]);
    let half = run.join("artifacts/evidence/home/sessions/2026/11/30");
    fs::create_dir_all(&half).unwrap();
    let whole = fs::read_dir(run.join("agent-home/sessions/2026/11/30")).unwrap();
    let whole = whole.flatten().next().expect("a session file").path();
    let bytes = fs::read(&whole).unwrap();
    let copy = half.join(whole.file_name().unwrap());
    fs::write(&copy, &bytes[..bytes.len() / 2]).unwrap();
    fs::write(half.join("rollout-of-nobody.jsonl"), "{}").unwrap();
    let result = recovered(&scene, &run);
    assert_eq!(result["usage"]["total_tokens"], 2170);
    assert_eq!(fs::read(&copy).unwrap(), bytes);
    assert!(!half.join("rollout-of-nobody.jsonl").exists());
}

#[test]
fn files_that_were_to_be_renamed_are_removed() {
    let (scene, run) = killed_at_work(&[]);
    fs::write(run.join("result.json.tmp"), "{\"schema\":").unwrap();
    fs::write(run.join(".tmpA1b2C3"), "{\"schema\":").unwrap();
    fs::create_dir_all(run.join("recovered.tmp/home")).unwrap();
    File::create(run.join(".reserve")).unwrap();
    recovered(&scene, &run);
    for gone in ["result.json.tmp", ".tmpA1b2C3", "recovered.tmp", ".reserve"] {
        assert!(!run.join(gone).exists(), "{gone}");
    }
}

#[test]
fn after_the_session_the_result_is_what_it_would_have_been_without_what_nobody_saw() {
    let scene = Scene::new();
    akbench_e2e::stub_agent::add_recording(&scene, "s01_happy_exec");
    let steps = json!([
        akbench_e2e::stub_agent::read_task(),
        akbench_e2e::stub_agent::leave_rollouts(),
        akbench_e2e::stub_agent::print_events(),
    ]);
    let program = akbench_e2e::stub_agent::StubAgent::default().install(&scene, &steps);
    let ran = scene.run(&mut scene.run_command(&program, &["--keep"]));
    let finished = ran.result();
    let run = scene.run_folder(&finished);
    // As if the host had died with the result in its hands.
    fs::remove_file(run.join("result.json")).unwrap();
    fs::remove_dir_all(run.join("agent-home")).unwrap();
    assert_eq!(recover(&scene, &[], 0)[0]["outcome"], "recovered");
    let result = result_of(&run);
    for same in [
        "status",
        "failure",
        "agent",
        "task",
        "applied",
        "usage",
        "tool_calls",
        "provenance",
        "final_message",
        "turns",
        "phases",
        "processes",
        "parameters",
        "runtime",
        "artifacts",
        "confinement",
        "started_at",
    ] {
        assert_eq!(result[same], finished[same], "{same}");
    }
    assert_eq!(
        result["workspace"]["after_sha256"],
        finished["workspace"]["after_sha256"]
    );
    assert_eq!(result["finished_at"], Value::Null);
    assert_eq!(result["valid"], false);
}

#[test]
fn a_folder_that_a_dead_host_was_still_making_is_removed() {
    let scene = Scene::new();
    for name in [".01aa.new", ".01ab.new"] {
        scene.write(&format!("runs/{name}/.lock"), "");
    }
    scene.write("runs/.other/notes", "mine");
    // As a living host has it.
    let lock = File::open(scene.path("runs/.01ab.new/.lock")).unwrap();
    lock.try_lock().unwrap();
    assert_eq!(recover(&scene, &[], 0), [] as [Value; 0]);
    assert!(!scene.path("runs/.01aa.new").exists());
    assert!(scene.path("runs/.01ab.new").exists());
    assert!(scene.path("runs/.other/notes").exists());
}

#[test]
fn a_plan_that_cannot_be_read_is_named_and_nothing_is_touched() {
    let (scene, run) = killed_at_work(&[]);
    let whole = fs::read_to_string(run.join("plan.json")).unwrap();
    let unknown_key = whole.replacen('{', "{\"surprise\": 1,", 1);
    let other_version = whole.replace("akbench.plan/1", "akbench.plan/9");
    for (plan, says) in [
        (&whole[..whole.len() / 2], "is no plan of a run"),
        (&unknown_key, "surprise"),
        (&other_version, "akbench.plan/9"),
    ] {
        fs::write(run.join("plan.json"), plan).unwrap();
        let entries = recover(&scene, &[], 3);
        assert_eq!(entries[0]["outcome"], "failed");
        let reason = entries[0]["reason"].as_str().unwrap();
        assert!(reason.contains(says), "{reason}");
        assert!(!run.join("result.json").exists());
        assert!(run.join("agent-home").is_dir());
    }
    fs::write(run.join("plan.json"), &whole).unwrap();
    recovered(&scene, &run);
}

#[test]
fn a_run_that_has_its_result_is_only_cleaned_up() {
    let (scene, run) = killed_at_work(&["--keep"]);
    recover(&scene, &[], 0);
    let result = fs::read(run.join("result.json")).unwrap();
    assert!(run.join("agent-home").is_dir(), "--keep was asked for");
    fs::create_dir_all(run.join("scratch/home")).unwrap();
    fs::write(run.join(".lock"), "").unwrap();
    assert_eq!(recover(&scene, &[], 0)[0]["outcome"], "cleaned");
    assert_eq!(fs::read(run.join("result.json")).unwrap(), result);
    assert!(!run.join("scratch").exists() && !run.join(".lock").exists());
    assert!(run.join("agent-home").is_dir());
}
