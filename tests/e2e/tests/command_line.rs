//! The command line as people and scripts meet it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use akbench_e2e::scene::{Ran, Scene};
use akbench_e2e::shown::shown;
use akbench_e2e::stub_agent::{
    self, AT_WORK, BEGINNING, StubAgent, TURN_COMPLETED, add_recording, leave_rollouts,
    print_events, read_task,
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
fn help_lists_the_commands_and_the_exit_codes() {
    assert_snapshot!(data(&["--help"]), @r"
    Run coding agents on tasks, and write down exactly what happened.

    Exit codes: 0 completed · 1 the agent failed or ran out of time · 2 usage, configuration, refused · 3 infrastructure or unknown · 4 adapter · 130 cancelled · 5 completed but may not count (with --strict).

    Usage: akbench <COMMAND>

    Commands:
      run      Run an agent through an adapter file
      agent    Agents: run one by its name, list them, show one, check that one can run here
      adapter  Adapters: what a file is and may do, and whether it passes the contract suite
      runtime  Runtimes: the endpoints that agents can use
      runs     Runs that were kept: list them, read one, check that their evidence is unchanged, complete what a dead host left, observe again
      paths    Show the folders that akbench uses here
      task     Tasks: what agents can be given to do
      help     Print this message or the help of the given subcommand(s)

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version
    ");
}

#[test]
fn help_of_run_says_what_it_takes() {
    assert_snapshot!(data(&["run", "--help"]), @r"
    Run an agent through an adapter file

    Usage: akbench run [OPTIONS] --adapter <FILE>

    Options:
          --adapter <FILE>
              The adapter, a WebAssembly component

          --descriptor <FILE>
              The agent's descriptor [default: the registry's for an adapter of this file name]

          --workspace <DIR>
              The folder to work in; the agent gets a copy

          --in-place
              Let the agent work in the workspace itself

          --task-file <FILE>
              A text file that says what to do

          --task <ID>
              A dataset's task instead of a workspace and a file, as ID, ID@1 or ID@1.2.0

          --seed <N>
              Which variant of the task [default: 0]

          --require <NAMES>
              Refuse agents without these capabilities, separated by commas

          --allow-unverified
              Take capabilities that are unverified for present; the result says so

          --param <NAME=VALUE>
              A parameter of the agent; may be given for each of them

          --runtime <ID>
              The runtime, as ID, ID@1 or ID@1.2.0 [default: AKBENCH_RUNTIME, else the only one]

          --time-limit <DURATION>
              End the work after this time, for example 30m

          --idle-limit <DURATION>
              End the work after this long without any output

          --program <NAME=FILE>
              The file of one of the agent's programs, instead of looking for it

          --confine <CONFINE>
              How much the agent's files and network have to be confined

              Possible values:
              - required:    All of it, or the run does not begin
              - best-effort: As much as the system allows; what was applied is in the result
              - off:         The process tree is held together, files are not confined

              [default: best-effort]

          --network <NETWORK>
              What of the network the agent can reach

              Possible values:
              - full:     Everything that the machine can
              - endpoint: The runtime's endpoint and nothing else
              - none:     Nothing

              [default: full]

          --expose <PATH>
              Show the agent this file or folder, read-only

          --limit <NAME=VALUE>
              What the agent's processes may use, for example memory=4GiB or disk=none: cpu_time, memory, processes, open_files, disk, output

          --out <DIR>
              The folder that runs are kept in

              [default: runs]

          --keep
              Keep the agent's private home

          --json
              Print the result as JSON on standard output

      -q, --quiet
              Print no progress and no summary

          --strict
              Exit with 5 if the run completed but may not count

          --descriptors <DIR>
              A folder with more descriptors; later ones win

          --no-cache
              Compile the adapter anew

      -h, --help
              Print help (see a summary with '-h')
    ");
}

#[test]
fn help_of_agent_lists_its_commands() {
    assert_snapshot!(data(&["agent", "--help"]), @r"
    Agents: run one by its name, list them, show one, check that one can run here

    Usage: akbench agent <COMMAND>

    Commands:
      run    Run an agent of the registry
      list   List the agents of the registry
      show   Show an agent: its programs, parameters and capabilities
      check  Check that an agent can run here: its program, its version, its own sandbox
      help   Print this message or the help of the given subcommand(s)

    Options:
      -h, --help  Print help
    ");
}

#[test]
fn help_of_agent_list_says_what_it_takes() {
    assert_snapshot!(data(&["agent", "list", "--help"]), @r"
    List the agents of the registry

    Usage: akbench agent list [OPTIONS]

    Options:
          --json               Print JSON
          --descriptors <DIR>  A folder with more descriptors; later ones win
      -h, --help               Print help
    ");
}

#[test]
fn help_of_runtime_lists_its_commands() {
    assert_snapshot!(data(&["runtime", "--help"]), @r"
    Runtimes: the endpoints that agents can use

    Usage: akbench runtime <COMMAND>

    Commands:
      list   List the runtimes of the registry
      check  Ask an endpoint once for its list of models, with the credential that runs would use
      help   Print this message or the help of the given subcommand(s)

    Options:
      -h, --help  Print help
    ");
}

#[test]
fn help_of_runtime_list_says_what_it_takes() {
    assert_snapshot!(data(&["runtime", "list", "--help"]), @r"
    List the runtimes of the registry

    Usage: akbench runtime list [OPTIONS]

    Options:
          --json               Print JSON
          --descriptors <DIR>  A folder with more descriptors; later ones win
      -h, --help               Print help
    ");
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
    // Only how the adapter is named differs.
    let own: Vec<&str> = by_file
        .iter()
        .filter(|line| line.starts_with('-') && !by_name.contains(line))
        .map(String::as_str)
        .collect();
    assert_eq!(own, ["--adapter <FILE>", "--descriptor <FILE>"]);
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
    assert!(refused(&[]).contains("Usage: akbench <COMMAND>"));
    assert_snapshot!(refused(&["agnet"]), @r"
    error: unrecognized subcommand 'agnet'

      tip: a similar subcommand exists: 'agent'

    Usage: akbench <COMMAND>

    For more information, try '--help'.
    ");
    assert_snapshot!(refused(&["run", "--colour", "blue"]), @r"
    error: unexpected argument '--colour' found

    Usage: akbench run [OPTIONS] --adapter <FILE>

    For more information, try '--help'.
    ");
}

#[test]
fn agents_are_listed_for_people_and_for_scripts() {
    assert_snapshot!(data(&["agent", "list"]), @r"
    codex@1.0.0  Codex CLI  adapter codex_cli  not built
    fake@1.0.0  No real agent: any program that prints the lines of adapters/fake  adapter fake  not built
    ");
    let listed: Value = serde_json::from_str(&data(&["agent", "list", "--json"])).expect("JSON");
    let agent = &listed[0];
    assert_eq!(agent["id"], "codex");
    let keys: Vec<&String> = agent.as_object().expect("an object").keys().collect();
    assert_snapshot!(format!("{keys:?}"), @r#"["id", "version", "name", "adapter", "execution", "descriptor", "descriptor_sha256", "rung"]"#);
}

#[test]
fn runtimes_are_listed_for_people_and_for_scripts() {
    assert_snapshot!(data(&["runtime", "list"]), @"llm-router@1.0.0  http://127.0.0.1:9/v1  responses  credential from AKBENCH_LLM_ROUTER_KEY");
    assert_snapshot!(data(&["runtime", "list", "--json"]), @r#"
    [
      {
        "id": "llm-router",
        "version": "1.0.0",
        "name": "LLM router",
        "base_url": "http://127.0.0.1:9/v1",
        "problem": null,
        "wire_api": "responses",
        "credential_variable": "AKBENCH_LLM_ROUTER_KEY",
        "descriptor": "[REPOSITORY]/descriptors/runtimes/llm-router.json"
      }
    ]
    "#);
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
    assert_snapshot!(refused(&args), @"error: there is no agent `codecs`; did you mean `codex`?; there are `codex@1.0.0`, `fake@1.0.0`");
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
    assert_snapshot!(shown(&scene, &ran.stderr), @"note: runtime `llm-router@1.0.0` comes from --descriptors (more/descriptors/runtimes/mine.json), not from [REPOSITORY]/descriptors/runtimes/llm-router.json");
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
    assert_snapshot!(without_times(&shown(&scene, &ran.stderr)), @r"
    [TIME]  checking the environment
    [TIME]  agent version 0.171.0
    [TIME]  preparing the session
    [TIME]  working
    [TIME]  warning: Model metadata for `mock-model` not found. Defaulting to fallback metadata; this…
    [TIME]  turn 1
    [TIME]  tool 1: command_execution
    [TIME]  message: Wrote out.txt.
    [TIME]  collecting observations
    [TIME]  closing

    completed after [TIME] · run [RUN]
      agent      codex 1.0.0 (program version 0.171.0)
      runtime    llm-router at http://127.0.0.1:9/v1
      applied    model mock-model, sandbox workspace-write, approval policy never
      work       turns 1, model requests 2, tool calls 1
      tokens     2100 in (900 cached), 70 out (0 reasoning), 2170 total
      workspace  0 files changed in [SCENE]/runs/[RUN]/workspace
      message    Wrote out.txt.
      valid      no: contract_suite_not_run
      result     [SCENE]/runs/[RUN]/result.json
    ");
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
    let hangs = json!([{"stdout": {"text": AT_WORK}}, "hang"]);
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
