//! Masking what is written as JSON: text by text, because masks across a whole document could
//! break it.

use crate::process::redaction::Redactor;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The same with every secret in its texts masked.
///
/// # Errors
///
/// If a secret is part of a value that is no free text, such as a digest: masked, it could not
/// be read.
pub(crate) fn masked<T: Serialize + DeserializeOwned>(
    value: &T,
    redactor: &Redactor,
) -> serde_json::Result<T> {
    let mut document = serde_json::to_value(value)?;
    mask_texts(&mut document, redactor);
    serde_json::from_value(document)
}

fn mask_texts(value: &mut Value, redactor: &Redactor) {
    match value {
        Value::String(text) => *text = redactor.mask_text(text),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_texts(item, redactor)),
        Value::Object(members) => {
            *members = std::mem::take(members)
                .into_iter()
                .map(|(name, mut member)| {
                    mask_texts(&mut member, redactor);
                    (redactor.mask_text(&name), member)
                })
                .collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
