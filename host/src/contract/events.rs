//! What goes on during a run, for people and for `events.jsonl`.

use super::observed::{Phase, TokenUsage, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How much a log line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Only when looking for a fault.
    Debug,
    /// Of interest.
    Info,
    /// Something is off.
    Warn,
    /// Something failed.
    Error,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// The engine entered a phase.
    Phase {
        /// Which.
        phase: Phase,
    },
    /// The agent's program reported its version.
    AgentVersion {
        /// As reported.
        version: String,
    },
    /// A user turn began.
    TurnStarted,
    /// A user turn ended.
    TurnFinished {
        /// Its tokens, where known.
        usage: Option<TokenUsage>,
    },
    /// The agent said something.
    Message {
        /// What.
        text: String,
    },
    /// A tool call began.
    ToolStarted {
        /// Which.
        call: ToolCall,
    },
    /// A tool call ended.
    ToolFinished {
        /// Which.
        call: ToolCall,
    },
    /// Running totals.
    Usage {
        /// So far.
        usage: TokenUsage,
    },
    /// Somebody should know.
    Warning {
        /// What.
        text: String,
    },
    /// The engine stops the agent.
    Stopping {
        /// Why.
        reason: String,
    },
    /// Something without a kind of its own.
    Other {
        /// The adapter's name for it.
        name: String,
        /// Its data.
        data: Map<String, Value>,
    },
    /// A line of the adapter's log.
    Log {
        /// How much it matters.
        level: Level,
        /// The line.
        text: String,
    },
}

/// Who wants to know what goes on while it goes on.
pub trait Observer: Send + Sync {
    /// Called for every event; must not block.
    fn observe(&self, event: &RunEvent);
}

/// Nobody.
pub struct Silent;

impl Observer for Silent {
    fn observe(&self, _event: &RunEvent) {}
}
