//! The command line as people and scripts meet it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use akbench_e2e::scene::{Ran, Scene};
use akbench_e2e::shown::shown;
use akbench_e2e::stub_agent::{
    self, BEGINNING, StubAgent, TURN_COMPLETED, add_recording, leave_rollouts, print_events,
    read_task,
};
use insta::assert_snapshot;
use serde_json::{Value, json};

fn data(args: &[&str]) -> String {
    let scene = Scene::new();
    let ran = scene.run(&mut scene.akbench(args));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr, "");
    shown(&scene, &ran.stdout)
}

fn refused(args: &[&str]) -> String {
    let scene = Scene::new();
    let ran = scene.run(&mut scene.akbench(args));
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    shown(&scene, &ran.stderr)
}

#[test]
fn help_is_data_and_says_what_each_command_takes() {
    assert_snapshot!(data(&["--help"]), @"");
    assert_snapshot!(data(&["run", "--help"]), @"");
    assert_snapshot!(data(&["agent", "--help"]), @"");
    assert_snapshot!(data(&["agent", "list", "--help"]), @"");
    assert_snapshot!(data(&["runtime", "--help"]), @"");
    assert_snapshot!(data(&["runtime", "list", "--help"]), @"");
}

#[test]
fn an_agent_is_run_by_name_with_the_same_arguments_as_an_adapter_file() {
    let options = |help: &str| -> Vec<String> {
        let (_, options) = help.split_once("Options:").expect("options");
        options.lines().map(|line| line.trim().to_owned()).collect()
    };
    let by_file = options(&data(&["run", "--help"]));
    let by_name = options(&data(&["agent", "run", "--help"]));
    for line in &by_name {
        assert!(by_file.contains(line), "{line}");
    }
    let own: Vec<_> = by_file
        .iter()
        .filter(|line| !by_name.contains(line))
        .collect();
    assert!(
        own.iter().all(|line| line.contains("adapter")),
        "only the file and its descriptor differ: {own:?}"
    );
}

#[test]
fn the_version_is_data() {
    assert_eq!(
        data(&["--version"]),
        format!("akbench {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn a_command_line_that_is_no_command_is_refused_on_stderr() {
    assert_snapshot!(refused(&[]), @"");
    assert_snapshot!(refused(&["agnet"]), @"");
    assert_snapshot!(refused(&["run", "--colour", "blue"]), @"");
}

#[test]
fn agents_are_listed_for_people_and_for_scripts() {
    assert_snapshot!(data(&["agent", "list"]), @"");
    let listed: Value = serde_json::from_str(&data(&["agent", "list", "--json"])).expect("JSON");
    let agent = &listed[0];
    assert_eq!(agent["id"], "codex");
    let keys: Vec<&String> = agent.as_object().expect("an object").keys().collect();
    assert_snapshot!(format!("{keys:?}"), @"");
}

#[test]
fn runtimes_are_listed_for_people_and_for_scripts() {
    assert_snapshot!(data(&["runtime", "list"]), @"");
    assert_snapshot!(without_digests(&data(&["runtime", "list", "--json"])), @"");
}

fn without_digests(json: &str) -> String {
    json.lines()
        .filter(|line| !line.contains("sha256"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn an_unknown_agent_is_refused_with_those_that_exist() {
    let args = [
        "agent",
        "run",
        "codecs",
        "--workspace",
        ".",
        "--task-file",
        "task.txt",
    ];
    assert_snapshot!(refused(&args), @"");
}

#[test]
fn lists_say_what_a_later_folder_replaced() {
    let scene = Scene::new();
    let path = akbench_e2e::built::repository().join("descriptors/runtimes/llm-router.json");
    scene.write(
        "more/descriptors/runtimes/mine.json",
        std::fs::read(path).expect("a runtime"),
    );
    let mut command = scene.akbench(["runtime", "list", "--descriptors", "more"]);
    let ran = scene.run(&mut command);
    assert_eq!(ran.code, 0);
    assert_snapshot!(shown(&scene, &ran.stderr), @"");
}

fn happy(more: &[&str]) -> (Scene, Ran) {
    let scene = Scene::new();
    add_recording(&scene, "s01_happy_exec");
    let steps = json!([read_task(), leave_rollouts(), print_events()]);
    let program = StubAgent::default().install(&scene, &steps);
    let ran = scene.run(&mut scene.run_command(&program, more));
    (scene, ran)
}

/// Times differ from run to run.
fn without_times(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let is_stamp =
            |word: &str| word.ends_with('s') && word[..word.len() - 1].parse::<f64>().is_ok();
        match line.trim_start().split_once("  ") {
            Some((stamp, rest)) if is_stamp(stamp) => lines.push(format!("[TIME]  {rest}")),
            _ => lines.push(line.to_owned()),
        }
    }
    let text = lines.join("\n");
    match text.split_once(" after ") {
        Some((before, after)) => {
            let after = after.split_once(" s ").map_or(after, |(_, rest)| rest);
            format!("{before} after [TIME] {after}")
        }
        None => text,
    }
}

#[test]
fn progress_comes_in_plain_lines_where_stderr_is_no_terminal() {
    let (scene, ran) = happy(&[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!ran.stderr.contains(['\u{1b}', '\r']), "{:?}", ran.stderr);
    assert_snapshot!(without_times(&shown(&scene, &ran.stderr)), @"");
}

#[test]
fn quiet_prints_the_result_alone() {
    let (_, ran) = happy(&["--quiet"]);
    assert_eq!(ran.code, 0);
    assert_eq!(ran.stderr, "");
    assert_eq!(ran.result()["status"], "completed");
}

#[test]
fn without_json_stdout_stays_empty() {
    let scene = Scene::new();
    let program = StubAgent::default().install(&scene, &json!([]));
    let whole = scene.run_command(&program, &[]);
    let mut command = scene.akbench(whole.get_args().filter(|arg| *arg != "--json"));
    let ran = scene.run(&mut command);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("failure"), "{}", ran.stderr);
}

fn code_of(agent: StubAgent, task: &Value, more: &[&str]) -> (i32, Value) {
    let scene = Scene::new();
    let program = agent.install(&scene, task);
    let ran = scene.run(&mut scene.run_command(&program, more));
    (ran.code, ran.result()["failure"]["fault"].clone())
}

#[test]
fn exit_codes_tell_how_it_went() {
    let completed = json!([
        {"stdout": {"text": BEGINNING}},
        {"stdout": {"text": TURN_COMPLETED}},
    ]);
    let hangs = json!([{"stdout": {"text": BEGINNING}}, "hang"]);
    let stub = StubAgent::default;
    let none = Value::Null;
    assert_eq!(code_of(stub(), &completed, &[]), (0, none.clone()));
    assert_eq!(code_of(stub(), &completed, &["--strict"]), (5, none));
    let crashed = json!([{"stdout": {"text": BEGINNING}}, {"kill_self": "SIGSEGV"}]);
    assert_eq!(code_of(stub(), &crashed, &[]), (1, json!("agent")));
    let limit = ["--time-limit", "500ms"];
    assert_eq!(code_of(stub(), &hangs, &limit), (1, json!("agent")));
    let idle = ["--idle-limit", "500ms"];
    assert_eq!(code_of(stub(), &hangs, &idle), (3, json!("unknown")));
    let too_old = stub().version("0.42.0");
    assert_eq!(
        code_of(too_old, &completed, &[]),
        (3, json!("infrastructure"))
    );
}

#[test]
fn agent_run_and_run_are_the_same_engine() {
    let scene = Scene::new();
    add_recording(&scene, "s01_happy_exec");
    let steps = json!([read_task(), leave_rollouts(), print_events()]);
    let program = StubAgent::default().install(&scene, &steps);
    let by_file = scene.run(&mut scene.run_command(&program, &[])).result();
    // An installation: the built adapter lies where the catalog says.
    let share = scene.path("share");
    std::fs::create_dir_all(share.join("adapters")).expect("a folder");
    for part in ["agents", "runtimes", "schemas"] {
        let from = akbench_e2e::built::repository()
            .join("descriptors")
            .join(part);
        for file in std::fs::read_dir(&from).expect("descriptors") {
            let file = file.expect("a file").path();
            let name = file
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            let bytes = std::fs::read(&file).expect("a descriptor");
            scene.write(&format!("share/descriptors/{part}/{name}"), bytes);
        }
    }
    let catalog = akbench_e2e::built::repository().join("adapters/catalog.json");
    scene.write(
        "share/adapters/catalog.json",
        std::fs::read(catalog).expect("the catalog"),
    );
    let adapter = akbench_e2e::built::adapter("codex.wasm");
    scene.write(
        "share/adapters/codex.wasm",
        std::fs::read(adapter).expect("the adapter"),
    );
    let mut command = scene.akbench(["agent", "run", "codex", "--json", "--runtime", "llm-router"]);
    command
        .env("AKBENCH_SHARE", &share)
        .args([
            "--workspace",
            "workspace",
            "--task-file",
            "task.txt",
            "--out",
            "runs",
        ])
        .arg("--program")
        .arg(format!("{}={}", stub_agent::NAME, program.display()));
    let by_name = scene.run(&mut command);
    assert_eq!(by_name.code, 0, "{}", by_name.stderr);
    let by_name = by_name.result();
    for key in [
        "status",
        "agent",
        "usage",
        "applied",
        "tool_calls",
        "final_message",
        "parameters",
    ] {
        assert_eq!(by_name[key], by_file[key], "{key}");
    }
}
