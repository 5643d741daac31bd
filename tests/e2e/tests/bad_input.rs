//! Bad input gets a clear error with exit code 2, and nothing is run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use akbench_e2e::record::{assert_fits, runs};
use akbench_e2e::scene::Scene;
use akbench_e2e::shown::shown;
use akbench_e2e::stub_agent;
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the agent's program writes into its folder when it is started at all.
const STARTED: &str = "workspace/started";

fn scene() -> (Scene, PathBuf) {
    let scene = Scene::new();
    let mark = json!({"write_file": {"path": "started", "text": "x"}});
    let program = scene.stub(stub_agent::NAME, &json!({"cases": [{"steps": [mark]}]}));
    (scene, program)
}

/// Runs a command that must be refused; returns what it says. What the planner refuses is kept
/// as a record, which says the same; what is wrong with the command line itself leaves nothing.
fn refusal(scene: &Scene, command: &mut Command) -> String {
    let ran = scene.run(command);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(!scene.path(STARTED).exists(), "the program was started");
    let Some((problems, kept)) = ran.stderr.rsplit_once("refused: nothing was started; `") else {
        assert_eq!(ran.stdout, "");
        assert!(!scene.path("runs").exists(), "the output folder was made");
        return shown(scene, &ran.stderr);
    };
    let result = check_kept(
        scene,
        &ran.stdout,
        Path::new(kept.trim_end().trim_matches('`')),
    );
    let listed = result["failure"]["evidence"]["problems"]
        .as_array()
        .unwrap();
    let told: Vec<String> = listed
        .iter()
        .flat_map(|problem| problem.as_str().unwrap().lines())
        .map(|line| format!("error: {line}"))
        .collect();
    assert_eq!(problems.trim_end(), told.join("\n"));
    shown(scene, problems)
}

/// The record of a refusal: one file, which says that nothing was started or spent.
fn check_kept(scene: &Scene, stdout: &str, file: &Path) -> Value {
    let folders = runs(&scene.path("runs"));
    assert_eq!(folders.len(), 1);
    assert_eq!(files_of(&folders[0]), ["result.json"]);
    let written = fs::read_to_string(file).unwrap();
    assert_eq!(file, folders[0].canonicalize().unwrap().join("result.json"));
    assert_eq!(stdout, written);
    let result: Value = serde_json::from_str(&written).unwrap();
    assert_fits("result.schema.json", &result);
    assert_eq!(result["status"], "refused");
    assert_eq!(result["failure"]["fault"], "configuration");
    assert_eq!(result["failure"]["phase"], "plan");
    assert_eq!(result["valid"], false);
    assert_eq!(result["invalid_reasons"], json!(["refused"]));
    assert_eq!(result["processes"]["spawned"], 0);
    for nothing in [
        "usage",
        "final_message",
        "turns",
        "tool_calls",
        "native_session_id",
    ] {
        assert_eq!(result[nothing], Value::Null, "{nothing}");
    }
    result
}

fn files_of(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A run whose arguments are all right, but for those in `more`.
fn refused(more: &[&str]) -> String {
    let (scene, program) = scene();
    let mut command = scene.run_command(&program, &["--in-place"]);
    command.args(more);
    refusal(&scene, &mut command)
}

/// A run without this argument and its value, with others in its place.
fn refused_with(without: &str, more: &[&str], prepare: impl FnOnce(&Scene)) -> String {
    let (scene, program) = scene();
    prepare(&scene);
    let whole = scene.run_command(&program, &["--in-place"]);
    let mut args: Vec<_> = whole.get_args().map(ToOwned::to_owned).collect();
    if let Some(at) = args.iter().position(|arg| arg == without) {
        args.drain(at..at + 2);
    }
    let mut command = scene.akbench(args);
    command.args(more);
    refusal(&scene, &mut command)
}

#[test]
fn a_program_that_is_started_leaves_its_mark() {
    let (scene, program) = scene();
    let ran = scene.run(&mut scene.run_command(&program, &["--in-place"]));
    assert_ne!(ran.code, 2);
    assert!(scene.path(STARTED).exists(), "{}", ran.stderr);
    assert_eq!(runs(&scene.path("runs")).len(), 1);
}

#[test]
fn a_refusal_is_a_run_that_can_be_listed_shown_and_verified() {
    let (scene, program) = scene();
    let mut command = scene.run_command(&program, &["--require", "cost_usage,multi_turn"]);
    command.args(["--param", "sandbox_mode=none", "--param", "colour=blue"]);
    command.env("AKBENCH_LLM_ROUTER_KEY", "");
    let ran = scene.run(&mut command);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let result = ran.result();
    let problems = result["failure"]["evidence"]["problems"]
        .as_array()
        .unwrap();
    for part in [
        "cost_usage",
        "colour",
        "sandbox_mode",
        "AKBENCH_LLM_ROUTER_KEY",
    ] {
        let named = problems
            .iter()
            .any(|it| it.as_str().unwrap().contains(part));
        assert!(named, "{part} in {problems:#?}");
    }
    assert_eq!(result["agent"]["id"], "codex");
    assert!(result["agent"]["component_sha256"].is_string());
    assert!(result["task"]["instruction_sha256"].is_string());

    let id = result["run_id"].as_str().unwrap();
    let table = scene.run(&mut scene.akbench(["runs", "list"])).stdout;
    let line = table.lines().find(|line| line.contains(id)).unwrap();
    assert!(
        line.contains("refused") && line.contains("invalid_configuration"),
        "{line}"
    );
    let page = scene.run(&mut scene.akbench(["runs", "show", id])).stdout;
    assert!(page.contains(&format!("run {id}: refused")), "{page}");
    assert!(page.contains("colour"), "{page}");
    let verified = scene.run(&mut scene.akbench(["runs", "verify", id]));
    assert_eq!(verified.code, 0, "{}", verified.stdout);
    let recovered = scene.run(&mut scene.akbench(["runs", "recover"]));
    assert_eq!(recovered.stdout, "no run has to be recovered\n");
    let reparsed = scene.run(&mut scene.akbench(["runs", "reparse", id]));
    assert_eq!(reparsed.code, 3);
    assert!(
        reparsed.stdout.contains("it was refused"),
        "{}",
        reparsed.stdout
    );
}

#[test]
fn a_credential_that_was_typed_as_a_parameter_is_not_in_the_refusals_record() {
    let (scene, program) = scene();
    let secret = format!("model={}", akbench_e2e::scene::CREDENTIAL);
    let mut command = scene.run_command(&program, &["--param", &secret, "--param", "colour=1"]);
    let ran = scene.run(&mut command);
    assert_eq!(ran.code, 2);
    let text = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!text.contains(akbench_e2e::scene::CREDENTIAL), "{text}");
}

#[test]
fn a_task_that_there_is_not_is_refused_with_everything_else() {
    let (scene, program) = scene();
    let mut command = scene.akbench(["run", "--json", "--runtime", "nothing", "--task", "nope"]);
    command
        .arg("--adapter")
        .arg(akbench_e2e::built::adapter("codex.wasm"));
    command
        .arg("--program")
        .arg(format!("codex={}", program.display()));
    let told = refusal(&scene, &mut command);
    assert!(
        told.contains("nope") && told.contains("there is no runtime `nothing`"),
        "{told}"
    );
}

#[test]
fn a_workspace_that_is_missing_is_refused() {
    assert_snapshot!(
        refused_with("--workspace", &["--workspace", "nowhere"], |_| {}),
        @"error: the workspace `nowhere` can't be used: No such file or directory (os error 2); `--workspace` expects an existing folder"
    );
}

#[test]
fn a_workspace_that_is_a_file_is_refused() {
    assert_snapshot!(
        refused_with("--workspace", &["--workspace", "task.txt"], |_| {}),
        @"error: the workspace `task.txt` is no folder: `--workspace` expects the folder that the agent is to work in"
    );
}

#[test]
fn a_workspace_and_a_task_have_to_be_named() {
    assert_snapshot!(refused_with("--workspace", &[], |_| {}), @r"
    error: the following required arguments were not provided:
      --workspace <DIR>

    Usage: akbench run --adapter <FILE> --json --runtime <ID> --program <NAME=FILE> --task-file <FILE> --out <DIR> --in-place --workspace <DIR>

    For more information, try '--help'.
    ");
    assert_snapshot!(refused_with("--task-file", &[], |_| {}), @r"
    error: the following required arguments were not provided:
      --task-file <FILE>

    Usage: akbench run --adapter <FILE> --json --runtime <ID> --program <NAME=FILE> --workspace <DIR> --out <DIR> --in-place --task-file <FILE>

    For more information, try '--help'.
    ");
}

fn refused_task(bytes: &[u8]) -> String {
    refused_with("--none", &[], |scene| scene.write("task.txt", bytes))
}

#[test]
fn a_task_file_that_is_missing_is_refused() {
    assert_snapshot!(
        refused_with("--task-file", &["--task-file", "nothing.txt"], |_| {}),
        @"error: the task file `nothing.txt` can't be read: No such file or directory (os error 2); `--task-file` expects a text file"
    );
}

#[test]
fn a_task_file_that_is_a_folder_is_refused() {
    assert_snapshot!(
        refused_with("--task-file", &["--task-file", "workspace"], |_| {}),
        @"error: the task file `workspace` is no regular file: `--task-file` expects a text file"
    );
}

#[test]
fn a_task_file_that_says_nothing_is_refused() {
    assert_snapshot!(refused_task(b""), @"error: the task file `task.txt` is empty: it must say what the agent is to do");
    assert_snapshot!(refused_task(b" \n\t\n"), @"error: the task file `task.txt` is empty: it must say what the agent is to do");
}

#[test]
fn a_task_file_that_is_not_utf8_is_refused() {
    assert_snapshot!(refused_task(b"Write \xff to out.txt\n"), @"error: the task file `task.txt` is not UTF-8: the first bad byte is at offset 6; save it as UTF-8");
}

#[test]
fn a_task_file_over_the_agents_limit_is_refused() {
    assert_snapshot!(refused_task(&[b'x'; 1_048_577]), @"error: the task file `task.txt` has 1048577 characters; agent `codex` takes at most 1048576: shorten it, or put parts of it into files of the workspace");
    // Characters, not bytes: this one has twice as many bytes and is not refused for them.
    let (scene, program) = scene();
    scene.write("task.txt", "ä".repeat(1_048_576));
    let ran = scene.run(&mut scene.run_command(&program, &[]));
    assert_ne!(ran.code, 2, "{}", ran.stderr);
}

#[test]
fn an_unknown_parameter_is_refused_with_those_that_can_be_set() {
    assert_snapshot!(refused(&["--param", "sandbox_mod=read-only"]), @"error: parameter `sandbox_mod` can't be set for this agent; did you mean `sandbox_mode`?; those that can are `model`, `sandbox_mode`, `reasoning_effort`, `reasoning_summary`, `verbosity`, `web_search`, `network_access`, `sub_agents`, `project_doc`, `request_max_retries`, `stream_max_retries`, `stream_idle_timeout_ms`, `context_window`");
    assert_snapshot!(refused(&["--param", "=x", "--param", "model"]), @r"
    error: `=x` is not a parameter: expected `name=value`
    error: `model` is not a parameter: expected `name=value`
    ");
}

#[test]
fn a_parameter_of_the_wrong_type_or_outside_its_values_is_refused() {
    assert_snapshot!(refused(&["--param", "network_access=yes"]), @"error: parameter `network_access`: expected `true` or `false`, found `yes`");
    assert_snapshot!(refused(&["--param", "sandbox_mode=everything"]), @"error: parameter `sandbox_mode`: expected one of `read-only`, `workspace-write`, `danger-full-access`, found `everything`");
    assert_snapshot!(refused(&["--param", "stream_max_retries=101"]), @"error: parameter `stream_max_retries`: expected an integer from 0 to 100, found `101`");
    assert_snapshot!(refused(&["--param", "stream_max_retries=1.5"]), @"error: parameter `stream_max_retries`: expected an integer from 0 to 100, found `1.5`");
    assert_snapshot!(refused(&["--param", "model="]), @"error: parameter `model`: expected a string that is not empty, found ``");
}

#[test]
fn a_parameter_that_is_given_twice_is_refused() {
    assert_snapshot!(
        refused(&["--param", "model=one", "--param", "model=one"]),
        @"error: parameter `model` is given more than once: give it once"
    );
}

#[test]
fn an_unknown_runtime_is_refused_with_those_that_exist() {
    assert_snapshot!(
        refused_with("--runtime", &["--runtime", "llm-ruter"], |_| {}),
        @"error: there is no runtime `llm-ruter`; did you mean `llm-router`?; there are `llm-router@1.0.0`"
    );
    assert_snapshot!(
        refused_with("--runtime", &["--runtime", "llm-router@7"], |_| {}),
        @"error: there is no version `7` of runtime `llm-router`; there are `llm-router@1.0.0`"
    );
}

/// A second runtime beside the built-in one.
fn add_runtime(scene: &Scene, id: &str, wire_api: &str) {
    let runtime = json!({
        "schema": "akbench.runtime/1", "id": id, "version": "1.0.0", "name": "Another one",
        "base_url": {"text": "http://127.0.0.1:9/v1"}, "wire_api": wire_api,
        "credential": null, "default_model": "some-model", "model_environment": null,
    });
    let mut runtime = runtime;
    let object = runtime.as_object_mut().expect("an object");
    object.retain(|_, value| !value.is_null());
    scene.write(
        &format!("more/descriptors/runtimes/{id}.json"),
        runtime.to_string(),
    );
}

#[test]
fn no_runtime_among_several_is_refused_with_those_that_exist() {
    assert_snapshot!(
        refused_with("--runtime", &["--descriptors", "more"], |scene| {
            add_runtime(scene, "other", "responses");
        }),
        @"error: agent `codex` needs a runtime: name one with `--runtime NAME` or the variable AKBENCH_RUNTIME; those configured are `llm-router`, `other`"
    );
}

#[test]
fn a_runtime_of_the_environment_that_does_not_exist_is_refused() {
    let (scene, program) = scene();
    let whole = scene.run_command(&program, &["--in-place"]);
    let args: Vec<_> = whole
        .get_args()
        .filter(|arg| *arg != "--runtime" && *arg != "llm-router")
        .collect();
    let mut command = scene.akbench(args);
    command.env("AKBENCH_RUNTIME", "elsewhere");
    assert_snapshot!(refusal(&scene, &mut command), @"error: AKBENCH_RUNTIME: there is no runtime `elsewhere`; there are `llm-router@1.0.0`");
}

#[test]
fn a_runtime_with_another_wire_api_is_refused() {
    assert_snapshot!(
        refused_with(
            "--runtime",
            &["--descriptors", "more", "--runtime", "other"],
            |scene| add_runtime(scene, "other", "chat"),
        ),
        @"error: runtime `other` speaks `chat`, agent `codex` needs `responses`; choose another with `--runtime`"
    );
}

fn refused_in(change: impl FnOnce(&mut Command)) -> String {
    let (scene, program) = scene();
    let mut command = scene.run_command(&program, &["--in-place"]);
    change(&mut command);
    refusal(&scene, &mut command)
}

#[test]
fn a_credential_that_is_not_set_or_too_short_is_refused() {
    let unset = refused_in(|command| {
        command.env_remove("AKBENCH_LLM_ROUTER_KEY");
    });
    assert_snapshot!(unset, @"error: runtime `llm-router`: the environment variable `AKBENCH_LLM_ROUTER_KEY` is not set: expected the runtime's credential in it");
    let empty = refused_in(|command| {
        command.env("AKBENCH_LLM_ROUTER_KEY", "");
    });
    assert_eq!(empty, unset);
    let short = refused_in(|command| {
        command.env("AKBENCH_LLM_ROUTER_KEY", "hunter2");
    });
    assert!(!short.contains("hunter2"), "{short}");
    assert_snapshot!(short, @"error: runtime `llm-router`: the environment variable `AKBENCH_LLM_ROUTER_KEY` holds a credential of fewer than 8 bytes, which could not be masked in recordings: use a longer one");
    assert_snapshot!(
        refused_in(|command| {
            command.env("AKBENCH_LLM_ROUTER_KEY", "hunter2hunter2\n");
        }),
        @"error: runtime `llm-router`: the environment variable `AKBENCH_LLM_ROUTER_KEY` holds a credential with a line break in it, which could not be masked in recordings: remove the line break"
    );
}

#[test]
fn an_endpoint_that_is_no_url_is_refused() {
    assert_snapshot!(
        refused_in(|command| {
            command.env("AKBENCH_LLM_ROUTER_URL", "router.example:8080");
        }),
        @"error: runtime `llm-router`: the environment variable `AKBENCH_LLM_ROUTER_URL` is `router.example:8080`: expected a URL that starts with http:// or https://"
    );
}

#[test]
fn a_program_that_can_not_be_run_is_refused() {
    assert_snapshot!(
        refused_with("--program", &["--program", "codex=task.txt"], |_| {}),
        @"error: `--program codex=task.txt`: it is not an executable file; expected an executable file"
    );
    assert_snapshot!(
        refused_with("--program", &["--program", "codex=nowhere/codex"], |_| {}),
        @"error: `--program codex=nowhere/codex`: No such file or directory (os error 2); expected an executable file"
    );
    assert_snapshot!(refused(&["--program", "other=task.txt"]), @"error: `--program other=…`: agent `codex` has no such program; it has `codex`");
    assert_snapshot!(refused(&["--program", "codex"]), @r"
    error: invalid value 'codex' for '--program <NAME=FILE>': expected `NAME=FILE`: a program's name in the descriptor, and its file

    For more information, try '--help'.
    ");
    let nowhere = refused_with("--program", &[], |_| {});
    assert_snapshot!(nowhere, @"error: program `codex` was not found; install it or put it in PATH; tried: `codex` is in no folder of PATH; or name its file with `--program codex=FILE`");
}

#[test]
fn a_time_limit_that_leaves_no_time_or_is_no_duration_is_refused() {
    assert_snapshot!(refused(&["--time-limit", "0"]), @r"
    error: invalid value '0' for '--time-limit <DURATION>': a limit of 0 leaves no time to work; expected a duration such as `90s`, `30m` or `1h 30m`

    For more information, try '--help'.
    ");
    assert_snapshot!(refused(&["--time-limit", "0s"]), @r"
    error: invalid value '0s' for '--time-limit <DURATION>': a limit of 0 leaves no time to work; expected a duration such as `90s`, `30m` or `1h 30m`

    For more information, try '--help'.
    ");
    assert_snapshot!(refused(&["--time-limit", "-5m"]), @r"
    error: invalid value '-5m' for '--time-limit <DURATION>': a limit can't be negative; expected a duration such as `90s`, `30m` or `1h 30m`

    For more information, try '--help'.
    ");
    assert_snapshot!(refused(&["--time-limit", "soon"]), @r"
    error: invalid value 'soon' for '--time-limit <DURATION>': expected number at 0; expected a duration such as `90s`, `30m` or `1h 30m`

    For more information, try '--help'.
    ");
    assert_snapshot!(refused(&["--time-limit", "30"]), @r"
    error: invalid value '30' for '--time-limit <DURATION>': the unit is missing; expected a duration such as `90s`, `30m` or `1h 30m`

    For more information, try '--help'.
    ");
    assert_snapshot!(refused(&["--time-limit", ""]), @r"
    error: invalid value '' for '--time-limit <DURATION>': value was empty; expected a duration such as `90s`, `30m` or `1h 30m`

    For more information, try '--help'.
    ");
    assert_snapshot!(refused(&["--time-limit", "9000000000000y"]), @r"
    error: invalid value '9000000000000y' for '--time-limit <DURATION>': number is too large or cannot be represented without a lack of precision (values below 1ns are not supported); expected a duration such as `90s`, `30m` or `1h 30m`

    For more information, try '--help'.
    ");
    assert_snapshot!(refused(&["--time-limit", "500000000000y"]), @r"
    error: invalid value '500000000000y' for '--time-limit <DURATION>': a limit can't be longer than a year; leave it out for none

    For more information, try '--help'.
    ");
    assert_snapshot!(refused(&["--idle-limit", "0ms"]), @r"
    error: invalid value '0ms' for '--idle-limit <DURATION>': a limit of 0 leaves no time to work; expected a duration such as `90s`, `30m` or `1h 30m`

    For more information, try '--help'.
    ");
}

#[test]
fn an_output_folder_that_can_not_be_made_is_refused() {
    assert_snapshot!(
        refused_with("--out", &["--out", "task.txt/runs"], |_| {}),
        @"error: the output folder `task.txt/runs` can't be written to: `[SCENE]/task.txt` is no folder; choose another with `--out`"
    );
    assert_snapshot!(refused_with("--out", &["--out", "task.txt"], |_| {}), @"error: the output folder `task.txt` can't be written to: `[SCENE]/task.txt` is no folder; choose another with `--out`");
    // A file system that nobody can write to, root included.
    assert_snapshot!(refused_with("--out", &["--out", "/proc/runs"], |_| {}), @"error: the output folder `/proc/runs` can't be written to: No such file or directory (os error 2); choose another with `--out`");
}

#[test]
fn an_output_folder_inside_the_workspace_is_refused() {
    let (scene, program) = scene();
    scene.write("workspace/kept.txt", "");
    let whole = scene.run_command(&program, &["--in-place"]);
    let args = whole
        .get_args()
        .filter(|arg| *arg != "--out" && *arg != "runs");
    let mut command = scene.akbench(args);
    command.args(["--out", "workspace/runs"]);
    assert_snapshot!(refusal(&scene, &mut command), @"error: the output folder `workspace/runs` lies inside the workspace `[SCENE]/workspace`: the agent would see and copy its own run; choose another with `--out`");
    assert!(!scene.path("workspace/runs").exists());
}

#[test]
fn a_confinement_that_is_none_is_refused() {
    assert_snapshot!(refused(&["--confine", "maybe"]), @r"
    error: invalid value 'maybe' for '--confine <CONFINE>'
      [possible values: required, best-effort, off]

    For more information, try '--help'.
    ");
    assert_snapshot!(refused(&["--network", "wifi"]), @r"
    error: invalid value 'wifi' for '--network <NETWORK>'
      [possible values: full, endpoint, none]

    For more information, try '--help'.
    ");
    assert_snapshot!(refused(&["--expose", "nowhere"]), @"error: `--expose nowhere`: No such file or directory (os error 2); expected an existing file or folder");
}

#[test]
fn a_limit_that_is_none_is_refused() {
    assert_snapshot!(refused(&["--limit", "ram=4GiB"]), @r"
    error: invalid value 'ram=4GiB' for '--limit <NAME=VALUE>': there is no limit `ram`; the names are cpu_time, memory, processes, open_files, disk, output

    For more information, try '--help'.
    ");
    assert_snapshot!(refused(&["--limit", "memory=lots"]), @r"
    error: invalid value 'memory=lots' for '--limit <NAME=VALUE>': `lots` has no unit that is known; expected a size such as `500MB`, `4GiB` or a number of bytes, or `none`

    For more information, try '--help'.
    ");
    assert_snapshot!(refused(&["--limit", "disk=1GB", "--limit", "disk=2GB"]), @"error: `--limit disk=…` is given more than once; expected one limit for each name");
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let (scene, _) = scene();
    scene.write("broken.wasm", "not a component");
    scene.write("task.txt", "");
    let mut command = scene.akbench([
        "run",
        "--adapter",
        "broken.wasm",
        "--workspace",
        "nowhere",
        "--task-file",
        "task.txt",
        "--runtime",
        "nothing",
        "--param",
        "sandbox_mode=all",
        "--param",
        "colour=blue",
        "--out",
        "task.txt/runs",
        "--program",
        "codex=nowhere",
        "--expose",
        "nowhere/data",
    ]);
    let descriptor = akbench_e2e::built::repository().join("descriptors/agents/codex.json");
    command.arg("--descriptor").arg(descriptor);
    assert_snapshot!(refusal(&scene, &mut command), @r"
    error: the workspace `nowhere` can't be used: No such file or directory (os error 2); `--workspace` expects an existing folder
    error: the task file `task.txt` is empty: it must say what the agent is to do
    error: parameter `colour` can't be set for this agent; those that can are `model`, `sandbox_mode`, `reasoning_effort`, `reasoning_summary`, `verbosity`, `web_search`, `network_access`, `sub_agents`, `project_doc`, `request_max_retries`, `stream_max_retries`, `stream_idle_timeout_ms`, `context_window`
    error: parameter `sandbox_mode`: expected one of `read-only`, `workspace-write`, `danger-full-access`, found `all`
    error: there is no runtime `nothing`; there are `llm-router@1.0.0`
    error: `--program codex=nowhere`: No such file or directory (os error 2); expected an executable file
    error: the adapter `broken.wasm` is a text file, not a WebAssembly component: it must begin with the bytes 00 61 73 6d
    error: `--expose nowhere/data`: No such file or directory (os error 2); expected an existing file or folder
    error: the output folder `task.txt/runs` can't be written to: `[SCENE]/task.txt` is no folder; choose another with `--out`
    ");
}

#[test]
fn a_descriptor_that_is_wrong_is_refused_with_its_place() {
    let (scene, program) = scene();
    let path = akbench_e2e::built::repository().join("descriptors/agents/codex.json");
    let text = fs::read_to_string(path).expect("the agent's descriptor");
    scene.write("wrong.json", text.replace("\"evidence\"", "\"evidance\""));
    let mut command = scene.run_command(&program, &["--descriptor", "wrong.json"]);
    assert_snapshot!(refusal(&scene, &mut command), @r"
    error: wrong.json: at ``: the key `evidence` is missing
    error: wrong.json: at `/evidance`: unknown key; did you mean `evidence`?
    ");
}

#[test]
fn a_broken_task_stops_who_asks_for_tasks_and_nobody_else() {
    let (scene, program) = scene();
    let file = "more/descriptors/tasks/own/t-001/task.json";
    scene.write(file, "{}");
    let listing = scene.run(&mut scene.akbench(["task", "list", "--descriptors", "more"]));
    assert_eq!(listing.code, 2, "{}", listing.stderr);
    assert!(listing.stderr.contains(file), "{}", listing.stderr);
    let ran = scene.run(&mut scene.run_command(&program, &["--descriptors", "more"]));
    assert!(!ran.stderr.contains(file), "{}", ran.stderr);
    assert_ne!(ran.code, 2, "{}", ran.stderr);
}
