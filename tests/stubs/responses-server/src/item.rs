//! Output items and token numbers, from the short form of a script to what the API sends.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One output item of a streamed response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Item {
    /// Text of the assistant.
    Message {
        /// The text.
        text: String,
        /// For example `commentary` or `final_answer`; `None` leaves the key out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<String>,
    },
    /// A summary of the model's reasoning.
    Reasoning {
        /// One entry per paragraph.
        summary: Vec<String>,
    },
    /// A call of a tool that takes JSON.
    FunctionCall {
        /// The tool's name.
        name: String,
        /// An object, sent as JSON text; a string is sent as it stands, so that invalid
        /// JSON can be sent too.
        arguments: Value,
        /// Pairs the call with its output in the next request.
        call_id: String,
        /// The tool's namespace; `None` leaves the key out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        namespace: Option<String>,
    },
    /// A call of a tool that takes free text.
    CustomToolCall {
        /// The tool's name.
        name: String,
        /// The text.
        input: String,
        /// Pairs the call with its output in the next request.
        call_id: String,
    },
    /// A web search that the provider ran itself.
    WebSearch {
        /// The item's id.
        id: String,
        /// What was searched for.
        query: String,
    },
    /// Any other item, sent verbatim.
    Raw(Value),
}

impl Item {
    /// The finished item as the API sends it. `response` and `index` (the item's place in
    /// the response) make ids that no other item of the conversation has.
    pub(crate) fn to_json(&self, response: &str, index: usize) -> Value {
        match self {
            Item::Message { text, phase } => {
                let mut item = json!({
                    "type": "message",
                    "role": "assistant",
                    "id": format!("msg_{response}_{index}"),
                    "status": "completed",
                    "content": [{"type": "output_text", "text": text, "annotations": []}],
                });
                if let Some(phase) = phase {
                    item["phase"] = json!(phase);
                }
                item
            }
            Item::Reasoning { summary } => json!({
                "type": "reasoning",
                "id": format!("rs_{response}_{index}"),
                "summary": summary
                    .iter()
                    .map(|text| json!({"type": "summary_text", "text": text}))
                    .collect::<Vec<_>>(),
                // The agent hands this back unread; it only has to be valid base64.
                "encrypted_content": "ZW5jcnlwdGVk",
            }),
            Item::FunctionCall {
                name,
                arguments,
                call_id,
                namespace,
            } => {
                let arguments = match arguments {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                let mut item = json!({
                    "type": "function_call",
                    "id": format!("fc_{call_id}"),
                    "call_id": call_id,
                    "name": name,
                    "arguments": arguments,
                    "status": "completed",
                });
                if let Some(namespace) = namespace {
                    item["namespace"] = json!(namespace);
                }
                item
            }
            Item::CustomToolCall {
                name,
                input,
                call_id,
            } => json!({
                "type": "custom_tool_call",
                "id": format!("ctc_{call_id}"),
                "call_id": call_id,
                "name": name,
                "input": input,
                "status": "completed",
            }),
            Item::WebSearch { id, query } => json!({
                "type": "web_search_call",
                "id": id,
                "status": "completed",
                "action": {"type": "search", "query": query},
            }),
            Item::Raw(item) => item.clone(),
        }
    }
}

/// Token numbers of one response, all in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Input tokens, cached ones included.
    pub input: u64,
    /// The part of `input` that came from the provider's cache.
    #[serde(default)]
    pub cached_input: u64,
    /// The part of `input` that was written to the provider's cache; `None` leaves the key out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_input: Option<u64>,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// The part of `output` that was reasoning.
    #[serde(default)]
    pub reasoning_output: u64,
}

impl Usage {
    pub(crate) fn to_json(self) -> Value {
        let mut usage = json!({
            "input_tokens": self.input,
            "input_tokens_details": {"cached_tokens": self.cached_input},
            "output_tokens": self.output,
            "output_tokens_details": {"reasoning_tokens": self.reasoning_output},
            "total_tokens": self.input.saturating_add(self.output),
        });
        if let Some(written) = self.cache_write_input {
            usage["input_tokens_details"]["cache_write_tokens"] = json!(written);
        }
        usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_arguments_are_sent_as_text_and_invalid_text_stays_as_it_is() {
        let call = |arguments| Item::FunctionCall {
            name: "exec_command".to_owned(),
            arguments,
            call_id: "call_1".to_owned(),
            namespace: None,
        };
        let sent = call(json!({"cmd": "true"})).to_json("resp_1", 0);
        assert_eq!(sent["arguments"], r#"{"cmd":"true"}"#);
        let sent = call(json!("{not json")).to_json("resp_1", 0);
        assert_eq!(sent["arguments"], "{not json");
    }

    #[test]
    fn the_total_is_input_plus_output() {
        let usage = Usage {
            input: 1100,
            cached_input: 900,
            output: 20,
            ..Usage::default()
        };
        assert_eq!(usage.to_json()["total_tokens"], 1120);
    }
}
