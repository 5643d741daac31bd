//! The documentation is true: its commands run and print what it shows, its JSON is what it
//! claims to be, its figures are the engine's, its links lead somewhere.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use akbench::contract::observed::{FailureClass, Fault};
use akbench::registry::{Registry, Source};
use akbench::runner::limits;
use akbench::runner::result::RunResult;
use akbench::sandbox::limits::{DEFAULT_MEMORY, HOSTCALL_FUEL, MAX_HANDLES};
use akbench_e2e::built;
use akbench_e2e::installed::{Installed, recorded_session};
use akbench_e2e::page::{Block, Page, is_printed};
use akbench_e2e::scene::Scene;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Pages whose commands are run in a scene with an installation, a stub of the agent, a
/// workspace and a task.
const WITH_COMMANDS: [&str; 5] = [
    "README.md",
    "docs/AGENT_ADAPTERS.md",
    "docs/AGENT_INTEGRATION.md",
    "docs/result.md",
    "docs/ci.md",
];

/// Commands that are not run here, by how they begin, and why.
const NOT_RUN: [(&str, &str); 3] = [
    ("cargo xtask ", "this test is part of what they run"),
    (
        "npm install ",
        "needs the network; the stub stands in for the program",
    ),
    ("export PATH=", "the built program is in PATH already"),
];

fn page(path: &str) -> Page {
    Page::read(&built::repository().join(path))
}

fn all_pages() -> Vec<Page> {
    let mut paths = vec![built::repository().join("README.md")];
    let docs = fs::read_dir(built::repository().join("docs")).unwrap();
    paths.extend(docs.map(|entry| entry.unwrap().path()));
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    assert!(paths.len() > 4);
    paths.iter().map(|path| Page::read(path)).collect()
}

fn place(page: &Page, block: &Block) -> String {
    format!("{}:{}", page.path.display(), block.line)
}

/// Everything that the pages name, under the names that they use.
fn prepare(scene: &Scene) -> Installed<'_> {
    let installed = Installed::new(scene);
    recorded_session(scene);
    fs::create_dir(scene.path("my-workspace")).unwrap();
    fs::copy(built::adapter("codex.wasm"), scene.path("their.wasm")).unwrap();
    let descriptor = installed.path("descriptors/agents/codex.json");
    fs::copy(descriptor, scene.path("their-agent.json")).unwrap();
    std::os::unix::fs::symlink(built::akbench(), scene.path("programs/akbench")).unwrap();
    installed
}

/// A shell command in the environment of an installation.
fn shell(installed: &Installed, script: &str) -> Command {
    let like = installed.akbench([""; 0]);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).env_clear();
    command.current_dir(like.get_current_dir().unwrap());
    for (name, value) in like.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command
}

fn run_commands(path: &str) {
    let page = page(path);
    let scene = Scene::new();
    let installed = prepare(&scene);
    let mut exported = String::new();
    let mut commands_run = 0;
    for block in page.blocks() {
        assert!(
            block.language == "console" || !block.text.contains("\n$ "),
            "{}: a block with commands is no `console` block",
            place(&page, &block)
        );
        if block.language != "console" {
            continue;
        }
        let at = place(&page, &block);
        let commands = block.commands();
        assert!(
            !commands.is_empty(),
            "{at}: a console block without a command"
        );
        for command in commands {
            if NOT_RUN
                .iter()
                .any(|(begins, _)| command.line.starts_with(begins))
            {
                continue;
            }
            if command.line.starts_with("export ") {
                exported.push_str(&command.line);
                exported.push('\n');
                continue;
            }
            let ran = scene.run(&mut shell(
                &installed,
                &format!("{exported}{}", command.line),
            ));
            commands_run += 1;
            let printed = format!("{}{}", ran.stdout, ran.stderr);
            assert_eq!(ran.code, 0, "{at}: `{}`:\n{printed}", command.line);
            for shown in command.output.iter().filter(|line| !line.is_empty()) {
                assert!(
                    is_printed(shown, &printed),
                    "{at}: `{}` does not print `{shown}`:\n{printed}",
                    command.line
                );
            }
        }
    }
    assert!(commands_run > 0, "{path} has no command");
}

#[test]
fn the_readme_s_commands_run_and_print_what_it_shows() {
    run_commands(WITH_COMMANDS[0]);
}

#[test]
fn the_commands_of_the_page_on_adapters_run_and_print_what_it_shows() {
    run_commands(WITH_COMMANDS[1]);
}

#[test]
fn the_commands_of_the_page_on_the_integration_run_and_print_what_it_shows() {
    run_commands(WITH_COMMANDS[2]);
}

#[test]
fn the_commands_of_the_page_on_results_run_and_print_what_it_shows() {
    run_commands(WITH_COMMANDS[3]);
}

#[test]
fn the_commands_of_the_page_on_ci_run_and_print_what_it_shows() {
    run_commands(WITH_COMMANDS[4]);
}

#[test]
fn every_json_example_is_json_and_every_descriptor_can_be_loaded() {
    let scene = Scene::new();
    let mut examples = 0;
    for page in all_pages() {
        for block in page.blocks() {
            let at = place(&page, &block);
            let documents: Vec<&str> = match block.language.as_str() {
                "json" => vec![&block.text],
                "jsonl" => block.text.lines().collect(),
                _ => continue,
            };
            for document in documents {
                let value: Value =
                    serde_json::from_str(document).unwrap_or_else(|error| panic!("{at}: {error}"));
                examples += 1;
                let file = match value["schema"].as_str() {
                    Some("akbench.agent/1") => "descriptors/agents/example.json",
                    Some("akbench.runtime/1") => "descriptors/runtimes/example.json",
                    Some("akbench.catalog/1") => "adapters/catalog.json",
                    _ => continue,
                };
                let folder = format!("example-{examples}");
                scene.write(&format!("{folder}/{file}"), document);
                let source = Source {
                    name: "example".to_owned(),
                    folder: scene.path(&folder),
                };
                let loaded = Registry::load(&[source]);
                assert!(loaded.is_ok(), "{at}: {:?}", loaded.err());
            }
        }
    }
    assert!(examples > 5);
}

/// The names of all keys, at any depth. Below these, keys are data.
fn keys(value: &Value, found: &mut BTreeSet<String>) {
    const DATA: [&str; 5] = ["parameters", "extra", "evidence", "limits", "evaluation"];
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                found.insert(key.clone());
                if !DATA.contains(&key.as_str()) && key != "provenance" {
                    keys(value, found);
                }
                if key == "provenance" {
                    let sources = value.as_object().unwrap().values();
                    sources.for_each(|source| keys(source, found));
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn the_example_of_a_result_is_one_and_every_field_of_it_is_explained() {
    let page = page("docs/result.md");
    let blocks = page.blocks();
    let example = blocks
        .iter()
        .find(|block| block.language == "json" && block.text.contains("agent-result/1"))
        .expect("an example");
    let result: RunResult = serde_json::from_str(&example.text).unwrap();
    // Written out again, so that no field of the type is missing.
    let written = serde_json::to_value(&result).unwrap();
    let shown: Value = serde_json::from_str(&example.text).unwrap();
    assert_eq!(written, shown);
    let mut fields = BTreeSet::new();
    keys(&written, &mut fields);
    let explained = page.text.split("## Example").next().unwrap();
    let missing: Vec<_> = fields
        .iter()
        .filter(|field| !explained.contains(&format!("`{field}`")))
        .collect();
    assert_eq!(missing, Vec::<&String>::new());
}

#[test]
fn the_table_of_failures_gives_each_class_the_fault_that_the_engine_gives_it() {
    let page = page("docs/result.md");
    let section = page.text.split("## Failures").nth(1).unwrap();
    let mut documented = BTreeSet::new();
    for line in section.split("\n## ").next().unwrap().lines() {
        let cells: Vec<&str> = line
            .split('|')
            .map(|cell| cell.trim().trim_matches('`'))
            .collect();
        let [_, fault, class, ..] = cells[..] else {
            continue;
        };
        let Ok(fault) = serde_json::from_value::<Fault>(fault.into()) else {
            continue;
        };
        let known: FailureClass = serde_json::from_value(class.into()).unwrap();
        assert!(
            !matches!(known, FailureClass::Other(_)),
            "{class} is no class"
        );
        assert_eq!(known.fault(), fault, "{class}");
        documented.insert(class.to_owned());
    }
    let contract = fs::read_to_string(built::repository().join("wit/agent.wit")).unwrap();
    let variant = contract.split("variant failure-class {").nth(1).unwrap();
    let classes: Vec<String> = variant
        .split('}')
        .next()
        .unwrap()
        .lines()
        .filter_map(|line| line.trim().strip_suffix(','))
        .filter(|case| !case.starts_with("//") && !case.contains('('))
        .map(|case| case.replace('-', "_"))
        .collect();
    assert!(classes.len() > 20);
    for class in classes {
        assert!(documented.contains(&class), "{class} is not documented");
    }
}

#[test]
fn the_figures_of_the_page_on_adapters_are_the_engine_s() {
    let page = page("docs/AGENT_ADAPTERS.md");
    let row = |begins: &str| -> String {
        let found = page.text.lines().find(|line| line.starts_with(begins));
        found
            .unwrap_or_else(|| panic!("no row `{begins}`"))
            .to_owned()
    };
    let mib = |bytes: u64| format!(" {} MiB", bytes >> 20);
    let seconds = |time: std::time::Duration| format!(" {} s", time.as_secs());
    for (begins, figure) in [
        ("| memory |", mib(DEFAULT_MEMORY)),
        ("| data moved in one call |", mib(HOSTCALL_FUEL as u64)),
        ("| handles |", format!(" {MAX_HANDLES} ")),
        ("| computing |", seconds(limits::COMPUTING)),
        ("| `validate-environment` |", seconds(limits::PREPARE)),
        ("| `start-session` |", seconds(limits::PREPARE)),
        ("| `submit-task` |", seconds(limits::SUBMIT)),
        ("| `wait-for-completion` |", seconds(limits::WAIT_SLICE)),
        ("| `cancel` |", seconds(limits::CANCEL_GRACE)),
        ("| `collect-observations` |", seconds(limits::COLLECT)),
        ("| `close` |", seconds(limits::CLOSE)),
    ] {
        let row = row(begins);
        assert!(row.contains(&figure), "{figure} in `{row}`");
    }
}

#[test]
fn the_parameters_of_the_page_on_adapters_are_the_descriptor_s() {
    let repository = built::repository();
    let descriptor = fs::read_to_string(repository.join("descriptors/agents/codex.json")).unwrap();
    let descriptor: Value = serde_json::from_str(&descriptor).unwrap();
    let page = page("docs/AGENT_ADAPTERS.md");
    let section = page.text.split("## The Codex adapter").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows: Vec<Vec<&str>> = section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let names: Vec<&str> = rows.iter().map(|row| row[1].trim_matches('`')).collect();
    let controllable: Vec<&str> = descriptor["controllable"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    assert_eq!(names, controllable);
    for row in rows {
        let property = &descriptor["configuration_schema"]["properties"][row[1].trim_matches('`')];
        for allowed in property["enum"].as_array().into_iter().flatten() {
            let allowed = allowed.as_str().unwrap();
            assert!(
                row[2].contains(&format!("`{allowed}`")),
                "{allowed} in {row:?}"
            );
        }
        match &property["default"] {
            Value::Null => assert!(!row[3].contains('`'), "{row:?}"),
            Value::String(text) => assert_eq!(row[3], format!("`{text}`")),
            other => assert_eq!(row[3], format!("`{other}`")),
        }
    }
}

#[test]
fn every_link_to_a_file_leads_to_one() {
    let mut broken = Vec::new();
    for page in all_pages() {
        let folder: PathBuf = page.path.parent().unwrap().to_owned();
        for link in page.links() {
            if !folder.join(&link).exists() {
                broken.push(format!("{}: {link}", page.path.display()));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}
