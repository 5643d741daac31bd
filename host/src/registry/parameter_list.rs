//! The parameters that a run may set, for people.

use super::agent::AgentDescriptor;
use super::expectation::describe;
use serde_json::Value;

/// A parameter of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// As it is given: `--param NAME=VALUE`.
    pub name: String,
    /// What is allowed, in words.
    pub allowed: String,
    /// What the adapter takes if it is not given; `None`: the agent's own choice.
    pub default: Option<Value>,
    /// What it does; `None` if the descriptor doesn't say.
    pub description: Option<String>,
}

impl AgentDescriptor {
    /// The parameters that a run may set, in the descriptor's order.
    pub fn parameters(&self) -> Vec<Parameter> {
        self.controllable
            .iter()
            .map(|name| {
                let properties = self.configuration_schema.get("properties");
                let schema = properties
                    .and_then(|properties| properties.get(name))
                    .unwrap_or(&Value::Null);
                let description = schema.get("description").and_then(Value::as_str);
                Parameter {
                    name: name.clone(),
                    allowed: describe(schema),
                    default: schema.get("default").cloned(),
                    description: description.map(str::to_owned),
                }
            })
            .collect()
    }
}
