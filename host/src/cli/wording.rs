//! Small pieces of text that several pages share.

use crate::runner::result::ConfinementRecord;
use serde::Serialize;
use serde_json::Value;

/// What is written where a value is not known.
pub const UNKNOWN: &str = "unknown";

/// The name by which JSON knows a value of a plain enumeration.
pub fn name_of(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(name)) => name,
        _ => UNKNOWN.to_owned(),
    }
}

/// The value, or that it is not known.
pub fn known(value: Option<impl ToString>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), |value| value.to_string())
}

/// The first line without control characters; the text may be the model's.
pub fn one_line(text: &str) -> String {
    let mut lines = text.lines();
    let first: String = lines
        .next()
        .unwrap_or("")
        .chars()
        .filter(|c| !c.is_control())
        .collect();
    if lines.next().is_some() {
        format!("{first} …")
    } else {
        first
    }
}

/// As [`one_line`], cut to a number of characters.
pub fn short_line(text: &str, most: usize) -> String {
    let line = one_line(text);
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// A list as people write it; `nothing` for an empty one.
pub fn list<T: AsRef<str>>(items: &[T], nothing: &str) -> String {
    if items.is_empty() {
        return nothing.to_owned();
    }
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    items.join(", ")
}

/// What contained the agent.
pub fn confined(confinement: &ConfinementRecord) -> String {
    format!(
        "files {}, tree {}, network {}",
        confinement.files.as_deref().unwrap_or("not confined"),
        known(confinement.tree.as_deref()),
        known(confinement.network.as_deref())
    )
}

/// Seconds with a decimal.
pub fn seconds(milliseconds: u64) -> String {
    format!("{:.1} s", milliseconds as f64 / 1000.0)
}

/// A JSON value as a person would type it: texts without quotes.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => one_line(text),
        other => other.to_string(),
    }
}
