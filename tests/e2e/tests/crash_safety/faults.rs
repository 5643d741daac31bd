//! Every kind of write fails, once or from some instant on.

use super::{agent, expected, left, side_by_side};
use akbench_e2e::processes;
use akbench_e2e::scene::Scene;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// A kind of call, what it fails with, and the number of that error.
const FAULTS: &[(&str, &str, i32)] = &[
    ("write", "ENOSPC", 28),
    ("write", "EIO", 5),
    ("open", "EMFILE", 24),
    ("open", "EIO", 5),
    ("sync", "EIO", 5),
    ("rename", "ENOSPC", 28),
    ("mkdir", "ENOSPC", 28),
];

/// Instants at which each of them happens.
const INSTANTS: usize = 8;

/// Compiles `faults.c`; `None`, visibly, where there is no compiler.
fn library(folder: &Path) -> Option<PathBuf> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/crash_safety/faults.c");
    let library = folder.join("faults.so");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([library.as_os_str(), source.as_ref()])
        .arg("-ldl")
        .status();
    match compiled {
        Ok(status) => {
            assert!(status.success(), "faults.c does not compile");
            Some(library)
        }
        Err(error) => {
            eprintln!("skipped: needs a C compiler: {error}");
            None
        }
    }
}

/// A run in which calls fail.
fn faulty(scene: &Scene, program: &Path, library: &Path, call: &str) -> Command {
    let mut command = scene.run_command(program, &[]);
    command
        .env("LD_PRELOAD", library)
        .env("FAULT_FOLDER", scene.path("runs"))
        .env("FAULT_CALL", call);
    command
}

/// How many calls of a kind a run makes.
fn calls(library: &Path, call: &str) -> usize {
    let scene = Scene::new();
    let program = agent(&scene);
    let count = scene.path("count");
    let ran = scene.run(faulty(&scene, &program, library, call).env("FAULT_COUNT", &count));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    fs::metadata(&count).map_or(0, |count| usize::try_from(count.len()).expect("few calls"))
}

#[test]
fn every_kind_of_write_may_fail_at_any_instant() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(library) = library(folder.path()) else {
        return;
    };
    let expected = expected();
    let mut cases = Vec::new();
    for (call, name, error) in FAULTS {
        let count = calls(&library, call);
        assert!(count >= 2, "{call} is not intercepted: {count}");
        for instant in 0..INSTANTS.min(count) {
            let from = 1 + instant * count / INSTANTS.min(count);
            cases.push((*call, *name, *error, from, from));
            cases.push((*call, *name, *error, from, usize::MAX >> 1));
        }
    }
    let codes = Mutex::new(BTreeMap::new());
    side_by_side(cases.len(), |number| {
        let (call, name, error, from, to) = cases[number];
        let about = format!("{call} {name} from {from} to {to}");
        let scene = Scene::new();
        let program = agent(&scene);
        let mut command = faulty(&scene, &program, &library, call);
        command
            .env("FAULT_ERROR", error.to_string())
            .env("FAULT_FROM", from.to_string())
            .env("FAULT_TO", to.to_string());
        let ran = scene.run(&mut command);
        assert!(
            (0..=5).contains(&ran.code),
            "{about}: {}: {}",
            ran.code,
            ran.stderr
        );
        assert!(!ran.stderr.contains("panicked"), "{about}: {}", ran.stderr);
        // The machine's faults are neither the agent's nor the adapter's.
        assert!(![1, 4].contains(&ran.code), "{about}: {}", ran.stdout);
        let seen = (call, name, ran.code);
        *codes.lock().expect("the codes").entry(seen).or_insert(0) += 1;
        // Where nothing can be written from the beginning, nothing succeeds.
        assert!(ran.code != 0 || from > 1 || to == from, "{about}");
        // Whoever could not keep its word says so.
        if ran.code != 0 {
            assert!(!ran.stderr.trim().is_empty(), "{about}: failed in silence");
        }
        assert_eq!(processes::of_scene(&scene), [] as [String; 0], "{about}");
        left::check(&scene.path("runs"), &expected);
        let again = scene.run(&mut scene.akbench(["runs", "recover", "--out", "runs"]));
        assert!(
            again.code == 0 || akbench_e2e::record::runs(&scene.path("runs")).is_empty(),
            "{about}: {}",
            again.stderr
        );
        left::check_records(&scene.path("runs"), &expected);
        left::next_run_works(&scene, &program, &expected);
    });
    eprintln!("exit codes: {:?}", codes.into_inner().expect("the codes"));
}
