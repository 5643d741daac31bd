//! What is kept of a request.

use crate::http::Request;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A request as it arrived.
///
/// The value of `authorization` is kept, so that a test can compare it: give the agent a key
/// that opens nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedRequest {
    /// Since the server's start, in milliseconds, when the whole request had arrived.
    pub at_ms: u64,
    /// For example `POST`.
    pub method: String,
    /// With its query, for example `/v1/responses`.
    pub path: String,
    /// Names in lower case; values of a repeated header are joined with `, `.
    pub headers: BTreeMap<String, String>,
    /// The body; `None` if it is empty or no JSON.
    pub body: Option<Value>,
}

impl RecordedRequest {
    pub(crate) fn new(request: &Request, at_ms: u64) -> Self {
        let mut headers: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in &request.headers {
            headers
                .entry(name.clone())
                .and_modify(|values| {
                    values.push_str(", ");
                    values.push_str(value);
                })
                .or_insert_with(|| value.clone());
        }
        Self {
            at_ms,
            method: request.method.clone(),
            path: request.path.clone(),
            headers,
            body: serde_json::from_slice(&request.body).ok(),
        }
    }

    /// Whether this asks for a response of the model, and so takes a reply of the script.
    pub fn is_for_the_model(&self) -> bool {
        let path = self.path.split('?').next().unwrap_or_default();
        self.method == "POST" && path.ends_with("/responses")
    }

    /// The model asked for; `None` if the body names none.
    pub fn model(&self) -> Option<&str> {
        self.body.as_ref()?.get("model")?.as_str()
    }

    /// The output that the agent returned for a tool call: the text of the last
    /// `function_call_output` or `custom_tool_call_output` with this `call_id`. `None` if
    /// there is none; an output that is no string is returned as JSON text.
    pub fn tool_output(&self, call_id: &str) -> Option<String> {
        let items = self.body.as_ref()?.get("input")?.as_array()?;
        let item = items.iter().rev().find(|item| {
            item["call_id"] == call_id
                && item["type"]
                    .as_str()
                    .is_some_and(|kind| kind.ends_with("_call_output"))
        })?;
        Some(match &item["output"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    }
}
