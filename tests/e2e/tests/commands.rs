//! The commands around a run: where things are, what an adapter may do, whether an agent can
//! run here, and what a kept run rests on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use akbench_e2e::built;
use akbench_e2e::installed::{Installed, recorded_session};
use akbench_e2e::scene::{Ran, Scene};
use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::Stdio;

fn json_of(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| {
        panic!(
            "stdout is no JSON ({error}): {}\n{}",
            ran.stdout, ran.stderr
        )
    })
}

fn texts(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect()
}

/// A run of the recorded session; its folder.
fn finished_run(scene: &Scene, installed: &Installed) -> PathBuf {
    recorded_session(scene);
    let ran = scene.run(&mut installed.akbench([
        "agent",
        "run",
        "codex",
        "--workspace",
        "workspace",
        "--task-file",
        "task.txt",
        "--json",
    ]));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    scene.run_folder(&ran.result())
}

#[test]
fn paths_lists_the_sources_of_descriptors_in_the_order_in_which_they_win() {
    let scene = Scene::new();
    let installed = Installed::new(&scene);
    let data = scene.path("host-home/.local/share/akbench");
    fs::create_dir_all(&data).unwrap();
    fs::create_dir(scene.path("mine")).unwrap();
    let ran = scene.run(&mut installed.akbench(["paths", "--json", "--descriptors", "mine"]));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let paths = json_of(&ran);
    assert_eq!(paths["share"], json!(scene.path("share/akbench")));
    assert_eq!(paths["data"], json!(data));
    assert!(paths["runs"].as_str().unwrap().ends_with("/runs"));
    let sources = paths["descriptor_sources"].as_array().unwrap();
    let names: Vec<_> = sources
        .iter()
        .map(|source| source["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["built-in", "user", "--descriptors"]);

    let page = scene.run(&mut installed.akbench(["paths"])).stdout;
    assert!(page.contains("runs (does not exist yet)"), "{page}");
}

#[test]
fn inspecting_an_adapter_says_what_it_may_start_and_that_it_has_no_network() {
    let scene = Scene::new();
    let installed = Installed::new(&scene);
    let ran = scene.run(&mut installed.akbench(["adapter", "inspect", "codex.wasm", "--json"]));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let inspection = json_of(&ran);
    assert_eq!(inspection["contract"], "akbench:agent@0.1.0");
    assert_eq!(
        inspection["catalog"],
        json!({"adapter": "codex_cli", "pinned": true})
    );
    assert_eq!(texts(&inspection["descriptor"]["programs"]), ["codex"]);
    assert_eq!(inspection["descriptor"]["home_variable"], "CODEX_HOME");
    assert_eq!(inspection["attestation"], Value::Null);
    let bytes = fs::metadata(installed.path("adapters/codex.wasm"))
        .unwrap()
        .len();
    assert_eq!(inspection["bytes"], bytes);
    let imports = inspection["imports"].as_array().unwrap();
    let granted: Vec<_> = imports
        .iter()
        .filter(|import| import["granted"] == true)
        .map(|import| import["import"].as_str().unwrap())
        .collect();
    assert!(
        granted.contains(&"akbench:agent/process@0.1.0"),
        "{granted:?}"
    );
    assert!(
        !granted
            .iter()
            .any(|name| name.contains("sockets") || name.contains("http"))
    );

    let page = scene
        .run(&mut installed.akbench(["adapter", "inspect", "codex.wasm"]))
        .stdout;
    assert!(
        page.contains("this adapter acts with the authority of: codex"),
        "{page}"
    );
}

#[test]
fn an_adapter_without_a_descriptor_can_start_nothing_and_inspecting_says_so() {
    let scene = Scene::new();
    let installed = Installed::new(&scene);
    fs::copy(
        installed.path("adapters/codex.wasm"),
        scene.path("other.wasm"),
    )
    .unwrap();
    let page = scene.run(&mut installed.akbench(["adapter", "inspect", "./other.wasm"]));
    assert_eq!(page.code, 0, "{}", page.stderr);
    assert!(page.stdout.contains("can start nothing"), "{}", page.stdout);
    let descriptor = installed.path("descriptors/agents/codex.json");
    let mut command = installed.akbench(["adapter", "inspect", "./other.wasm", "--descriptor"]);
    let page = scene.run(command.arg(descriptor)).stdout;
    assert!(page.contains("the authority of: codex"), "{page}");

    scene.write("text.wasm", "hello");
    let refused = scene.run(&mut installed.akbench(["adapter", "inspect", "./text.wasm"]));
    assert_eq!(refused.code, 2);
    assert!(
        refused
            .stderr
            .contains("is a text file, not a WebAssembly component")
    );
    assert_eq!(refused.stdout, "");
}

#[test]
fn showing_an_agent_lists_what_a_run_may_set_and_what_is_unsupported() {
    let scene = Scene::new();
    let installed = Installed::new(&scene);
    let ran = scene.run(&mut installed.akbench(["agent", "show", "codex@1"]));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for part in [
        "one of `read-only`, `workspace-write`, `danger-full-access`",
        "cost_usage        unsupported  Codex reports no cost",
        "not found",
    ] {
        assert!(ran.stdout.contains(part), "{part} in\n{}", ran.stdout);
    }
    let ran = scene.run(&mut installed.akbench(["agent", "show", "codex", "--json"]));
    let shown = json_of(&ran);
    assert_eq!(shown["descriptor"]["id"], "codex");
    assert_eq!(shown["component"]["component"], "codex.wasm");

    let unknown = scene.run(&mut installed.akbench(["agent", "show", "codexx"]));
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.stderr.contains("did you mean `codex`?"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn a_reader_that_closes_the_pipe_early_causes_no_panic() {
    let scene = Scene::new();
    let installed = Installed::new(&scene);
    let mut child = installed
        .akbench(["agent", "show", "codex"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(stderr, "");
}

/// The stub as an agent that leaves a mark when it is probed, and another when it works.
fn marking_stub(scene: &Scene, version: &str, sandbox_exit: i32) {
    let mark = |name: &str| json!({"write_file": {"path": scene.path(name), "text": ""}});
    let version = format!("codex-cli {version}\n");
    scene.stub(
        "codex",
        &json!({"cases": [
            {"when": {"args_start": ["--version"]}, "steps": [mark("probed"), {"stdout": {"text": version}}]},
            {"when": {"args_start": ["sandbox"]}, "steps": [{"stderr": {"text": "no namespaces\n"}}, {"exit": sandbox_exit}]},
            {"steps": [mark("worked")]},
        ]}),
    );
}

#[test]
fn checking_an_agent_probes_its_program_and_starts_no_work() {
    let scene = Scene::new();
    let installed = Installed::new(&scene);
    marking_stub(&scene, "0.171.0", 0);
    let mut command = installed.akbench(["agent", "check", "codex", "--json", "--confine", "off"]);
    let ran = scene.run(&mut command);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let report = json_of(&ran);
    assert_eq!(report["ready"], true);
    assert_eq!(report["agent"]["program"]["version"], "0.171.0");
    assert_eq!(report["standing"], "supported");
    assert_eq!(report["runtime"]["name"], "llm-router");
    assert_eq!(report["failure"], Value::Null);
    assert!(scene.path("probed").exists());
    assert!(!scene.path("worked").exists());
    assert!(!scene.path("runs").exists());
}

#[test]
fn checking_an_agent_names_what_stands_in_the_way() {
    let scene = Scene::new();
    let installed = Installed::new(&scene);
    let check = |more: &[&str]| {
        let mut command = installed.akbench(["agent", "check", "codex", "--json"]);
        let ran = scene.run(command.args(["--confine", "off"]).args(more));
        assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
        json_of(&ran)
    };
    let missing = check(&["--param", "sandbox_mode=none"]);
    let problems = texts(&missing["problems"]).join("\n");
    for part in ["program `codex` was not found", "parameter `sandbox_mode`"] {
        assert!(problems.contains(part), "{part} in\n{problems}");
    }

    marking_stub(&scene, "0.171.0", 1);
    let broken = check(&[]);
    assert_eq!(broken["failure"]["class"], "sandbox_unavailable");
    assert_eq!(broken["failure"]["fault"], "infrastructure");

    marking_stub(&scene, "0.42.0", 0);
    let old = check(&[]);
    assert_eq!(old["failure"]["class"], "environment_invalid");
    assert!(!scene.path("worked").exists());
}

#[test]
fn checking_without_a_credential_says_which_variable_is_missing() {
    let scene = Scene::new();
    let installed = Installed::new(&scene);
    marking_stub(&scene, "0.171.0", 0);
    let mut command = installed.akbench(["agent", "check", "codex"]);
    let ran = scene.run(command.env_remove("AKBENCH_LLM_ROUTER_KEY"));
    assert_eq!(ran.code, 3);
    assert!(
        ran.stdout.contains("codex@1.0.0 can't run here"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("AKBENCH_LLM_ROUTER_KEY"),
        "{}",
        ran.stdout
    );
    assert!(!scene.path("probed").exists());
}

#[test]
fn a_component_that_is_not_the_catalogs_is_refused_before_anything_runs() {
    let scene = Scene::new();
    let installed = Installed::new(&scene);
    recorded_session(&scene);
    installed.pin(&json!("0".repeat(64)));
    let runs: [&[&str]; 2] = [
        &["agent", "run", "codex"],
        &["run", "--adapter", "codex.wasm"],
    ];
    for run in runs {
        let mut command = installed.akbench(run);
        command.args(["--workspace", "workspace", "--task-file", "task.txt"]);
        let ran = scene.run(&mut command);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains(&"0".repeat(64)), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("was exchanged or damaged"),
            "{}",
            ran.stderr
        );
    }
    let check = scene.run(&mut installed.akbench(["agent", "check", "codex"]));
    assert_eq!(check.code, 2);
    // Two refusals were kept, nothing else.
    for run in akbench_e2e::record::runs(&scene.path("runs")) {
        let result = fs::read(run.join("result.json")).unwrap();
        let result: Value = serde_json::from_slice(&result).unwrap();
        assert_eq!(result["status"], "refused");
        assert_eq!(result["agent"]["component_sha256"], Value::Null);
    }

    installed.pin(&Value::Null);
    finished_run(&scene, &installed);
}

#[test]
fn a_finished_run_is_listed_and_shown_with_what_was_asked_and_what_happened() {
    let scene = Scene::new();
    let installed = Installed::new(&scene);
    let folder = finished_run(&scene, &installed);
    let id = folder.file_name().unwrap().to_str().unwrap();

    let listed = json_of(&scene.run(&mut installed.akbench(["runs", "list", "--json"])));
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(listed[0]["run_id"], id);
    assert_eq!(listed[0]["status"], "completed");
    assert_eq!(listed[0]["total_tokens"], 2170);
    let table = scene.run(&mut installed.akbench(["runs", "list"])).stdout;
    assert!(table.contains(id) && table.contains("2170"), "{table}");

    let page = scene
        .run(&mut installed.akbench(["runs", "show", &id[..20]]))
        .stdout;
    for part in [
        "codex 1.0.0 through codex_cli (akbench:agent@0.1.0)",
        "workspace-write",
        "2100 in (900 cached), 70 out (0 reasoning), 2170 total",
        "exec_command",
        "message: Wrote out.txt.",
        "1 file changed",
    ] {
        assert!(page.contains(part), "{part} in\n{page}");
    }
    let shown = json_of(&scene.run(&mut installed.akbench(["runs", "show", "--json"])));
    let stored: Value =
        serde_json::from_slice(&fs::read(folder.join("result.json")).unwrap()).unwrap();
    assert_eq!(shown, stored);
}

#[test]
fn a_failed_run_is_shown_with_its_fault_and_its_evidence() {
    let scene = Scene::new();
    let installed = Installed::new(&scene);
    marking_stub(&scene, "0.171.0", 1);
    let mut command = installed.akbench(["agent", "run", "codex", "--quiet", "--confine", "off"]);
    command.args(["--workspace", "workspace", "--task-file", "task.txt"]);
    assert_eq!(scene.run(&mut command).code, 3);
    let page = scene.run(&mut installed.akbench(["runs", "show"])).stdout;
    for part in [
        "sandbox_unavailable in phase validate, fault: infrastructure",
        "stderr: no namespaces",
    ] {
        assert!(page.contains(part), "{part} in\n{page}");
    }
    let table = scene.run(&mut installed.akbench(["runs", "list"])).stdout;
    assert!(
        table.contains("sandbox_unavailable (infrastructure)"),
        "{table}"
    );
}

#[test]
fn runs_that_are_not_there_or_not_named_clearly_are_errors_of_usage() {
    let scene = Scene::new();
    let installed = Installed::new(&scene);
    let refused = |args: &[&str], says: &str| {
        let ran = scene.run(&mut installed.akbench(args));
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.stdout);
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    };
    refused(&["runs", "list"], "can't be read");
    scene.write("runs/01aa/plan.json", "{}");
    scene.write("runs/01ab/plan.json", "{}");
    refused(
        &["runs", "show", "01a"],
        "the beginning of 2 runs: 01aa, 01ab",
    );
    refused(&["runs", "show", "02"], "there is no run `02`");
    refused(&["runs", "show", "01aa"], "has no result");
    scene.write("runs/01aa/result.json", "{\"schema\":");
    refused(&["runs", "show", "01aa"], "can't be read");
    let table = scene.run(&mut installed.akbench(["runs", "list"])).stdout;
    assert!(
        table.contains("unreadable") && table.contains("dead"),
        "{table}"
    );
}

#[test]
fn verifying_finds_every_file_that_was_changed_removed_or_added() {
    let scene = Scene::new();
    let installed = Installed::new(&scene);
    let folder = finished_run(&scene, &installed);
    let verify = |code: i32| {
        let ran = scene.run(&mut installed.akbench(["runs", "verify", "--json"]));
        assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
        json_of(&ran)[0].clone()
    };
    let intact = verify(0);
    assert_eq!(intact["intact"], true);
    assert!(intact["artifacts"].as_u64().unwrap() > 10);

    let evidence = folder.join("artifacts/evidence");
    let task = fs::read_dir(evidence.join("spawns"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().ends_with("task"))
        .expect("the agent's own program was recorded");
    let mut stdout = fs::read(task.join("stdout")).unwrap();
    stdout[0] ^= 1;
    fs::write(task.join("stdout"), stdout).unwrap();
    fs::remove_file(task.join("stderr")).unwrap();
    fs::write(evidence.join("extra"), "").unwrap();
    let damaged = verify(3);
    let mut found: Vec<(&str, &str)> = damaged["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|difference| {
            let path = difference["path"].as_str().unwrap();
            let name = path.rsplit('/').next().unwrap();
            (difference["kind"].as_str().unwrap(), name)
        })
        .collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("added", "extra"),
            ("changed", "stdout"),
            ("missing", "stderr")
        ]
    );

    fs::write(folder.join("workspace.diff"), "").unwrap();
    let differences = verify(3)["differences"].to_string();
    assert!(differences.contains("diff_changed"), "{differences}");

    // A run without a result is no damage, unless it is the one that was asked about.
    fs::remove_dir_all(&folder).unwrap();
    scene.write("runs/01aa/plan.json", "{}");
    assert_eq!(verify(0)["differences"][0]["kind"], "dead");
    let named = scene.run(&mut installed.akbench(["runs", "verify", "01aa"]));
    assert_eq!(named.code, 3, "{}", named.stdout);
}

#[test]
fn the_real_cli_is_checked_with_its_own_sandbox_and_without_an_endpoint() {
    let Some(program) = built::real_cli("commands") else {
        return;
    };
    let scene = Scene::new();
    let installed = Installed::new(&scene);
    let mut command = installed.akbench(["agent", "check", "codex", "--json", "--program"]);
    let ran = scene.run(command.arg(format!("codex={}", program.display())));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let report = json_of(&ran);
    assert_eq!(report["ready"], true);
    assert!(report["agent"]["program"]["version"].is_string());
    assert!(report["agent"]["program"]["sha256"].is_string());
}
