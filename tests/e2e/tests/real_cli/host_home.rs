//! The home of the person who runs `akbench`: not read, not written, not shown.

use akbench_e2e::real::{MODEL, REPORT_ENVIRONMENT, RealScene};
use akbench_responses_server::{Reply, Script};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const CANARY: &str = "canary-host-home-9917";

/// Every path below a folder, with its time of change and, of a file, its content.
fn tree(folder: &Path) -> BTreeMap<PathBuf, (i64, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let changed = fs::metadata(&folder).unwrap();
        let times = (changed.mtime(), changed.mtime_nsec());
        found.insert(folder.clone(), (times.0, times.1, Vec::new()));
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let changed = fs::metadata(&path).unwrap();
            let content = fs::read(&path).unwrap();
            found.insert(path, (changed.mtime(), changed.mtime_nsec(), content));
        }
    }
    found
}

#[test]
fn the_home_of_the_host_reaches_neither_prompt_nor_tools_and_stays_untouched() {
    let command = format!("{REPORT_ENVIRONMENT}; ls -A \"$HOME\" \"$CODEX_HOME\"; cat ~/.codex/*");
    let script = Script::new([
        Reply::shell("call_1", command).usage(1000, 0, 50, 0),
        Reply::message("Done.").usage(1100, 900, 20, 0),
    ]);
    let test = "the_home_of_the_host_reaches_neither_prompt_nor_tools_and_stays_untouched";
    let Some(scene) = RealScene::new(test, script) else {
        return;
    };
    let skill = format!("---\nname: host-skill\ndescription: {CANARY}\n---\n{CANARY}\n");
    let config = format!("model = \"{CANARY}\"\ndeveloper_instructions = \"{CANARY}\"\n");
    let auth = format!("{{\"OPENAI_API_KEY\": \"{CANARY}\"}}");
    for (path, content) in [
        ("host-home/.agents/skills/host-skill/SKILL.md", &skill),
        ("host-home/.codex/skills/host-skill/SKILL.md", &skill),
        ("host-home/.codex/config.toml", &config),
        ("host-home/.codex/auth.json", &auth),
        ("host-home/.codex/AGENTS.md", &CANARY.to_owned()),
        ("host-home/AGENTS.md", &CANARY.to_owned()),
    ] {
        scene.scene.write(path, content);
    }
    let home = scene.scene.path("host-home");
    let before = tree(&home);

    let mut command = scene.command(&[]);
    command
        .arg("--keep")
        .env("CODEX_HOME", home.join(".codex"))
        .env("OPENAI_API_KEY", CANARY)
        .env("CODEX_API_KEY", CANARY);
    let run = scene.finish(akbench_e2e::running::Running::start(&mut command));
    run.expect_completed();
    run.expect_usage(2100, 900, 70, 0);
    run.expect_applied("workspace-write");

    for request in scene.server.requests() {
        let headers = format!("{:?}", request.headers);
        assert!(!headers.contains(CANARY), "{headers}");
        assert_eq!(request.model(), Some(MODEL));
    }
    let prompts = scene.prompts();
    assert!(!prompts.contains(CANARY), "{prompts}");
    assert!(!prompts.contains("host-skill"), "{prompts}");
    let environment = scene.tool_environment().expect("the tool's environment");
    assert!(!environment.contains(CANARY), "{environment}");
    let own_home = format!("HOME={}", home.display());
    let lines: Vec<&str> = environment.lines().collect();
    assert!(lines.iter().any(|line| line.starts_with("HOME=")));
    assert!(!lines.contains(&own_home.as_str()), "{environment}");
    assert_eq!(tree(&home), before);
}
