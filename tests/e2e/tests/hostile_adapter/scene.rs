//! A run of the hostile adapter, with an agent that answers it.

use akbench_e2e::built;
use akbench_e2e::scene::{Ran, Scene};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

/// The agent: what `adapters/fake` expects of one, and what the attacks ask of it.
const AGENT: &str = r#"#!/bin/sh
case "$1" in
    --version) echo 'fake-agent 1.2.0'; exit 0 ;;
    --print-environment) env; exit 0 ;;
    --print-environment-to-stderr) env >&2; exit 0 ;;
    --print-arguments) shift; printf '%s\n' "$@"; exit 0 ;;
    --sleep) exec sleep 1000 ;;
esac
cat > /dev/null
echo '{"event":"session","id":"s-1","model":"small-1"}'
test ! -e stay || sleep 1000
echo '{"event":"message","text":"done"}'
echo '{"event":"usage","input":120,"output":30}'
echo '{"event":"done"}'
"#;

/// A scene with the agent, and the descriptor of the hostile adapter, which is given a runtime
/// and its credential.
pub fn hostile() -> Scene {
    let scene = Scene::new();
    scene.write("programs/fake-agent", AGENT);
    let program = scene.path("programs/fake-agent");
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).expect("permissions");
    let path = built::repository().join("tests/guests/misbehaving/descriptor.json");
    let text = fs::read_to_string(path).expect("the descriptor");
    let mut descriptor: Value = serde_json::from_str(&text).expect("JSON");
    descriptor["runtime"] = json!({"need": "required", "wire_apis": ["responses"]});
    scene.write("descriptor.json", descriptor.to_string());
    scene
}

/// Runs it; where there is a time limit, the agent does not end by itself.
pub fn attacked(scene: &Scene, more: &[&str]) -> Ran {
    if more.contains(&"--time-limit") {
        scene.write("workspace/stay", "");
    }
    let mut command = scene.akbench(["run", "--json", "--runtime", "llm-router"]);
    command
        .arg("--adapter")
        .arg(built::adapter("misbehaving.wasm"))
        .args(["--descriptor", "descriptor.json", "--program"])
        .arg(format!(
            "agent={}",
            scene.path("programs/fake-agent").display()
        ))
        .args([
            "--workspace",
            "workspace",
            "--task-file",
            "task.txt",
            "--out",
            "runs",
        ])
        .args(more)
        .env("HOST_ONLY", "a host variable")
        .stdin(Stdio::null());
    scene.run(&mut command)
}
