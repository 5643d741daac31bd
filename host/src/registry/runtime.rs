//! Runtimes: the endpoints that serve models to agents.

use super::base_url::{check_base_url, without_secrets};
use super::error::{Problem, RegistryError};
use super::expectation::show;
use super::identifier::RuntimeId;
use super::json_file::{self, FileKind};
use super::resolve::Versioned;
use super::schema_check::child;
use super::secret::{CredentialProblem, MissingCredential, Secret};
use crate::digest::Sha256;
use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Describes an endpoint. Never holds a secret.
#[derive(Debug, Clone, PartialEq)]
pub struct RuntimeDescriptor {
    /// Names the runtime.
    pub id: RuntimeId,
    /// The descriptor's version.
    pub version: Version,
    /// For people.
    pub name: String,
    /// Where the endpoint is.
    pub base_url: ValueSource,
    /// The protocol spoken there, for example `responses`.
    pub wire_api: String,
    /// Where its secret comes from; `None` if it needs none.
    pub credential: Option<CredentialSource>,
    /// The model to use where a run names none; `None`: the run has to.
    pub default_model: Option<String>,
    /// The variable that, if set and not empty, replaces `default_model`; `None`: nothing does.
    pub model_environment: Option<String>,
    /// Sent with every request, in this order: name, value.
    pub headers: Vec<(String, String)>,
    /// The file as it was read.
    pub document: Value,
    /// Of the file's bytes.
    pub digest: Sha256,
    /// The file that describes it.
    pub origin: PathBuf,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum ValueSource {
    /// A fixed text.
    Text {
        /// The value.
        text: String,
    },
    /// A variable of the host.
    Environment {
        /// The variable's name.
        environment: String,
        /// Taken if the variable is unset or empty. `None`: it has to be set.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default: Option<String>,
    },
}

/// Where a secret comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CredentialSource {
    /// The host's variable that holds it.
    pub environment: String,
}

/// A runtime with everything looked up but its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedRuntime {
    /// The runtime's id.
    pub name: String,
    /// An http or https URL, without slashes at its end.
    pub base_url: String,
    /// The protocol spoken there.
    pub wire_api: String,
    /// The host's variable that holds the secret; `None` if none is needed.
    pub credential_variable: Option<String>,
    /// The model to use where a run names none; `None`: the run has to.
    pub model: Option<String>,
    /// Sent with every request: name, value.
    pub headers: Vec<(String, String)>,
}

/// A runtime that can't be resolved here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuntimeError {
    /// The variable for the endpoint's address is unset or empty.
    #[error(
        "runtime `{runtime}`: the environment variable `{variable}` is not set: expected the endpoint's URL in it"
    )]
    Unset {
        /// The runtime's id.
        runtime: RuntimeId,
        /// The variable.
        variable: String,
    },
    /// The address is not one.
    #[error("runtime `{runtime}`: {from} is `{value}`: {reason}")]
    BadUrl {
        /// The runtime's id.
        runtime: RuntimeId,
        /// The variable or key that the value came from, in words.
        from: String,
        /// The value, without a password if there is one in it.
        value: String,
        /// What was expected.
        reason: &'static str,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuntimeFile {
    #[serde(rename = "schema")]
    _schema: String,
    id: RuntimeId,
    version: Version,
    name: String,
    base_url: ValueSource,
    wire_api: String,
    credential: Option<CredentialSource>,
    default_model: Option<String>,
    model_environment: Option<String>,
    #[serde(default)]
    headers: Map<String, Value>,
}

impl RuntimeDescriptor {
    /// Reads a descriptor.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the file.
    pub fn load(path: &Path) -> Result<Self, Vec<RegistryError>> {
        let checked = json_file::read::<RuntimeFile>(path, FileKind::Runtime, check_headers)?;
        let file = checked.content;
        let header = |(name, value): (String, Value)| Some((name, value.as_str()?.to_owned()));
        Ok(Self {
            id: file.id,
            version: file.version,
            name: file.name,
            base_url: file.base_url,
            wire_api: file.wire_api,
            credential: file.credential,
            default_model: file.default_model,
            model_environment: file.model_environment,
            headers: file.headers.into_iter().filter_map(header).collect(),
            document: checked.document,
            digest: checked.digest,
            origin: path.to_owned(),
        })
    }

    /// Looks up everything but the secret. `env` yields a variable of the host; an empty one
    /// counts as unset.
    ///
    /// # Errors
    ///
    /// If the address is missing, or is no http or https URL with a host.
    pub fn resolve(
        &self,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<ResolvedRuntime, RuntimeError> {
        let env = |variable: &str| env(variable).filter(|value| !value.is_empty());
        let (from, base_url) = match &self.base_url {
            ValueSource::Text { text } => ("its `base_url`".to_owned(), text.clone()),
            ValueSource::Environment {
                environment,
                default,
            } => match (env(environment), default) {
                (Some(value), _) => (format!("the environment variable `{environment}`"), value),
                (None, Some(default)) => {
                    ("the default of its `base_url`".to_owned(), default.clone())
                }
                (None, None) => {
                    return Err(RuntimeError::Unset {
                        runtime: self.id.clone(),
                        variable: environment.clone(),
                    });
                }
            },
        };
        if let Err(reason) = check_base_url(&base_url) {
            return Err(RuntimeError::BadUrl {
                runtime: self.id.clone(),
                from,
                value: without_secrets(&base_url),
                reason,
            });
        }
        let model = self.model_environment.as_deref().and_then(env);
        Ok(ResolvedRuntime {
            name: self.id.to_string(),
            base_url: base_url.trim_end_matches('/').to_owned(),
            wire_api: self.wire_api.clone(),
            credential_variable: self
                .credential
                .as_ref()
                .map(|source| source.environment.clone()),
            model: model.or_else(|| self.default_model.clone()),
            headers: self.headers.clone(),
        })
    }

    /// Takes the secret from the host's environment; `None` if the runtime needs none.
    ///
    /// # Errors
    ///
    /// If the variable is unset or empty, or holds what could not be masked in recordings.
    pub fn credential(
        &self,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Secret>, MissingCredential> {
        let Some(CredentialSource { environment }) = &self.credential else {
            return Ok(None);
        };
        match env(environment).filter(|text| !text.is_empty()) {
            Some(text) => Secret::new(environment, text).map(Some),
            None => Err(MissingCredential {
                variable: environment.clone(),
                problem: CredentialProblem::Unset,
            }),
        }
    }
}

impl Versioned for RuntimeDescriptor {
    fn id(&self) -> &str {
        self.id.as_str()
    }

    fn version(&self) -> &Version {
        &self.version
    }
}

/// Header names differ by more than case.
fn check_headers(document: &Value) -> Vec<Problem> {
    let Some(headers) = document.get("headers").and_then(Value::as_object) else {
        return Vec::new();
    };
    let mut seen = BTreeMap::new();
    let mut problems = Vec::new();
    for name in headers.keys() {
        if let Some(first) = seen.insert(name.to_lowercase(), name) {
            problems.push(Problem::Value {
                pointer: child("/headers", name),
                expected: format!("a header other than `{first}`: case makes no difference"),
                found: show(&Value::from(name.as_str())),
            });
        }
    }
    problems
}

#[cfg(test)]
#[path = "runtime_tests.rs"]
mod tests;
