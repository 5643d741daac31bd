//! Every limit is hit by a program that takes more, with control groups and without.

use super::system::{Lack, cgroups_can_be_written};
use super::{Run, program};
use akbench_e2e::record::assert_fits;
use akbench_e2e::scene::Scene;
use serde_json::{Value, json};
use std::fs;

/// Both ways to enforce a limit, as far as this machine has them, and what the result calls
/// them.
fn ways(controller: &str) -> Vec<(Lack, &'static str)> {
    let mut ways = vec![
        (Lack::WritableCgroups, "census"),
        (Lack::BubblewrapAndCgroups, "census"),
    ];
    if cgroups_can_be_written(controller) {
        ways.push((Lack::Nothing, "cgroup-v1"));
    }
    ways
}

#[test]
fn a_tree_that_takes_too_much_memory_is_ended() {
    for (lack, by) in ways("memory") {
        let work = "(head -c 400M /dev/zero; sleep 60) | tail -n 1 > /dev/null";
        let run = Run::of(work, lack, &["--limit", "memory=100MiB"]);
        assert_eq!(
            run.verdict(),
            json!(["failed", "out_of_memory", "infrastructure", 3]),
            "{lack:?}: {:#}",
            run.result
        );
        let limit = run.limit("memory_bytes");
        assert_eq!(limit["limit"], 100 << 20);
        assert_eq!(limit["enforced_by"], by);
        assert_eq!(limit["hit"], true);
        let measured = limit["measured"].as_u64().expect("a measurement");
        assert!(measured > 90 << 20, "{measured}");
        let evidence = &run.result["failure"]["evidence"];
        assert_eq!(evidence["resource"], "memory_bytes");
        assert_eq!(evidence["limit"], 100 << 20);
        // Why nothing stronger was used is said, and only then.
        assert_eq!(limit["note"].is_string(), by == "census", "{limit}");
    }
}

#[test]
fn a_tree_with_too_many_processes_is_ended() {
    for (lack, by) in ways("pids") {
        // Never an unbounded bomb here: if nobody stops it, the test has to fail and the machine
        // must not. A burst of more than the limit proves the same.
        let work = "i=0; while [ $i -lt 400 ]; do sleep 60 & i=$((i+1)); done; wait";
        let run = Run::of(work, lack, &["--limit", "processes=200"]);
        assert_eq!(
            run.verdict(),
            json!(["failed", "agent_limit", "agent", 1]),
            "{lack:?}: {:#}",
            run.result
        );
        let limit = run.limit("processes");
        assert_eq!(limit["enforced_by"], by);
        assert_eq!(limit["hit"], true);
        if by != "census" {
            let measured = limit["measured"].as_u64().expect("a measurement");
            assert!(measured <= 200, "{measured}");
        }
        println!("{by}: {} processes at most", limit["measured"]);
    }
}

#[test]
fn computing_time_is_summed_over_the_tree_and_its_dead() {
    for (lack, by) in ways("cpuacct") {
        // No process takes long, all together do.
        let work = "while :; do bash -c 'for ((i = 0; i < 20000; i++)); do :; done'; done";
        let run = Run::of(work, lack, &["--limit", "cpu_time=500ms"]);
        assert_eq!(
            run.verdict(),
            json!(["failed", "agent_limit", "agent", 1]),
            "{lack:?}: {:#}",
            run.result
        );
        let limit = run.limit("cpu_time_ms");
        assert_eq!(limit["enforced_by"], by);
        assert!(limit["measured"].as_u64() >= Some(500), "{limit}");
        let evidence = &run.result["failure"]["evidence"];
        assert_eq!(evidence["resource"], "cpu_time_ms");
    }
}

#[test]
fn a_tree_whose_files_grow_too_much_is_ended_as_if_the_disk_were_full() {
    // In the workspace, in the home, and in the temporary folder.
    for place in [".", "$CODEX_HOME", "$TMPDIR"] {
        let work = format!("head -c 3M /dev/zero > {place}/grown; sleep 60");
        let run = Run::of(&work, Lack::Nothing, &["--limit", "disk=2MiB"]);
        assert_eq!(
            run.verdict(),
            json!(["failed", "disk_full", "infrastructure", 3]),
            "{:#}",
            run.result
        );
        let limit = run.limit("disk_bytes");
        assert_eq!(limit["enforced_by"], "walk");
        assert_eq!(limit["hit"], true);
        assert!(limit["measured"].as_u64() > Some(2 << 20), "{limit}");
    }
}

#[test]
fn what_is_there_before_the_agent_is_no_growth() {
    let scene = Scene::new();
    scene.write("workspace/big", vec![b'x'; 4 << 20]);
    let program = program(&scene, "head -c 100k /dev/zero > small");
    let ran = scene.run(&mut scene.run_command(&program, &["--limit", "disk=1MiB"]));
    let result = ran.result();
    assert_eq!(result["status"], "completed", "{}", ran.stderr);
    let limit = &result["confinement"]["limits"]["disk_bytes"];
    assert_eq!(limit["hit"], false);
    let grown = limit["measured"].as_u64().expect("a measurement");
    assert!((100 << 10..1 << 20).contains(&grown), "{grown}");
}

#[test]
fn output_beyond_its_limit_is_not_recorded_and_ends_the_run() {
    let work = "head -c 4M /dev/zero | base64; sleep 60";
    let run = Run::of(work, Lack::Nothing, &["--limit", "output=1MiB"]);
    assert_eq!(
        run.verdict(),
        json!(["failed", "output_limit_exceeded", "agent", 1]),
        "{:#}",
        run.result
    );
    let limit = run.limit("output_bytes");
    assert_eq!(limit["enforced_by"], "recorder");
    assert_eq!(limit["measured"], 1 << 20);
    let artifacts = run.result["artifacts"].as_array().expect("artifacts");
    let recorded = artifacts.iter().filter_map(|artifact| {
        let path = artifact["path"].as_str()?;
        let stream = path.ends_with("/stdout") || path.ends_with("/stderr");
        stream.then(|| artifact["bytes"].as_u64())?
    });
    assert_eq!(recorded.sum::<u64>(), 1 << 20);
}

#[test]
fn each_process_has_its_open_files_limited() {
    let work = "ulimit -Sn > files.txt; ulimit -Hn >> files.txt; bash -c 'ulimit -n' >> files.txt";
    let run = Run::of(work, Lack::Nothing, &["--limit", "open_files=100"]);
    assert_eq!(run.verdict(), json!(["completed", null, null, 0]));
    assert_eq!(run.left("files.txt"), "100\n100\n100\n");
    let limit = run.limit("open_files");
    assert_eq!(limit["enforced_by"], "rlimit");
    // Programs are told, and nobody else.
    assert_eq!(limit["hit"], json!(null));
}

#[test]
fn a_descriptor_sets_limits_and_the_command_line_wins() {
    let scene = Scene::new();
    let built_in = akbench_e2e::built::repository().join("descriptors/agents/codex.json");
    let text = fs::read(built_in).expect("the built-in descriptor");
    let mut descriptor: Value = serde_json::from_slice(&text).expect("a descriptor");
    descriptor["limits"] = json!({"open_files": 100, "memory_bytes": 1 << 30, "processes": 50});
    scene.write("codex.json", descriptor.to_string());
    let program = program(&scene, "ulimit -n > files.txt");
    let more = [
        "--descriptor",
        "codex.json",
        "--limit",
        "processes=60",
        "--limit",
        "memory=none",
    ];
    let result = scene.run(&mut scene.run_command(&program, &more)).result();
    assert_eq!(result["status"], "completed", "{result:#}");
    let limit = |key: &str| result["confinement"]["limits"][key]["limit"].clone();
    assert_eq!(limit("open_files"), 100);
    assert_eq!(limit("processes"), 60);
    assert_eq!(limit("memory_bytes"), json!(null));
    assert_eq!(limit("disk_bytes"), 16_u64 << 30);
    let folder = scene.run_folder(&result);
    let left = fs::read_to_string(folder.join("workspace/files.txt")).expect("its limit");
    assert_eq!(left, "100\n");
    let plan = fs::read(folder.join("plan.json")).expect("the plan");
    let plan: Value = serde_json::from_slice(&plan).expect("a plan in JSON");
    assert_fits("plan.schema.json", &plan);
    assert_eq!(plan["limits"]["processes"], 60);
}

#[test]
fn limits_that_nobody_asked_for_have_their_defaults_and_none_lifts_them() {
    let run = Run::of("", Lack::Nothing, &[]);
    let limit = |key| run.limit(key)["limit"].clone();
    assert_eq!(limit("cpu_time_ms"), json!(null));
    assert_eq!(limit("memory_bytes"), json!(null));
    assert_eq!(limit("processes"), 4096);
    assert_eq!(limit("open_files"), json!(null));
    assert_eq!(limit("disk_bytes"), 16_u64 << 30);
    assert_eq!(limit("output_bytes"), 4_u64 << 30);
    assert_eq!(run.limit("output_bytes")["hit"], false);

    let run = Run::of("", Lack::Nothing, &["--limit", "disk=none"]);
    let none = json!({
        "limit": null, "enforced_by": null, "note": null, "measured": null, "hit": null,
    });
    assert_eq!(*run.limit("disk_bytes"), none);
}
