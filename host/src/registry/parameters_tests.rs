#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::registry::agent::tests::{acme, load_agent};
use serde_json::json;

fn agent(controllable: &[&str], schema: Value) -> AgentDescriptor {
    let mut document = acme();
    document["configuration_schema"] = schema;
    document["controllable"] = json!(controllable);
    load_agent(&document).expect("a valid descriptor")
}

fn parameters() -> AgentDescriptor {
    let schema = json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "model": {"type": "string", "minLength": 1},
            "mode": {"enum": ["fast", "slow"]},
            "retries": {"type": "integer", "minimum": 0, "maximum": 9},
            "heat": {"type": "number", "exclusiveMinimum": 0},
            "online": {"type": "boolean"},
            "paths": {"type": "array", "items": {"type": "string", "minLength": 1}},
            "extra": {"type": "object"},
            "limit": {"type": ["integer", "null"]},
            "level": {"enum": [1, 2, "max"]},
            "hidden": {"type": "string"}
        }
    });
    agent(
        &[
            "model", "mode", "retries", "heat", "online", "paths", "extra", "limit", "level",
        ],
        schema,
    )
}

fn read(agent: &AgentDescriptor, raw: &[&str]) -> Result<Value, Vec<String>> {
    let raw: Vec<String> = raw.iter().map(|text| (*text).to_owned()).collect();
    parse(agent, &raw)
        .map(Value::Object)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

#[test]
fn values_are_read_as_the_type_that_the_schema_gives() {
    let agent = parameters();
    for (raw, expected) in [
        ("model=gpt=5 x", json!({"model": "gpt=5 x"})),
        ("model=7", json!({"model": "7"})),
        ("mode=slow", json!({"mode": "slow"})),
        ("retries=9", json!({"retries": 9})),
        ("heat=0.5", json!({"heat": 0.5})),
        ("heat=2", json!({"heat": 2})),
        ("online=false", json!({"online": false})),
        ("paths=[\"a\", \"b\"]", json!({"paths": ["a", "b"]})),
        ("extra={\"a\": [1]}", json!({"extra": {"a": [1]}})),
        ("limit=null", json!({"limit": null})),
        ("limit=-3", json!({"limit": -3})),
        ("level=2", json!({"level": 2})),
        ("level=max", json!({"level": "max"})),
    ] {
        assert_eq!(read(&agent, &[raw]), Ok(expected), "{raw}");
    }
    assert_eq!(read(&agent, &[]), Ok(json!({})));
}

#[test]
fn a_wrong_value_is_answered_with_what_is_allowed() {
    let agent = parameters();
    for (raw, expected) in [
        (
            "model=",
            "parameter `model`: expected a string that is not empty, found ``",
        ),
        (
            "mode=medium",
            "parameter `mode`: expected one of `fast`, `slow`, found `medium`",
        ),
        (
            "retries=10",
            "parameter `retries`: expected an integer from 0 to 9, found `10`",
        ),
        (
            "retries=1.5",
            "parameter `retries`: expected an integer from 0 to 9, found `1.5`",
        ),
        (
            "retries=+1",
            "parameter `retries`: expected an integer from 0 to 9, found `+1`",
        ),
        (
            "retries=99999999999999999999",
            "parameter `retries`: expected an integer from 0 to 9, found `99999999999999999999`",
        ),
        (
            "heat=NaN",
            "parameter `heat`: expected a number above 0, found `NaN`",
        ),
        (
            "heat=0",
            "parameter `heat`: expected a number above 0, found `0`",
        ),
        (
            "online=yes",
            "parameter `online`: expected `true` or `false`, found `yes`",
        ),
        (
            "online=True",
            "parameter `online`: expected `true` or `false`, found `True`",
        ),
        ("paths=a", "parameter `paths`: expected an array, found `a`"),
        (
            "paths=[\"\"]",
            "parameter `paths`: expected a string that is not empty at `/0`, found `[\"\"]`",
        ),
        (
            "extra={\"a\":1,\"a\":2}",
            "parameter `extra`: expected an object, found `{\"a\":1,\"a\":2}`",
        ),
        (
            "limit=x",
            "parameter `limit`: expected an integer or `null`, found `x`",
        ),
        (
            "level=3",
            "parameter `level`: expected one of `1`, `2`, `max`, found `3`",
        ),
        ("model", "`model` is not a parameter: expected `name=value`"),
        ("=x", "`=x` is not a parameter: expected `name=value`"),
    ] {
        assert_eq!(
            read(&agent, &[raw]),
            Err(vec![expected.to_owned()]),
            "{raw}"
        );
    }
}

#[test]
fn names_that_are_not_controllable_are_answered_with_those_that_are() {
    let agent = parameters();
    let can = "`model`, `mode`, `retries`, `heat`, `online`, `paths`, `extra`, `limit`, `level`";
    for (raw, meant) in [
        ("retrys=1", "; did you mean `retries`?"),
        ("hidden=x", ""),
        ("Model=x", "; did you mean `model`?"),
    ] {
        let name = raw.split('=').next().expect("a name");
        let expected = format!(
            "parameter `{name}` can't be set for this agent{meant}; those that can are {can}"
        );
        assert_eq!(read(&agent, &[raw]), Err(vec![expected]));
    }
}

#[test]
fn all_problems_come_at_once_and_each_of_them_once() {
    let problems = read(
        &parameters(),
        &[
            "mode=x",
            "retries=1",
            "retries=2",
            "retries=3",
            "colour=red",
            "odd",
        ],
    )
    .expect_err("wrong");
    assert_eq!(problems.len(), 4, "{problems:#?}");
    assert!(
        problems.contains(&"parameter `retries` is given more than once: give it once".to_owned())
    );
}

#[test]
fn the_parameters_are_checked_as_a_whole() {
    let schema = json!({
        "type": "object", "required": ["model"],
        "properties": {"model": {"type": "integer"}, "a": {"type": "boolean"}, "b": {"type": "boolean"}},
        "not": {"title": "not both of `a` and `b`", "required": ["a", "b"]}
    });
    let agent = agent(&["model", "a", "b"], schema);
    assert_eq!(
        read(&agent, &[]),
        Err(vec![
            "parameter `model` is missing: this agent needs it".to_owned()
        ])
    );
    let unreadable = read(&agent, &["model=x"]).expect_err("not an integer");
    assert_eq!(
        unreadable,
        ["parameter `model`: expected an integer, found `x`"]
    );
    let both = read(&agent, &["model=1", "a=true", "b=true"]).expect_err("not both");
    assert!(both[0].contains("do not go together"), "{both:?}");
}
