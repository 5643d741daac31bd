//! Running the stub as a line agent, through the adapter of a language.

use akbench_e2e::built;
use akbench_e2e::scene::{Ran, Scene};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The agent says that it begins.
pub const START: &str = r#"{"type":"start","session":"s-1","model":"m-1"}"#;
/// The agent counts its tokens.
pub const USAGE: &str = r#"{"type":"usage","input":100,"output":7,"total":9007199254740991}"#;
/// Must all languages be there? Then a missing one is an error.
const REQUIRED: &str = "AKBENCH_REQUIRE_LANGUAGES";
/// Longer than any run takes to get to its work.
const PATIENCE: Duration = Duration::from_secs(300);

/// A language with an adapter of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Python,
    JavaScript,
    C,
}

/// A run, and the place that it ran in.
pub struct LanguageRun {
    scene: Scene,
    ran: Ran,
    /// How `akbench` ended.
    pub code: i32,
}

impl Language {
    pub const ALL: [Self; 3] = [Self::Python, Self::JavaScript, Self::C];

    fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::C => "c",
        }
    }

    /// The built adapter; it may not exist.
    pub fn component(self) -> PathBuf {
        let target = built::stub_cli();
        let target = target.ancestors().nth(2).unwrap();
        target.join(format!("adapters/echo-{}.wasm", self.name()))
    }

    /// Is the adapter there? If not, says that the test is skipped.
    pub fn is_built(self, test: &str) -> bool {
        let component = self.component();
        if component.exists() {
            return true;
        }
        let name = component.display();
        assert!(
            std::env::var_os(REQUIRED).is_none(),
            "{name} is missing and {REQUIRED} is set: run .ci/languages"
        );
        eprintln!("{test}: skipped: needs {name}, which .ci/languages builds");
        false
    }

    /// Runs a task with an agent that does these steps.
    pub fn run(self, steps: &Value, more: &[&str]) -> LanguageRun {
        self.run_scenario(&scenario(steps), more)
    }

    /// Runs a task with a program that plays this.
    pub fn run_scenario(self, scenario: &Value, more: &[&str]) -> LanguageRun {
        let scene = Scene::new();
        let ran = scene.run(&mut self.command(&scene, scenario, more));
        let code = ran.code;
        LanguageRun { scene, ran, code }
    }

    /// The same, and interrupts `akbench` once the agent has printed something.
    pub fn run_and_interrupt(self, steps: &Value) -> LanguageRun {
        let scene = Scene::new();
        let child = self
            .command(&scene, &scenario(steps), &[])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let since = Instant::now();
        while !has_printed(&scene) {
            assert!(since.elapsed() < PATIENCE, "the agent printed nothing");
            thread::sleep(Duration::from_millis(20));
        }
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        let ran: Ran = child.wait_with_output().unwrap().into();
        let code = ran.code;
        LanguageRun { scene, ran, code }
    }

    fn command(self, scene: &Scene, scenario: &Value, more: &[&str]) -> Command {
        let program = scene.stub("line-agent", scenario);
        let descriptor = format!("adapters/{}/adapter/descriptor.json", self.name());
        let mut command = scene.akbench(["run", "--json", "--workspace", "workspace"]);
        command
            .args(["--task-file", "task.txt", "--out", "runs", "--adapter"])
            .arg(self.component())
            .arg("--descriptor")
            .arg(built::repository().join(descriptor))
            .arg("--program")
            .arg(format!("line-agent={}", program.display()))
            .args(more);
        command
    }
}

impl LanguageRun {
    /// The result that was printed.
    pub fn result(&self) -> Value {
        self.ran.result()
    }

    /// What the engine recorded.
    pub fn evidence_folder(&self) -> PathBuf {
        self.scene
            .run_folder(&self.result())
            .join("artifacts/evidence")
    }

    /// A file of the evidence.
    pub fn evidence(&self, path: &str) -> Vec<u8> {
        fs::read(self.evidence_folder().join(path)).unwrap()
    }
}

fn scenario(steps: &Value) -> Value {
    json!({"cases": [
        {"when": {"args_start": ["--version"]}, "steps": [{"stdout": {"text": "line-agent 1.4.0\n"}}]},
        {"when": {"args_start": ["run"]}, "steps": steps},
    ]})
}

fn has_printed(scene: &Scene) -> bool {
    let Ok(runs) = fs::read_dir(scene.path("runs")) else {
        return false;
    };
    runs.flatten().any(|run| {
        let stdout = run.path().join("artifacts/evidence/spawns/2-task/stdout");
        fs::metadata(stdout).is_ok_and(|metadata| metadata.len() > 0)
    })
}
