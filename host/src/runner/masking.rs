//! Masking what is written as JSON: text by text, because masks across a whole document could
//! break it.

use crate::process::redaction::Redactor;
use serde::Serialize;
use serde::de::DeserializeOwned;

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
    redactor.mask_document(&mut document);
    serde_json::from_value(document)
}
