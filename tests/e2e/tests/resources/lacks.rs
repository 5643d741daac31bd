//! What is left of each promise where the system lacks something, for each `--confine`. The
//! table in `docs/sandbox.md` is what this test saw.

use super::program;
use super::system::{Lack, NOBODY, cgroups_can_be_written};
use akbench_e2e::scene::Scene;
use akbench_e2e::{built, processes};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::chown;

const MODES: [&str; 3] = ["required", "best-effort", "off"];

const LACKS: [Lack; 6] = [
    Lack::Nothing,
    Lack::WritableCgroups,
    Lack::Bubblewrap,
    Lack::BubblewrapAndCgroups,
    Lack::Namespaces,
    Lack::Privilege,
];

/// What a run under this lack comes to, as a cell of the table.
fn outcome(lack: Lack, mode: &str) -> String {
    let scene = Scene::new();
    let mark = format!("88{}", std::process::id());
    let program = program(
        &scene,
        &format!("setsid sleep {mark} & ulimit -u > reached.txt"),
    );
    let mut command = scene.run_command(&program, &["--confine", mode]);
    if lack == Lack::Privilege {
        command.env("XDG_CACHE_HOME", scene.path("cache"));
        give_to_nobody(&scene);
    }
    let ran = scene.run(&mut lack.imposed_on(&command));
    // Whatever was lacking, the daemon that the agent left behind is dead.
    assert_eq!(processes::with_argument(&mark), [], "{lack:?} {mode}");
    let runs = fs::read_dir(scene.path("runs"))
        .into_iter()
        .flatten()
        .flatten();
    let mut reached = runs
        .into_iter()
        .filter_map(|run| fs::read_to_string(run.path().join("workspace/reached.txt")).ok());
    let reached = reached.next();
    if ran.code == 2 {
        assert_eq!(reached, None, "refused, and yet begun");
        assert!(
            ran.stderr
                .contains("the confinement asked for can't be had here"),
            "{}",
            ran.stderr
        );
        return "refused".to_owned();
    }
    assert_eq!(ran.code, 0, "{lack:?} {mode}: {}", ran.stderr);
    let reached_with = reached.expect("the program ran");
    let result = ran.result();
    let confinement = &result["confinement"];
    let text = |value: &Value| value.as_str().unwrap_or("null").to_owned();
    let files = text(&confinement["files"]);
    let tree = text(&confinement["tree"]);
    // With `off`, files are as asked for; without a namespace, the tree is not.
    let weaker = tree == "sub-reaper" || (files == "none" && mode != "off");
    assert_eq!(
        confinement["notes"] != serde_json::json!([]),
        weaker,
        "{confinement:#}"
    );
    let processes = &confinement["limits"]["processes"];
    let by = text(&processes["enforced_by"]);
    assert_eq!(processes["note"].is_string(), by == "census", "{processes}");
    if lack == Lack::Privilege {
        // The system bounds what is counted: at twice the limit.
        assert_eq!(reached_with.trim(), "8192");
    }
    format!("files {files}, tree {tree}, processes by {by}")
}

/// An ordinary user has to reach the scene and the programs, and may write to the scene.
fn give_to_nobody(scene: &Scene) {
    let nobody: u32 = NOBODY.parse().expect("a number");
    let mut folders = vec![scene.path("")];
    while let Some(folder) = folders.pop() {
        chown(&folder, Some(nobody), Some(nobody)).expect("a new owner");
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                chown(entry.path(), Some(nobody), Some(nobody)).expect("a new owner");
            }
        }
    }
}

/// Whether a user without privileges can read what a run needs: a target folder in somebody's
/// home is that person's alone.
fn nobody_can_reach_what_was_built() -> bool {
    let needed = [built::akbench(), built::adapter("codex.wasm")];
    let out_of_reach = needed.iter().find(|path| {
        let mut command = std::process::Command::new("test");
        let tried = Lack::Privilege
            .imposed_on(command.arg("-r").arg(path))
            .output();
        !tried.is_ok_and(|output| output.status.success())
    });
    if let Some(path) = out_of_reach {
        eprintln!(
            "partly skipped: an ordinary user can't reach {}",
            path.display()
        );
    }
    out_of_reach.is_none()
}

#[test]
fn what_is_lacking_is_refused_or_recorded_as_the_documentation_says() {
    let page = fs::read_to_string(built::repository().join("docs/sandbox.md")).expect("the page");
    let documented = |lack: Lack| {
        let row = format!("| {} |", lack.describe());
        let line = page.lines().find(|line| line.starts_with(&row));
        line.unwrap_or_else(|| panic!("no row `{row}` in docs/sandbox.md"))
            .to_owned()
    };
    let groups = cgroups_can_be_written("pids");
    let mut seen = String::new();
    for lack in LACKS {
        let privileged = rustix::process::geteuid().is_root() || lack == Lack::Nothing;
        let startable = lack != Lack::Privilege || nobody_can_reach_what_was_built();
        if !lack.is_possible() || !startable || !privileged {
            continue;
        }
        let outcomes = MODES.map(|mode| outcome(lack, mode));
        let row = format!("| {} | {} |", lack.describe(), outcomes.join(" | "));
        writeln!(seen, "{row}").expect("a string");
        // Where the machine of the test has no control groups to write, nobody has.
        let expected = match groups {
            true => documented(lack),
            false => documented(lack).replace("cgroup-v1", "census"),
        };
        assert_eq!(row, expected, "all rows so far:\n{seen}");
    }
    assert!(!seen.is_empty());
}
