//! The experiment's parameters for this agent.
//!
//! The engine has validated them against the descriptor's schema; what is checked here is
//! what a schema can't say, and that adapter and descriptor agree.

use serde_json::{Map, Value};

/// The settings of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    /// `None`: the runtime's model, else the program's own choice.
    pub model: Option<String>,
    /// What the agent's tools may touch.
    pub sandbox_mode: String,
    /// `None`: the program's own choice.
    pub reasoning_effort: Option<String>,
    /// `None`: the program's own choice.
    pub reasoning_summary: Option<String>,
    /// `None`: the program's own choice.
    pub verbosity: Option<String>,
    /// `disabled`, `cached` or `live`.
    pub web_search: String,
    /// Whether sandboxed tools reach the network; only with `workspace-write`.
    pub network_access: bool,
    /// Whether the agent may start agents of its own.
    pub sub_agents: bool,
    /// Whether the workspace's `AGENTS.md` enters the prompt.
    pub project_doc: bool,
    /// Retries of one request.
    pub request_max_retries: u64,
    /// Retries of a broken answer; they multiply with those of a request.
    pub stream_max_retries: u64,
    /// Silence within an answer after which it counts as broken, in milliseconds.
    pub stream_idle_timeout_ms: u64,
    /// In tokens; `None`: what the program knows about the model.
    pub context_window: Option<u64>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            model: None,
            sandbox_mode: "workspace-write".to_owned(),
            reasoning_effort: None,
            reasoning_summary: None,
            verbosity: None,
            web_search: "disabled".to_owned(),
            network_access: false,
            sub_agents: false,
            project_doc: true,
            request_max_retries: 2,
            stream_max_retries: 3,
            stream_idle_timeout_ms: 120_000,
            context_window: None,
        }
    }
}

impl Parameters {
    /// Reads the object that the engine hands over. Absent or null means the default.
    ///
    /// # Errors
    ///
    /// A sentence naming the parameter and what was expected.
    pub fn parse(json: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(json)
            .map_err(|error| format!("the parameters are not JSON: {error}"))?;
        let Value::Object(values) = value else {
            return Err("the parameters must be a JSON object".to_owned());
        };
        let mut parsed = Self::default();
        for (name, value) in values.iter().filter(|(_, value)| !value.is_null()) {
            parsed.set(name, value)?;
        }
        parsed.check(&values)?;
        Ok(parsed)
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(), String> {
        match name {
            "model" => self.model = Some(text(name, value)?),
            "sandbox_mode" => self.sandbox_mode = one_of(name, value, SANDBOX_MODES)?,
            "reasoning_effort" => self.reasoning_effort = Some(one_of(name, value, EFFORTS)?),
            "reasoning_summary" => self.reasoning_summary = Some(one_of(name, value, SUMMARIES)?),
            "verbosity" => self.verbosity = Some(one_of(name, value, VERBOSITIES)?),
            "web_search" => self.web_search = one_of(name, value, WEB_SEARCHES)?,
            "network_access" => self.network_access = flag(name, value)?,
            "sub_agents" => self.sub_agents = flag(name, value)?,
            "project_doc" => self.project_doc = flag(name, value)?,
            "request_max_retries" => self.request_max_retries = number(name, value, 0, 100)?,
            "stream_max_retries" => self.stream_max_retries = number(name, value, 0, 100)?,
            "stream_idle_timeout_ms" => {
                self.stream_idle_timeout_ms = number(name, value, 1_000, MAX_NUMBER)?;
            }
            "context_window" => self.context_window = Some(number(name, value, 1, MAX_NUMBER)?),
            _ => return Err(format!("parameter `{name}` is not known to this adapter")),
        }
        Ok(())
    }

    fn check(&self, given: &Map<String, Value>) -> Result<(), String> {
        if self.network_access && self.sandbox_mode != "workspace-write" {
            return Err(format!(
                "parameter `network_access` is true, but only sandbox_mode `workspace-write` has \
                 such a switch and sandbox_mode is `{}`; leave one of them out",
                self.sandbox_mode
            ));
        }
        if given.get("model").and_then(Value::as_str) == Some("") {
            return Err("parameter `model` is empty; leave it out to use the runtime's".to_owned());
        }
        Ok(())
    }
}

const SANDBOX_MODES: &[&str] = &["read-only", "workspace-write", "danger-full-access"];
const EFFORTS: &[&str] = &["minimal", "low", "medium", "high", "xhigh"];
const SUMMARIES: &[&str] = &["auto", "concise", "detailed", "none"];
const VERBOSITIES: &[&str] = &["low", "medium", "high"];
const WEB_SEARCHES: &[&str] = &["disabled", "cached", "live"];
/// The largest integer of a TOML file.
const MAX_NUMBER: u64 = i64::MAX as u64;

fn text(name: &str, value: &Value) -> Result<String, String> {
    let text = value.as_str();
    text.map(str::to_owned)
        .ok_or_else(|| format!("parameter `{name}` is {value}; expected a string"))
}

fn one_of(name: &str, value: &Value, allowed: &[&str]) -> Result<String, String> {
    let text = text(name, value)?;
    if allowed.contains(&text.as_str()) {
        return Ok(text);
    }
    let allowed = allowed.join("`, `");
    Err(format!(
        "parameter `{name}` is `{text}`; expected one of `{allowed}`"
    ))
}

fn flag(name: &str, value: &Value) -> Result<bool, String> {
    let flag = value.as_bool();
    flag.ok_or_else(|| format!("parameter `{name}` is {value}; expected true or false"))
}

fn number(name: &str, value: &Value, least: u64, most: u64) -> Result<u64, String> {
    value
        .as_u64()
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| {
            format!("parameter `{name}` is {value}; expected a whole number from {least} to {most}")
        })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn an_empty_object_means_the_defaults() {
        assert_eq!(Parameters::parse("{}").unwrap(), Parameters::default());
        assert_eq!(
            Parameters::parse(r#"{"model":null}"#).unwrap(),
            Parameters::default()
        );
    }

    #[test]
    fn every_parameter_is_taken() {
        let parsed = Parameters::parse(
            r#"{"model":"m","sandbox_mode":"workspace-write","reasoning_effort":"xhigh",
                "reasoning_summary":"none","verbosity":"low","web_search":"live",
                "network_access":true,"sub_agents":true,"project_doc":false,
                "request_max_retries":0,"stream_max_retries":100,
                "stream_idle_timeout_ms":1000,"context_window":5000}"#,
        );
        let expected = Parameters {
            model: Some("m".to_owned()),
            sandbox_mode: "workspace-write".to_owned(),
            reasoning_effort: Some("xhigh".to_owned()),
            reasoning_summary: Some("none".to_owned()),
            verbosity: Some("low".to_owned()),
            web_search: "live".to_owned(),
            network_access: true,
            sub_agents: true,
            project_doc: false,
            request_max_retries: 0,
            stream_max_retries: 100,
            stream_idle_timeout_ms: 1000,
            context_window: Some(5000),
        };
        assert_eq!(parsed.unwrap(), expected);
    }

    #[test]
    fn a_refusal_names_the_parameter_and_what_was_expected() {
        for (json, part) in [
            (
                r#"{"sandbox_mode":"none"}"#,
                "`read-only`, `workspace-write`",
            ),
            (r#"{"network_access":"yes"}"#, "expected true or false"),
            (r#"{"stream_max_retries":101}"#, "from 0 to 100"),
            (r#"{"stream_idle_timeout_ms":999}"#, "from 1000 to"),
            (r#"{"speed":1}"#, "`speed` is not known"),
            (r#"{"model":""}"#, "`model` is empty"),
            (
                r#"{"sandbox_mode":"read-only","network_access":true}"#,
                "only sandbox_mode",
            ),
            ("[]", "must be a JSON object"),
        ] {
            let error = Parameters::parse(json).unwrap_err();
            assert!(error.contains(part), "{json}: {error}");
        }
    }
}
