//! What an agent's process tree may use of the machine, what is left of each promise where the
//! system lacks something, and that nothing is left over after many runs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod lacks;
mod leftovers;
mod limits;
mod system;

use akbench_e2e::processes;
use akbench_e2e::scene::{Ran, Scene};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use system::Lack;

/// A run that is over.
struct Run {
    scene: Scene,
    ran: Ran,
    result: Value,
}

impl Run {
    /// Runs `work`, a piece of shell, as the agent's program.
    fn of(work: &str, lack: Lack, more: &[&str]) -> Self {
        let scene = Scene::new();
        let program = program(&scene, work);
        let mut command = lack.imposed_on(&scene.run_command(&program, more));
        let ran = scene.run(&mut command);
        let result = ran.result();
        let alive = processes::of_folder(&scene.path(""));
        assert_eq!(alive, [], "{}", ran.stderr);
        assert_eq!(result["processes"]["survivors"], 0, "{result:#}");
        akbench_e2e::record::assert_fits("result.schema.json", &result);
        Self { scene, ran, result }
    }

    /// Status, class and fault of the result, and the exit code.
    fn verdict(&self) -> Value {
        let failure = &self.result["failure"];
        let status = &self.result["status"];
        json!([status, failure["class"], failure["fault"], self.ran.code])
    }

    /// What the result says of one limit.
    fn limit(&self, key: &str) -> &Value {
        &self.result["confinement"]["limits"][key]
    }

    /// A file that the program left in the workspace.
    fn left(&self, name: &str) -> String {
        let folder = self.scene.run_folder(&self.result).join("workspace");
        fs::read_to_string(folder.join(name)).expect("a file in the workspace")
    }
}

/// A shell script in the place of the agent's program: does its work between the first events
/// and the last.
fn program(scene: &Scene, work: &str) -> PathBuf {
    let script = format!(
        "#!/bin/bash\n\
         case \"$1\" in --version) echo 'codex-cli 0.171.0'; exit 0;; sandbox) exit 0;; esac\n\
         cat > /dev/null\n\
         echo '{{\"type\":\"thread.started\",\"thread_id\":\"t\"}}'\n\
         echo '{{\"type\":\"turn.started\"}}'\n\
         {work}\n\
         echo '{{\"type\":\"turn.completed\",\"usage\":{{}}}}'\n"
    );
    scene.write("programs/agent/codex", script);
    let path = scene.path("programs/agent/codex");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
    path
}
