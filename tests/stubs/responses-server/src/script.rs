//! A list of replies, and what comes after the last.

use crate::reply::Reply;
use serde::{Deserialize, Serialize};

/// What a server answers. Each request to the model takes the first reply, in order, that is
/// not used up and whose condition it meets.
///
/// As JSON:
///
/// ```
/// let script = r#"{
///   "replies": [
///     {"do": {"status": {"code": 429, "headers": {"retry-after": "1"}}}, "times": 2},
///     {"when": {"body_contains": "a sub-agent's task"},
///      "do": {"stream": {"items": [{"message": {"text": "done"}}]}}},
///     {"delay_ms": 50, "do": {"stream": {
///       "items": [{"function_call": {"name": "exec_command", "arguments": {"cmd": "ls"}, "call_id": "call_1"}}],
///       "end": {"completed": {"usage": {"input": 1000, "cached_input": 0, "output": 50}}}}}},
///     {"do": {"hang": "after_created"}}
///   ],
///   "exhausted": "repeat_last"
/// }"#;
/// akbench_responses_server::Script::from_json(script).unwrap();
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The replies, in order.
    pub replies: Vec<Reply>,
    /// What a request gets for which no reply is left.
    #[serde(default)]
    pub exhausted: Exhausted,
}

/// What a request gets for which no reply is left.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Exhausted {
    /// HTTP status 400 with the code `script_exhausted`, which agents do not retry.
    #[default]
    Error,
    /// The last reply in the list whose condition the request meets; `Error` if there is none.
    RepeatLast,
    /// This reply, whatever its condition says.
    Reply(Box<Reply>),
}

impl Script {
    /// A script that answers what comes after its last reply with an error.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self {
            replies: replies.into_iter().collect(),
            exhausted: Exhausted::Error,
        }
    }

    /// A script that answers every request alike.
    pub fn always(reply: Reply) -> Self {
        Self::new([reply]).repeat_last()
    }

    /// Repeats the last reply for ever.
    #[must_use]
    pub fn repeat_last(mut self) -> Self {
        self.exhausted = Exhausted::RepeatLast;
        self
    }

    /// Answers everything after the last reply with this one.
    #[must_use]
    pub fn then_always(mut self, reply: Reply) -> Self {
        self.exhausted = Exhausted::Reply(Box::new(reply));
        self
    }

    /// Reads a script from JSON.
    ///
    /// # Errors
    ///
    /// Text that is no JSON or no script, unknown keys included; the error names line and
    /// column.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::scripts;
    use serde_json::json;

    #[test]
    fn every_ready_made_script_survives_json() {
        for script in [
            scripts::happy(),
            scripts::patch(),
            scripts::rate_limited_once_then_happy(),
            scripts::context_window(),
            scripts::cut_always(),
            scripts::hang_before_headers(),
            Script::new([]).then_always(Reply::incomplete("max_output_tokens").usage(1, 0, 1, 0)),
        ] {
            let text = serde_json::to_string(&script).unwrap();
            assert_eq!(Script::from_json(&text).unwrap(), script, "{text}");
        }
    }

    #[test]
    fn an_unknown_key_is_refused_by_name() {
        let text = json!({"replies": [{"do": {"hang": "after_created"}, "delay": 5}]}).to_string();
        let error = Script::from_json(&text).unwrap_err().to_string();
        assert!(error.contains("unknown field `delay`"), "{error}");
    }

    #[test]
    fn a_null_usage_is_no_usage() {
        let text = r#"{"replies": [{"do": {"stream": {"end": {"completed": {"usage": null}}}}}]}"#;
        assert_eq!(
            Script::from_json(text).unwrap(),
            Script::new([Reply::items([])])
        );
    }
}
