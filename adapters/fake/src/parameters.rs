//! The adapter's parameters.

use serde::Deserialize;
use serde_json::{Map, Value};

/// What an experiment can set. The engine has checked them against the descriptor's schema;
/// the adapter checks again, because it may be given another descriptor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// How a simulated agent behaves.
    #[serde(default)]
    pub behaviour: Behaviour,
}

/// How a simulated agent behaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Behaviour {
    /// It does its work.
    #[default]
    Complete,
    /// It says that it can't.
    Fail,
    /// It stops without saying how it ended.
    NoEnding,
}

impl Parameters {
    /// Reads the parameters, a JSON object.
    ///
    /// # Errors
    ///
    /// A sentence for people.
    pub fn parse(json: &str) -> Result<Self, String> {
        // First as an object: a list would pass for one whose fields are all absent.
        let read = serde_json::from_str::<Map<String, Value>>(json)
            .and_then(|object| serde_json::from_value(Value::Object(object)));
        read.map_err(|error| format!("the parameters are not valid: {error}"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_not_declared_is_refused() {
        assert_eq!(Parameters::parse("{}").unwrap(), Parameters::default());
        let failing = Parameters::parse(r#"{"behaviour":"fail"}"#).unwrap();
        assert_eq!(failing.behaviour, Behaviour::Fail);
        for wrong in ["[]", r#"{"behaviour":7}"#, r#"{"behavior":"fail"}"#] {
            assert!(Parameters::parse(wrong).is_err(), "{wrong}");
        }
    }
}
