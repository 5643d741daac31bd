//! A line of a session file as a value, without what no reader looks at.
//!
//! Commands, arguments, outputs and texts make up most of what is left once messages are passed
//! over; a value of all that costs far more to make than to look at. Keys stay or go by name, at
//! any depth; below a key that stays whole, everything stays.

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Such a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Relevant(pub Value);

/// What becomes of a key.
#[derive(Clone, Copy)]
enum Kept {
    /// The key and all below it.
    Whole,
    /// The key, and below it what stays by its own name.
    Pruned,
    /// Nothing.
    Not,
}

fn kept(key: &str) -> Kept {
    match key {
        "error" | "output" => Kept::Whole,
        "agent_nickname"
        | "approval_policy"
        | "cached_input_tokens"
        | "cache_write_input_tokens"
        | "call_id"
        | "cli_version"
        | "completed_at_ms"
        | "duration"
        | "effort"
        | "exit_code"
        | "id"
        | "info"
        | "input_tokens"
        | "item"
        | "last_agent_message"
        | "last_token_usage"
        | "mode"
        | "model"
        | "name"
        | "nanos"
        | "network_access"
        | "output_tokens"
        | "parent_thread_id"
        | "payload"
        | "reasoning_output_tokens"
        | "response_id"
        | "role"
        | "root_turn_id"
        | "sandbox_policy"
        | "secs"
        | "session_id"
        | "source"
        | "started_at_ms"
        | "status"
        | "subagent"
        | "success"
        | "thread_id"
        | "thread_spawn"
        | "total_token_usage"
        | "total_tokens"
        | "turn_id"
        | "type"
        | "usage" => Kept::Pruned,
        _ => Kept::Not,
    }
}

impl<'de> Deserialize<'de> for Relevant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Pruning).map(Self)
    }
}

#[derive(Clone, Copy)]
struct Pruning;

impl<'de> DeserializeSeed<'de> for Pruning {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Pruning {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(Key(key)) = members.next_key()? {
            // The last of two counts, as in any value.
            match key {
                Some((key, Kept::Whole)) => drop(object.insert(key, members.next_value()?)),
                Some((key, _)) => drop(object.insert(key, members.next_value_seed(self)?)),
                None => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Value::Object(object))
    }
}

/// A key, copied only if it stays.
struct Key(Option<(String, Kept)>);

struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Key, E> {
        Ok(Key(match kept(key) {
            Kept::Not => None,
            kept => Some((key.to_owned(), kept)),
        }))
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(KeyVisitor)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn what_stays_stays_at_any_depth_and_the_rest_goes() {
        let line = json!({
            "timestamp": "t",
            "type": "event_msg",
            "payload": {
                "item": {"id": "c", "aggregated_output": "long", "duration": {"secs": 1}},
                "error": {"message": "m", "any": [{"thing": 1.5}]},
                "changes": [1, 2],
                "source": [true, null, -1],
            },
        });
        let Relevant(value) = serde_json::from_value(line).unwrap();
        let expected = json!({
            "type": "event_msg",
            "payload": {
                "item": {"id": "c", "duration": {"secs": 1}},
                "error": {"message": "m", "any": [{"thing": 1.5}]},
                "source": [true, null, -1],
            },
        });
        assert_eq!(value, expected);
    }

    #[test]
    fn of_a_key_that_stands_twice_the_last_counts() {
        let Relevant(value) = serde_json::from_str(r#"{"id":"a","x":0,"id":"b"}"#).unwrap();
        assert_eq!(value, json!({"id": "b"}));
    }
}
