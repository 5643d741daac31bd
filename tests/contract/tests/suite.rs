//! The suite on adapters that behave, its reports, and what its verdict is worth.
#![allow(clippy::expect_used, clippy::panic)]

use akbench_contract::{Bench, Verdict, edit};
use akbench_e2e::built;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn suite_of(adapter: &str) -> String {
    let folder = built::repository()
        .join("adapters")
        .join(adapter)
        .join("suite");
    folder.display().to_string()
}

fn assert_passed(verdict: &Verdict) {
    assert_eq!(
        (verdict.code, verdict.failed()),
        (0, Vec::new()),
        "{}",
        verdict.stderr
    );
}

#[test]
fn the_fake_adapter_passes_every_case() {
    let verdict = Bench::new().test("fake.wasm", &["--stub", &suite_of("fake")]);
    assert_passed(&verdict);
    assert_eq!(verdict.report["rung"], "fixture_conformant");
    let skipped = verdict.cases("not_applicable");
    assert!(
        skipped.iter().all(|(_, reason)| !reason.is_empty()),
        "{skipped:?}"
    );
}

#[test]
fn the_production_adapter_passes_on_recordings_of_its_cli() {
    let verdict = Bench::new().test("codex.wasm", &["--stub", &suite_of("codex")]);
    assert_passed(&verdict);
    assert_eq!(verdict.report["rung"], "fixture_conformant");
    assert!(verdict.cases("passed").len() > 80, "{}", verdict.stderr);
}

#[test]
fn a_simulated_agent_passes_without_recordings() {
    let descriptor = built::repository().join("adapters/fake/simulated.json");
    let descriptor = descriptor.display().to_string();
    let verdict = Bench::new().test("fake.wasm", &["--descriptor", &descriptor]);
    assert_passed(&verdict);
    let passed = verdict.cases("passed");
    assert!(
        passed
            .iter()
            .any(|(name, _)| name == "replay.completed_work"),
        "{passed:?}"
    );
}

#[test]
fn waiting_cases_run_at_the_same_time() {
    let verdict = Bench::new().test("fake.wasm", &["--stub", &suite_of("fake")]);
    let report = &verdict.report;
    let milliseconds = |value: &Value| value.as_u64().expect("a duration");
    let cases = report["cases"].as_array().expect("cases");
    let durations = cases.iter().map(|case| milliseconds(&case["duration_ms"]));
    let sum: u64 = durations.sum();
    let all = milliseconds(&report["duration_ms"]);
    assert!(all * 2 < sum, "{all} ms for cases of {sum} ms together");
    // What may take time is the longest case, and computing.
    let longest = milliseconds(&report["longest_case_ms"]);
    let processors = milliseconds(&report["cpu_ms"]);
    assert!(
        all < 3 * longest + processors,
        "{all} ms, the longest case {longest} ms, processors {processors} ms"
    );
    let printed = format!("in {all} ms (longest case {longest} ms, processors {processors} ms)");
    assert!(verdict.stderr.contains(&printed), "{}", verdict.stderr);
}

#[test]
fn without_recordings_an_adapter_is_only_implemented() {
    let bench = Bench::new();
    let verdict = bench.test("fake.wasm", &[]);
    assert_passed(&verdict);
    assert_eq!(verdict.report["rung"], "implemented");
    let skipped = verdict.cases("not_applicable");
    assert!(
        skipped
            .iter()
            .any(|(_, reason)| reason.contains("--stub FOLDER")),
        "{skipped:?}"
    );
}

#[test]
fn a_folder_that_is_incomplete_names_the_file_and_the_fix() {
    let bench = Bench::new();
    let recordings = bench.recordings(&json!({}));
    edit(&recordings.join("suite.json"), |suite| {
        suite["scenarios"]
            .as_object_mut()
            .expect("scenarios")
            .remove("interrupted");
    });
    fs::remove_file(recordings.join("completes/expect.json")).expect("removed");
    fs::remove_file(recordings.join("fails/scenario.json")).expect("removed");
    let verdict = bench.test("fake.wasm", &["--stub", &recordings.display().to_string()]);
    assert_eq!(verdict.code, 2, "{}", verdict.stderr);
    for part in [
        "suite.json` names no scenario `interrupted`, but the descriptor calls `cancellation`",
        "completes/expect.json` can't be read",
        "fails/scenario.json` can't be read",
    ] {
        assert!(
            verdict.stderr.contains(part),
            "no `{part}` in {}",
            verdict.stderr
        );
    }
}

#[test]
fn a_component_without_the_world_is_refused_by_name() {
    let bench = Bench::new();
    fs::write(bench.path("empty.wasm"), b"\0asm\x0d\0\x01\0").expect("written");
    let mut command = bench.akbench();
    command.args(["adapter", "test", "empty.wasm", "--descriptor"]);
    command.arg(built::repository().join("descriptors/agents/fake.json"));
    let output = command.output().expect("akbench starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    for part in ["empty.wasm", "akbench:agent"] {
        assert!(stderr.contains(part), "no `{part}` in {stderr}");
    }
}

#[test]
fn a_descriptor_of_another_adapter_is_refused_by_name() {
    let bench = Bench::new();
    bench.install("fake", "fake", "fake.wasm");
    let descriptor = built::repository().join("descriptors/agents/codex.json");
    let mut command = bench.installed();
    command.args(["adapter", "test", "fake.wasm", "--descriptor"]);
    let output = command.arg(descriptor).output().expect("akbench starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    for part in [
        "codex.json` is for the adapter `codex_cli`",
        "adapters/fake.wasm` is the adapter `fake`",
        "--descriptor",
    ] {
        assert!(stderr.contains(part), "no `{part}` in {stderr}");
    }
}

#[test]
fn a_descriptor_that_is_none_is_refused_by_file_and_place() {
    let bench = Bench::new();
    let descriptor = bench.path("descriptor.json");
    fs::copy(
        built::repository().join("descriptors/agents/fake.json"),
        &descriptor,
    )
    .expect("copied");
    edit(&descriptor, |descriptor| {
        descriptor["capabilities"]["turns"]["support"] = json!("perhaps");
    });
    let verdict = bench.test(
        "fake.wasm",
        &["--descriptor", &descriptor.display().to_string()],
    );
    assert_eq!(verdict.code, 2, "{}", verdict.stderr);
    for part in ["descriptor.json", "/capabilities/turns/support", "perhaps"] {
        assert!(
            verdict.stderr.contains(part),
            "no `{part}` in {}",
            verdict.stderr
        );
    }
}

#[test]
fn the_junit_report_names_every_case() {
    let bench = Bench::new();
    let junit = bench.path("report.xml");
    let verdict = bench.test(
        "fake.wasm",
        &[
            "--stub",
            &suite_of("fake"),
            "--only",
            "status",
            "--junit",
            &junit.display().to_string(),
        ],
    );
    assert_passed(&verdict);
    let xml = fs::read_to_string(junit).expect("written");
    assert!(
        xml.contains("<testcase classname=\"status\" name=\"cancelled\""),
        "{xml}"
    );
    assert!(xml.contains("failures=\"0\""), "{xml}");
}

/// Installs a stub as the fake adapter's program and runs it through `akbench agent run`.
fn run_fake(bench: &Bench) -> Value {
    let program = bench.path("programs/agent");
    let scenario = bench.path("programs/agent.scenario");
    if !program.exists() {
        fs::create_dir_all(&scenario).expect("a folder");
        for file in ["scenario.json", "stdout.jsonl"] {
            let from = Path::new(&suite_of("fake")).join("completes").join(file);
            fs::copy(from, scenario.join(file)).expect("copied");
        }
        fs::copy(built::stub_cli(), &program).expect("copied");
        fs::create_dir(bench.path("workspace")).expect("a folder");
        fs::write(bench.path("task.txt"), "Write hi to out.txt.\n").expect("written");
    }
    let mut command = bench.installed();
    command
        .args(["agent", "run", "fake", "--json", "--quiet"])
        .args(["--workspace", "workspace", "--task-file", "task.txt"])
        .arg("--program")
        .arg(format!("agent={}", program.display()));
    let output = command.output().expect("akbench starts");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn invalid_reasons(result: &Value) -> Vec<String> {
    serde_json::from_value(result["invalid_reasons"].clone()).expect("a list")
}

#[test]
fn a_run_is_valid_only_with_an_adapter_that_passed() {
    let bench = Bench::new();
    bench.install("fake", "fake", "fake.wasm");
    let before = run_fake(&bench);
    assert_eq!(invalid_reasons(&before), ["contract_suite_not_run"]);
    assert_eq!(before["valid"], false);

    let verdict = bench.test("fake.wasm", &["--stub", &suite_of("fake")]);
    assert_passed(&verdict);
    let after = run_fake(&bench);
    assert_eq!(
        (&after["valid"], invalid_reasons(&after)),
        (&json!(true), Vec::new())
    );

    let listed = bench
        .installed()
        .args(["agent", "list"])
        .output()
        .expect("akbench starts");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("fixture-conformant"), "{listed}");

    // One byte of the descriptor, and it is another agent.
    edit(
        &bench.path("share/descriptors/agents/fake.json"),
        |descriptor| {
            descriptor["name"] = json!("Changed");
        },
    );
    assert_eq!(
        invalid_reasons(&run_fake(&bench)),
        ["contract_suite_not_run"]
    );
}

#[test]
fn a_run_with_an_adapter_that_failed_says_so() {
    let bench = Bench::new();
    bench.install("fake", "fake", "fake.wasm");
    let recordings = bench.recordings(&json!({}));
    edit(&recordings.join("completes/expect.json"), |expect| {
        expect["final_message"] = json!("something else");
    });
    let verdict = bench.test("fake.wasm", &["--stub", &recordings.display().to_string()]);
    assert_eq!(verdict.code, 4, "{}", verdict.stderr);
    assert!(verdict.failed().contains(&"observations.match".to_owned()));
    assert_eq!(
        invalid_reasons(&run_fake(&bench)),
        ["contract_suite_failed"]
    );
}

#[test]
fn a_part_of_the_cases_attests_nothing() {
    let bench = Bench::new();
    bench.install("fake", "fake", "fake.wasm");
    let verdict = bench.test(
        "fake.wasm",
        &["--stub", &suite_of("fake"), "--only", "status"],
    );
    assert_passed(&verdict);
    assert_eq!(
        invalid_reasons(&run_fake(&bench)),
        ["contract_suite_not_run"]
    );
}
