//! What a JSON Schema can't say of an agent's descriptor.
//!
//! The checks look at the plain document and skip what is not of the expected shape: the
//! schema complains about that, and all problems are to come at once.

use super::error::Problem;
use super::expectation::{describe, list, show};
use super::nearest::nearest;
use super::schema_check::{self, child};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// All problems of a descriptor that its schema can't find.
pub(super) fn check(document: &Value) -> Vec<Problem> {
    let mut problems = check_programs(document);
    problems.extend(check_environment(document));
    if let Some(schema) = document
        .get("configuration_schema")
        .filter(|schema| schema.is_object())
    {
        problems.extend(check_configuration_schema(schema));
        problems.extend(check_controllable(document, schema));
    }
    problems
}

fn check_programs(document: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    let Some(programs) = document.get("programs").and_then(Value::as_array) else {
        return problems;
    };
    if programs.is_empty() && document.pointer("/agent/execution") == Some(&Value::from("process"))
    {
        problems.push(Problem::Value {
            pointer: "/programs".to_owned(),
            expected: "at least one program, because the agent is run as a process".to_owned(),
            found: "none".to_owned(),
        });
    }
    let mut names = BTreeSet::new();
    for (index, program) in programs.iter().enumerate() {
        let Some(name) = program.get("name").and_then(Value::as_str) else {
            continue;
        };
        if !names.insert(name) {
            problems.push(Problem::Value {
                pointer: format!("/programs/{index}/name"),
                expected: "a name that no other program has".to_owned(),
                found: show(&Value::from(name)),
            });
        }
    }
    problems
}

fn check_environment(document: &Value) -> Vec<Problem> {
    let home = document
        .pointer("/home/environment")
        .and_then(Value::as_str);
    let Some(variables) = document.get("environment").and_then(Value::as_array) else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    for (index, variable) in variables.iter().enumerate() {
        // The engine sets these itself: the host's values would lead out of the private home.
        if variable
            .as_str()
            .is_some_and(|name| name == "HOME" || Some(name) == home)
        {
            problems.push(Problem::Value {
                pointer: format!("/environment/{index}"),
                expected:
                    "a variable other than `HOME` and the agent's home, which the engine sets"
                        .to_owned(),
                found: show(variable),
            });
        }
    }
    problems
}

fn check_configuration_schema(schema: &Value) -> Vec<Problem> {
    const AT: &str = "/configuration_schema";
    let mut problems = Vec::new();
    if let Some(draft) = schema.get("$schema").filter(|draft| *draft != DRAFT) {
        problems.push(Problem::Value {
            pointer: format!("{AT}/$schema"),
            expected: format!("`{DRAFT}` or no such key"),
            found: show(draft),
        });
        return problems;
    }
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        problems.push(Problem::Value {
            pointer: format!("{AT}/type"),
            expected: "`object`: parameters have names".to_owned(),
            found: schema
                .get("type")
                .map_or_else(|| "nothing".to_owned(), show),
        });
    }
    match jsonschema::draft202012::new(schema) {
        Ok(_) => problems.extend(check_defaults(schema)),
        Err(error) => problems.extend(flaws(schema, AT, &error)),
    }
    problems
}

/// Why a schema can't be used: all that the schema of schemas finds in it, or, if that is
/// nothing (a reference that leads nowhere, for example), what stopped it from being used.
fn flaws(schema: &Value, at: &str, stopped: &jsonschema::ValidationError<'_>) -> Vec<Problem> {
    let found: Vec<Problem> = jsonschema::draft202012::meta::validator()
        .iter_errors(schema)
        .map(|error| Problem::Value {
            pointer: format!("{at}{}", error.instance_path().as_str()),
            expected: "a valid JSON Schema 2020-12".to_owned(),
            found: error.to_string(),
        })
        .collect();
    if !found.is_empty() {
        return found;
    }
    vec![Problem::Value {
        pointer: at.to_owned(),
        expected: "a JSON Schema that can be used".to_owned(),
        found: stopped.to_string(),
    }]
}

/// A default has to be a value that could be given.
fn check_defaults(schema: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut defaults = Map::new();
    for (name, property) in properties(schema) {
        if let Some(default) = property.get("default") {
            defaults.insert(name.clone(), default.clone());
        }
    }
    // Only the properties count: defaults alone need not be a complete configuration.
    let alone = serde_json::json!({
        "properties": schema.get("properties"),
        "$defs": schema.get("$defs").cloned().unwrap_or_else(|| Map::new().into()),
    });
    let Ok(validator) = jsonschema::draft202012::new(&alone) else {
        return problems;
    };
    for problem in schema_check::check(&validator, &alone, &Value::Object(defaults)) {
        let Some(pointer) = problem.pointer() else {
            continue;
        };
        let name = pointer.split('/').nth(1).unwrap_or_default();
        let property = schema
            .pointer(&format!("/properties/{name}"))
            .unwrap_or(&Value::Null);
        problems.push(Problem::Value {
            pointer: format!("/configuration_schema/properties/{name}/default"),
            expected: describe(property),
            found: property.get("default").map(show).unwrap_or_default(),
        });
    }
    problems.dedup();
    problems
}

fn check_controllable(document: &Value, schema: &Value) -> Vec<Problem> {
    let Some(controllable) = document.get("controllable").and_then(Value::as_array) else {
        return Vec::new();
    };
    let known: Vec<&String> = properties(schema).map(|(name, _)| name).collect();
    let mut problems = Vec::new();
    for (index, entry) in controllable.iter().enumerate() {
        let Some(name) = entry.as_str() else { continue };
        if known.iter().any(|known| *known == name) {
            continue;
        }
        let meant = nearest(name, &known)
            .map(|name| format!(" (did you mean `{name}`?)"))
            .unwrap_or_default();
        problems.push(Problem::Value {
            pointer: child("/controllable", &index.to_string()),
            expected: format!(
                "a property of `configuration_schema`: {}{meant}",
                list(&known)
            ),
            found: show(entry),
        });
    }
    problems
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}
