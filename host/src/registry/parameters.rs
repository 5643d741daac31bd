//! Parameters given on the command line, checked against the agent's configuration schema.

use super::agent::AgentDescriptor;
use super::error::Problem;
use super::expectation::{describe, list, shorten, show};
use super::nearest::nearest;
use super::{schema_check, strict_json};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Something that is wrong with the parameters of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterProblem {
    /// Not of the form `name=value`.
    #[error("`{raw}` is not a parameter: expected `name=value`")]
    Malformed {
        /// What was given.
        raw: String,
    },
    /// Given more than once.
    #[error("parameter `{name}` is given more than once: give it once")]
    Duplicate {
        /// Its name.
        name: String,
    },
    /// Not one that the agent's descriptor lets a run set.
    #[error(
        "parameter `{name}` can't be set for this agent{}; those that can are {}",
        did_you_mean(nearest.as_deref()),
        list(controllable)
    )]
    NotControllable {
        /// Its name.
        name: String,
        /// The parameter that was probably meant.
        nearest: Option<String>,
        /// All that can be set.
        controllable: Vec<String>,
    },
    /// Of the wrong type, or not among the values allowed.
    #[error("parameter `{name}`: expected {allowed}, found `{value}`")]
    Value {
        /// Its name.
        name: String,
        /// As it was given, shortened if it is long.
        value: String,
        /// What is allowed, in words.
        allowed: String,
    },
    /// One that the agent needs was not given.
    #[error("parameter `{name}` is missing: this agent needs it")]
    Missing {
        /// Its name.
        name: String,
    },
    /// Each is allowed, but not all of them together.
    #[error("the parameters {given} do not go together: expected {expected}")]
    Combination {
        /// All of them, as JSON.
        given: String,
        /// In words.
        expected: String,
    },
    /// The descriptor's schema can't be used.
    #[error("the agent's configuration schema can't be used: {reason}")]
    BrokenSchema {
        /// Why.
        reason: String,
    },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest
        .map(|name| format!("; did you mean `{name}`?"))
        .unwrap_or_default()
}

/// Reads parameters of the form `name=value`. Values are read as the type that the schema
/// gives the parameter: a string is taken as it is, a boolean is `true` or `false`, arrays
/// and objects are JSON. The result holds what was given and nothing else: defaults are the
/// adapter's business.
///
/// # Errors
///
/// Everything that is wrong, at once.
pub fn parse(
    agent: &AgentDescriptor,
    raw: &[String],
) -> Result<Map<String, Value>, Vec<ParameterProblem>> {
    let mut problems = Vec::new();
    let mut given: BTreeMap<&str, &str> = BTreeMap::new();
    let mut parameters = Map::new();
    for pair in raw {
        let Some((name, text)) = pair.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            problems.push(ParameterProblem::Malformed { raw: shorten(pair) });
            continue;
        };
        if given.insert(name, text).is_some() {
            let problem = ParameterProblem::Duplicate {
                name: name.to_owned(),
            };
            if !problems.contains(&problem) {
                problems.push(problem);
            }
            continue;
        }
        if !agent.controllable.iter().any(|known| known == name) {
            problems.push(ParameterProblem::NotControllable {
                name: name.to_owned(),
                nearest: nearest(name, &agent.controllable),
                controllable: agent.controllable.clone(),
            });
            continue;
        }
        let schema = property(&agent.configuration_schema, name);
        match read_value(schema, text) {
            Some(value) => {
                parameters.insert(name.to_owned(), value);
            }
            None => problems.push(ParameterProblem::Value {
                name: name.to_owned(),
                value: shorten(text),
                allowed: describe(schema),
            }),
        }
    }
    problems.extend(check_all(&agent.configuration_schema, &parameters, &given));
    if problems.is_empty() {
        Ok(parameters)
    } else {
        Err(problems)
    }
}

/// Checks the parameters as a whole.
fn check_all(
    schema: &Value,
    parameters: &Map<String, Value>,
    given: &BTreeMap<&str, &str>,
) -> Vec<ParameterProblem> {
    let validator = match jsonschema::draft202012::new(schema) {
        Ok(validator) => validator,
        Err(error) => {
            return vec![ParameterProblem::BrokenSchema {
                reason: error.to_string(),
            }];
        }
    };
    let whole = Value::Object(parameters.clone());
    let problems = schema_check::check(&validator, schema, &whole);
    problems
        .into_iter()
        .filter_map(|problem| about_parameter(problem, &whole, given))
        .collect()
}

/// Says a problem of the whole as one of a parameter. `None` if it was reported already.
fn about_parameter(
    problem: Problem,
    whole: &Value,
    given: &BTreeMap<&str, &str>,
) -> Option<ParameterProblem> {
    let pointer = problem.pointer().unwrap_or_default().to_owned();
    let mut path = pointer.splitn(3, '/').skip(1);
    let name = path
        .next()
        .map(|name| name.replace("~1", "/").replace("~0", "~"));
    let inner = path.next();
    match (problem, name) {
        // It was given, but could not be read.
        (Problem::MissingKey { key, .. }, None) if given.contains_key(key.as_str()) => None,
        (Problem::MissingKey { key, .. }, None) => Some(ParameterProblem::Missing { name: key }),
        (Problem::Value { expected, .. }, None) => Some(ParameterProblem::Combination {
            given: show(whole),
            expected,
        }),
        (problem, Some(name)) => {
            let allowed = match &problem {
                Problem::Value { expected, .. } => expected.clone(),
                other => other.to_string(),
            };
            Some(ParameterProblem::Value {
                value: shorten(given.get(name.as_str()).copied().unwrap_or_default()),
                allowed: match inner {
                    Some(inner) => format!("{allowed} at `/{inner}`"),
                    None => allowed,
                },
                name,
            })
        }
        (problem, None) => Some(ParameterProblem::Combination {
            given: show(whole),
            expected: problem.to_string(),
        }),
    }
}

fn property<'a>(schema: &'a Value, name: &str) -> &'a Value {
    schema
        .get("properties")
        .and_then(|properties| properties.get(name))
        .unwrap_or(&Value::Null)
}

/// Reads a text as one of the types that a schema allows; `None` if it is of none of them.
fn read_value(schema: &Value, text: &str) -> Option<Value> {
    let types = types(schema);
    if types.is_empty() {
        return Some(strict_json::parse(text.as_bytes()).unwrap_or_else(|_| text.into()));
    }
    // The most special first: where a string is allowed as well, everything would be one.
    const ORDER: [&str; 7] = [
        "null", "boolean", "integer", "number", "array", "object", "string",
    ];
    ORDER
        .iter()
        .filter(|name| types.contains(*name))
        .find_map(|name| read_as(name, text))
}

fn read_as(type_name: &str, text: &str) -> Option<Value> {
    if type_name == "string" {
        return Some(text.into());
    }
    // JSON's own grammar decides: no `+5`, no `.5`, no `0x10`, no `True`.
    let value = strict_json::parse(text.as_bytes()).ok()?;
    let fits = match type_name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    fits.then_some(value)
}

/// The types that a schema names, or those of the values that it lists. Empty: any.
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => return vec![name],
        Some(Value::Array(names)) => return names.iter().filter_map(Value::as_str).collect(),
        _ => {}
    }
    let listed = schema
        .get("enum")
        .and_then(Value::as_array)
        .map(Vec::as_slice);
    let constant = schema.get("const").map(std::slice::from_ref);
    listed
        .or(constant)
        .unwrap_or_default()
        .iter()
        .map(type_of)
        .collect()
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
#[path = "parameters_tests.rs"]
mod tests;
