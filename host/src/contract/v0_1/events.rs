//! The `events` import.

use super::bindings::akbench::agent::events as wit;
use super::instance::State;
use super::translate;
use crate::contract::events::{Level, RunEvent};

impl wit::Host for State {
    fn emit(&mut self, event: wit::Event) -> wasmtime::Result<()> {
        let event = match event {
            wit::Event::TurnStarted => RunEvent::TurnStarted,
            wit::Event::TurnFinished(usage) => RunEvent::TurnFinished {
                usage: usage.as_ref().map(translate::usage),
            },
            wit::Event::Message(text) => RunEvent::Message { text },
            wit::Event::ToolStarted(call) => RunEvent::ToolStarted {
                call: translate::tool_call(call),
            },
            wit::Event::ToolFinished(call) => RunEvent::ToolFinished {
                call: translate::tool_call(call),
            },
            wit::Event::Usage(usage) => RunEvent::Usage {
                usage: translate::usage(&usage),
            },
            wit::Event::Warning(text) => RunEvent::Warning { text },
            wit::Event::Other(custom) => RunEvent::Other {
                // For people only, so data that isn't an object is shown as text, not refused.
                data: translate::object(&custom.data).unwrap_or_else(|_| {
                    let text = serde_json::Value::String(custom.data.clone());
                    [("text".to_owned(), text)].into_iter().collect()
                }),
                name: custom.name,
            },
        };
        self.host.emit(&event);
        Ok(())
    }

    fn log(&mut self, level: wit::Level, text: String) -> wasmtime::Result<()> {
        let level = match level {
            wit::Level::Debug => Level::Debug,
            wit::Level::Info => Level::Info,
            wit::Level::Warn => Level::Warn,
            wit::Level::Error => Level::Error,
        };
        self.host.log(level, text);
        Ok(())
    }
}
