//! What `docs/ci.md` says of an ordinary user: contained with user namespaces, refused or recorded
//! without.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use akbench_e2e::built;
use akbench_e2e::installed::{Installed, recorded_session};
use akbench_e2e::processes;
use akbench_e2e::scene::{Ran, Scene};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::chown;
use std::path::Path;
use std::process::Command;

/// Nobody's user and group, where the tests run as root.
const NOBODY: u32 = 65534;

/// As that user; ends with the command.
const ORDINARY: [&str; 5] = [
    "setpriv",
    "--reuid=65534",
    "--regid=65534",
    "--clear-groups",
    "--",
];

/// In a user namespace of the test's own in which nobody can make another one, without its powers.
const WITHOUT_NAMESPACES: &str = "echo 0 > /proc/sys/user/max_user_namespaces
exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs -- \"$@\"";

/// In a mount namespace of the test's own in which bubblewrap is nowhere.
const WITHOUT_BUBBLEWRAP: &str = "for bwrap in /usr/bin/bwrap /usr/local/bin/bwrap /bin/bwrap; do
if [ -f $bwrap ]; then mount --bind /dev/null $bwrap || exit 99; fi; done
exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs -- \"$@\"";

/// Where the program runs.
#[derive(Clone, Copy)]
enum Place {
    /// As an ordinary user and no more.
    Ordinary,
    /// Within namespaces that this script prepares.
    Prepared(&'static str),
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The words before a command that bring it to its place.
fn words(place: Place) -> Vec<&'static str> {
    let mut words = Vec::new();
    if is_root() {
        words.extend(ORDINARY);
    }
    if let Place::Prepared(script) = place {
        words.extend([
            "unshare",
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            script,
            "sh",
        ]);
    }
    words
}

/// Whether an ordinary user may make namespaces here, said where not.
fn has_namespaces(test: &str) -> bool {
    let mut words = words(Place::Prepared("exec \"$@\""));
    words.extend(["bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"]);
    let made = Command::new(words[0]).args(&words[1..]).output();
    let made = made.is_ok_and(|output| output.status.success());
    if !made {
        eprintln!("{test}: skipped: an ordinary user has no namespaces or no bubblewrap here");
    }
    made
}

/// An installation in folders that belong to the ordinary user.
fn scene() -> Scene {
    let scene = Scene::new();
    Installed::new(&scene);
    recorded_session(&scene);
    // Where the tests are built may be closed to others.
    fs::create_dir(scene.path("bin")).unwrap();
    fs::copy(built::akbench(), scene.path("bin/akbench")).unwrap();
    if is_root() {
        give_away(&scene.path(""));
    }
    scene
}

fn give_away(path: &Path) {
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give_away(&entry.unwrap().path());
        }
    }
}

/// The job of `docs/ci.md`, at its place.
fn job(scene: &Scene, place: Place, more: &[&str]) -> Ran {
    let akbench = scene.path("bin/akbench").display().to_string();
    let mut words = words(place);
    words.extend([
        akbench.as_str(),
        "agent",
        "run",
        "codex",
        "--task",
        "wordcount-001",
    ]);
    words.extend(["--time-limit", "20m", "--json", "--runtime", "llm-router"]);
    let like = scene.akbench([""; 0]);
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args(more).env_clear();
    command.current_dir(scene.path("."));
    for (name, value) in like.get_envs() {
        // It finds `share` beside itself.
        if let Some(value) = value.filter(|_| name != "AKBENCH_SHARE") {
            command.env(name, value);
        }
    }
    let programs = scene.path("programs").display().to_string();
    command
        .env("PATH", format!("{programs}:/usr/local/bin:/usr/bin:/bin"))
        .env("XDG_CACHE_HOME", scene.path("cache"));
    let ran = scene.run(&mut command);
    assert_eq!(processes::of_scene(scene), [] as [String; 0]);
    ran
}

fn completed(ran: &Ran) -> Value {
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let result = ran.result();
    assert_eq!(result["status"], "completed");
    assert_eq!(result["usage"]["total_tokens"], 2170);
    assert_eq!(result["processes"]["survivors"], 0);
    // Judged as well, in a containment of its own; the recorded session solves another task.
    assert_eq!(
        result["evaluation"]["passed"], false,
        "{:#}",
        result["warnings"]
    );
    result
}

#[test]
fn an_ordinary_user_with_namespaces_gets_all_that_is_promised() {
    if !has_namespaces("an_ordinary_user_with_namespaces_gets_all_that_is_promised") {
        return;
    }
    let scene = scene();
    let required = ["--confine", "required"];
    let result = completed(&job(&scene, Place::Ordinary, &required));
    assert_eq!(result["confinement"]["files"], "bubblewrap");
    assert_eq!(result["confinement"]["tree"], "pid-namespace");
    assert_eq!(result["confinement"]["notes"], json!([]));
    let endpoint = ["--confine", "required", "--network", "endpoint"];
    let result = completed(&job(&scene, Place::Ordinary, &endpoint));
    assert_eq!(result["confinement"]["network"], "endpoint");
}

/// What must hold where nothing can be contained.
fn refused_or_recorded(scene: &Scene, place: Place, why: &str) {
    let ran = job(scene, place, &["--confine", "required"]);
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    let result = ran.result();
    assert_eq!(result["status"], "refused");
    assert_eq!(result["failure"]["class"], "sandbox_unavailable");
    assert_eq!(result["failure"]["fault"], "infrastructure");
    let message = result["failure"]["message"].as_str().unwrap();
    assert!(message.contains(why), "{message}");
    assert_eq!(result["processes"]["spawned"], 0);
    // Nothing else was left, so nothing has to be recovered.
    assert_eq!(fs::read_dir(scene.path("runs")).unwrap().count(), 1);

    let result = completed(&job(scene, place, &["--confine", "best-effort"]));
    assert_eq!(result["confinement"]["files"], "none");
    assert_eq!(result["confinement"]["tree"], "sub-reaper");
    let notes = result["confinement"]["notes"].to_string();
    assert!(notes.contains(why), "{notes}");
}

#[test]
fn an_ordinary_user_without_namespaces_is_refused_or_told() {
    // On a machine that has none, nothing has to be taken away.
    let test = "an_ordinary_user_without_namespaces_is_refused_or_told";
    let place = if has_namespaces(test) {
        Place::Prepared(WITHOUT_NAMESPACES)
    } else {
        Place::Ordinary
    };
    refused_or_recorded(&scene(), place, "");
}

#[test]
fn an_ordinary_user_without_bubblewrap_is_refused_or_told() {
    if !has_namespaces("an_ordinary_user_without_bubblewrap_is_refused_or_told") {
        return;
    }
    let place = Place::Prepared(WITHOUT_BUBBLEWRAP);
    refused_or_recorded(&scene(), place, "bubblewrap (bwrap) is not installed");
}
