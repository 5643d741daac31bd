//! `kill -9` of the host.

use super::{agent, expected, left, side_by_side};
use akbench_e2e::processes;
use akbench_e2e::record::runs;
use akbench_e2e::scene::Scene;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

/// How many hosts are killed.
const KILLS: usize = 200;

#[test]
fn two_hundred_hosts_killed_at_any_instant_lose_nothing_and_leave_nobody() {
    let scene = Scene::new();
    let program = agent(&scene);
    let expected = expected();
    // Twice: the first fills the cache.
    left::next_run_works(&scene, &program, &expected);
    let begun = Instant::now();
    left::next_run_works(&scene, &program, &expected);
    // Runs beside each other are slower. Some are over before they are killed: that too is an
    // instant.
    let whole = begun.elapsed().mul_f64(1.6);

    side_by_side(KILLS, |number| {
        let mut child = scene
            .run_command(&program, &[])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("akbench starts");
        let share = (number * 79 % KILLS) as f64 / KILLS as f64;
        thread::sleep(whole.mul_f64(share));
        child.kill().expect("a child can be killed");
        child.wait().expect("a child can be waited for");
    });
    let gone = processes::wait_until(Duration::from_secs(10), || {
        processes::of_scene(&scene).is_empty()
    });
    assert!(gone, "{:#?}", processes::of_scene(&scene));

    let folder = scene.path("runs");
    left::check(&folder, &expected);
    let states = states(&folder);
    let cut: usize = states
        .iter()
        .filter(|(name, _)| **name != "finished")
        .map(|(_, n)| n)
        .sum();
    assert!(cut >= KILLS / 4, "too few were killed at work: {states:?}");
    eprintln!("killed: {states:?}");

    let recorded = left::evidence(&folder);
    recovered(&scene, &expected);
    for (path, bytes) in recorded {
        let now = std::fs::read(&path).expect("what was recorded is still there");
        assert_eq!(now, bytes, "{}", path.display());
    }
    left::next_run_works(&scene, &program, &expected);
}

/// How far each run came.
fn states(folder: &Path) -> BTreeMap<&'static str, usize> {
    let mut states = BTreeMap::new();
    for run in runs(folder) {
        let state = if run.join("result.json").exists() {
            "finished"
        } else if run.join("artifacts/evidence/spawns/3-task").exists() {
            "at work"
        } else if run.join("plan.json").exists() {
            "planned"
        } else {
            "laid out"
        };
        *states.entry(state).or_default() += 1;
    }
    states
}

/// `runs recover` makes a record of each run that has a plan.
fn recovered(scene: &Scene, expected: &str) {
    let ran = scene.run(&mut scene.akbench(["runs", "recover", "--out", "runs"]));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    left::check_records(&scene.path("runs"), expected);
}
