//! Checking a value against a JSON Schema, with problems that say where and what was expected.

use super::error::Problem;
use super::expectation::{describe, show};
use super::nearest::nearest;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

/// All problems of `instance`, without repetitions. `schema` is what `validator` was built from.
pub(super) fn check(validator: &Validator, schema: &Value, instance: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    for error in validator.iter_errors(instance) {
        for problem in translate(&error, schema) {
            // A value can break several keywords that are described by the same words.
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
    }
    problems
}

/// A key appended to a JSON Pointer.
pub(super) fn child(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// The schema whose keyword an error is about.
fn schema_around<'a>(error: &ValidationError<'_>, schema: &'a Value) -> &'a Value {
    let keyword = error.schema_path().as_str();
    keyword
        .rsplit_once('/')
        .and_then(|(parent, _)| schema.pointer(parent))
        .unwrap_or(schema)
}

fn translate(error: &ValidationError<'_>, schema: &Value) -> Vec<Problem> {
    let pointer = error.instance_path().as_str();
    let around = schema_around(error, schema);
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let known: Vec<String> = match around.get("properties").and_then(Value::as_object) {
                Some(properties) => properties.keys().cloned().collect(),
                None => Vec::new(),
            };
            let unknown = |key: &String| Problem::UnknownKey {
                pointer: child(pointer, key),
                nearest: nearest(key, &known),
                known: known.clone(),
            };
            unexpected.iter().map(unknown).collect()
        }
        ValidationErrorKind::Required { property } => vec![Problem::MissingKey {
            pointer: pointer.to_owned(),
            key: property.as_str().unwrap_or_default().to_owned(),
        }],
        ValidationErrorKind::PropertyNames { error: inner } => vec![Problem::Value {
            pointer: match inner.instance().as_str() {
                Some(key) => child(pointer, key),
                None => pointer.to_owned(),
            },
            expected: describe(schema_around(inner, schema)),
            found: show(inner.instance()),
        }],
        _ => vec![Problem::Value {
            pointer: pointer.to_owned(),
            expected: describe(around),
            found: show(error.instance()),
        }],
    }
}
