//! Dataset tasks: the starter set proves itself, and a run with `--task` goes from the
//! mutation to the evaluation.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use akbench::dataset::mutation::choose;
use akbench::dataset::prepare::{Variant, prepare_tree};
use akbench::process::launch::Containment;
use akbench::process::redaction::Redactor;
use akbench::process::resources::limit::ResourceLimits;
use akbench::process::tree::TreeOptions;
use akbench::registry::{Registry, SOLUTION, Source, TaskDescriptor};
use akbench::runner::evaluate::{Evaluation, EvaluationError, EvaluationSetup, evaluate};
use akbench::runner::stop::stop_pair;
use akbench::runner::workspace::copy_tree;
use akbench_e2e::built;
use akbench_e2e::record::Record;
use akbench_e2e::scene::{Ran, Scene};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn starter() -> Vec<TaskDescriptor> {
    let sources = [Source {
        name: "built-in".to_owned(),
        folder: built::repository(),
    }];
    let registry = Registry::load(&sources).unwrap();
    let of_set = |task: &&TaskDescriptor| task.dataset == "starter";
    registry.tasks().iter().filter(of_set).cloned().collect()
}

/// Copies files over those of a workspace, as a perfect agent would write them.
fn overlay(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir_all(&target).unwrap();
            overlay(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// What the task's evaluator says of a workspace.
async fn judge(
    task: &TaskDescriptor,
    variant: &Variant,
    prepared: &Path,
    workspace: &Path,
    folder: &Path,
) -> Result<Evaluation, EvaluationError> {
    let tree = TreeOptions {
        limits: ResourceLimits::by_default(),
        supervisor: built::akbench(),
        attempts: vec![
            Containment::Namespaces {
                files: None,
                network: true,
                hosts: None,
            },
            Containment::SubReaper,
        ],
    };
    let (_handle, stop) = stop_pair();
    evaluate(EvaluationSetup {
        task,
        evaluator: task.evaluator.as_ref().expect("an evaluator"),
        variant,
        prepared,
        workspace,
        folder,
        log: &folder.join("log"),
        tree: &tree,
        redactor: &Redactor::new([]).unwrap(),
        stop,
    })
    .await
}

/// Seeds 1 to 5, and more until every alternative of every mutation was chosen.
fn telling_seeds(task: &TaskDescriptor) -> Vec<u64> {
    let mut all = BTreeSet::new();
    for mutation in &task.mutations {
        for alternative in &mutation.alternatives {
            all.insert(format!("{}={}", mutation.id, alternative.id));
        }
    }
    let mut seen = BTreeSet::new();
    let mut seeds = Vec::new();
    for seed in 1..1000 {
        let chosen: Vec<String> = choose(task.id.as_str(), &task.mutations, seed)
            .iter()
            .map(ToString::to_string)
            .collect();
        if seed <= 5 || chosen.iter().any(|choice| !seen.contains(choice)) {
            seeds.push(seed);
        }
        seen.extend(chosen);
        if seed >= 5 && seen == all {
            break;
        }
    }
    assert_eq!(seen, all, "{}", task.id);
    seeds
}

async fn proves_itself(id: &str) {
    let task = starter()
        .into_iter()
        .find(|task| task.id.as_str() == id)
        .expect("the task");
    let root = tempfile::tempdir().unwrap();
    for seed in telling_seeds(&task) {
        let at = |name: &str| root.path().join(format!("{seed}-{name}"));
        let variant = prepare_tree(&task, seed, &at("prepared")).unwrap();
        for (name, solved) in [("untouched", false), ("solved", true)] {
            let workspace = at(name);
            copy_tree(&at("prepared"), &workspace).unwrap();
            if solved {
                overlay(&task.folder().join(SOLUTION), &workspace);
            }
            let folder = at(&format!("{name}-evaluation"));
            let evaluation = judge(&task, &variant, &at("prepared"), &workspace, &folder).await;
            let log = |name| fs::read_to_string(folder.join("log").join(name)).unwrap_or_default();
            let choices = variant.choices.iter().map(ToString::to_string);
            let story = format!(
                "{id}, seed {seed}, {:?}, {name}: {evaluation:?}\n{}{}",
                choices.collect::<Vec<_>>(),
                log("stdout"),
                log("stderr")
            );
            let evaluation = evaluation.unwrap_or_else(|_| panic!("{story}"));
            assert_eq!(evaluation.passed, solved, "{story}");
            if let Some(score) = evaluation.score {
                assert_eq!(score >= 1.0, solved, "{story}");
            }
        }
    }
}

macro_rules! proven {
    ($($name:ident: $id:literal,)*) => {
        const PROVEN: &[&str] = &[$($id),*];
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                proves_itself($id).await;
            }
        )*
    };
}

// The evaluator refuses the workspace as it is given and accepts the reference solution.
proven! {
    wordcount_001_tells_solved_from_unsolved: "wordcount-001",
    totals_002_tells_solved_from_unsolved: "totals-002",
    slug_003_tells_solved_from_unsolved: "slug-003",
    ring_004_tells_solved_from_unsolved: "ring-004",
    report_005_tells_solved_from_unsolved: "report-005",
    merge_006_tells_solved_from_unsolved: "merge-006",
    ledger_007_tells_solved_from_unsolved: "ledger-007",
    build_008_tells_solved_from_unsolved: "build-008",
}

#[test]
fn every_task_of_the_starter_set_is_proven_and_mutated() {
    let tasks = starter();
    let ids: BTreeSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids, PROVEN.iter().copied().collect());
    for task in &tasks {
        let real = task
            .mutations
            .iter()
            .filter(|mutation| mutation.alternatives.len() > 1);
        assert!(real.count() >= 2, "{}", task.id);
        assert!(task.folder().join(SOLUTION).is_dir(), "{}", task.id);
    }
}

#[test]
fn the_examples_in_the_documentation_are_valid() {
    let page = fs::read_to_string(built::repository().join("docs/tasks.md")).unwrap();
    let mut examples = 0;
    for block in page.split("```json\n").skip(1) {
        let text = block.split("```").next().unwrap();
        let document: Value = serde_json::from_str(text).expect(text);
        let root = tempfile::tempdir().unwrap();
        let folder = root
            .path()
            .join("set")
            .join(document["id"].as_str().unwrap());
        for name in ["workspace", "evaluate"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        for name in [
            "instruction.md",
            "sketch.png",
            "bugs/off-by-one.diff",
            "old/main.py",
        ] {
            fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
            fs::write(folder.join(name), "x").unwrap();
        }
        fs::write(folder.join("task.json"), text).unwrap();
        if let Err(errors) = TaskDescriptor::load(&folder.join("task.json")) {
            panic!("{errors:#?}\n{text}");
        }
        examples += 1;
    }
    assert!(examples >= 1);
}

/// An agent that does to the workspace what the steps say, and reports that it is done.
fn agent(scene: &Scene, work: &[Value]) -> PathBuf {
    let mut steps = vec![json!({"read_stdin": {}})];
    steps.extend(work.iter().cloned());
    steps.push(json!({"stdout": {"file": "stdout.jsonl"}}));
    steps.push(json!({"copy": {
        "from": "rollouts", "into_env": "CODEX_HOME", "path": "sessions/2026/11/30"}}));
    let version = json!({"stdout": {"text": "codex-cli 0.171.0\n"}});
    let program = scene.stub(
        "codex",
        &json!({"cases": [
            {"when": {"args_start": ["--version"]}, "steps": [version]},
            {"when": {"args_contain": "exec"}, "steps": steps},
            {"steps": []}
        ]}),
    );
    let demo = built::repository().join("xtask/demo-stub");
    let keep = |from: PathBuf, to: &str| {
        let name = from.file_name().unwrap().to_str().unwrap().to_owned();
        let target = format!("programs/codex.scenario/{to}{name}");
        scene.write(&target, fs::read(from).unwrap());
    };
    keep(demo.join("stdout.jsonl"), "");
    for entry in fs::read_dir(demo.join("rollouts")).unwrap() {
        keep(entry.unwrap().path(), "rollouts/");
    }
    program
}

fn run(scene: &Scene, program: &Path, more: &[&str]) -> Ran {
    let mut command = scene.akbench(["run", "--json", "--runtime", "llm-router", "--out", "runs"]);
    command
        .arg("--adapter")
        .arg(built::adapter("codex.wasm"))
        .arg("--program")
        .arg(format!("codex={}", program.display()))
        .args(more);
    scene.run(&mut command)
}

/// A descriptor folder with one task, `note`, whose evaluator is this script.
fn note_task(scene: &Scene, evaluator: &str, change: impl FnOnce(&mut Value)) {
    let mut document = json!({
        "schema": "akbench.task/1", "id": "note", "version": "1.2.0", "name": "Note",
        "instruction": {"text": "Write hi to out.txt.\n"},
        "mutations": [{"id": "colour", "alternatives": [
            {"id": "red"},
            {"id": "blue", "operations": [
                {"replace_text": {"path": "colour.txt", "find": "red", "with": "blue"}}]}]}],
        "evaluator": {"command": ["bash", "check.sh"], "time_limit": "20s"}
    });
    change(&mut document);
    let folder = "mine/descriptors/tasks/own/note";
    scene.write(&format!("{folder}/task.json"), document.to_string());
    scene.write(&format!("{folder}/workspace/colour.txt"), "red\n");
    scene.write(&format!("{folder}/evaluate/check.sh"), evaluator);
}

const NOTE: &[&str] = &["--task", "note", "--descriptors", "mine"];

/// Passes if what the agent did arrived, with the tree before it beside it.
const CHECK: &str = r#"
echo "token $AKBENCH_LLM_ROUTER_KEY"
[[ "$(cat "$AKBENCH_PREPARED/colour.txt")" == @(red|blue) ]] || exit 3
cd "$AKBENCH_WORKSPACE"
[[ "$(cat out.txt)" == hi && ! -e colour.txt && -L link ]] || exit 10
echo 0.75 > "$AKBENCH_SCORE"
"#;

fn diligent(scene: &Scene) -> PathBuf {
    agent(
        scene,
        &[
            json!({"write_file": {"path": "out.txt", "text": "hi\n"}}),
            json!({"delete_file": {"path": "colour.txt"}}),
            json!({"make_symlink": {"path": "link", "target": "out.txt"}}),
        ],
    )
}

#[test]
fn a_task_is_mutated_done_and_judged() {
    let scene = Scene::new();
    note_task(&scene, CHECK, |_| {});
    let program = diligent(&scene);
    let ran = run(&scene, &program, &[NOTE, &["--seed", "7"]].concat());
    let result = Record::checked(&scene, &ran).result;
    assert_eq!(result["status"], "completed", "{result:#}");
    assert_eq!(result["evaluation"]["passed"], true, "{result:#}");
    assert_eq!(result["evaluation"]["score"], 0.75);
    assert_eq!(result["evaluation"]["log"], "artifacts/evaluation/stdout");
    assert_eq!(result["task"]["id"], "note");
    assert_eq!(result["task"]["version"], "1.2.0");
    assert_eq!(result["task"]["seed"], 7);
    let mutation = result["task"]["mutations"][0].as_str().unwrap();
    assert!(mutation.starts_with("colour="), "{mutation}");
    assert_eq!(result["workspace"]["files_changed"], 3);

    let folder = scene.run_folder(&result);
    let diff = fs::read_to_string(folder.join("workspace.diff")).unwrap();
    for part in ["+hi", "deleted file mode", "new file mode 120000"] {
        assert!(diff.contains(part), "{part}\n{diff}");
    }
    // The environment is cleared, so the credential could not be printed.
    let log = fs::read_to_string(folder.join("artifacts/evaluation/stdout")).unwrap();
    assert_eq!(log, "token \n");
    let listed = result["artifacts"].as_array().unwrap();
    let is_exit = |file: &Value| file["path"] == "evaluation/exit.json";
    assert!(listed.iter().any(is_exit), "{listed:#?}");
    for gone in ["pristine", "evaluation", "scratch"] {
        assert!(!folder.join(gone).exists(), "{gone}");
    }

    // `prepare` gives what the agent got.
    let mut command = scene.akbench(["task", "prepare", "note", "--seed", "7", "--json"]);
    command.args(["--out", "prepared", "--descriptors", "mine"]);
    let prepared = scene.run(&mut command).result();
    for (here, there) in [
        ("workspace_sha256", &result["workspace"]["before_sha256"]),
        ("instruction_sha256", &result["task"]["instruction_sha256"]),
        ("mutations", &result["task"]["mutations"]),
    ] {
        assert_eq!(prepared[here], *there, "{here}");
    }
}

#[test]
fn an_agent_that_did_nothing_is_completed_and_not_passed() {
    let scene = Scene::new();
    note_task(&scene, CHECK, |_| {});
    let ran = run(&scene, &agent(&scene, &[]), NOTE);
    let result = ran.result();
    assert_eq!(result["status"], "completed", "{result:#}");
    assert_eq!(result["evaluation"]["passed"], false, "{result:#}");
    assert_eq!(result["evaluation"]["score"], Value::Null);
    assert_eq!(result["task"]["seed"], 0);
    assert_eq!(ran.code, 0);
}

#[test]
fn an_evaluator_that_fails_is_never_the_agents_failure() {
    let missing = r#"["no-such-interpreter", "check.sh"]"#;
    let usual = r#"["bash", "check.sh"]"#;
    for (evaluator, command, limit, says) in [
        ("exit 1\n", usual, "20s", "exit code 1, which is no verdict"),
        ("kill -SEGV $$\n", usual, "20s", "ended by SIGSEGV"),
        ("exec sleep 600\n", usual, "300ms", "limit of 300ms"),
        (
            "echo 7 > $AKBENCH_SCORE\n",
            usual,
            "20s",
            "a number from 0 to 1",
        ),
        ("", missing, "20s", "`no-such-interpreter` is missing"),
    ] {
        let scene = Scene::new();
        note_task(&scene, evaluator, |task| {
            task["evaluator"]["time_limit"] = json!(limit);
            task["evaluator"]["command"] = serde_json::from_str(command).unwrap();
        });
        let ran = run(&scene, &agent(&scene, &[]), NOTE);
        let result = ran.result();
        assert_eq!(result["status"], "completed", "{result:#}");
        assert_eq!(result["failure"], Value::Null);
        assert_eq!(result["evaluation"], Value::Null);
        let warnings = result["warnings"].to_string();
        assert!(warnings.contains(says), "{says}: {warnings}");
        let reasons = result["invalid_reasons"].to_string();
        assert!(reasons.contains("evaluation_failed"), "{reasons}");
        assert_eq!(ran.code, 0);
    }
}

#[test]
fn what_an_evaluator_leaves_running_is_ended() {
    let scene = Scene::new();
    let evaluator = "setsid sleep 4711 < /dev/null > /dev/null 2>&1 &\nexit 10\n";
    note_task(&scene, evaluator, |_| {});
    let result = run(&scene, &agent(&scene, &[]), NOTE).result();
    assert_eq!(result["evaluation"]["passed"], false, "{result:#}");
    let exit = scene
        .run_folder(&result)
        .join("artifacts/evaluation/exit.json");
    let exit: Value = serde_json::from_slice(&fs::read(exit).unwrap()).unwrap();
    assert_eq!(
        (&exit["ended"], &exit["survivors"]),
        (&json!(1), &json!(0)),
        "{exit:#}"
    );
}

#[test]
fn the_agent_sees_a_repository_if_the_task_says_so_and_nothing_else_of_the_task() {
    let scene = Scene::new();
    note_task(&scene, CHECK, |task| task["git"] = json!(true));
    scene.write("mine/descriptors/tasks/own/note/solution/out.txt", "hi\n");
    let mut command = scene.akbench(["task", "prepare", "note", "--out", "prepared"]);
    let ran = scene.run(command.args(["--descriptors", "mine"]));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let mut found: Vec<String> = fs::read_dir(scene.path("prepared/workspace"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    assert_eq!(found, [".git", "colour.txt"]);
    // A second time: nothing is overwritten.
    let again = scene.run(command.args(["--seed", "9"]));
    assert_eq!(again.code, 2);
    assert!(
        again.stderr.contains("expects a new one"),
        "{}",
        again.stderr
    );

    let program = diligent(&scene);
    let result = run(&scene, &program, NOTE).result();
    assert_eq!(result["evaluation"]["passed"], true, "{result:#}");
    assert_eq!(result["workspace"]["files_changed"], 3);
}

#[test]
fn a_task_that_can_not_be_prepared_is_refused_and_only_that_is_kept() {
    let scene = Scene::new();
    note_task(&scene, CHECK, |task| {
        task["mutations"][0]["alternatives"][0]["operations"] =
            json!([{"delete": {"path": "none.txt"}}]);
        task["mutations"][0]["alternatives"][1] = json!({"id": "also", "operations": [
            {"rename": {"from": "none.txt", "to": "other.txt"}}]});
    });
    let ran = run(&scene, &agent(&scene, &[]), NOTE);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("mutation `colour="), "{}", ran.stderr);
    let result = ran.result();
    assert_eq!(result["status"], "refused");
    assert_eq!(result["failure"]["class"], "invalid_configuration");
    let kept = fs::read_dir(scene.run_folder(&result)).unwrap();
    assert_eq!(kept.count(), 1, "nothing but the record");
    assert_eq!(fs::read_dir(scene.path("runs")).unwrap().count(), 1);
}

#[test]
fn attachments_that_an_adapter_can_not_pass_on_are_refused_before_the_agent_works() {
    let scene = Scene::new();
    note_task(&scene, CHECK, |task| {
        task["attachments"] = json!(["sketch.png"]);
    });
    scene.write(
        "mine/descriptors/tasks/own/note/sketch.png",
        [0x89, b'P', b'N', b'G'],
    );
    let ran = run(&scene, &diligent(&scene), NOTE);
    let record = Record::checked(&scene, &ran);
    let failure = &record.result["failure"];
    assert_eq!(ran.code, 2);
    assert_eq!(failure["class"], "unsupported");
    assert_eq!(failure["fault"], "configuration");
    let message = failure["message"].as_str().unwrap();
    assert!(message.contains("put them into the workspace"), "{message}");
    assert!(record.spawn("task").is_none());
    assert_eq!(record.result["usage"], Value::Null);
}

/// A run that a host's death ended is completed with the diff of its variant.
#[test]
fn a_dead_run_of_a_task_is_recovered_with_its_diff_and_without_a_verdict() {
    let scene = Scene::new();
    note_task(&scene, CHECK, |_| {});
    let program = diligent(&scene);
    let keep = [NOTE, &["--keep", "--seed", "7"]].concat();
    let finished = run(&scene, &program, &keep).result();
    let folder = scene.run_folder(&finished);
    // As if the host had died right after the session.
    fs::remove_file(folder.join("result.json")).unwrap();
    let task = Registry::load(&[Source {
        name: "mine".to_owned(),
        folder: scene.path("mine"),
    }])
    .unwrap();
    prepare_tree(&task.tasks()[0], 7, &folder.join("pristine")).unwrap();
    let recovered = scene.run(&mut scene.akbench(["runs", "recover"]));
    assert_eq!(
        recovered.code, 0,
        "{}{}",
        recovered.stdout, recovered.stderr
    );
    let result = Record::at(folder).result;
    for same in ["status", "task", "usage", "workspace"] {
        assert_eq!(result[same], finished[same], "{same}");
    }
    assert_eq!(result["evaluation"], Value::Null);
    assert_eq!(result["valid"], false);
}

#[test]
fn the_two_ways_to_say_what_to_do_exclude_each_other() {
    let scene = Scene::new();
    let program = agent(&scene, &[]);
    let task = ["--task", "wordcount-001"];
    let files = ["--workspace", "workspace", "--task-file", "task.txt"];
    for (args, says) in [
        (files[..2].to_vec(), "--task-file"),
        (
            [task, ["--workspace", "workspace"]].concat(),
            "cannot be used with",
        ),
        ([&task[..], &["--in-place"]].concat(), "cannot be used with"),
        ([&files[..], &["--seed", "1"]].concat(), "--task"),
        (
            vec!["--task", "wordcout-001"],
            "did you mean `wordcount-001`?",
        ),
        (
            [task, ["--require", "tool_cals"]].concat(),
            "no such capability",
        ),
        (
            [task, ["--require", "cost_usage"]].concat(),
            "does not support it",
        ),
    ] {
        let ran = run(&scene, &program, &args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn the_shorter_of_two_time_limits_holds() {
    let scene = Scene::new();
    note_task(&scene, CHECK, |task| task["time_limit"] = json!("10m"));
    let program = agent(&scene, &[]);
    for (asked, expected) in [
        (None, 600_000),
        (Some("5m"), 300_000),
        (Some("20m"), 600_000),
    ] {
        let mut args = NOTE.to_vec();
        args.extend(asked.iter().flat_map(|limit| ["--time-limit", limit]));
        let result = run(&scene, &program, &args).result();
        assert_eq!(result["task"]["time_limit_ms"], expected, "{asked:?}");
    }
}

#[test]
fn tasks_are_listed_and_shown() {
    let scene = Scene::new();
    let mut command = scene.akbench(["task", "list", "--json"]);
    let listed = scene.run(&mut command).result();
    let tasks = listed.as_array().unwrap();
    assert!(tasks.iter().any(|task| task["id"] == "wordcount-001"));
    let shown = scene.run(&mut scene.akbench(["task", "show", "wordcount-001"]));
    for part in [
        "wordcount-001@1.0.0",
        "dataset     starter",
        "mutation    order",
        "RULES.md",
    ] {
        assert!(shown.stdout.contains(part), "{part}\n{}", shown.stdout);
    }
}
