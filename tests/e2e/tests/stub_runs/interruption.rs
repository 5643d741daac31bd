//! Signals to the host, and its sudden death.

use super::Run;
use akbench_e2e::processes::{self, wait_until};
use akbench_e2e::record::runs;
use akbench_e2e::scene::{Ran, Scene};
use akbench_e2e::stub_agent::{BEGINNING, StubAgent};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A host at work.
pub struct Running(Child);

/// Starts the host.
pub fn start(command: &mut Command) -> Running {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Running(command.spawn().expect("akbench starts"))
}

impl Running {
    fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    /// Sends the host a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("akbench is alive");
    }

    /// Waits for the end, and takes what it printed.
    pub fn end(self) -> Ran {
        self.0.wait_with_output().expect("akbench ends").into()
    }

    /// Waits until a program was started with this label.
    pub fn wait_for_the_spawn(&self, scene: &Scene, label: &str) {
        self.wait_for(scene, label, "command.json");
    }

    /// Waits until the agent has printed something.
    fn wait_for_output(&self, scene: &Scene) {
        self.wait_for(scene, "task", "stdout");
    }

    fn wait_for(&self, scene: &Scene, label: &str, file: &str) {
        let found = || {
            runs(&scene.path("runs")).iter().any(|run| {
                let spawns = fs::read_dir(run.join("artifacts/evidence/spawns"));
                spawns.into_iter().flatten().flatten().any(|spawn| {
                    let name = spawn.file_name();
                    let is_it = name.to_string_lossy().ends_with(&format!("-{label}"));
                    let written = fs::metadata(spawn.path().join(file));
                    is_it && written.is_ok_and(|metadata| metadata.len() > 0)
                })
            })
        };
        assert!(
            wait_until(Duration::from_secs(60), found),
            "`{label}` did not begin"
        );
    }
}

/// An agent that works until it is ended, in a scene; both signals do what `on_signals` says.
fn at_work(steps: &Value) -> (Scene, Running) {
    let scene = Scene::new();
    let program = StubAgent::default().install(&scene, steps);
    let running = start(&mut scene.run_command(&program, &[]));
    running.wait_for_output(&scene);
    (scene, running)
}

fn obedient() -> Value {
    json!([
        {"on_signal": {"signal": "SIGINT", "steps": [{"exit": 130}]}},
        {"stdout": {"text": BEGINNING}},
        "hang",
    ])
}

fn deaf() -> Value {
    json!([
        {"ignore_signals": ["SIGINT", "SIGTERM", "SIGHUP"]},
        {"daemon": {"seconds": 600, "ignore_signals": true}},
        {"stdout": {"text": BEGINNING}},
        "hang",
    ])
}

#[test]
fn a_signal_to_the_host_cancels_the_run() {
    for signal in [Signal::INT, Signal::TERM] {
        let (scene, running) = at_work(&obedient());
        running.signal(signal);
        let run = Run::checked(scene, running.end());
        assert_eq!(
            run.verdict(),
            json!(["cancelled", "cancelled", "operator", 130])
        );
        let exit = run.record.task_exit();
        assert_eq!(exit["signals"][0]["signal"], "SIGINT");
        assert_eq!(exit["signals"][0]["reason"], "cancel");
    }
}

#[test]
fn a_second_signal_kills_at_once_and_the_result_is_still_written() {
    let (scene, running) = at_work(&deaf());
    running.signal(Signal::INT);
    let stopping = || {
        let run = &runs(&scene.path("runs"))[0];
        fs::read_to_string(run.join("events.jsonl")).is_ok_and(|text| text.contains("cancelled"))
    };
    assert!(wait_until(Duration::from_secs(30), stopping));
    let second = Instant::now();
    running.signal(Signal::INT);
    let run = Run::checked(scene, running.end());
    // Not even the grace of the first signal was waited for.
    assert!(
        second.elapsed() < Duration::from_secs(4),
        "{:?}",
        second.elapsed()
    );
    assert_eq!(
        run.verdict(),
        json!(["cancelled", "cancelled", "operator", 130])
    );
    assert!(run.killed() >= 2);
    // Nothing was asked of it after it was killed.
    let exit = run.record.task_exit();
    let sent: Vec<&str> = exit["signals"]
        .as_array()
        .expect("signals")
        .iter()
        .filter_map(|sent| sent["signal"].as_str())
        .collect();
    assert_eq!(sent.last(), Some(&"SIGKILL"), "{sent:?}");
    let kills = sent.iter().filter(|signal| **signal == "SIGKILL").count();
    assert_eq!(kills, 1, "{sent:?}");
}

#[test]
fn a_host_that_is_killed_takes_everything_with_it() {
    let (scene, running) = at_work(&deaf());
    assert!(
        processes::of_scene(&scene).len() >= 2,
        "agent and daemon are at work"
    );
    let supervisors = children_of(running.pid());
    assert!(!supervisors.is_empty(), "somebody supervises");
    running.signal(Signal::KILL);
    // Two seconds, and the grace that leftovers get.
    let limit = Duration::from_millis(2_200);
    let gone = || processes::of_scene(&scene).is_empty();
    assert!(wait_until(limit, gone), "{:?}", processes::of_scene(&scene));
    let ended = || supervisors.iter().all(|&pid| !is_alive(pid));
    assert!(
        wait_until(Duration::from_secs(2), ended),
        "a supervisor stayed"
    );
    let _ = running.end();
    // What was observed is on disk.
    let run = &runs(&scene.path("runs"))[0];
    assert!(run.join("plan.json").exists() && !run.join("result.json").exists());
    let spawns = fs::read_dir(run.join("artifacts/evidence/spawns")).expect("evidence");
    let stdout = spawns
        .flatten()
        .find(|spawn| spawn.file_name().to_string_lossy().ends_with("-task"))
        .map(|spawn| fs::read_to_string(spawn.path().join("stdout")).expect("its output"));
    assert_eq!(stdout.as_deref(), Some(BEGINNING));
}

fn children_of(parent: Pid) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")
        .expect("a process file system")
        .flatten()
    {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else {
            continue;
        };
        if stat(pid).is_some_and(|(_, its)| its == parent.as_raw_nonzero().get()) {
            found.push(pid);
        }
    }
    found
}

fn is_alive(pid: i32) -> bool {
    stat(pid).is_some_and(|(state, _)| state != 'Z')
}

/// State and parent of a process; `None` if it is gone.
fn stat(pid: i32) -> Option<(char, i32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything, so what follows it is looked for from the end.
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}
