//! The ids by which agents, runtimes, tasks and adapters are named.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether a text can be an id: a lower-case letter, then lower-case letters, digits, `-`, `_`.
pub(super) fn is_identifier(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_')
        })
}

/// A text that is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an id: expected a lower-case letter, then lower-case letters, digits, `-` or `_`"
)]
pub struct InvalidIdentifier(pub String);

macro_rules! identifiers {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(into = "String", try_from = "String")]
        pub struct $name(String);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidIdentifier;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                if is_identifier(&text) { Ok(Self(text)) } else { Err(InvalidIdentifier(text)) }
            }
        }

        impl std::str::FromStr for $name {
            type Err = InvalidIdentifier;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::try_from(text.to_owned())
            }
        }
    )*};
}

identifiers! {
    /// Names an agent.
    AgentId;
    /// Names a runtime: an endpoint that serves a model.
    RuntimeId;
    /// Names an adapter in the catalog.
    AdapterId;
    /// Names a task.
    TaskId;
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn ids_are_lower_case_words() {
        for good in ["a", "acme", "acme-2", "acme_cli"] {
            assert_eq!(good.parse::<AgentId>().expect("an id").as_str(), good);
        }
        for bad in [
            "", "2acme", "-acme", "Acme", "ac me", "acme@1", "äcme", "acme/x", "acme\n",
        ] {
            assert!(bad.parse::<AgentId>().is_err(), "{bad:?}");
        }
    }
}
