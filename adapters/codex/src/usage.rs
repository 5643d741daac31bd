//! Tokens, as the program records them.

use akbench_adapter_sdk::types::TokenUsage;
use serde_json::Value;

/// Tokens of a request, a turn or a conversation. A part that the source lacks is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// All of the input, cached or not.
    pub input: Option<u64>,
    /// The part of the input that came from a cache.
    pub cached: Option<u64>,
    /// The part of the input that was written to a cache.
    pub cache_write: Option<u64>,
    /// All of the output, reasoning included.
    pub output: Option<u64>,
    /// The part of the output that was reasoning.
    pub reasoning: Option<u64>,
    /// As recorded.
    pub total: Option<u64>,
}

impl Tokens {
    /// Reads an object like `{"input_tokens": 1, …}`; `None` for anything else.
    pub fn read(value: &Value) -> Option<Self> {
        let object = value.as_object()?;
        let part = |name: &str| object.get(name).and_then(Value::as_u64);
        Some(Self {
            input: part("input_tokens"),
            cached: part("cached_input_tokens"),
            cache_write: part("cache_write_input_tokens"),
            output: part("output_tokens"),
            reasoning: part("reasoning_output_tokens"),
            total: part("total_tokens"),
        })
    }

    /// True if no part says anything: the server sent no usage, or the record is one of
    /// those that hold only a total, which then is the context window and not a sum.
    pub fn says_nothing(&self) -> bool {
        [
            self.input,
            self.cached,
            self.cache_write,
            self.output,
            self.reasoning,
        ]
        .iter()
        .all(|part| part.is_none_or(|tokens| tokens == 0))
    }

    /// Both together. A part that either lacks is not known.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.zip(other, |a, b| Some(a.saturating_add(b)))
    }

    /// What came on top of `earlier`. A part that either lacks is not known.
    #[must_use]
    pub fn minus(self, earlier: Self) -> Self {
        self.zip(earlier, u64::checked_sub)
    }

    /// True if a part is smaller than in `earlier`: this count did not go on from there.
    pub fn is_below(self, earlier: Self) -> bool {
        let smaller =
            |a: Option<u64>, b: Option<u64>| matches!((a, b), (Some(a), Some(b)) if a < b);
        smaller(self.input, earlier.input) || smaller(self.output, earlier.output)
    }

    /// Adds up several; `None` if there are none.
    pub fn sum(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter().reduce(Self::plus)
    }

    /// In the contract's words. True beside it if the total had to be worked out.
    pub fn observed(self) -> (TokenUsage, bool) {
        let derived = match (self.input, self.output) {
            (Some(input), Some(output)) if self.total.is_none() => input.checked_add(output),
            _ => None,
        };
        let usage = TokenUsage {
            input: self.input,
            cached_input: self.cached,
            cache_write_input: self.cache_write,
            output: self.output,
            reasoning_output: self.reasoning,
            total: self.total.or(derived),
        };
        (usage, derived.is_some())
    }

    fn zip(self, other: Self, join: impl Fn(u64, u64) -> Option<u64>) -> Self {
        let part = |a: Option<u64>, b: Option<u64>| join(a?, b?);
        Self {
            input: part(self.input, other.input),
            cached: part(self.cached, other.cached),
            cache_write: part(self.cache_write, other.cache_write),
            output: part(self.output, other.output),
            reasoning: part(self.reasoning, other.reasoning),
            total: part(self.total, other.total),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use serde_json::json;

    #[test]
    fn a_part_of_the_wrong_type_is_not_known() {
        let tokens = Tokens::read(&json!({"input_tokens": "9", "output_tokens": 3})).unwrap();
        assert_eq!((tokens.input, tokens.output), (None, Some(3)));
        assert_eq!(Tokens::read(&json!(null)), None);
    }

    #[test]
    fn a_lone_total_says_nothing() {
        let tokens = json!({"input_tokens": 0, "output_tokens": 0, "total_tokens": 258_400});
        assert!(Tokens::read(&tokens).unwrap().says_nothing());
    }

    #[test]
    fn a_part_that_one_request_lacks_is_not_summed() {
        let with = Tokens {
            input: Some(2),
            output: Some(1),
            reasoning: Some(1),
            ..Tokens::default()
        };
        let without = Tokens {
            input: Some(3),
            output: Some(1),
            ..Tokens::default()
        };
        let sum = Tokens::sum([with, without]).unwrap();
        assert_eq!(
            (sum.input, sum.output, sum.reasoning),
            (Some(5), Some(2), None)
        );
    }

    #[test]
    fn a_missing_total_is_worked_out_and_said_to_be() {
        let tokens = Tokens {
            input: Some(2),
            output: Some(1),
            ..Tokens::default()
        };
        let (usage, derived) = tokens.observed();
        assert_eq!((usage.total, derived), (Some(3), true));
        let (usage, derived) = Tokens {
            total: Some(4),
            ..tokens
        }
        .observed();
        assert_eq!((usage.total, derived), (Some(4), false));
    }
}
