//! Reading JSON that people write: a key that occurs twice is an error, not a silent choice.

use super::error::Problem;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Reads one JSON document.
///
/// # Errors
///
/// [`Problem::Syntax`] with line and column.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, Problem> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Unique.deserialize(&mut deserializer).and_then(|value| {
        deserializer.end()?;
        Ok(value)
    });
    value.map_err(|error| {
        let reason = error.to_string();
        // serde_json repeats the place at the end of its message.
        let place = format!(" at line {} column {}", error.line(), error.column());
        Problem::Syntax {
            line: error.line(),
            column: error.column(),
            reason: reason.strip_suffix(&place).unwrap_or(&reason).to_owned(),
        }
    })
}

#[derive(Clone, Copy)]
struct Unique;

impl<'de> DeserializeSeed<'de> for Unique {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("the number is too large"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(element) = elements.next_element_seed(self)? {
            array.push(element);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(de::Error::custom(format_args!(
                    "the key `{key}` occurs twice in one object"
                )));
            }
            let value = entries.next_value_seed(self)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn what_is_read_equals_what_serde_json_reads() {
        let text = r#"{"a": [1, -2, 3.5, 18446744073709551615, "é\u0000", true, null, {}], "": {"b": []}}"#;
        let expected: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(parse(text.as_bytes()), Ok(expected));
    }

    #[test]
    fn errors_name_line_and_column() {
        for (text, line, part) in [
            ("{\n  \"a\": 1,\n}", 3, "trailing comma"),
            ("{\"a\": 1,\n \"a\": 2}", 2, "`a` occurs twice"),
            ("{}\n{}", 2, "trailing characters"),
            ("", 1, "EOF"),
            ("[1e999]", 1, "number out of range"),
        ] {
            match parse(text.as_bytes()) {
                Err(Problem::Syntax {
                    line: at, reason, ..
                }) => {
                    assert_eq!(at, line, "{text}: {reason}");
                    assert!(reason.contains(part), "{text}: {reason}");
                    assert!(!reason.contains("column"), "{reason}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
