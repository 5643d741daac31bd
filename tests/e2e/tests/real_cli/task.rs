//! The real CLI on a task of the dataset: from the mutation to the evaluation.

use akbench_e2e::real::RealScene;
use akbench_e2e::{built, record};
use akbench_responses_server::{Reply, Script};
use serde_json::json;
use std::fs;

#[test]
fn a_task_of_the_starter_set_is_solved_and_passed() {
    let test = "a_task_of_the_starter_set_is_solved_and_passed";
    let solution =
        built::repository().join("descriptors/tasks/starter/wordcount-001/solution/wordcount.py");
    let solution = fs::read_to_string(solution).expect("the reference solution");
    let write = format!("cat > wordcount.py <<'END_OF_FILE'\n{solution}\nEND_OF_FILE");
    let script = Script::new([
        Reply::shell("call_1", write).usage(1000, 0, 50, 30),
        Reply::message("Done.").usage(1100, 900, 20, 0),
    ]);
    let Some(scene) = RealScene::new(test, script) else {
        return;
    };
    // The same program, endpoint and confinement; a task in the place of workspace and file.
    let like = scene.command(&["--param", "sandbox_mode=workspace-write"]);
    let mut arguments: Vec<_> = like.get_args().map(ToOwned::to_owned).collect();
    for name in ["--workspace", "--task-file"] {
        let at = arguments
            .iter()
            .position(|it| it == name)
            .expect("an argument");
        arguments.drain(at..at + 2);
    }
    let mut command = scene.scene.akbench(arguments);
    command.args(["--task", "wordcount-001", "--seed", "3"]);
    for (name, value) in like.get_envs() {
        command.env(name, value.expect("a value"));
    }
    let ran = scene.scene.run(&mut command);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let record = record::Record::checked(&scene.scene, &ran);
    let result = &record.result;
    assert_eq!(result["status"], "completed");
    assert_eq!(result["task"]["seed"], 3);
    assert_eq!(
        result["evaluation"]["passed"], true,
        "{:#}",
        result["evaluation"]
    );
    assert_eq!(result["usage"]["total_tokens"], 2170);
    assert_eq!(result["invalid_reasons"], json!(["contract_suite_not_run"]));
    assert_eq!(result["workspace"]["files_changed"], 1);
    // The solution was nowhere for the agent to find but in what it was told to write.
    let diff = fs::read_to_string(record.folder.join("workspace.diff")).expect("a diff");
    assert!(diff.contains("wordcount.py"), "{diff}");
    assert!(!diff.contains("evaluate"), "{diff}");
}
