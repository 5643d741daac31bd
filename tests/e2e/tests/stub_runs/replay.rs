//! A recording of the real program, played by the stub: the whole way gives what it shows.

use super::Run;
use akbench_e2e::scene::Scene;
use akbench_e2e::stub_agent::{
    StubAgent, VERSION, add_recording, leave_rollouts, print_events, read_task,
};
use serde_json::json;
use std::process::Stdio;

fn happy(more: &[&str]) -> Run {
    let scene = Scene::new();
    add_recording(&scene, "s01_happy_exec");
    let steps = json!([
        {"read_stdin": {"require": "Write hi to out.txt.\n"}},
        {"write_file": {"path": "out.txt", "text": "hi\n"}},
        leave_rollouts(),
        print_events(),
    ]);
    Run::in_scene(scene, StubAgent::default(), &steps, more)
}

#[test]
fn a_recorded_run_comes_out_as_it_was() {
    let run = happy(&["--param", "sandbox_mode=workspace-write"]);
    assert_eq!(run.verdict(), json!(["completed", null, null, 0]));
    let result = run.result();
    assert_eq!(result["agent"]["program"]["version"], VERSION);
    assert_eq!(result["applied"]["model"], "mock-model");
    assert_eq!(result["applied"]["sandbox"], "workspace-write");
    assert_eq!(result["applied"]["approval_policy"], "never");
    assert_eq!(result["final_message"], "Wrote out.txt.");
    assert_eq!(
        result["native_session_id"],
        "01a22ca4-3c00-7af3-8002-e1fc68081c14"
    );
    assert_eq!(result["model_requests"], 2);
    let usage = json!({
        "input_tokens": 2100, "cached_input_tokens": 900, "cache_write_input_tokens": 0,
        "output_tokens": 70, "reasoning_output_tokens": 0, "total_tokens": 2170,
    });
    assert_eq!(result["usage"], usage);
    assert_eq!(result["provenance"]["usage"]["complete"], true);
    assert_eq!(
        result["tool_calls"].as_array().expect("tool calls").len(),
        1
    );
    assert_eq!(result["cost_usd"], json!(null));
    assert_eq!(
        result["parameters"],
        json!({"sandbox_mode": "workspace-write"})
    );
    assert_eq!(result["workspace"]["files_changed"], 1);
    assert_eq!(result["violations"], json!([]));
    assert_eq!(run.record.task_file("stdin"), b"Write hi to out.txt.\n");
    // The agent worked in a copy.
    assert!(!run.scene.path("workspace/out.txt").exists());
    assert!(!run.record.folder.join("agent-home").exists());
    assert!(!run.record.folder.join("scratch").exists());
}

#[test]
fn an_agents_home_is_kept_if_asked_for() {
    let run = happy(&["--keep"]);
    assert!(run.record.folder.join("agent-home/config.toml").exists());
}

#[test]
fn in_place_the_agent_works_in_the_workspace_itself() {
    let run = happy(&["--in-place"]);
    assert_eq!(run.result()["workspace"]["files_changed"], 1);
    assert!(run.scene.path("workspace/out.txt").exists());
}

#[test]
fn runs_at_the_same_time_in_the_same_folder_do_not_collide() {
    let scene = Scene::new();
    add_recording(&scene, "s01_happy_exec");
    let steps = json!([read_task(), leave_rollouts(), print_events()]);
    let program = StubAgent::default().install(&scene, &steps);
    let start = || {
        let mut command = scene.run_command(&program, &[]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("akbench starts")
    };
    let running = [start(), start(), start()];
    let mut folders = Vec::new();
    for child in running {
        let ran = child.wait_with_output().expect("akbench ends").into();
        let record = akbench_e2e::record::Record::checked(&scene, &ran);
        assert_eq!(record.result["status"], "completed");
        folders.push(record.folder);
    }
    folders.dedup();
    assert_eq!(folders.len(), 3);
    assert_eq!(akbench_e2e::record::runs(&scene.path("runs")).len(), 3);
}

#[test]
fn links_that_lead_in_circles_are_copied_as_they_are() {
    let scene = Scene::new();
    add_recording(&scene, "s01_happy_exec");
    scene.write("workspace/deep/kept.txt", "kept\n");
    let link = |target: &str, at: &str| {
        std::os::unix::fs::symlink(target, scene.path(at)).expect("a link");
    };
    link("loop", "workspace/loop");
    link("second", "workspace/first");
    link("first", "workspace/second");
    link("..", "workspace/deep/up");
    let steps = json!([
        read_task(),
        {"make_symlink": {"path": "deep/again", "target": "up"}},
        leave_rollouts(),
        print_events(),
    ]);
    let run = Run::in_scene(scene, StubAgent::default(), &steps, &[]);
    assert_eq!(run.verdict(), json!(["completed", null, null, 0]));
    assert_eq!(run.result()["workspace"]["files_changed"], 1);
    let copied = run.record.folder.join("workspace");
    for (name, target) in [("loop", "loop"), ("first", "second"), ("deep/up", "..")] {
        let found = std::fs::read_link(copied.join(name)).expect("a link");
        assert_eq!(found.to_str(), Some(target), "{name}");
    }
    let diff = std::fs::read_to_string(run.record.folder.join("workspace.diff"));
    let diff = diff.expect("a diff");
    assert!(
        diff.contains("deep/again") && !diff.contains("kept.txt"),
        "{diff}"
    );
}
