//! What the program prints: one event per line on stdout.
//!
//! The stream has no model name, no settings, no times, and omits some tool calls; it is
//! the truth about one thing, namely whether the turn came to its end.

use crate::event::{Event, Item};
use crate::json_line::{self, Faults};
use crate::retry_notice;
use crate::usage::Tokens;
use akbench_adapter_sdk::lines::Line;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// How many different warnings are kept.
const MAX_WARNINGS: usize = 64;

/// How the stream ended the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Terminal {
    /// `turn.completed`
    Completed,
    /// `turn.failed`
    Failed(Message),
}

/// A message of the program itself, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// As printed.
    pub text: String,
    /// The line of stdout, counted from 1.
    pub line: u64,
}

/// Everything that matters of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stream {
    /// The conversation that this process worked on.
    pub thread_id: Option<String>,
    /// Turns that this process started.
    pub turns: u32,
    /// `None` as long as the turn goes on, or if it was cut off.
    pub terminal: Option<Terminal>,
    /// The last thing that the agent said in a turn that was completed.
    pub final_message: Option<String>,
    /// Of the whole conversation, not of this process alone, in most versions.
    pub usage: Option<Tokens>,
    /// The retry notice after which nothing else came.
    pub pending_retry: Option<Message>,
    /// Whether a request failed and was tried again.
    pub retried: bool,
    /// Whether one of these may have used tokens that nobody recorded.
    pub lost_request: bool,
    /// Whether the agent said or did anything.
    pub answered: bool,
    /// How many uses of tools were shown; some never are.
    pub tools_shown: u32,
    /// Whether the agent used agents of its own.
    pub used_sub_agents: bool,
    /// The program's warnings, each once.
    pub warnings: Vec<String>,
    /// What could not be read.
    pub faults: Faults,
    pub(crate) said: Option<String>,
    pub(crate) running: BTreeSet<String>,
}

/// What a line means to people who watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// A turn began.
    TurnStarted,
    /// A turn came to its end, with the usage that the line carries.
    TurnFinished(Option<Tokens>),
    /// The agent said something.
    Message(String),
    /// A tool began.
    ToolStarted(StreamTool),
    /// A tool ended.
    ToolFinished(StreamTool),
    /// The program warned, or tries again.
    Warning(String),
}

/// A tool, as far as the stream shows it. The id is the stream's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamTool {
    /// Pairs a start with its end.
    pub id: String,
    /// The kind of item, or the tool's name where the item has one.
    pub name: String,
    /// As printed.
    pub status: Option<String>,
    /// Of a command.
    pub exit_code: Option<i32>,
}

impl Stream {
    /// Whether a tool had started and not ended when the stream stopped.
    pub fn has_running_tool(&self) -> bool {
        !self.running.is_empty()
    }

    /// Takes the next line, and says what it means to people.
    pub fn push(&mut self, line: Line<'_>) -> Option<Progress> {
        let mut repaired = String::new();
        match json_line::read(line, &mut repaired) {
            Ok(event) => self.event(event?, line.number),
            Err(fault) => {
                self.faults.count(fault);
                None
            }
        }
    }

    fn event(&mut self, event: Event<'_>, line: u64) -> Option<Progress> {
        match &*event.kind? {
            "thread.started" => {
                self.thread_id = event.thread_id.map(Cow::into_owned);
                None
            }
            "turn.started" => {
                self.turns += 1;
                self.terminal = None;
                self.said = None;
                Some(Progress::TurnStarted)
            }
            "turn.completed" => {
                self.usage = event.usage.as_ref().and_then(Tokens::read);
                self.final_message = self.said.take();
                self.end(Terminal::Completed);
                Some(Progress::TurnFinished(self.usage))
            }
            "turn.failed" => {
                let message = event.error.and_then(|error| error.message);
                let text = message.unwrap_or_default().into_owned();
                self.end(Terminal::Failed(Message {
                    text: text.clone(),
                    line,
                }));
                Some(Progress::Warning(text))
            }
            "error" => self.error(event.message?.into_owned(), line),
            kind @ ("item.started" | "item.updated" | "item.completed") => {
                self.item(kind, event.item?)
            }
            _ => None,
        }
    }

    fn end(&mut self, terminal: Terminal) {
        self.terminal = Some(terminal);
        self.pending_retry = None;
    }

    /// An error event ends nothing by itself: `turn.failed` follows if it is the last word.
    fn error(&mut self, text: String, line: u64) -> Option<Progress> {
        let notice = retry_notice::parse(&text)?;
        self.retried = true;
        self.lost_request |= !notice.was_refused();
        self.pending_retry = Some(Message {
            text: text.clone(),
            line,
        });
        Some(Progress::Warning(text))
    }

    fn item(&mut self, kind: &str, item: Item<'_>) -> Option<Progress> {
        let completed = kind == "item.completed";
        let what = item.kind?;
        self.answered |= what != "error";
        match &*what {
            "error" if completed => {
                let warning = item.message?.into_owned();
                self.warn(&warning);
                Some(Progress::Warning(warning))
            }
            "agent_message" if completed => {
                self.pending_retry = None;
                let said = item.text?.into_owned();
                self.said = Some(said.clone());
                Some(Progress::Message(said))
            }
            "agent_message" | "error" | "reasoning" | "todo_list" => {
                self.pending_retry = None;
                None
            }
            name => {
                self.pending_retry = None;
                self.used_sub_agents |= name == "collab_tool_call";
                let tool = StreamTool {
                    id: item.id.unwrap_or_default().into_owned(),
                    name: item.tool.as_deref().unwrap_or(name).to_owned(),
                    status: item.status.map(Cow::into_owned),
                    exit_code: item.exit_code.and_then(|code| i32::try_from(code).ok()),
                };
                match kind {
                    "item.started" => {
                        let is_new = self.running.insert(tool.id.clone());
                        self.tools_shown += u32::from(is_new && is_tool(name));
                        Some(Progress::ToolStarted(tool))
                    }
                    "item.completed" => {
                        // Some versions show only the end of some tools.
                        let is_new = !self.running.remove(&tool.id);
                        self.tools_shown += u32::from(is_new && is_tool(name));
                        Some(Progress::ToolFinished(tool))
                    }
                    _ => None,
                }
            }
        }
    }

    fn warn(&mut self, warning: &str) {
        if self.warnings.len() < MAX_WARNINGS && !self.warnings.iter().any(|old| old == warning) {
            self.warnings.push(warning.to_owned());
        }
    }
}

/// The kinds of items that stand for a call of the model; what is added to them one day may
/// stand for none.
fn is_tool(kind: &str) -> bool {
    matches!(
        kind,
        "command_execution" | "file_change" | "mcp_tool_call" | "web_search" | "collab_tool_call"
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use akbench_adapter_sdk::lines::for_each_line;

    fn read(text: &str) -> Stream {
        let mut stream = Stream::default();
        for_each_line(text.as_bytes(), |line| {
            stream.push(line);
        })
        .unwrap();
        stream
    }

    #[test]
    fn a_completed_turn_has_its_last_message_and_its_usage() {
        let stream = read(concat!(
            r#"{"type":"thread.started","thread_id":"t"}"#,
            "\n",
            r#"{"type":"turn.started"}"#,
            "\n",
            r#"{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"one"}}"#,
            "\n",
            r#"{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"two"}}"#,
            "\n",
            r#"{"type":"turn.completed","usage":{"input_tokens":5,"output_tokens":1}}"#,
            "\n",
        ));
        assert_eq!(stream.thread_id.as_deref(), Some("t"));
        assert_eq!(stream.terminal, Some(Terminal::Completed));
        assert_eq!(stream.final_message.as_deref(), Some("two"));
        assert_eq!(stream.usage.unwrap().input, Some(5));
        assert_eq!(stream.turns, 1);
    }

    #[test]
    fn a_retry_notice_is_pending_until_something_else_happens() {
        let notice = r#"{"type":"error","message":"Reconnecting... 1/5 (Connection failed: x)"}"#;
        assert!(read(&format!("{notice}\n")).pending_retry.is_some());
        let item = r#"{"type":"item.started","item":{"id":"i","type":"command_execution"}}"#;
        let stream = read(&format!("{notice}\n{item}\n"));
        assert!(stream.pending_retry.is_none() && stream.retried);
    }

    #[test]
    fn warnings_are_kept_once_and_unknown_events_are_no_fault() {
        let warning = r#"{"type":"item.completed","item":{"type":"error","message":"w"}}"#;
        let stream = read(&format!(
            "{warning}\n{warning}\n{{\"type\":\"new.thing\"}}\n"
        ));
        assert_eq!(stream.warnings, ["w"]);
        assert!(!stream.faults.any());
    }

    #[test]
    fn what_cannot_be_read_is_counted() {
        let stream = read("no json\n{\"type\":\"turn.started\"}\n{\"type\":\"turn.comp");
        assert_eq!(
            stream.faults,
            Faults {
                torn: true,
                malformed: 1
            }
        );
        assert_eq!((stream.turns, stream.terminal), (1, None));
    }

    #[test]
    fn a_failed_turn_keeps_the_message_and_its_line() {
        let stream = read(concat!(
            r#"{"type":"error","message":"unexpected status 401"}"#,
            "\n",
            r#"{"type":"turn.failed","error":{"message":"m"}}"#,
            "\n",
        ));
        let message = Message {
            text: "m".to_owned(),
            line: 2,
        };
        assert_eq!(stream.terminal, Some(Terminal::Failed(message)));
        assert!(!stream.retried);
    }
}
