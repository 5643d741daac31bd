//! Nobody outlives a run: with `danger-full-access` the CLI itself leaves daemons behind,
//! however they were started and whatever they are deaf to.
//!
//! In a PID namespace and, where there can be none, below a sub-reaper.

use crate::degraded::{Without, without_namespaces};
use akbench_e2e::processes::{self, Process, wait_for, wait_until_dead};
use akbench_e2e::real::{
    REPORT_ENVIRONMENT, RealRun, RealScene, endless_tool_call, unique_seconds, with_growing_limit,
};
use akbench_e2e::running::Running;
use akbench_responses_server::{Reply, Script};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const UNSANDBOXED: [&str; 2] = ["--param", "sandbox_mode=danger-full-access"];

/// Whatever may outlive a tool call. SLEEP is a shell that becomes a `sleep` of its own, told
/// apart from the others by the digits.
const DAEMONS: [(&str, &str); 5] = [
    // Its own session, deaf to a hang-up, no parent.
    ("", "setsid nohup SLEEP >/dev/null 2>&1 </dev/null &"),
    // Forked twice: its parent is gone before anybody looks.
    (
        "1",
        "(setsid sh -c \"SLEEP & exit\" >/dev/null 2>&1 </dev/null &);",
    ),
    // Deaf to SIGTERM.
    (
        "2",
        "(trap '' TERM HUP INT; exec setsid SLEEP >/dev/null 2>&1 </dev/null) &",
    ),
    // Stopped: it can't react to anything.
    (
        "3",
        "setsid SLEEP >/dev/null 2>&1 </dev/null & \
         until grep -qx sleep /proc/$!/comm; do :; done; kill -STOP $!;",
    ),
    // Holds on to what the tool call prints to.
    ("4", "setsid SLEEP &"),
];

/// A command that leaves all of them behind, and ends when they are there.
fn daemon(seconds: &str) -> String {
    let mut command = format!("{REPORT_ENVIRONMENT};");
    for (more, start) in DAEMONS {
        let sleep = format!("sh -c 'touch ready.{seconds}{more}; exec sleep {seconds}{more}'");
        command.push(' ');
        command.push_str(&start.replace("SLEEP", &sleep));
    }
    let all = DAEMONS.len();
    format!("{command} until [ $(ls ready.* | wc -l) = {all} ]; do sleep 0.02; done;")
}

/// A tool call that starts a daemon and goes on.
fn daemon_and_endless_call(daemon_seconds: &str, own_seconds: &str) -> Script {
    let command = format!("{} true", daemon(daemon_seconds));
    endless_tool_call(&command, own_seconds)
}

fn command(scene: &RealScene, more: &[&str], without: Option<Without>) -> Command {
    let mut command = scene.command(&UNSANDBOXED);
    command.arg("--keep").args(more);
    match without {
        Some(without) => without_namespaces(&command, without),
        None => command,
    }
}

fn expect_tree(run: &RealRun, without: Option<Without>) {
    let tree = &run.result["confinement"]["tree"];
    match without {
        None => assert_eq!(tree, "pid-namespace"),
        Some(_) => assert_eq!(tree, "sub-reaper"),
    }
    // Daemons that were never there would be dead, too.
    let killed = run.result["processes"]["killed"].as_u64();
    let daemons = DAEMONS.len() as u64;
    assert!(killed >= Some(daemons), "{}", run.result["processes"]);
    run.expect_applied("danger-full-access");
}

fn dies_with_a_normal_end(test: &str, without: Option<Without>) {
    let seconds = unique_seconds();
    let script = Script::new([
        Reply::shell("call_1", daemon(&seconds)).usage(1000, 0, 50, 0),
        Reply::message("Left a daemon.").usage(1100, 900, 20, 0),
    ]);
    let Some(scene) = RealScene::new(test, script) else {
        return;
    };
    let run = scene.finish(Running::start(&mut command(&scene, &[], without)));
    assert_eq!(processes::with_argument(&seconds), []);
    run.expect_completed();
    run.expect_usage(2100, 900, 70, 0);
    assert_eq!(run.tool_calls(), [("exec_command", "completed", Some(0))]);
    expect_tree(&run, without);
    let environment = scene.tool_environment().expect("the tool's environment");
    assert!(!environment.contains("API_KEY"), "{environment}");
}

/// A run in the middle of a tool call, a daemon beside it.
struct AtWork {
    scene: RealScene,
    running: Running,
    daemons: Vec<Process>,
    /// Everything below `akbench`, daemon and supervisor included.
    family: Vec<Process>,
}

fn at_work(test: &str, without: Option<Without>) -> Option<AtWork> {
    let (of_daemon, of_call) = (unique_seconds(), unique_seconds());
    let scene = RealScene::new(test, daemon_and_endless_call(&of_daemon, &of_call))?;
    let running = Running::start(&mut command(&scene, &[], without));
    let call = scene.wait_for_sleep(&of_call);
    let wait = |(more, _): (&str, &str)| scene.wait_for_sleep(&format!("{of_daemon}{more}"));
    let daemons: Vec<Process> = DAEMONS.into_iter().map(wait).collect();
    let family = processes::descendants(running.pid());
    // However it was started, it did not get away from below the supervisor.
    for process in daemons.iter().chain([&call]) {
        assert!(
            family.contains(process),
            "{process:?} is not in {family:#?}"
        );
    }
    Some(AtWork {
        scene,
        running,
        daemons,
        family,
    })
}

fn dies_with_a_cancel(test: &str, without: Option<Without>) {
    let Some(at_work) = at_work(test, without) else {
        return;
    };
    at_work.running.signal(Signal::INT);
    let run = at_work.scene.finish(at_work.running);
    for daemon in &at_work.daemons {
        assert!(!daemon.is_alive(), "{daemon:?}");
    }
    wait_until_dead(&at_work.family);
    run.expect_end("cancelled", Some("cancelled"), Some("operator"), 130);
    run.expect_usage(1000, 0, 50, 0);
    expect_tree(&run, without);
}

fn dies_with_akbench(test: &str, without: Option<Without>) {
    let Some(at_work) = at_work(test, without) else {
        return;
    };
    at_work.running.signal(Signal::KILL);
    let ran = at_work.running.finish();
    assert_eq!(ran.code, -1, "{}", ran.stderr);
    wait_until_dead(&at_work.family);
    let folder = at_work.scene.scene.path("");
    wait_for("the end of all that belongs to the run", || {
        processes::of_folder(&folder).is_empty().then_some(())
    });
    at_work.scene.expect_no_credential(&ran);
    // What the agent left in its home is evidence, so it stays, for its owner alone.
    let metadata = fs::metadata(at_work.scene.folder()).expect("the run's folder");
    assert_eq!(metadata.permissions().mode() & 0o7777, 0o700);
}

fn dies_with_the_time_limit(test: &str, without: Option<Without>) {
    let (of_daemon, of_call) = (unique_seconds(), unique_seconds());
    let started = || RealScene::new(test, daemon_and_endless_call(&of_daemon, &of_call));
    if started().is_none() {
        return;
    }
    let run = with_growing_limit(|limit| {
        let scene = started().unwrap();
        let mut command = command(&scene, &["--time-limit", limit], without);
        let run = scene.finish(Running::start(&mut command));
        scene.tool_environment().map(|_| run)
    });
    assert_eq!(processes::with_argument(&of_daemon), []);
    assert_eq!(processes::with_argument(&of_call), []);
    run.expect_end("timed_out", Some("agent_timeout"), Some("agent"), 1);
    run.expect_usage(1000, 0, 50, 0);
    assert_eq!(run.result["unresolved"], Value::Null);
    expect_tree(&run, without);
}

#[test]
fn a_daemon_dies_with_a_normal_end() {
    dies_with_a_normal_end("a_daemon_dies_with_a_normal_end", None);
}

#[test]
fn a_daemon_dies_with_a_cancel() {
    dies_with_a_cancel("a_daemon_dies_with_a_cancel", None);
}

#[test]
fn a_daemon_dies_with_a_killed_akbench() {
    dies_with_akbench("a_daemon_dies_with_a_killed_akbench", None);
}

#[test]
fn a_daemon_dies_with_the_time_limit() {
    dies_with_the_time_limit("a_daemon_dies_with_the_time_limit", None);
}

#[test]
fn a_daemon_below_a_sub_reaper_dies_with_a_normal_end() {
    let test = "a_daemon_below_a_sub_reaper_dies_with_a_normal_end";
    if Without::UserAndPid.is_possible(test) {
        dies_with_a_normal_end(test, Some(Without::UserAndPid));
    }
}

#[test]
fn a_daemon_below_a_sub_reaper_dies_with_a_cancel() {
    let test = "a_daemon_below_a_sub_reaper_dies_with_a_cancel";
    if Without::UserAndPid.is_possible(test) {
        dies_with_a_cancel(test, Some(Without::UserAndPid));
    }
}

#[test]
fn a_daemon_below_a_sub_reaper_dies_with_a_killed_akbench() {
    let test = "a_daemon_below_a_sub_reaper_dies_with_a_killed_akbench";
    if Without::UserAndPid.is_possible(test) {
        dies_with_akbench(test, Some(Without::UserAndPid));
    }
}

#[test]
fn a_daemon_below_a_sub_reaper_dies_with_the_time_limit() {
    let test = "a_daemon_below_a_sub_reaper_dies_with_the_time_limit";
    if Without::UserAndPid.is_possible(test) {
        dies_with_the_time_limit(test, Some(Without::UserAndPid));
    }
}
