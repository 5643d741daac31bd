#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::agent::tests::{acme, with};
use super::*;
use crate::digest::Sha256;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn put(folder: &Path, file: &str, content: &Value) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
    fs::write(path, content.to_string()).expect("a file");
}

fn source(name: &str, folder: &Path) -> Source {
    Source {
        name: name.to_owned(),
        folder: folder.to_owned(),
    }
}

fn runtime(version: &str) -> Value {
    json!({"schema": "akbench.runtime/1", "id": "router", "version": version, "name": "Router",
        "base_url": {"text": "http://localhost:1/v1"}, "wire_api": "responses"})
}

fn catalog(entries: &[(&str, &str)]) -> Value {
    let entries: Vec<Value> = entries
        .iter()
        .map(|(id, file)| json!({"id": id, "component": file}))
        .collect();
    json!({"schema": "akbench.catalog/1", "adapters": entries})
}

#[test]
fn all_mistakes_of_all_files_come_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    put(
        folder.path(),
        "descriptors/agents/a.json",
        &with(|d| {
            d["agent"]["executon"] = json!(1);
            d["controllable"] = json!(["none"]);
            d["version"] = json!(1);
        }),
    );
    fs::write(
        folder.path().join("descriptors/agents/b.json"),
        "{\n  \"id\": \"b\",\n  \"id\": \"c\"\n}",
    )
    .expect("a file");
    put(folder.path(), "descriptors/runtimes/r.json", &json!([]));
    put(
        folder.path(),
        "adapters/catalog.json",
        &catalog(&[("a", "../a.wasm")]),
    );
    let errors = Registry::load(&[source("built-in", folder.path())]).expect_err("mistakes");
    let shown: Vec<String> = errors.iter().map(ToString::to_string).collect();
    for part in [
        "a.json: at `/agent/executon`",
        "a.json: at `/controllable/0`",
        "a.json: at `/version`",
        "b.json: line 3, column 6: the key `id` occurs twice",
        "r.json: at ``: expected",
        "catalog.json: at `/adapters/0/component`: expected a file name without folders",
    ] {
        assert!(
            shown.iter().any(|line| line.contains(part)),
            "{part}\n{shown:#?}"
        );
    }
}

#[test]
fn an_unknown_key_in_a_catalog_is_named_with_its_place_and_the_nearest_one() {
    for (change, expected) in [
        (
            "component",
            "at `/adapters/0/componnt`: unknown key; did you mean `component`?",
        ),
        (
            "schema",
            "at `/adaptors`: unknown key; did you mean `adapters`?",
        ),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut document = catalog(&[("a", "a.wasm")]);
        match change {
            "component" => document["adapters"][0]["componnt"] = json!("a.wasm"),
            _ => document["adaptors"] = json!([]),
        }
        put(folder.path(), "adapters/catalog.json", &document);
        let errors = Registry::load(&[source("built-in", folder.path())]).expect_err("mistakes");
        let shown = errors.iter().map(ToString::to_string).collect::<String>();
        assert!(
            shown.contains("catalog.json") && shown.contains(expected),
            "{shown}"
        );
    }
}

#[test]
fn a_later_source_wins_and_says_so() {
    let (first, second) = (
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("a folder"),
    );
    put(first.path(), "descriptors/agents/acme.json", &acme());
    put(
        first.path(),
        "descriptors/agents/acme-2.json",
        &with(|d| d["version"] = json!("2.0.0")),
    );
    put(
        first.path(),
        "descriptors/runtimes/router.json",
        &runtime("1.0.0"),
    );
    put(
        first.path(),
        "adapters/catalog.json",
        &catalog(&[("acme_cli", "acme.wasm"), ("other", "other.wasm")]),
    );
    put(
        second.path(),
        "descriptors/agents/mine.json",
        &with(|d| d["name"] = json!("My Acme")),
    );
    put(
        second.path(),
        "descriptors/runtimes/router.json",
        &runtime("1.0.0"),
    );
    put(
        second.path(),
        "adapters/catalog.json",
        &catalog(&[("acme_cli", "mine.wasm")]),
    );
    let registry = Registry::load(&[
        source("built-in", first.path()),
        source("mine", second.path()),
    ])
    .expect("valid");

    assert_eq!(registry.agent("acme@1").expect("there").name, "My Acme");
    assert_eq!(
        registry.agent("acme").expect("there").version.to_string(),
        "2.0.0"
    );
    assert_eq!(registry.runtimes().len(), 1);
    assert!(
        registry
            .runtime("router@1.0.0")
            .expect("there")
            .origin
            .starts_with(second.path())
    );
    let adapter = "acme_cli".parse().expect("an id");
    assert_eq!(
        registry.component_for(&adapter).expect("listed").path,
        second.path().join("adapters/mine.wasm")
    );
    let replaced: Vec<(Kind, &str, &str)> = registry
        .overrides()
        .iter()
        .map(|o| (o.kind, o.name.as_str(), o.source.as_str()))
        .collect();
    assert_eq!(
        replaced,
        [
            (Kind::Agent, "acme@1.0.0", "mine"),
            (Kind::Runtime, "router@1.0.0", "mine"),
            (Kind::Adapter, "acme_cli", "mine"),
        ]
    );
    assert_eq!(
        registry.overrides()[0].loser,
        first.path().join("descriptors/agents/acme.json")
    );
}

#[test]
fn the_same_id_and_version_twice_in_one_source_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    put(folder.path(), "descriptors/agents/a.json", &acme());
    put(folder.path(), "descriptors/agents/b.json", &acme());
    put(
        folder.path(),
        "descriptors/runtimes/a.json",
        &runtime("1.0.0"),
    );
    put(
        folder.path(),
        "descriptors/runtimes/b.json",
        &runtime("1.0.0"),
    );
    put(
        folder.path(),
        "adapters/catalog.json",
        &catalog(&[("x", "a.wasm"), ("x", "b.wasm")]),
    );
    let errors = Registry::load(&[source("built-in", folder.path())]).expect_err("duplicates");
    let shown: Vec<String> = errors.iter().map(ToString::to_string).collect();
    for part in [
        "agents/b.json: agent `acme@1.0.0` is already described",
        "runtimes/b.json: runtime `router@1.0.0`",
        "adapter `x`",
    ] {
        assert!(
            shown.iter().any(|line| line.contains(part)),
            "{part}\n{shown:#?}"
        );
    }
    assert_eq!(shown.len(), 3);
}

#[test]
fn a_component_file_leads_to_the_newest_descriptor_of_its_agent() {
    let folder = tempfile::tempdir().expect("a folder");
    for version in ["1.9.0", "1.10.0"] {
        put(
            folder.path(),
            &format!("descriptors/agents/{version}.json"),
            &with(|d| d["version"] = json!(version)),
        );
    }
    let entries = [
        ("acme_cli", "acme.wasm"),
        ("idle", "idle.wasm"),
        ("shared", "shared.wasm"),
    ];
    put(folder.path(), "adapters/catalog.json", &catalog(&entries));
    for id in ["left", "right"] {
        put(
            folder.path(),
            &format!("descriptors/agents/{id}.json"),
            &with(|d| {
                d["id"] = json!(id);
                d["agent"]["adapter"] = json!("shared");
            }),
        );
    }
    let registry = Registry::load(&[source("built-in", folder.path())]).expect("valid");
    assert_eq!(
        registry
            .agent_for_component("acme.wasm")
            .expect("there")
            .version
            .to_string(),
        "1.10.0"
    );
    for (file, part) in [
        ("none.wasm", "lists no component `none.wasm`"),
        ("idle.wasm", "no agent uses the adapter"),
        (
            "shared.wasm",
            "several agents use the adapter of component `shared.wasm`: `left`, `right`",
        ),
    ] {
        let error = registry
            .agent_for_component(file)
            .expect_err(file)
            .to_string();
        assert!(
            error.contains(part) && error.contains("--descriptor"),
            "{error}"
        );
    }
    let unknown = "acme_cil".parse().expect("an id");
    let error = registry
        .component_for(&unknown)
        .expect_err("not listed")
        .to_string();
    assert!(error.contains("did you mean `acme_cli`?"), "{error}");
}

#[test]
fn parts_of_a_source_may_be_missing_but_not_the_source() {
    let folder = tempfile::tempdir().expect("a folder");
    let registry = Registry::load(&[source("empty", folder.path())]).expect("nothing wrong");
    assert!(
        registry.agents().is_empty()
            && registry.runtimes().is_empty()
            && registry.catalog().is_empty()
    );
    let error = registry
        .agent("acme")
        .expect_err("nothing there")
        .to_string();
    assert_eq!(error, "there is no agent `acme`; there are none");
    let gone = folder.path().join("gone");
    let errors = Registry::load(&[source("mine", &gone)]).expect_err("no folder");
    assert_eq!(
        errors,
        [RegistryError {
            file: gone,
            problem: Problem::NoSuchFolder {
                source_name: "mine".to_owned()
            }
        }]
    );
}

#[test]
fn hidden_files_and_other_files_are_left_alone_and_what_is_no_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    put(folder.path(), "descriptors/agents/acme.json", &acme());
    put(folder.path(), "descriptors/agents/.#acme.json", &json!(1));
    put(folder.path(), "descriptors/agents/README.md", &json!(1));
    let load = || Registry::load(&[source("built-in", folder.path())]);
    assert_eq!(load().expect("valid").agents().len(), 1);
    fs::create_dir(folder.path().join("descriptors/agents/folder.json")).expect("a folder");
    std::os::unix::fs::symlink(
        "nowhere",
        folder.path().join("descriptors/agents/link.json"),
    )
    .expect("a link");
    let errors = load().expect_err("neither is a file");
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(
        errors
            .iter()
            .all(|error| matches!(error.problem, Problem::Unreadable { .. }))
    );
}

#[test]
fn the_digest_is_that_of_the_files_bytes() {
    let text = acme().to_string() + "\n";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("acme.json");
    fs::write(&path, &text).expect("a file");
    let agent = AgentDescriptor::load(&path).expect("valid");
    assert_eq!(agent.digest, Sha256::of(text.as_bytes()));
    assert_eq!(agent.origin, path);
}

/// Where this repository is, seen from this file: the module is also built elsewhere.
fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = Path::new(file!());
    // `file!` is relative to the folder in which the compiler ran: the crate or the workspace.
    let candidates = here.ancestors().map(|folder| folder.join(file));
    let this = candidates
        .into_iter()
        .find(|path| path.exists())
        .expect("this file");
    let root = this
        .ancestors()
        .find(|folder| folder.join("descriptors/schemas").is_dir());
    root.expect("the repository").to_owned()
}

#[test]
fn the_repositorys_own_descriptors_are_valid_and_fit_together() {
    let registry =
        Registry::load(&[source("repository", &repository())]).unwrap_or_else(|errors| {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            panic!("{}", lines.join("\n"));
        });
    assert!(!registry.agents().is_empty() && !registry.runtimes().is_empty());
    assert!(registry.overrides().is_empty());
    for agent in registry.agents() {
        let name = resolve::full_name(agent);
        assert_eq!(
            registry.agent(&name).expect("found by its full name"),
            agent
        );
        let entry = registry
            .component_for(&agent.agent.adapter)
            .expect("its adapter is in the catalog");
        let by_component = registry
            .agent_for_component(&entry.component)
            .expect("found by its component");
        assert_eq!(by_component.agent.adapter, agent.agent.adapter);
        if agent.runtime.need == Need::Required {
            let fits =
                |runtime: &RuntimeDescriptor| agent.runtime.wire_apis.contains(&runtime.wire_api);
            assert!(
                registry.runtimes().iter().any(fits),
                "{name}: no runtime speaks its protocol"
            );
        }
        // What a descriptor gives as a default has to be accepted when it is given.
        let properties = agent.configuration_schema["properties"]
            .as_object()
            .expect("properties");
        for parameter in &agent.controllable {
            let schema = &properties[parameter];
            assert!(
                schema["description"].is_string(),
                "{name}: {parameter} is not described"
            );
            if let Some(default) = schema.get("default") {
                let text = default
                    .as_str()
                    .map_or_else(|| default.to_string(), str::to_owned);
                let given = parameters::parse(agent, &[format!("{parameter}={text}")])
                    .expect("its default");
                assert_eq!(&given[parameter], default);
            }
        }
    }
    for runtime in registry.runtimes() {
        let resolved = runtime
            .resolve(|_| None)
            .expect("usable without any variable set");
        assert_eq!(resolved.wire_api, runtime.wire_api);
    }
}
