//! The production adapter with a stub program as its agent: every way in which a program can
//! end, misbehave or leave something behind, and what the record says of it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod endings;
mod interruption;
mod isolation;
mod leftovers;
mod limits;
mod output;
mod probes;
mod replay;
mod secrets;

use akbench_e2e::processes;
use akbench_e2e::record::Record;
use akbench_e2e::scene::{Ran, Scene};
use akbench_e2e::stub_agent::StubAgent;
use serde_json::{Value, json};

/// A run that is over, and checked for what holds of every run.
struct Run {
    scene: Scene,
    ran: Ran,
    record: Record,
}

impl Run {
    /// Runs the stub in a scene of its own; `task` are its steps once it is given a task.
    fn of(task: &Value, more: &[&str]) -> Self {
        Self::in_scene(Scene::new(), StubAgent::default(), task, more)
    }

    fn in_scene(scene: Scene, agent: StubAgent, task: &Value, more: &[&str]) -> Self {
        let program = agent.install(&scene, task);
        let ran = scene.run(&mut scene.run_command(&program, more));
        Self::checked(scene, ran)
    }

    /// Checks what holds of every run: its record, and that nothing of it is alive.
    fn checked(scene: Scene, ran: Ran) -> Self {
        assert_eq!(processes::of_scene(&scene), [] as [String; 0]);
        let record = Record::checked(&scene, &ran);
        assert_eq!(record.result["processes"]["survivors"], 0);
        Self { scene, ran, record }
    }

    fn result(&self) -> &Value {
        &self.record.result
    }

    /// Status, class and fault of the result, and the exit code.
    fn verdict(&self) -> Value {
        let (result, failure) = (self.result(), &self.result()["failure"]);
        json!([
            result["status"],
            failure["class"],
            failure["fault"],
            self.ran.code
        ])
    }

    fn killed(&self) -> u64 {
        self.result()["processes"]["killed"]
            .as_u64()
            .expect("a count")
    }

    fn invalid_for(&self, reason: &str) -> bool {
        let reasons = self.result()["invalid_reasons"]
            .as_array()
            .expect("reasons");
        reasons.iter().any(|known| known == reason)
    }
}
