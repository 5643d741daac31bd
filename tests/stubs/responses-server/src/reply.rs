//! What the server answers to one request.

use crate::item::{Item, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// One answer, with the requests that it is meant for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// Which requests may take this reply; `None`: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
    /// How long to wait before the first byte, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub delay_ms: u64,
    /// How many requests this reply serves.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub times: u32,
    /// What to answer.
    #[serde(rename = "do")]
    pub action: Action,
}

fn once() -> u32 {
    1
}

// `skip_serializing_if` hands over references.
fn is_once(times: &u32) -> bool {
    *times == 1
}

fn is_zero(delay_ms: &u64) -> bool {
    *delay_ms == 0
}

/// A condition on a request. A text counts as contained if it is part of the body as sent or
/// of any string in it (so quotes and newlines need no escaping).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// The body must contain this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_contains: Option<String>,
    /// The body must not contain this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_lacks: Option<String>,
}

/// The kinds of answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Server-sent events.
    Stream(Stream),
    /// A plain HTTP answer.
    Status {
        /// The HTTP status code.
        code: u16,
        /// Sent as JSON; a string is sent as it stands, `null` sends no body.
        #[serde(default)]
        body: Value,
        /// Further headers; `content-type` replaces the default `application/json`.
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
    /// Silence, until the client goes away or the server is dropped.
    Hang(HangPoint),
    /// The connection is closed without a single byte.
    Disconnect,
}

/// Where an answer falls silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HangPoint {
    /// Before any byte.
    BeforeHeaders,
    /// After the HTTP headers of a stream.
    AfterHeaders,
    /// After the event `response.created`.
    AfterCreated,
}

/// A streamed response: `response.created`, the items, and an end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// The response's id; `None`: `resp_<n>` for the n-th request to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The model named in the response; `None`: the one that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Output items, in order.
    #[serde(default)]
    pub items: Vec<Item>,
    /// How the stream ends.
    #[serde(default)]
    pub end: End,
}

/// How a stream ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum End {
    /// `response.completed`.
    Completed {
        /// `None`: the response carries no usage.
        #[serde(default)]
        usage: Option<Usage>,
    },
    /// `response.failed`.
    Failed {
        /// For example `rate_limit_exceeded`, `context_length_exceeded`,
        /// `server_is_overloaded` or `insufficient_quota`.
        code: String,
        /// The provider's sentence.
        message: String,
    },
    /// `response.incomplete`.
    Incomplete {
        /// For example `max_output_tokens` or `content_filter`.
        reason: String,
        /// `None`: the response carries no usage.
        #[serde(default)]
        usage: Option<Usage>,
    },
    /// The connection is closed before any end is sent.
    Cut {
        /// How many events are sent, `response.created` being the first; `None`: all of them.
        #[serde(default)]
        after_events: Option<usize>,
    },
}

impl Default for End {
    fn default() -> Self {
        End::Completed { usage: None }
    }
}

impl Reply {
    /// A reply to any one request, at once.
    pub fn new(action: Action) -> Self {
        Self {
            when: None,
            delay_ms: 0,
            times: 1,
            action,
        }
    }

    /// A completed response with these items and no usage.
    pub fn items(items: impl IntoIterator<Item = Item>) -> Self {
        Self::new(Action::Stream(Stream {
            id: None,
            model: None,
            items: items.into_iter().collect(),
            end: End::default(),
        }))
    }

    /// A completed response with the assistant's text.
    pub fn message(text: impl Into<String>) -> Self {
        Self::items([Item::Message {
            text: text.into(),
            phase: None,
        }])
    }

    /// A call of `exec_command`, the tool that the Codex CLI offers to an unknown model.
    pub fn shell(call_id: impl Into<String>, cmd: impl Into<String>) -> Self {
        Self::function_call(call_id, "exec_command", json!({"cmd": cmd.into()}))
    }

    /// A call of a tool that takes JSON.
    pub fn function_call(
        call_id: impl Into<String>,
        name: impl Into<String>,
        arguments: Value,
    ) -> Self {
        Self::items([Item::FunctionCall {
            name: name.into(),
            arguments,
            call_id: call_id.into(),
            namespace: None,
        }])
    }

    /// A call of a tool that takes free text.
    pub fn custom_tool_call(
        call_id: impl Into<String>,
        name: impl Into<String>,
        input: impl Into<String>,
    ) -> Self {
        Self::items([Item::CustomToolCall {
            name: name.into(),
            input: input.into(),
            call_id: call_id.into(),
        }])
    }

    /// A stream that ends with `response.failed`.
    pub fn failed(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::items([]).ending(End::Failed {
            code: code.into(),
            message: message.into(),
        })
    }

    /// A stream that ends with `response.incomplete`.
    pub fn incomplete(reason: impl Into<String>) -> Self {
        Self::items([]).ending(End::Incomplete {
            reason: reason.into(),
            usage: None,
        })
    }

    /// A plain HTTP answer with a JSON body.
    pub fn status(code: u16, body: Value) -> Self {
        Self::new(Action::Status {
            code,
            body,
            headers: BTreeMap::new(),
        })
    }

    /// A plain HTTP answer with the API's error object.
    pub fn error(status: u16, kind: &str, code: &str, message: &str) -> Self {
        Self::status(
            status,
            json!({"error": {"message": message, "type": kind, "param": null, "code": code}}),
        )
    }

    /// Silence before any byte.
    pub fn hang_before_headers() -> Self {
        Self::new(Action::Hang(HangPoint::BeforeHeaders))
    }

    /// Silence after the headers.
    pub fn hang_after_headers() -> Self {
        Self::new(Action::Hang(HangPoint::AfterHeaders))
    }

    /// Silence after `response.created`.
    pub fn hang_after_created() -> Self {
        Self::new(Action::Hang(HangPoint::AfterCreated))
    }

    /// A connection closed without a byte.
    pub fn disconnect() -> Self {
        Self::new(Action::Disconnect)
    }

    /// Adds an item; only a stream has items.
    #[must_use]
    pub fn and(mut self, item: Item) -> Self {
        if let Action::Stream(stream) = &mut self.action {
            stream.items.push(item);
        }
        self
    }

    /// Puts a summary of the model's reasoning before the other items of a stream.
    #[must_use]
    pub fn reasoning(mut self, summary: impl Into<String>) -> Self {
        if let Action::Stream(stream) = &mut self.action {
            stream.items.insert(
                0,
                Item::Reasoning {
                    summary: vec![summary.into()],
                },
            );
        }
        self
    }

    /// Token numbers of a completed or incomplete response; other replies carry none.
    #[must_use]
    pub fn usage(
        mut self,
        input: u64,
        cached_input: u64,
        output: u64,
        reasoning_output: u64,
    ) -> Self {
        if let Action::Stream(Stream {
            end: End::Completed { usage } | End::Incomplete { usage, .. },
            ..
        }) = &mut self.action
        {
            *usage = Some(Usage {
                input,
                cached_input,
                cache_write_input: None,
                output,
                reasoning_output,
            });
        }
        self
    }

    /// Gives a streamed response this id.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        if let Action::Stream(stream) = &mut self.action {
            stream.id = Some(id.into());
        }
        self
    }

    /// Replaces the end of a stream.
    #[must_use]
    pub fn ending(mut self, end: End) -> Self {
        if let Action::Stream(stream) = &mut self.action {
            stream.end = end;
        }
        self
    }

    /// Closes the connection of a stream after this many events, `response.created` being the
    /// first.
    #[must_use]
    pub fn cut_after(self, events: usize) -> Self {
        self.ending(End::Cut {
            after_events: Some(events),
        })
    }

    /// Closes the connection of a stream after its items, before `response.completed`.
    #[must_use]
    pub fn cut_before_end(self) -> Self {
        self.ending(End::Cut { after_events: None })
    }

    /// Adds a header to a plain HTTP answer.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Action::Status { headers, .. } = &mut self.action {
            headers.insert(name.into(), value.into());
        }
        self
    }

    /// Waits before the first byte.
    #[must_use]
    pub fn delay_ms(mut self, milliseconds: u64) -> Self {
        self.delay_ms = milliseconds;
        self
    }

    /// Serves this many requests instead of one.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = times;
        self
    }

    /// Serves only requests whose body contains this text.
    #[must_use]
    pub fn when_body_contains(mut self, text: impl Into<String>) -> Self {
        self.when.get_or_insert_default().body_contains = Some(text.into());
        self
    }

    /// Serves only requests whose body lacks this text.
    #[must_use]
    pub fn when_body_lacks(mut self, text: impl Into<String>) -> Self {
        self.when.get_or_insert_default().body_lacks = Some(text.into());
        self
    }
}

impl When {
    /// Whether a request with this body meets the condition. `json` is the body, parsed;
    /// `None` if it is no JSON.
    pub(crate) fn is_met(&self, raw: &[u8], json: Option<&Value>) -> bool {
        let raw = String::from_utf8_lossy(raw);
        let contains = |text: &String| {
            raw.contains(text.as_str()) || json.is_some_and(|json| any_string_contains(json, text))
        };
        self.body_contains.as_ref().is_none_or(contains)
            && !self.body_lacks.as_ref().is_some_and(contains)
    }
}

fn any_string_contains(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(values) => values.iter().any(|value| any_string_contains(value, text)),
        Value::Object(fields) => fields
            .values()
            .any(|value| any_string_contains(value, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_sees_through_json_escapes() {
        let body = json!({"input": [{"text": "say \"hi\"\nnow"}]});
        let raw = body.to_string();
        let met = |when: When| when.is_met(raw.as_bytes(), Some(&body));
        let text = Some("say \"hi\"\nnow".to_owned());
        assert!(met(When {
            body_contains: text.clone(),
            body_lacks: None
        }));
        assert!(!met(When {
            body_contains: None,
            body_lacks: text
        }));
        assert!(met(When {
            body_contains: None,
            body_lacks: Some("other".to_owned())
        }));
        assert!(met(When::default()));
    }
}
