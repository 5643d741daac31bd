//! The real CLI in a scene, with a scripted model server: a run, and what must hold after
//! every run, however it ended.

use crate::processes::{self, Process};
use crate::running::Running;
use crate::scene::{CREDENTIAL, Ran, Scene};
use crate::{built, secrets};
use akbench_responses_server::{Reply, Script, Server};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The model that runs ask for: the CLI knows it, and offers it a shell and a patch tool.
pub const MODEL: &str = "gpt-5.5";

/// Parameters with which the CLI gives up after two requests instead of many.
pub const TWO_TRIES: [&str; 4] = [
    "--param",
    "request_max_retries=0",
    "--param",
    "stream_max_retries=1",
];

/// A scene with the real CLI and an endpoint of its own.
pub struct RealScene {
    /// Workspace, task, runs.
    pub scene: Scene,
    /// The endpoint; it records what it is asked.
    pub server: Server,
    program: PathBuf,
}

/// A run that is over.
pub struct RealRun {
    /// The exit code of `akbench`, and what it printed.
    pub ran: Ran,
    /// The result.
    pub result: Value,
}

impl RealScene {
    /// `None`, after saying so, where there is no real CLI. `test` is who asks.
    pub fn new(test: &str, script: Script) -> Option<Self> {
        let program = built::real_cli(test)?;
        Some(Self {
            scene: Scene::new(),
            server: Server::start(script).expect("a server on a free port"),
            program,
        })
    }

    /// `akbench run --json` with the real CLI and this scene's endpoint.
    pub fn command(&self, more: &[&str]) -> Command {
        let mut command = self.scene.run_command(&self.program, more);
        command
            .env("AKBENCH_LLM_ROUTER_URL", self.server.base_url())
            .env("AKBENCH_LLM_ROUTER_MODEL", MODEL);
        command
    }

    /// Starts a run that the test will interfere with.
    ///
    /// The agent's home is kept, so that it is looked through for the credential, too.
    pub fn start(&self, more: &[&str]) -> Running {
        Running::start(self.command(more).arg("--keep"))
    }

    /// Runs to the end.
    pub fn run(&self, more: &[&str]) -> RealRun {
        self.finish(self.start(more))
    }

    /// Waits for the end, then checks what must hold after every run.
    pub fn finish(&self, running: Running) -> RealRun {
        let ran = running.finish_or_tell(|| self.tell());
        // Before anything that takes time: whoever is alive now outlived the run.
        let alive = processes::of_folder(&self.scene.path(""));
        assert_eq!(alive, [], "alive after the end:\n{}", ran.stderr);
        let run = RealRun {
            result: ran.result(),
            ran,
        };
        self.expect_no_credential(&run.ran);
        let processes = &run.result["processes"];
        assert_eq!(processes["survivors"], 0, "{processes}");
        let stored = fs::read(self.folder().join("result.json")).expect("a stored result");
        let stored: Value = serde_json::from_slice(&stored).expect("a result in JSON");
        assert_eq!(stored, run.result, "the stored result is the printed one");
        assert_eq!(run.result["violations"], serde_json::json!([]));
        // The CLI can't say what a token costs, so nobody may.
        assert_eq!(run.result["cost_usd"], Value::Null);
        run
    }

    /// The credential is in no file of the scene and was not printed. That includes the
    /// agent's home and the workspace.
    pub fn expect_no_credential(&self, ran: &Ran) {
        assert!(
            !ran.stdout.contains(CREDENTIAL),
            "in stdout: {}",
            ran.stdout
        );
        assert!(
            !ran.stderr.contains(CREDENTIAL),
            "in stderr: {}",
            ran.stderr
        );
        let files = secrets::files_with(CREDENTIAL, &self.scene.path(""));
        assert_eq!(files, Vec::<PathBuf>::new(), "files with the credential");
    }

    /// The folder of the only run.
    pub fn folder(&self) -> PathBuf {
        let mut runs = self.folders();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs.remove(0)
    }

    /// What the evidence of the only run says so far, for messages.
    fn tell(&self) -> String {
        let folder = self.folder();
        let spawns = fs::read_dir(folder.join("artifacts/evidence/spawns"));
        let mut spawns: Vec<_> = spawns.into_iter().flatten().flatten().collect();
        spawns.sort_by_key(fs::DirEntry::file_name);
        let mut told = format!("{} requests\n", self.server.requests().len());
        let streams = spawns.iter().flat_map(|spawn| {
            ["stdout", "stderr", "exit.json"].map(|name| spawn.path().join(name))
        });
        for path in streams.chain([folder.join("events.jsonl")]) {
            let text = fs::read(&path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            told.push_str(&format!("--- {}\n{text}\n", path.display()));
        }
        told
    }

    fn folders(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.scene.path("runs"));
        let entries = entries.into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    /// A file that the agent's tools left in the workspace; `None` if they did not (yet).
    pub fn left(&self, name: &str) -> Option<String> {
        let mut runs = self.folders();
        fs::read_to_string(runs.pop()?.join("workspace").join(name)).ok()
    }

    /// The environment that the tools saw, if one of them ran [`REPORT_ENVIRONMENT`].
    pub fn tool_environment(&self) -> Option<String> {
        self.left("env.txt")
    }

    /// What the agent was sent back for a tool call, from the requests that came after it;
    /// `None` if it asked for nothing more.
    pub fn tool_output(&self, call_id: &str) -> Option<String> {
        let requests = self.server.model_requests();
        requests
            .iter()
            .rev()
            .find_map(|request| request.tool_output(call_id))
    }

    /// The bodies of everything that the model was asked, as text.
    pub fn prompts(&self) -> String {
        let requests = self.server.requests();
        let bodies = requests.iter().map(|request| format!("{:?}", request.body));
        bodies.collect::<Vec<_>>().join("\n")
    }

    /// How the process that worked on the task ended, and which signals it was sent.
    pub fn task_exit(&self) -> Value {
        let spawns = self.folder().join("artifacts/evidence/spawns");
        let mut folders = fs::read_dir(spawns).expect("evidence").flatten();
        let task = folders
            .find(|entry| entry.file_name().to_string_lossy().ends_with("-task"))
            .expect("a process that worked on the task");
        let exit = fs::read(task.path().join("exit.json")).expect("a recorded exit");
        serde_json::from_slice(&exit).expect("a recorded exit in JSON")
    }

    /// Waits until a `sleep` with this argument runs.
    pub fn wait_for_sleep(&self, argument: &str) -> Process {
        // The shell that is to start it has it among its arguments, too.
        let sleeping = format!("sleep {argument}");
        processes::wait_for(&sleeping, || {
            let mut found = processes::with_argument(argument).into_iter();
            found.find(|process| process.command_line == sleeping)
        })
    }

    /// Waits until the CLI has said that a tool call began: its process is there a moment
    /// earlier, when the request that asked for it is not accounted for yet.
    pub fn wait_for_reported_tool_call(&self) {
        processes::wait_for("a reported tool call", || {
            let spawns = self.folder().join("artifacts/evidence/spawns");
            let mut folders = fs::read_dir(spawns).ok()?.flatten();
            let task =
                folders.find(|entry| entry.file_name().to_string_lossy().ends_with("-task"))?;
            let stdout = fs::read_to_string(task.path().join("stdout")).ok()?;
            stdout.contains("\"item.started\"").then_some(())
        });
    }

    /// Waits until the CLI itself runs.
    pub fn wait_for_agent(&self) -> Process {
        let folder = self.scene.path("");
        let program = self.program.to_string_lossy().into_owned();
        processes::wait_for("the agent", || {
            let mut found = processes::of_folder(&folder).into_iter();
            found.find(|process| {
                process
                    .command_line
                    .starts_with(&format!("{program} exec "))
            })
        })
    }
}

/// A tool call that goes on until it is ended: `command`, then a sleep of `seconds`. The CLI
/// waits for it as long as it can, and asks the model again only then.
pub fn endless_tool_call(command: &str, seconds: &str) -> Script {
    let arguments = serde_json::json!({
        "cmd": format!("{command}; sleep {seconds}"),
        "yield_time_ms": 30_000,
    });
    let call = Reply::function_call("call_1", "exec_command", arguments);
    Script::new([call.usage(1000, 0, 50, 0)]).then_always(Reply::hang_before_headers())
}

/// Runs with a longer limit as long as the machine is too slow for a shorter one: `run` gets
/// the limit as an argument, and returns `None` if the limit came before what is tested.
///
/// # Panics
///
/// If the longest limit is too short as well.
pub fn with_growing_limit<T>(mut run: impl FnMut(&str) -> Option<T>) -> T {
    let limits = ["6s", "25s", "75s"];
    limits
        .iter()
        .find_map(|limit| run(limit))
        .unwrap_or_else(|| panic!("after {} the agent was not yet at work", limits[2]))
}

/// A command by which a tool shows its environment; the credential must not be in it.
pub const REPORT_ENVIRONMENT: &str = "env > env.txt";

/// An argument of `sleep` (about nine hours) that no other process on the machine has.
pub fn unique_seconds() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("31415.{}{next:03}", std::process::id())
}

/// The same command, run by another program: `PROGRAM ARGUMENTS akbench …`.
pub fn through(command: &Command, program: &str, arguments: &[&str]) -> Command {
    let mut outer = Command::new(program);
    outer
        .args(arguments)
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear();
    let set = |(name, value): (&std::ffi::OsStr, Option<&std::ffi::OsStr>)| {
        Some::<(OsString, OsString)>((name.to_owned(), value?.to_owned()))
    };
    outer.envs(command.get_envs().filter_map(set));
    if let Some(folder) = command.get_current_dir() {
        outer.current_dir(folder);
    }
    outer
}

impl RealRun {
    /// Status, failure class, fault and exit code; a completed run has no class and no fault.
    ///
    /// # Panics
    ///
    /// If one of them is another; the message shows failure and stderr.
    pub fn expect_end(&self, status: &str, class: Option<&str>, fault: Option<&str>, code: i32) {
        let failure = &self.result["failure"];
        let seen = (
            self.result["status"].as_str(),
            failure["class"].as_str(),
            failure["fault"].as_str(),
            self.ran.code,
        );
        assert_eq!(
            seen,
            (Some(status), class, fault, code),
            "{failure:#}\n{}",
            self.ran.stderr
        );
        assert_eq!(failure.is_null(), class.is_none(), "{failure:#}");
    }

    /// A run that completed.
    pub fn expect_completed(&self) {
        self.expect_end("completed", None, None, 0);
    }

    /// Tokens: input, cached input, output, reasoning output; the total follows.
    ///
    /// # Panics
    ///
    /// If the result says anything else.
    pub fn expect_usage(&self, input: u64, cached: u64, output: u64, reasoning: u64) {
        let usage = &self.result["usage"];
        let seen = [
            "input_tokens",
            "cached_input_tokens",
            "output_tokens",
            "reasoning_output_tokens",
            "total_tokens",
        ]
        .map(|name| usage[name].as_u64());
        let expected = [input, cached, output, reasoning, input + output].map(Some);
        assert_eq!(seen, expected, "{usage:#}");
    }

    /// Nothing is known of tokens, so nothing is said: neither zeros nor a count of requests.
    ///
    /// # Panics
    ///
    /// If the result says anything.
    pub fn expect_unknown_usage(&self) {
        assert_eq!(self.result["usage"], Value::Null);
        assert_eq!(self.result["usage_by_model"], Value::Null);
    }

    /// Whether the usage claims to be all of it.
    pub fn usage_is_complete(&self) -> bool {
        self.result["provenance"]["usage"]["complete"] == true
    }

    /// Name, status and exit code of every tool call; an unknown exit code is `None`.
    pub fn tool_calls(&self) -> Vec<(&str, &str, Option<i64>)> {
        let calls = self.result["tool_calls"].as_array();
        let calls = calls.unwrap_or_else(|| panic!("no tool calls: {:#}", self.result));
        calls
            .iter()
            .map(|call| {
                (
                    call["name"].as_str().unwrap_or("-"),
                    call["status"].as_str().unwrap_or("-"),
                    call["exit_code"].as_i64(),
                )
            })
            .collect()
    }

    /// The settings that the CLI says it applied.
    ///
    /// # Panics
    ///
    /// If they are not these.
    pub fn expect_applied(&self, sandbox: &str) {
        let applied = &self.result["applied"];
        assert_eq!(applied["model"], MODEL, "{applied}");
        assert_eq!(applied["sandbox"], sandbox, "{applied}");
        assert_eq!(applied["approval_policy"], "never", "{applied}");
        assert_eq!(self.result["agent"]["program"]["name"], "codex");
    }
}
