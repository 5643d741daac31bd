#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::registry::capability::Capability;
use serde_json::json;
use std::fs;

/// A valid descriptor of an invented agent.
pub(in crate::registry) fn acme() -> Value {
    let mut capabilities: Value = Capability::ALL
        .iter()
        .map(|capability| (capability.to_string(), json!({"support": "supported"})))
        .collect::<serde_json::Map<_, _>>()
        .into();
    capabilities["cost_usage"] = json!({"support": "unsupported", "reason": "it tells nobody"});
    json!({
        "schema": "akbench.agent/1", "id": "acme", "version": "1.0.0", "name": "Acme",
        "agent": {"adapter": "acme_cli", "execution": "process"},
        "programs": [{"name": "acme", "find": [{"path": "acme"}], "versions": {"supported": ">=1.0.0, <2.0.0"}}],
        "home": {"environment": "ACME_HOME"}, "environment": ["LANG"], "evidence": ["logs/**/*.jsonl"],
        "capabilities": capabilities,
        "configuration_schema": {"type": "object", "additionalProperties": false, "properties": {
            "model": {"type": "string"}, "mode": {"enum": ["fast", "slow"], "default": "fast"}}},
        "controllable": ["model", "mode"],
        "runtime": {"need": "required", "wire_apis": ["responses"]}
    })
}

/// Reads a descriptor through a file, as it is read in earnest.
pub(in crate::registry) fn load_agent(
    document: &Value,
) -> Result<AgentDescriptor, Vec<RegistryError>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("agent.json");
    fs::write(&path, document.to_string()).expect("a file");
    AgentDescriptor::load(&path)
}

/// The same with something changed.
pub(in crate::registry) fn with(change: impl FnOnce(&mut Value)) -> Value {
    let mut document = acme();
    change(&mut document);
    document
}

/// Turns a valid descriptor into one with a mistake.
type Change = fn(&mut Value);

#[test]
fn each_mistake_is_reported_with_its_place_and_what_was_expected() {
    let cases: [(&str, Change); 26] = [
        (
            "at `/agent/executon`: unknown key; did you mean `execution`?",
            |d| d["agent"]["executon"] = json!("process"),
        ),
        ("at `/colour`: unknown key; known are `schema`, `id`", |d| {
            d["colour"] = json!(1)
        }),
        (
            "at `/programs/0/find/0/pth`: unknown key; did you mean `path`?",
            |d| d["programs"][0]["find"][0]["pth"] = json!("x"),
        ),
        (
            "at `/capabilities/token-usage`: unknown key; did you mean `token_usage`?",
            |d| d["capabilities"]["token-usage"] = json!({"support": "supported"}),
        ),
        ("at ``: the key `home` is missing", |d| {
            drop(d.as_object_mut().expect("an object").remove("home"))
        }),
        ("at `/capabilities`: the key `turns` is missing", |d| {
            drop(
                d["capabilities"]
                    .as_object_mut()
                    .expect("an object")
                    .remove("turns"),
            )
        }),
        (
            "at `/capabilities/turns`: the key `reason` is missing",
            |d| d["capabilities"]["turns"] = json!({"support": "unverified"}),
        ),
        (
            "at `/agent/execution`: expected one of `process`, `http`, `service`, `thread`, found \"docker\"",
            |d| d["agent"]["execution"] = json!("docker"),
        ),
        ("at `/version`: expected a semantic version", |d| {
            d["version"] = json!("1.0")
        }),
        ("at `/id`: expected a lower-case letter", |d| {
            d["id"] = json!("Acme")
        }),
        (
            "at `/schema`: expected `akbench.agent/1`, found \"akbench.agent/2\"",
            |d| d["schema"] = json!("akbench.agent/2"),
        ),
        (
            "at `/programs/0/versions/supported`: expected a version requirement",
            |d| d["programs"][0]["versions"]["supported"] = json!("new ones"),
        ),
        (
            "at `/programs/0/find/0/glob`: expected a relative path",
            |d| d["programs"][0]["find"][0] = json!({"beside": "acme", "glob": "../[/x"}),
        ),
        (
            "at `/programs/0/find/0`: expected exactly one of `path`, `file`, or `beside`",
            |d| d["programs"][0]["find"][0] = json!({"path": "acme", "file": "/acme"}),
        ),
        ("at `/programs/0/find/0`: the key `glob` is missing", |d| {
            d["programs"][0]["find"][0] = json!({"beside": "acme"})
        }),
        ("at `/programs`: expected at least one program", |d| {
            d["programs"] = json!([])
        }),
        (
            "at `/programs/1/name`: expected a name that no other program has",
            |d| d["programs"] = json!([d["programs"][0], d["programs"][0]]),
        ),
        (
            "at `/evidence/0`: expected a glob relative to the agent's home",
            |d| d["evidence"][0] = json!("../**"),
        ),
        (
            "at `/environment/1`: expected a variable other than `HOME`",
            |d| d["environment"] = json!(["LANG", "ACME_HOME"]),
        ),
        ("at `/runtime`: the key `wire_apis` is missing", |d| {
            d["runtime"] = json!({"need": "optional"})
        }),
        (
            "at `/limits/adapter_memory_bytes`: expected an integer of at least 1048576, found \"1 GB\"",
            |d| d["limits"] = json!({"adapter_memory_bytes": "1 GB"}),
        ),
        ("at `/configuration_schema/type`: expected `object`", |d| {
            d["configuration_schema"]["type"] = json!("array")
        }),
        (
            "at `/configuration_schema/properties/model/type`: expected a valid JSON Schema",
            |d| d["configuration_schema"]["properties"]["model"]["type"] = json!("text"),
        ),
        (
            "at `/configuration_schema`: expected a JSON Schema that can be used",
            |d| d["configuration_schema"]["properties"]["model"] = json!({"$ref": "#/$defs/none"}),
        ),
        (
            "at `/configuration_schema/properties/mode/default`: expected one of `fast`, `slow`, found \"medium\"",
            |d| d["configuration_schema"]["properties"]["mode"]["default"] = json!("medium"),
        ),
        (
            "at `/controllable/0`: expected a property of `configuration_schema`: `model`, `mode` (did you mean `model`?), found \"modle\"",
            |d| d["controllable"][0] = json!("modle"),
        ),
    ];
    assert!(load_agent(&acme()).is_ok());
    for (expected, change) in cases {
        let errors = load_agent(&with(change)).expect_err(expected);
        let shown: Vec<String> = errors
            .iter()
            .map(|error| error.problem.to_string())
            .collect();
        assert!(
            shown.iter().any(|line| line.starts_with(expected)),
            "{expected}\n{shown:#?}"
        );
        // One mistake must not be told in many ways.
        assert!(shown.len() <= 2, "{shown:#?}");
    }
}
