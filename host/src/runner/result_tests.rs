//! The published schema and the Rust type say the same.

#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::process::resources::limit::Enforcer;
use serde_json::json;
use std::collections::BTreeSet;

fn schema() -> Value {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../descriptors/schemas/result.schema.json"
    );
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A result in which everything is known, so that every field of every type shows.
fn full() -> Value {
    let limit = json!({
        "limit": 9, "enforced_by": "census", "note": "n", "measured": 7, "hit": true,
    });
    let sha256 = "0".repeat(64);
    let usage = json!({
        "input_tokens": 1, "cached_input_tokens": 2, "cache_write_input_tokens": 3,
        "output_tokens": 4, "reasoning_output_tokens": 5, "total_tokens": 6,
    });
    json!({
        "schema": SCHEMA, "run_id": "01k00000000000000000000000", "status": "failed",
        "valid": false, "invalid_reasons": ["survivors"], "violations": ["one"],
        "failure": {
            "class": "network", "fault": "infrastructure", "phase": "work", "message": "m",
            "retryable": true, "evidence": {"exit": 1},
        },
        "agent": {
            "id": "an-agent", "version": "1.0.0", "adapter": "a", "execution": "process",
            "contract": "akbench:agent@0.1.0", "component_sha256": sha256,
            "descriptor_sha256": sha256,
            "program": {"name": "p", "path": "/p", "version": "1.0.0", "sha256": sha256},
        },
        "task": {
            "id": "t", "version": "1.0.0", "seed": 7, "mutations": ["m"],
            "instruction_sha256": sha256, "time_limit_ms": 1000,
        },
        "workspace": {
            "path": "/w", "before_sha256": sha256, "after_sha256": sha256, "files_changed": 1,
            "droppings": ["d/"], "diff_sha256": sha256,
        },
        "runtime": {"name": "r", "base_url": "http://r", "wire_api": "w", "model": "m"},
        "parameters": {"a": 1},
        "applied": {
            "model": "m", "sandbox": "s", "approval_policy": "never", "reasoning_effort": "low",
            "network_access": true,
        },
        "native_session_id": "n", "final_message": "f", "turns": 1, "model_requests": 2,
        "usage": usage, "usage_by_model": [{"model": "m", "usage": usage}], "cost_usd": 0.5,
        "tool_calls": [{
            "id": "c", "name": "n", "sub_agent": "s", "status": "completed", "exit_code": -1,
            "duration_ms": 5,
        }],
        "provenance": {"usage": {
            "origin": "provider", "source": "s", "complete": false, "missing": ["m"],
        }},
        "unresolved": {
            "class": "network", "fault": "infrastructure", "message": "m", "evidence": {},
        },
        "warnings": ["w"], "native_logs": ["l"], "extra": {"e": 1},
        "started_at": "2026-11-30T13:28:10.5Z", "finished_at": "2026-11-30T13:28:11Z",
        "duration_ms": 500,
        "phases": {"validate": 1, "start": 2, "work": 3, "collect": 4, "close": 5},
        "processes": {"spawned": 3, "killed": 1, "survivors": 0},
        "confinement": {
            "files": "f", "tree": "t", "network": "n", "notes": ["n"],
            "limits": {"memory_bytes": limit},
        },
        "evaluation": {"passed": true, "score": 0.5, "duration_ms": 1, "log": "l"},
        "recovery": {
            "recovered_at": "2026-11-30T13:30:00Z", "akbench": "0.1.0",
            "last_recorded_at": "2026-11-30T13:28:10.9Z", "component_sha256": sha256,
            "home_evidence": "collected",
        },
        "artifacts": [{"path": "a", "bytes": 1, "sha256": sha256, "masks": 0}],
    })
}

/// Follows `$ref` and the alternative that is not null.
fn resolve<'a>(whole: &'a Value, mut schema: &'a Value) -> &'a Value {
    loop {
        if let Some(path) = schema["$ref"].as_str() {
            schema = whole.pointer(path.trim_start_matches('#')).unwrap();
        } else if let Some(first) = schema["anyOf"].get(0) {
            schema = first;
        } else {
            return schema;
        }
    }
}

/// Compares every object of the document with the schema of its place, key by key.
fn compare(whole: &Value, schema: &Value, document: &Value, at: &str) {
    let schema = resolve(whole, schema);
    assert!(
        !document.is_null(),
        "{at} is null: the sample has to show it"
    );
    match document {
        Value::Object(members) if schema["additionalProperties"] == false => {
            let keys = |value: &Value| -> BTreeSet<String> {
                value.as_object().unwrap().keys().cloned().collect()
            };
            let required: BTreeSet<String> =
                serde_json::from_value(schema["required"].clone()).unwrap();
            assert_eq!(keys(document), keys(&schema["properties"]), "at `{at}`");
            assert_eq!(required, keys(document), "at `{at}`: all are required");
            for (name, member) in members {
                let place = format!("{at}/{name}");
                compare(whole, &schema["properties"][name], member, &place);
            }
        }
        Value::Object(members) => {
            let Some(values) = schema.get("additionalProperties") else {
                return;
            };
            for (name, member) in members {
                compare(whole, values, member, &format!("{at}/{name}"));
            }
        }
        Value::Array(items) => {
            for item in items {
                compare(whole, &schema["items"], item, &format!("{at}/0"));
            }
        }
        _ => {}
    }
}

#[test]
fn the_schema_has_every_field_of_the_type_and_no_other() {
    let (schema, sample) = (schema(), full());
    let result: RunResult = serde_json::from_value(sample.clone()).unwrap();
    let written = serde_json::to_value(&result).unwrap();
    assert_eq!(written, sample);
    compare(&schema, &schema, &written, "");
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let problems: Vec<String> = validator
        .iter_errors(&written)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(problems, [] as [String; 0]);
}

#[test]
fn the_schema_accepts_what_may_be_unknown_and_nothing_else() {
    let schema = schema();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    for (name, value) in full().as_object().unwrap() {
        let mut without = full();
        without.as_object_mut().unwrap().remove(name);
        assert!(!validator.is_valid(&without), "`{name}` may be left out");
        let mut null = full();
        null[name] = Value::Null;
        let read = serde_json::from_value::<RunResult>(null.clone());
        assert_eq!(validator.is_valid(&null), read.is_ok(), "`{name}`: null");
        let mut other = full();
        other[name] = json!({"no": "such thing"});
        let read = serde_json::from_value::<RunResult>(other.clone());
        if read.is_err() {
            assert!(
                !validator.is_valid(&other),
                "`{name}` = {value}: accepts an object"
            );
        }
    }
    let mut more = full();
    more["colour"] = json!("blue");
    assert!(!validator.is_valid(&more));
}

#[test]
fn the_schemas_names_are_those_of_the_type() {
    let schema = schema();
    let names = |pointer: &str| -> Vec<Value> {
        let value = schema.pointer(pointer);
        value
            .unwrap_or_else(|| panic!("{pointer}"))
            .as_array()
            .unwrap()
            .clone()
    };
    for class in names("/$defs/class/anyOf/0/enum") {
        let read: FailureClass = serde_json::from_value(class.clone()).unwrap();
        assert!(!matches!(read, FailureClass::Other(_)), "{class}");
    }
    for fault in names("/$defs/fault/enum") {
        serde_json::from_value::<Fault>(fault).unwrap();
    }
    let limits = "/properties/confinement/properties/limits/propertyNames/enum";
    assert_eq!(names(limits), Resource::ALL.map(|one| json!(one.key())));
    for enforcer in names("/$defs/limit/properties/enforced_by/enum") {
        serde_json::from_value::<Option<Enforcer>>(enforcer).unwrap();
    }
    for phase in names("/$defs/phase/enum") {
        serde_json::from_value::<Phase>(phase).unwrap();
    }
    for status in names("/properties/status/enum") {
        serde_json::from_value::<RunStatus>(status).unwrap();
    }
}
