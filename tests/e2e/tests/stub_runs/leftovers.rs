//! Whatever the agent leaves behind is dead when the run is over.

use super::Run;
use akbench_e2e::stub_agent::{AT_WORK, BEGINNING, TURN_COMPLETED};
use serde_json::{Value, json};

fn leaves(steps: &[Value]) -> Run {
    let mut all = vec![json!({"stdout": {"text": BEGINNING}})];
    all.extend_from_slice(steps);
    all.push(json!({"stdout": {"text": TURN_COMPLETED}}));
    Run::of(&Value::Array(all), &[])
}

#[test]
fn a_daemon_is_dead_after_a_normal_end() {
    let run = leaves(&[json!({"daemon": {"seconds": 600}})]);
    assert_eq!(run.verdict(), json!(["completed", null, null, 0]));
    assert_eq!(run.killed(), 1);
}

#[test]
fn a_daemon_that_ignores_signals_is_dead_after_a_normal_end() {
    let run = leaves(&[json!({"daemon": {"seconds": 600, "ignore_signals": true}})]);
    assert_eq!(run.verdict(), json!(["completed", null, null, 0]));
    assert_eq!(run.killed(), 1);
}

#[test]
fn a_daemon_that_holds_the_output_open_does_not_hold_the_run_up() {
    let run = leaves(&[json!({"daemon": {
        "seconds": 600, "ignore_signals": true, "keep_stdout": true, "keep_stderr": true,
    }})]);
    assert_eq!(run.verdict(), json!(["completed", null, null, 0]));
    assert_eq!(run.killed(), 1);
    assert!(run.result()["duration_ms"].as_u64() < Some(60_000));
}

#[test]
fn many_daemons_are_all_dead_and_all_counted() {
    let daemon = json!({"daemon": {"seconds": 600, "ignore_signals": true}});
    let run = leaves(&vec![daemon; 8]);
    assert_eq!(run.killed(), 8);
}

#[test]
fn daemons_are_dead_after_a_crash_and_after_a_time_limit() {
    let daemon = json!({"daemon": {"seconds": 600, "ignore_signals": true}});
    let begin = json!({"stdout": {"text": AT_WORK}});
    let run = Run::of(&json!([begin, daemon, {"kill_self": "SIGSEGV"}]), &[]);
    assert_eq!(run.verdict()[1], "agent_crash");
    assert_eq!(run.killed(), 1);
    let run = Run::of(&json!([begin, daemon, "hang"]), &["--time-limit", "1s"]);
    assert_eq!(run.verdict()[1], "agent_timeout");
    assert!(run.killed() >= 1);
}

#[test]
fn a_daemon_of_a_probe_is_dead_too() {
    let scene = akbench_e2e::scene::Scene::new();
    let agent = akbench_e2e::stub_agent::StubAgent::default()
        .when_its_sandbox_is_probed(json!([{"daemon": {"seconds": 600, "ignore_signals": true}}]));
    let steps = json!([{"stdout": {"text": BEGINNING}}, {"stdout": {"text": TURN_COMPLETED}}]);
    let run = Run::in_scene(scene, agent, &steps, &[]);
    assert_eq!(run.verdict()[0], "completed");
    assert_eq!(run.killed(), 1);
}
