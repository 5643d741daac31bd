//! Putting a JSON Schema, and a value that doesn't satisfy it, into words.

use super::formats;
use serde_json::Value;
use std::fmt::Display;

/// What a schema expects, in words that complete "expected …".
pub(super) fn describe(schema: &Value) -> String {
    let keyword = |name: &str| schema.get(name);
    // A title says it best where the keywords would read like a puzzle.
    if let Some(title) = keyword("title").and_then(Value::as_str) {
        return title.to_owned();
    }
    if let Some(options) = keyword("enum").and_then(Value::as_array) {
        return format!("one of {}", list(options.iter().map(plain)));
    }
    if let Some(constant) = keyword("const") {
        return format!("`{}`", plain(constant));
    }
    let types: Vec<&str> = match keyword("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if types.is_empty() {
        return match schema {
            Value::Bool(false) => "nothing".to_owned(),
            _ => format!(
                "a value that satisfies the schema {}",
                shorten(&schema.to_string())
            ),
        };
    }
    let words: Vec<String> = types
        .iter()
        .map(|name| describe_type(name, schema))
        .collect();
    words.join(" or ")
}

fn describe_type(name: &str, schema: &Value) -> String {
    match name {
        "boolean" => "`true` or `false`".to_owned(),
        "null" => "`null`".to_owned(),
        "integer" => format!("an integer{}", describe_range(schema)),
        "number" => format!("a number{}", describe_range(schema)),
        "string" => describe_string(schema),
        "array" => {
            let unique = schema.get("uniqueItems") == Some(&Value::Bool(true));
            let least = schema.get("minItems").and_then(Value::as_u64);
            let kind = if unique {
                "an array without repetitions"
            } else {
                "an array"
            };
            match least {
                Some(least) => format!("{kind} of at least {least}"),
                None => kind.to_owned(),
            }
        }
        "object" => "an object".to_owned(),
        other => format!("a value of type `{other}`"),
    }
}

fn describe_string(schema: &Value) -> String {
    let format = schema.get("format").and_then(Value::as_str);
    if let Some(words) = format.and_then(formats::words) {
        return words.to_owned();
    }
    let limit = |name: &str| schema.get(name).and_then(Value::as_u64);
    let length = match (limit("minLength"), limit("maxLength")) {
        (Some(1), None) => " that is not empty".to_owned(),
        (Some(least), None) => format!(" of at least {least} characters"),
        (None, Some(most)) => format!(" of at most {most} characters"),
        (Some(least), Some(most)) => format!(" of {least} to {most} characters"),
        (None, None) => String::new(),
    };
    let shape = match schema.get("pattern").and_then(Value::as_str) {
        Some(pattern) => format!(" matching `{pattern}`"),
        None => String::new(),
    };
    format!("a string{length}{shape}")
}

fn describe_range(schema: &Value) -> String {
    let bound = |name: &str| schema.get(name).filter(|value| value.is_number());
    let mut words = match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" of at least {least}"),
        (None, Some(most)) => format!(" of at most {most}"),
        (None, None) => String::new(),
    };
    for (name, relation) in [
        ("exclusiveMinimum", "above"),
        ("exclusiveMaximum", "below"),
        ("multipleOf", "divisible by"),
    ] {
        if let Some(value) = bound(name) {
            words.push_str(&format!(" {relation} {value}"));
        }
    }
    words
}

/// A list for a sentence: each in backticks, with commas.
pub(super) fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| format!("`{item}`")).collect();
    if items.is_empty() {
        "none".to_owned()
    } else {
        items.join(", ")
    }
}

/// A value for an error message: JSON, cut if it is long.
pub(super) fn show(value: &Value) -> String {
    shorten(&value.to_string())
}

/// A text, cut at a length that an error message can bear.
pub(super) fn shorten(text: &str) -> String {
    const MOST: usize = 100;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A string without its quotes, anything else as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn schemas_are_described_in_words() {
        for (schema, expected) in [
            (json!({"enum": ["a", 1]}), "one of `a`, `1`"),
            (json!({"const": "x/1"}), "`x/1`"),
            (
                json!({"type": "integer", "minimum": 0, "maximum": 100}),
                "an integer from 0 to 100",
            ),
            (
                json!({"type": "number", "exclusiveMinimum": 0}),
                "a number above 0",
            ),
            (json!({"type": "boolean"}), "`true` or `false`"),
            (
                json!({"type": "string", "minLength": 1}),
                "a string that is not empty",
            ),
            (json!({"type": ["string", "null"]}), "a string or `null`"),
            (
                json!({"type": "object", "title": "exactly one of them"}),
                "exactly one of them",
            ),
            (
                json!({"type": "array", "minItems": 2}),
                "an array of at least 2",
            ),
        ] {
            assert_eq!(describe(&schema), expected);
        }
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        let shown = show(&json!("é".repeat(1000)));
        assert_eq!(shown.chars().count(), 101);
    }
}
