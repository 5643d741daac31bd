//! What can be observed of an agent's work, and controlled.

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

macro_rules! capabilities {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// Something that an agent, through its adapter, may provide.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Capability {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl Capability {
            /// All capabilities, in the order of the descriptor's documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in descriptors.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

capabilities! {
    /// Tokens in, out and in total.
    TokenUsage = "token_usage",
    /// Input tokens that came from a cache.
    CachedTokens = "cached_tokens",
    /// Output tokens spent on reasoning.
    ReasoningTokens = "reasoning_tokens",
    /// What the work cost.
    CostUsage = "cost_usage",
    /// Each use of a tool.
    ToolCalls = "tool_calls",
    /// How many turns the work took.
    Turns = "turns",
    /// The agent's last message.
    FinalMessage = "final_message",
    /// The model that was really used.
    AppliedModel = "applied_model",
    /// The sandbox that was really in force.
    AppliedSandbox = "applied_sandbox",
    /// Stopping the agent so that its observations stay intact.
    Cancellation = "cancellation",
    /// A further task in the same conversation.
    MultiTurn = "multi_turn",
    /// Logs of the agent itself.
    NativeLogs = "native_logs",
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether a capability is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// It is, and was tested.
    Supported,
    /// It is not: the operation fails, the observation stays unknown.
    Unsupported,
    /// It may be; nobody has shown it.
    Unverified,
}

/// What a descriptor says about one capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Whether it is there.
    pub support: Support,
    /// Why, for people. Always given unless supported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A claim for every capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Capabilities(BTreeMap<Capability, Claim>);

impl Capabilities {
    /// The claim for one capability. `None` does not occur for a descriptor that was loaded:
    /// it has to name them all.
    pub fn get(&self, capability: Capability) -> Option<&Claim> {
        self.0.get(&capability)
    }

    /// Whether a capability is there; what is not named counts as unsupported.
    pub fn support(&self, capability: Capability) -> Support {
        self.get(capability)
            .map_or(Support::Unsupported, |claim| claim.support)
    }

    /// All claims.
    pub fn iter(&self) -> impl Iterator<Item = (Capability, &Claim)> {
        self.0
            .iter()
            .map(|(capability, claim)| (*capability, claim))
    }
}

impl<'de> Deserialize<'de> for Capabilities {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let claims = BTreeMap::<Capability, Claim>::deserialize(deserializer)?;
        for capability in Capability::ALL {
            let Some(claim) = claims.get(capability) else {
                return Err(de::Error::custom(format_args!(
                    "the capability `{capability}` is missing"
                )));
            };
            if claim.support != Support::Supported && claim.reason.is_none() {
                return Err(de::Error::custom(format_args!(
                    "the capability `{capability}` is not supported, and no reason is given"
                )));
            }
        }
        Ok(Self(claims))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_capability_is_written_by_its_name() {
        for capability in Capability::ALL {
            let text = serde_json::to_value(capability).expect("serializable");
            assert_eq!(text, json!(capability.as_str()));
        }
    }

    #[test]
    fn all_must_be_claimed_and_what_is_not_supported_needs_a_reason() {
        let all: Value = Capability::ALL
            .iter()
            .map(|capability| (capability.to_string(), json!({"support": "supported"})))
            .collect::<serde_json::Map<_, _>>()
            .into();
        let read = |value: &Value| serde_json::from_value::<Capabilities>(value.clone());
        assert!(read(&all).is_ok());
        let mut missing = all.clone();
        missing.as_object_mut().expect("an object").remove("turns");
        assert!(read(&missing).is_err());
        let mut silent = all.clone();
        silent["turns"]["support"] = json!("unverified");
        assert!(read(&silent).is_err());
        silent["turns"]["reason"] = json!("never tried");
        let capabilities = read(&silent).expect("valid");
        assert_eq!(capabilities.support(Capability::Turns), Support::Unverified);
    }
}
