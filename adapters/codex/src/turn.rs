//! One turn of a conversation, as its session file tells it.

use crate::json_line::text;
use crate::responses::Responses;
use crate::tool_calls::ToolCalls;
use crate::usage::Tokens;
use serde_json::Value;
use std::collections::BTreeMap;

/// How a turn ended, with the line that says so.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEnd {
    /// It ran to its end, well or badly.
    Complete {
        /// What the agent said last; `None` if it said nothing or failed.
        last_message: Option<String>,
        /// `{"message": …, "codex_error_info": …}`; `None` if it did not fail, and in
        /// versions that don't write it.
        error: Option<Value>,
        /// Counted from 1.
        line: u64,
    },
    /// It was interrupted.
    Aborted {
        /// Counted from 1.
        line: u64,
        /// Whether a request to the model was under way, so that its tokens are lost.
        request_lost: bool,
    },
}

/// The settings of a turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// The model asked for.
    pub model: Option<String>,
    /// For example `workspace-write`.
    pub sandbox: Option<String>,
    /// For example `never`.
    pub approval_policy: Option<String>,
    /// `None` if none was set.
    pub effort: Option<String>,
    /// `None` where the sandbox has no such switch.
    pub network_access: Option<bool>,
}

/// A turn, or what of it has been read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Turn {
    /// `None` in old versions.
    pub id: Option<String>,
    /// The user's turn that this one serves, for turns of sub-agents.
    pub root: Option<String>,
    /// `None` if the file ends before it.
    pub end: Option<TurnEnd>,
    /// The last settings; `None` if none were recorded.
    pub settings: Option<Settings>,
    /// Whether the model changed within the turn.
    pub several_models: bool,
    /// What the model asked for.
    pub calls: ToolCalls,
    /// Started by a `task_started` line, not by a mere message of the user.
    pub marked: bool,
    /// What the model answered, as far as it can be told apart.
    pub responses: Responses,
    pub(crate) records: BTreeMap<String, Tokens>,
    pub(crate) total_before: Option<Tokens>,
    pub(crate) total: Option<Tokens>,
    pub(crate) restarted: bool,
}

impl Turn {
    /// A turn before which the conversation had used `total_before`.
    pub fn new(total_before: Option<Tokens>) -> Self {
        Self {
            total_before,
            ..Self::default()
        }
    }

    /// Takes a `token_usage_record`: the usage of one response.
    pub fn usage_record(&mut self, payload: &Value, line: u64) {
        let Some(tokens) = payload.get("usage").and_then(Tokens::read) else {
            return;
        };
        let id = text(payload, "response_id").map_or_else(|| format!("#{line}"), str::to_owned);
        self.records.insert(id, tokens);
        self.responses.record();
    }

    /// Takes a `token_count`: the running total of the conversation, often repeated.
    pub fn token_count(&mut self, payload: &Value) {
        let Some(info) = payload.get("info") else {
            return;
        };
        let Some(total) = info.get("total_token_usage").and_then(Tokens::read) else {
            return;
        };
        if total.says_nothing() {
            return;
        }
        if self.total() != Some(total) {
            self.responses.growth();
        }
        if let Some(before) = self.total_before {
            // Old versions count anew in every process: then the first total of a
            // continued conversation is that of its first response.
            let last = info.get("last_token_usage").and_then(Tokens::read);
            let first = self.total.is_none() && total != before;
            self.restarted |= total.is_below(before) || (first && last == Some(total));
        }
        self.total = Some(total);
    }

    /// Takes a `turn_context`: the settings that apply from here on.
    pub fn context(&mut self, payload: &Value) {
        let settings = Settings::read(payload);
        let changed = |old: &Settings| old.model != settings.model;
        self.several_models |= self.settings.as_ref().is_some_and(changed);
        self.settings = Some(settings);
    }

    /// True if the usage of each response was recorded by itself.
    pub fn has_records(&self) -> bool {
        !self.records.is_empty()
    }

    /// The number of responses whose usage was recorded, by itself or in the running total.
    pub fn recorded_responses(&self) -> u32 {
        if self.has_records() {
            u32::try_from(self.records.len()).unwrap_or(u32::MAX)
        } else {
            self.responses.growths()
        }
    }

    /// True if its end should be there and is not. Old versions mark neither beginning nor end.
    pub fn is_cut_off(&self) -> bool {
        self.marked && self.end.is_none()
    }

    /// True if the model answered and the usage of an answer was not recorded.
    pub fn lacks_usage(&self) -> bool {
        if self.has_records() {
            self.responses.lack_records()
        } else {
            self.responses.lack_growth()
        }
    }

    /// The sum over the responses recorded one by one.
    pub fn recorded_usage(&self) -> Option<Tokens> {
        Tokens::sum(self.records.values().copied())
    }

    /// The running total where this turn stops.
    pub fn total(&self) -> Option<Tokens> {
        self.total.or(self.total_before)
    }

    /// What the running total grew by; `None` if no total was seen.
    pub fn counted_usage(&self) -> Option<Tokens> {
        let total = self.total?;
        match self.total_before {
            Some(before) if !self.restarted => Some(total.minus(before)),
            _ => Some(total),
        }
    }

    /// The error with which it ended: message, typed code, and the line.
    pub fn error(&self) -> Option<(&Value, u64)> {
        match &self.end {
            Some(TurnEnd::Complete {
                error: Some(error),
                line,
                ..
            }) => Some((error, *line)),
            _ => None,
        }
    }
}

impl Settings {
    fn read(payload: &Value) -> Self {
        let owned = |text: &str| text.to_owned();
        let policy = payload.get("sandbox_policy");
        let sandbox = policy.and_then(|policy| {
            text(policy, "type")
                .or_else(|| text(policy, "mode"))
                .or_else(|| policy.as_str())
        });
        Self {
            model: text(payload, "model").map(owned),
            sandbox: sandbox.map(owned),
            approval_policy: text(payload, "approval_policy").map(owned),
            effort: text(payload, "effort").map(owned),
            network_access: policy
                .and_then(|policy| policy.get("network_access"))
                .and_then(Value::as_bool),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use serde_json::json;

    fn tokens(input: u64, output: u64) -> Value {
        json!({"input_tokens": input, "output_tokens": output, "total_tokens": input + output})
    }

    fn count(turn: &mut Turn, total: (u64, u64), last: (u64, u64)) {
        let info = json!({"total_token_usage": tokens(total.0, total.1),
                          "last_token_usage": tokens(last.0, last.1)});
        turn.token_count(&json!({"info": info}));
    }

    #[test]
    fn a_response_recorded_twice_counts_once() {
        let mut turn = Turn::default();
        for _ in 0..2 {
            turn.usage_record(&json!({"response_id": "r1", "usage": tokens(5, 1)}), 1);
        }
        turn.usage_record(&json!({"response_id": "r2", "usage": tokens(7, 2)}), 2);
        assert_eq!(turn.recorded_responses(), 2);
        assert_eq!(turn.recorded_usage().unwrap().input, Some(12));
    }

    #[test]
    fn a_running_total_counts_from_where_the_turn_began() {
        let mut turn = Turn::new(Tokens::read(&tokens(2100, 150)));
        turn.token_count(&json!({"info": null}));
        count(&mut turn, (2100, 150), (1100, 50));
        count(&mut turn, (3600, 190), (1500, 40));
        count(&mut turn, (3600, 190), (1500, 40));
        let used = turn.counted_usage().unwrap();
        assert_eq!(
            (used.input, used.output, used.total),
            (Some(1500), Some(40), Some(1540))
        );
    }

    #[test]
    fn a_total_that_starts_anew_is_not_reduced() {
        let mut smaller = Turn::new(Tokens::read(&tokens(2100, 150)));
        count(&mut smaller, (1500, 40), (1500, 40));
        assert_eq!(smaller.counted_usage().unwrap().input, Some(1500));
        let mut larger = Turn::new(Tokens::read(&tokens(2100, 150)));
        count(&mut larger, (5000, 400), (5000, 400));
        assert_eq!(larger.counted_usage().unwrap().input, Some(5000));
    }

    #[test]
    fn a_total_of_nothing_but_the_window_is_skipped() {
        let mut turn = Turn::default();
        count(&mut turn, (10, 1), (10, 1));
        let window = json!({"input_tokens": 0, "output_tokens": 0, "total_tokens": 258_400});
        turn.token_count(&json!({"info": {"total_token_usage": window}}));
        assert_eq!(turn.counted_usage().unwrap().input, Some(10));
    }

    #[test]
    fn both_forms_of_the_sandbox_are_read() {
        let mut turn = Turn::default();
        turn.context(&json!({"model": "m", "approval_policy": "never",
            "sandbox_policy": {"mode": "workspace-write", "network_access": false}}));
        let settings = turn.settings.clone().unwrap();
        assert_eq!(settings.sandbox.as_deref(), Some("workspace-write"));
        assert_eq!(
            (settings.network_access, settings.effort),
            (Some(false), None)
        );
        turn.context(&json!({"model": "n", "effort": "high",
            "sandbox_policy": {"type": "read-only"}}));
        let settings = turn.settings.clone().unwrap();
        assert_eq!(settings.sandbox.as_deref(), Some("read-only"));
        assert_eq!(settings.effort.as_deref(), Some("high"));
        assert!(turn.several_models);
    }
}
