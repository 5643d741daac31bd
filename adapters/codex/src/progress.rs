//! Telling people what the agent is doing, while it does it.

use crate::stream::{Progress, StreamTool};
use akbench_adapter_sdk::events::{self, Event};
use akbench_adapter_sdk::types::{ToolCall, ToolStatus};

/// Passes a line's meaning on. The numbers are the stream's own; what counts is collected
/// from the evidence afterwards.
pub fn emit(progress: Progress) {
    let event = match progress {
        Progress::TurnStarted => Event::TurnStarted,
        // The event holds the conversation's total, not the turn's.
        Progress::TurnFinished(Some(total)) => {
            events::emit(&Event::Usage(total.observed().0));
            Event::TurnFinished(None)
        }
        Progress::TurnFinished(None) => Event::TurnFinished(None),
        Progress::Message(text) => Event::Message(text),
        Progress::ToolStarted(tool) => Event::ToolStarted(call(tool)),
        Progress::ToolFinished(tool) => Event::ToolFinished(call(tool)),
        Progress::Warning(text) => Event::Warning(text),
    };
    events::emit(&event);
}

fn call(tool: StreamTool) -> ToolCall {
    let status = match tool.status.as_deref() {
        Some("completed") => Some(ToolStatus::Completed),
        Some("failed") => Some(ToolStatus::Failed),
        Some("declined") => Some(ToolStatus::Denied),
        _ => None,
    };
    ToolCall {
        id: tool.id,
        name: tool.name,
        sub_agent: None,
        status,
        exit_code: tool.exit_code,
        duration: None,
    }
}
