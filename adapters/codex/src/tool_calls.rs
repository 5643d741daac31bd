//! The tool calls of one turn, from its session file: the stream omits some.
//!
//! A call is what the model asked for. How it ended is told twice: by a typed item, which
//! some versions lack or lose, and by the header of the output that the model got to see.

use crate::json_line::text;
use crate::tool_output::{self, Ending};
use akbench_adapter_sdk::types::{ToolCall, ToolStatus};
use serde_json::Value;
use std::collections::BTreeMap;

/// The calls of a turn, in the order in which the model made them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolCalls {
    calls: Vec<Call>,
    by_id: BTreeMap<String, usize>,
    /// Commands and changes that no call of the model stands for: those that a script of
    /// the model made, where it works through scripts.
    pub within_scripts: u32,
}

#[derive(Debug, Clone, PartialEq)]
struct Call {
    id: String,
    name: String,
    status: Option<ToolStatus>,
    exit_code: Option<i32>,
    duration: Option<u32>,
    typed_end: bool,
    /// What the output said; `None` as long as there is none.
    ending: Option<Ending>,
}

impl ToolCalls {
    /// Takes a `response_item`; others than calls and outputs are ignored.
    pub fn response_item(&mut self, payload: &Value) {
        match text(payload, "type").unwrap_or_default() {
            "function_call" | "custom_tool_call" => {
                self.start(text(payload, "call_id"), text(payload, "name"));
            }
            "local_shell_call" => {
                let id = text(payload, "call_id").or_else(|| text(payload, "id"));
                self.start(id, Some("local_shell"));
            }
            "web_search_call" => {
                let id = text(payload, "id").or_else(|| text(payload, "call_id"));
                self.start(id, Some("web_search"));
                if let Some(call) = self.find(id) {
                    call.status = call.status.or(of_word(text(payload, "status")));
                }
            }
            "function_call_output" | "custom_tool_call_output" => self.output(payload),
            _ => {}
        }
    }

    /// Takes the payload of an `item_completed` event.
    pub fn item_completed(&mut self, payload: &Value) {
        let Some(item) = payload.get("item") else {
            return;
        };
        let kind = text(item, "type").unwrap_or_default();
        let Some(call) = self.find(text(item, "id")) else {
            if matches!(kind, "CommandExecution" | "FileChange" | "McpToolCall") {
                self.within_scripts += 1;
            }
            return;
        };
        let duration = item.get("duration").and_then(milliseconds).or_else(|| {
            between(
                payload.get("started_at_ms")?,
                payload.get("completed_at_ms")?,
            )
        });
        let denied = item
            .get("error")
            .and_then(|error| text(error, "message"))
            .is_some_and(|message| message.starts_with("MCP tool call requires approval"));
        call.end(
            if denied {
                Some(ToolStatus::Denied)
            } else {
                of_word(text(item, "status"))
            },
            exit_code(item),
            duration,
        );
    }

    /// Takes the older events that tell of an end: `exec_command_end`, `patch_apply_end`.
    pub fn older_end(&mut self, payload: &Value) {
        let Some(call) = self.find(text(payload, "call_id")) else {
            return;
        };
        let exit_code = exit_code(payload);
        let success = payload.get("success").and_then(Value::as_bool);
        let success = success.or(exit_code.map(|code| code == 0));
        let status = of_word(text(payload, "status")).or(success.map(of_success));
        call.end(
            status,
            exit_code,
            payload.get("duration").and_then(milliseconds),
        );
    }

    /// True if a tool was running when the turn was interrupted, so that no request to the
    /// model was.
    pub fn any_aborted(&self) -> bool {
        self.calls.iter().any(|call| match call.ending {
            Some(ending) => ending == Ending::Aborted,
            None => call.status.is_none(),
        })
    }

    /// How many calls there were.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// True if there were none.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// True if the model works through scripts, each of them one call, whatever it runs.
    pub fn any_scripts(&self) -> bool {
        self.calls.iter().any(|call| call.name == "exec")
    }

    /// In the contract's words; a call without an observed end is unfinished.
    pub fn observed(&self, sub_agent: Option<&str>) -> impl Iterator<Item = ToolCall> {
        let sub_agent = sub_agent.map(str::to_owned);
        self.calls.iter().map(move |call| ToolCall {
            id: call.id.clone(),
            name: call.name.clone(),
            sub_agent: sub_agent.clone(),
            status: Some(call.status.unwrap_or(ToolStatus::Unfinished)),
            exit_code: call.exit_code,
            duration: call.duration,
        })
    }

    fn start(&mut self, id: Option<&str>, name: Option<&str>) {
        let (Some(id), Some(name)) = (id, name) else {
            return;
        };
        if self.by_id.contains_key(id) {
            return;
        }
        self.by_id.insert(id.to_owned(), self.calls.len());
        self.calls.push(Call {
            id: id.to_owned(),
            name: name.to_owned(),
            status: None,
            exit_code: None,
            duration: None,
            typed_end: false,
            ending: None,
        });
    }

    fn output(&mut self, payload: &Value) {
        let Some(call) = self.find(text(payload, "call_id")) else {
            return;
        };
        let output = payload.get("output").unwrap_or(&Value::Null);
        let ending = tool_output::ending(&call.name, output);
        call.ending = Some(ending);
        if call.typed_end {
            return;
        }
        (call.status, call.exit_code) = match ending {
            Ending::Exited(code) => (Some(of_success(code == 0)), Some(code)),
            Ending::Returned => (Some(ToolStatus::Completed), None),
            Ending::Failed => (Some(ToolStatus::Failed), None),
            Ending::Denied => (Some(ToolStatus::Denied), None),
            Ending::Aborted | Ending::Running => (None, None),
        };
    }

    fn find(&mut self, id: Option<&str>) -> Option<&mut Call> {
        let at = *self.by_id.get(id?)?;
        self.calls.get_mut(at)
    }
}

impl Call {
    fn end(&mut self, status: Option<ToolStatus>, exit_code: Option<i32>, duration: Option<u32>) {
        // An item that says nothing about the end leaves the header its say.
        self.typed_end |= status.is_some();
        self.status = status.or(self.status);
        self.exit_code = exit_code.or(self.exit_code);
        self.duration = duration.or(self.duration);
    }
}

fn of_success(success: bool) -> ToolStatus {
    if success {
        ToolStatus::Completed
    } else {
        ToolStatus::Failed
    }
}

fn of_word(status: Option<&str>) -> Option<ToolStatus> {
    match status? {
        "completed" => Some(ToolStatus::Completed),
        "failed" | "error" => Some(ToolStatus::Failed),
        "declined" | "denied" => Some(ToolStatus::Denied),
        _ => None,
    }
}

fn exit_code(value: &Value) -> Option<i32> {
    let code = value.get("exit_code").and_then(Value::as_i64)?;
    i32::try_from(code).ok()
}

/// `{"secs": 0, "nanos": 4685424}`
fn milliseconds(duration: &Value) -> Option<u32> {
    let secs = duration.get("secs").and_then(Value::as_u64)?;
    let nanos = duration.get("nanos").and_then(Value::as_u64)?;
    u32::try_from(secs.checked_mul(1000)?.checked_add(nanos / 1_000_000)?).ok()
}

fn between(start: &Value, end: &Value) -> Option<u32> {
    u32::try_from(end.as_u64()?.checked_sub(start.as_u64()?)?).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use serde_json::json;

    fn call(id: &str, name: &str) -> Value {
        json!({"type": "function_call", "call_id": id, "name": name})
    }

    fn output(id: &str, output: &str) -> Value {
        json!({"type": "function_call_output", "call_id": id, "output": output})
    }

    fn only(calls: &ToolCalls) -> ToolCall {
        let mut observed = calls.observed(None);
        let first = observed.next().unwrap();
        assert!(observed.next().is_none());
        first
    }

    #[test]
    fn a_typed_end_wins_over_the_output() {
        let mut calls = ToolCalls::default();
        calls.response_item(&call("c", "exec_command"));
        calls.item_completed(&json!({"item": {"type": "CommandExecution", "id": "c",
            "status": "failed", "exit_code": 3, "duration": {"secs": 1, "nanos": 5_999_999}}}));
        calls.response_item(&output("c", "Process exited with code 0\nOutput:\n"));
        let call = only(&calls);
        assert_eq!(call.status, Some(ToolStatus::Failed));
        assert_eq!((call.exit_code, call.duration), (Some(3), Some(1005)));
    }

    #[test]
    fn without_a_typed_end_the_output_tells() {
        let mut calls = ToolCalls::default();
        calls.response_item(&call("c", "exec_command"));
        calls.response_item(&output("c", "Process exited with code 1\nOutput:\n"));
        let call = only(&calls);
        assert_eq!(
            (call.status, call.exit_code),
            (Some(ToolStatus::Failed), Some(1))
        );
    }

    #[test]
    fn a_call_without_an_end_is_unfinished_and_a_repeated_line_is_one_call() {
        let mut calls = ToolCalls::default();
        calls.response_item(&call("c", "exec_command"));
        calls.response_item(&call("c", "exec_command"));
        assert_eq!(only(&calls).status, Some(ToolStatus::Unfinished));
        assert!(calls.any_aborted());
    }

    #[test]
    fn a_command_in_the_background_ends_when_its_item_does() {
        let mut calls = ToolCalls::default();
        calls.response_item(&call("c", "exec_command"));
        calls.response_item(&output("c", "Process running with session ID 1\nOutput:\n"));
        assert_eq!(only(&calls).status, Some(ToolStatus::Unfinished));
        calls.item_completed(&json!({"started_at_ms": 10, "completed_at_ms": 25,
            "item": {"type": "CommandExecution", "id": "c", "status": "completed", "exit_code": 0}}));
        let call = only(&calls);
        assert_eq!(call.status, Some(ToolStatus::Completed));
        assert_eq!((call.exit_code, call.duration), (Some(0), Some(15)));
    }

    #[test]
    fn a_refused_approval_is_a_denial_and_a_scripts_command_no_call() {
        let mut calls = ToolCalls::default();
        calls.response_item(&call("c", "echo"));
        let message = "MCP tool call requires approval, but approval policy is never";
        calls.item_completed(&json!({"item": {"type": "McpToolCall", "id": "c",
            "status": "failed", "error": {"message": message}}}));
        calls.item_completed(&json!({"item": {"type": "CommandExecution", "id": "exec-1"}}));
        assert_eq!(only(&calls).status, Some(ToolStatus::Denied));
        assert_eq!(calls.within_scripts, 1);
    }

    #[test]
    fn a_web_search_carries_its_own_end() {
        let mut calls = ToolCalls::default();
        calls.response_item(&json!({"type": "web_search_call", "id": "ws", "status": "completed"}));
        let call = only(&calls);
        assert_eq!(
            (call.name.as_str(), call.status),
            ("web_search", Some(ToolStatus::Completed))
        );
    }
}
