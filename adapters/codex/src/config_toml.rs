//! The program's configuration file, `config.toml` in its private home.
//!
//! A benchmark run asks nobody, phones nobody but the endpoint, keeps no history and never
//! retries for ever. Keys that a version refuses are left out for it; keys that a version
//! merely does not know are harmless.

use crate::parameters::Parameters;
use crate::version::{AGENTS_TABLE, NO_TRUST_OF_ITS_OWN, Version, WEB_SEARCH_MODES};
use std::fmt::Write;

/// The variable that carries the endpoint's key into the program.
pub const KEY_VARIABLE: &str = "AKBENCH_CODEX_API_KEY";
/// The name of the endpoint within the configuration.
const PROVIDER: &str = "akbench";

/// The endpoint, as the configuration names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// For people.
    pub name: String,
    /// Up to and including the path before `/responses`.
    pub base_url: String,
    /// Sent with every request.
    pub headers: Vec<(String, String)>,
    /// Whether [`KEY_VARIABLE`] holds a key.
    pub has_key: bool,
    /// Used where the parameters name no model.
    pub model: Option<String>,
}

/// The whole file. `workspace` is the absolute path at which the program works.
pub fn config_toml(
    parameters: &Parameters,
    endpoint: &Endpoint,
    workspace: &str,
    version: Option<Version>,
) -> String {
    let mut file = Toml::default();
    top_level(&mut file, parameters, endpoint, version);
    provider(&mut file, parameters, endpoint);
    tools(&mut file, parameters, version);
    features(&mut file, parameters, version);
    silence(&mut file);
    // A configuration file in a trusted workspace overrides model and sandbox. Nothing is
    // trusted without an entry, but some versions write one by themselves unless there is
    // one. An explicit `untrusted` keeps AGENTS.md out, too, so it stands only where it must.
    if !parameters.project_doc || version.is_none_or(|version| version < NO_TRUST_OF_ITS_OWN) {
        file.table(&["projects", workspace]);
        file.text("trust_level", "untrusted");
    }
    file.0
}

fn top_level(
    file: &mut Toml,
    parameters: &Parameters,
    endpoint: &Endpoint,
    version: Option<Version>,
) {
    file.optional(
        "model",
        parameters.model.as_ref().or(endpoint.model.as_ref()),
    );
    file.text("model_provider", PROVIDER);
    file.optional(
        "model_reasoning_effort",
        parameters.reasoning_effort.as_ref(),
    );
    file.optional(
        "model_reasoning_summary",
        parameters.reasoning_summary.as_ref(),
    );
    file.optional("model_verbosity", parameters.verbosity.as_ref());
    if let Some(tokens) = parameters.context_window {
        file.number("model_context_window", tokens);
    }
    file.text("approval_policy", "never");
    file.text("sandbox_mode", &parameters.sandbox_mode);
    // A login shell resets PATH from the system's profile.
    file.flag("allow_login_shell", false);
    file.flag("check_for_update_on_startup", false);
    if version.is_none_or(|version| version >= WEB_SEARCH_MODES) {
        file.text("web_search", &parameters.web_search);
    }
    if !parameters.project_doc {
        file.number("project_doc_max_bytes", 0);
    }
}

fn provider(file: &mut Toml, parameters: &Parameters, endpoint: &Endpoint) {
    file.table(&["model_providers", PROVIDER]);
    file.text("name", &endpoint.name);
    file.text("base_url", &endpoint.base_url);
    if endpoint.has_key {
        file.text("env_key", KEY_VARIABLE);
    }
    file.text("wire_api", "responses");
    file.flag("requires_openai_auth", false);
    file.number("request_max_retries", parameters.request_max_retries);
    file.number("stream_max_retries", parameters.stream_max_retries);
    file.number("stream_idle_timeout_ms", parameters.stream_idle_timeout_ms);
    if !endpoint.headers.is_empty() {
        file.table(&["model_providers", PROVIDER, "http_headers"]);
        for (name, value) in &endpoint.headers {
            file.text(name, value);
        }
    }
}

fn tools(file: &mut Toml, parameters: &Parameters, version: Option<Version>) {
    file.table(&["shell_environment_policy"]);
    // Without this the agent's tools see the endpoint's key.
    file.text("inherit", "core");
    if parameters.sandbox_mode == "workspace-write" {
        file.table(&["sandbox_workspace_write"]);
        file.flag("network_access", parameters.network_access);
    }
    if version.is_some_and(|version| version < WEB_SEARCH_MODES) {
        file.table(&["tools"]);
        file.flag("web_search", parameters.web_search != "disabled");
    }
    if version.is_none_or(|version| version >= AGENTS_TABLE) {
        file.table(&["agents"]);
        file.flag("enabled", parameters.sub_agents);
    }
}

fn features(file: &mut Toml, parameters: &Parameters, version: Option<Version>) {
    file.table(&["features"]);
    // Downloads, and five seconds of waiting at the end of a run in some versions.
    file.flag("plugins", false);
    file.flag("apps", false);
    file.flag("goals", false);
    file.flag("image_generation", false);
    // The snapshot brings the key back into the tools' environment in some versions.
    file.flag("shell_snapshot", false);
    file.flag("unbounded_connection_retries", false);
    if version.is_some_and(|version| version < AGENTS_TABLE) {
        file.flag("multi_agent", parameters.sub_agents);
    }
    file.table(&["skills"]);
    file.flag("include_instructions", false);
}

fn silence(file: &mut Toml) {
    file.table(&["history"]);
    file.text("persistence", "none");
    file.table(&["analytics"]);
    file.flag("enabled", false);
    file.table(&["feedback"]);
    file.flag("enabled", false);
    file.table(&["otel"]);
    for exporter in ["exporter", "metrics_exporter", "trace_exporter"] {
        file.text(exporter, "none");
    }
}

/// A TOML file under construction. Keys and texts are always quoted as basic strings where
/// they are not fixed words.
#[derive(Default)]
struct Toml(String);

impl Toml {
    fn table(&mut self, path: &[&str]) {
        let path: Vec<_> = path.iter().map(|part| key(part)).collect();
        self.line(format_args!("\n[{}]", path.join(".")));
    }

    fn text(&mut self, name: &str, value: &str) {
        self.line(format_args!("{} = {}", key(name), basic_string(value)));
    }

    fn optional(&mut self, name: &str, value: Option<&String>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    fn flag(&mut self, name: &str, value: bool) {
        self.line(format_args!("{} = {value}", key(name)));
    }

    fn number(&mut self, name: &str, value: u64) {
        self.line(format_args!("{} = {value}", key(name)));
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string can't fail.
        let _ = writeln!(self.0, "{line}");
    }
}

fn key(name: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !name.is_empty() && name.bytes().all(bare) {
        name.to_owned()
    } else {
        basic_string(name)
    }
}

/// A TOML basic string: every control character escaped, so that no value can end it.
fn basic_string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn endpoint() -> Endpoint {
        Endpoint {
            name: "router".to_owned(),
            base_url: "http://127.0.0.1:9/v1".to_owned(),
            headers: Vec::new(),
            has_key: true,
            model: Some("runtime-model".to_owned()),
        }
    }

    fn written(parameters: &Parameters, version: &str) -> String {
        config_toml(parameters, &endpoint(), "/ws", Version::parse(version))
    }

    #[test]
    fn text_cannot_break_out_of_its_string() {
        assert_eq!(
            basic_string("a\"b\\c\n\u{7f}\u{1}é"),
            "\"a\\\"b\\\\c\\n\\u007F\\u0001é\""
        );
        assert_eq!(key("x-y_1"), "x-y_1");
        assert_eq!(key("a.b \"c"), "\"a.b \\\"c\"");
    }

    #[test]
    fn a_run_is_quiet_bounded_and_keeps_the_key_from_tools() {
        let file = written(&Parameters::default(), "0.171.0");
        for line in [
            "model = \"runtime-model\"",
            "approval_policy = \"never\"",
            "sandbox_mode = \"workspace-write\"",
            "web_search = \"disabled\"",
            "check_for_update_on_startup = false",
            "env_key = \"AKBENCH_CODEX_API_KEY\"",
            "wire_api = \"responses\"",
            "inherit = \"core\"",
            "shell_snapshot = false",
            "unbounded_connection_retries = false",
            "request_max_retries = 2",
            "stream_max_retries = 3",
            "stream_idle_timeout_ms = 120000",
        ] {
            assert!(file.lines().any(|found| found == line), "{line} in\n{file}");
        }
        assert!(!file.contains("project_doc_max_bytes"));
    }

    #[test]
    fn a_workspace_is_distrusted_in_writing_only_where_that_costs_nothing_or_is_needed() {
        let entry = "[projects.\"/ws\"]\ntrust_level = \"untrusted\"\n";
        let read = Parameters::default();
        let ignored = Parameters {
            project_doc: false,
            ..Parameters::default()
        };
        for (parameters, version, expected) in [
            (&read, "0.155.1", true),
            (&read, "not a version", true),
            (&read, "0.156.1", false),
            (&read, "0.171.0", false),
            (&ignored, "0.171.0", true),
        ] {
            let file = written(parameters, version);
            assert_eq!(file.contains(entry), expected, "{version}:\n{file}");
            assert_eq!(file.contains("trust_level"), expected, "{version}");
        }
    }

    #[test]
    fn keys_that_a_version_refuses_are_left_out() {
        let old = written(&Parameters::default(), "0.118.0");
        assert!(!old.contains("[agents]"));
        assert!(old.contains("multi_agent = false"));
        let new = written(&Parameters::default(), "0.147.0");
        assert!(new.contains("[agents]\nenabled = false"));
        assert!(!new.contains("multi_agent"));
        let oldest = written(&Parameters::default(), "0.47.0");
        assert!(oldest.contains("[tools]\nweb_search = false"));
    }

    #[test]
    fn parameters_reach_the_file() {
        let parameters = Parameters {
            model: Some("mine".to_owned()),
            sandbox_mode: "read-only".to_owned(),
            project_doc: false,
            context_window: Some(7),
            sub_agents: true,
            ..Parameters::default()
        };
        let file = written(&parameters, "0.171.0");
        assert!(file.contains("model = \"mine\""));
        assert!(file.contains("model_context_window = 7"));
        assert!(file.contains("project_doc_max_bytes = 0"));
        assert!(file.contains("[agents]\nenabled = true"));
        assert!(!file.contains("sandbox_workspace_write"));
    }

    #[test]
    fn an_endpoint_without_a_key_names_no_variable_and_headers_are_quoted() {
        let endpoint = Endpoint {
            has_key: false,
            headers: vec![("X-A".to_owned(), "v\"1".to_owned())],
            ..endpoint()
        };
        let file = config_toml(&Parameters::default(), &endpoint, "/ws", None);
        assert!(!file.contains("env_key"));
        assert!(file.contains("[model_providers.akbench.http_headers]\nX-A = \"v\\\"1\""));
    }
}
