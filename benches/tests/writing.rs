//! What a run writes: bytes and calls for each event, bytes and syncs for a whole run.
#![allow(clippy::unwrap_used, clippy::panic)]

use akbench_bench::program;
use akbench_bench::rig::{Parts, Rig};
use akbench_e2e::built;
use akbench_e2e::scene::Scene;
use akbench_recorded::baseline;
use std::fs;
use std::path::Path;
use std::process::Command;

const EVENTS: u32 = 5_000;

/// Bytes and calls that this process wrote with so far.
fn written() -> (f64, f64) {
    let text = fs::read_to_string("/proc/self/io").unwrap();
    let field = |name: &str| -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().trim().parse().unwrap()
    };
    (field("wchar:"), field("syscw:"))
}

async fn of_session(rig: &Rig, program: &Path) -> (f64, f64) {
    let before = written();
    rig.session(program, None).await.unwrap();
    let after = written();
    (after.0 - before.0, after.1 - before.1)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_is_written_with_as_few_bytes_and_calls_as_before() {
    let rig = Rig::new(&Parts {
        repository: built::repository(),
        akbench: built::akbench(),
        adapters: built::adapter("fake.wasm").parent().unwrap().to_owned(),
    })
    .unwrap();
    let none = program::talkative(rig.folder(), 0).unwrap();
    let many = program::talkative(rig.folder(), EVENTS).unwrap();
    // What is made once for all sessions does not count.
    of_session(&rig, &none).await;
    let few = of_session(&rig, &none).await;
    let all = of_session(&rig, &many).await;
    let each = |all: f64, few: f64| (all - few) / f64::from(EVENTS);
    let results = [
        baseline::check("written_bytes_per_run", few.0, 0.15),
        baseline::check("written_bytes_per_event", each(all.0, few.0), 0.05),
        baseline::check("writes_per_event", each(all.1, few.1), 0.10),
    ];
    let problems: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Why calls can't be counted here; `None` if they can.
fn no_strace(test: &str) -> Option<String> {
    let tried = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "true"])
        .output();
    let problem = match tried {
        Ok(output) if output.status.success() => return None,
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    Some(format!("{test}: skipped: needs strace: {problem}"))
}

#[test]
fn a_run_waits_for_the_disk_as_seldom_as_before() {
    if let Some(skipped) = no_strace("a_run_waits_for_the_disk_as_seldom_as_before") {
        eprintln!("{skipped}");
        return;
    }
    let scene = Scene::new();
    let agent = program::trivial(&scene.path("")).unwrap();
    let run = |scene: &Scene| {
        let mut command = scene.akbench(["run", "--quiet", "--confine", "off", "--out", "runs"]);
        command.args(["--workspace", "workspace", "--task-file", "task.txt"]);
        command.arg("--adapter").arg(built::adapter("fake.wasm"));
        command
            .arg("--program")
            .arg(format!("agent={}", agent.display()));
        command
    };
    // The component is compiled once, which is kept durably too.
    let first = run(&scene).output().unwrap();
    assert!(
        first.status.success(),
        "{}",
        String::from_utf8_lossy(&first.stderr)
    );
    let told = scene.path("calls");
    let like = run(&scene);
    let mut traced = Command::new("strace");
    traced
        .args([
            "-f",
            "-qq",
            "-e",
            "trace=fsync,fdatasync,syncfs,sync,sync_file_range,msync",
            "-o",
        ])
        .arg(&told)
        .arg(like.get_program())
        .args(like.get_args())
        .current_dir(like.get_current_dir().unwrap())
        .env_clear();
    for (name, value) in like.get_envs() {
        if let Some(value) = value {
            traced.env(name, value);
        }
    }
    let second = traced.output().unwrap();
    assert!(
        second.status.success(),
        "{}",
        String::from_utf8_lossy(&second.stderr)
    );
    let calls = fs::read_to_string(told).unwrap();
    let syncs = calls.lines().filter(|line| line.contains("sync")).count();
    #[allow(clippy::cast_precision_loss)] // A handful.
    let syncs = syncs as f64;
    baseline::check("syncs_per_run", syncs, 0.0).unwrap_or_else(|p| panic!("{p}\n{calls}"));
}
