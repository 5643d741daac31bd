//! One line of what the agent prints.

use serde::Deserialize;

/// What a line says. A line that is none of these says nothing: agents grow new events, and
/// programs that they start print what they like.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Line {
    /// The first line: who works, and with what.
    Session {
        /// The agent's own name for the conversation.
        id: String,
        /// The model in use.
        model: Option<String>,
    },
    /// A tool was used, and this is how it ended.
    Tool {
        /// Unique in the session.
        id: String,
        /// The tool.
        name: String,
        /// Of a command; absent for other tools.
        exit_code: Option<i32>,
    },
    /// The agent says something; its last message is its answer.
    Message {
        /// What it says.
        text: String,
    },
    /// Tokens of the whole task.
    Usage {
        /// Read by the model; absent if the endpoint did not say.
        input: Option<u64>,
        /// Written by the model.
        output: Option<u64>,
    },
    /// The last line: the work is done.
    Done,
    /// The last line: it could not be done.
    Failed {
        /// Why, in the agent's own words.
        message: String,
    },
}

impl Line {
    /// Reads a line; `None` if it says nothing that this adapter knows.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// Does it end the work?
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Done | Self::Failed { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_lines_say_nothing() {
        for line in [
            "",
            "text",
            "{}",
            r#"{"event":"news"}"#,
            r#"{"event":"done""#,
        ] {
            assert_eq!(Line::parse(line.as_bytes()), None, "{line}");
        }
        assert_eq!(Line::parse(b"\xff\xfe"), None);
        assert_eq!(
            Line::parse(br#"{"event":"done","new":1}"#),
            Some(Line::Done)
        );
    }
}
