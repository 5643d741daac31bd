//! A real endpoint, only if somebody asks for it.

use akbench_e2e::real::RealScene;
use akbench_e2e::running::Running;
use akbench_e2e::secrets;
use akbench_responses_server::Script;
use serde_json::Value;
use std::env;
use std::path::PathBuf;

const ASKED_FOR: &str = "AKBENCH_RUN_LIVE";
const URL: &str = "AKBENCH_LLM_ROUTER_URL";
const KEY: &str = "AKBENCH_LLM_ROUTER_KEY";
const MODEL: &str = "AKBENCH_LLM_ROUTER_MODEL";

#[test]
fn a_live_endpoint_gets_a_small_task_done() {
    let test = "a_live_endpoint_gets_a_small_task_done";
    if env::var_os(ASKED_FOR).is_none_or(|value| value != "1") {
        eprintln!("{test}: skipped: spends real tokens; set {ASKED_FOR}=1, {URL} and {KEY}");
        return;
    }
    let needed = |name: &str| env::var(name).unwrap_or_else(|_| panic!("{name} is not set"));
    let (url, key) = (needed(URL), needed(KEY));
    // The scripted server of the scene stays unused.
    let Some(scene) = RealScene::new(test, Script::new([])) else {
        return;
    };
    scene.scene.write(
        "task.txt",
        "Run the shell command `echo hi > out.txt` once, then say that you are done.\n",
    );
    let mut command = scene.command(&["--time-limit", "2m"]);
    command.env(URL, url).env(KEY, &key).env_remove(MODEL);
    if let Some(model) = env::var_os(MODEL) {
        command.env(MODEL, model);
    }
    let ran = Running::start(&mut command).finish();
    assert!(!ran.stdout.contains(&key), "the key was printed");
    assert!(!ran.stderr.contains(&key), "the key was printed");
    let files = secrets::files_with(&key, &scene.scene.path(""));
    assert_eq!(files, Vec::<PathBuf>::new(), "files with the key");

    let result = ran.result();
    assert_eq!(result["status"], "completed", "{:#}", result["failure"]);
    assert_eq!(ran.code, 0);
    assert_eq!(scene.left("out.txt").as_deref(), Some("hi\n"));
    assert!(result["usage"]["input_tokens"].as_u64() > Some(0));
    assert!(result["usage"]["output_tokens"].as_u64() > Some(0));
    assert_eq!(result["provenance"]["usage"]["complete"], true);
    assert_ne!(result["tool_calls"].as_array().map(Vec::len), Some(0));
    assert_ne!(result["applied"]["model"], Value::Null);
    assert_eq!(result["processes"]["survivors"], 0);
}
