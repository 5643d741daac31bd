//! Asking an endpoint once whether it is there, and whether it takes the credential.
//!
//! The engine itself talks to no endpoint in a run. This one request is for a person who wants to
//! know before an agent spends anything: it asks for the list of models, which costs nothing.

use crate::contract::observed::FailureClass;
use crate::process::redaction::Redactor;
use serde::Serialize;
use serde_json::Value;
use std::time::{Duration, Instant};
use ureq::Agent;

/// More of an answer is not read.
const MAX_BODY: u64 = 4 << 20;

/// A longer code of an error is no code.
const MAX_CODE: usize = 64;

/// What to ask.
pub struct Question<'a> {
    /// The endpoint, without slashes at its end.
    pub base_url: &'a str,
    /// Sent with the request: name, value.
    pub headers: &'a [(String, String)],
    /// Sent as a bearer token; `None`: without.
    pub credential: Option<&'a str>,
    /// For the whole exchange.
    pub timeout: Duration,
}

/// What came back. Nothing in it is free text of the endpoint, which might repeat the credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// What was asked for.
    pub url: String,
    /// The HTTP status; `None` if none came.
    pub status: Option<u16>,
    /// Until the answer was read, or until it was clear that none comes.
    pub latency_ms: u64,
    /// What is wrong; `None` if nothing is.
    pub class: Option<FailureClass>,
    /// The same for people; `None` if nothing is wrong.
    pub problem: Option<String>,
    /// `error.type` of the answer; `None` if it has none.
    pub error_type: Option<String>,
    /// `error.code` of the answer; `None` if it has none.
    pub error_code: Option<String>,
    /// The models that it lists; `None` if it lists none, in a form that is known here.
    pub models: Option<Vec<String>>,
}

/// Asks for the list of models: one request, no redirect is followed, no proxy used.
pub fn ask(question: &Question<'_>, redactor: &Redactor) -> Answer {
    let url = format!("{}/models", question.base_url);
    let agent: Agent = Agent::config_builder()
        .timeout_global(Some(question.timeout))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .build()
        .into();
    let mut request = agent.get(&url);
    for (name, value) in question.headers {
        request = request.header(name, value);
    }
    if let Some(credential) = question.credential {
        request = request.header("Authorization", format!("Bearer {credential}"));
    }
    let started = Instant::now();
    let answered = request.call().and_then(|mut response| {
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(MAX_BODY);
        Ok((status, body.read_to_vec()?))
    });
    let latency_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let silent = Answer {
        url,
        status: None,
        latency_ms,
        class: None,
        problem: None,
        error_type: None,
        error_code: None,
        models: None,
    };
    let mut answer = match answered {
        Ok((status, body)) => Answer {
            status: Some(status),
            ..read(silent, status, &body)
        },
        Err(error) => Answer {
            class: Some(class_of(&error)),
            problem: Some(format!("no answer: {error}")),
            ..silent
        },
    };
    for text in [
        &mut answer.problem,
        &mut answer.error_type,
        &mut answer.error_code,
    ]
    .into_iter()
    .flatten()
    .chain(answer.models.iter_mut().flatten())
    {
        *text = redactor.mask_text(text);
    }
    answer
}

fn read(answer: Answer, status: u16, body: &[u8]) -> Answer {
    let document: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    let error = &document["error"];
    let (class, problem) = match status {
        200..=299 => (None, None),
        401 | 403 => fault(FailureClass::Authentication, "it refused the credential"),
        402 => fault(FailureClass::QuotaExceeded, "the account has no quota left"),
        404 | 405 => (None, None),
        408 | 504 => fault(FailureClass::ProviderTimeout, "it took too long"),
        429 => fault(FailureClass::RateLimited, "too many requests"),
        500..=599 => fault(FailureClass::ProviderError, "an error of its own"),
        _ => fault(FailureClass::Unknown, "an answer that is not expected"),
    };
    Answer {
        class,
        problem: problem.map(|problem| format!("HTTP {status}: {problem}")),
        error_type: code(&error["type"]),
        error_code: code(&error["code"]),
        models: (status < 300).then(|| models(&document)).flatten(),
        ..answer
    }
}

fn fault(class: FailureClass, problem: &str) -> (Option<FailureClass>, Option<&str>) {
    (Some(class), Some(problem))
}

/// A code, not a sentence.
fn code(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let is_code = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    (!text.is_empty() && text.len() <= MAX_CODE && text.chars().all(is_code)).then_some(text)
}

/// `data` is the list of the public interface; some endpoints call it `models`.
fn models(document: &Value) -> Option<Vec<String>> {
    let named = |list: &Value| {
        let list = list.as_array()?;
        let name = |model: &Value| {
            let name = model.get("id").or_else(|| model.get("slug"))?;
            Some(name.as_str()?.to_owned())
        };
        list.iter().map(name).collect::<Option<Vec<String>>>()
    };
    named(&document["data"]).or_else(|| named(&document["models"]))
}

fn class_of(error: &ureq::Error) -> FailureClass {
    match error {
        ureq::Error::Timeout(_) => FailureClass::ProviderTimeout,
        ureq::Error::Io(_)
        | ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::Tls(_)
        | ureq::Error::Rustls(_) => FailureClass::Network,
        // What is not HTTP, or too long to be an answer to this.
        ureq::Error::Protocol(_) | ureq::Error::BodyExceedsLimit(_) => FailureClass::ProviderError,
        _ => FailureClass::Unknown,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn both_forms_of_a_list_of_models_are_read_and_nothing_else_is_one() {
        let listed = Some(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(models(&json!({"data": [{"id": "a"}, {"id": "b"}]})), listed);
        assert_eq!(
            models(&json!({"models": [{"slug": "a"}, {"slug": "b"}]})),
            listed
        );
        assert_eq!(models(&json!({"data": []})), Some(Vec::new()));
        for other in [
            json!(null),
            json!({"data": "a"}),
            json!({"data": [{"name": "a"}]}),
        ] {
            assert_eq!(models(&other), None);
        }
    }

    #[test]
    fn a_sentence_is_no_code() {
        assert_eq!(
            code(&json!("invalid_api_key")).as_deref(),
            Some("invalid_api_key")
        );
        assert_eq!(code(&json!(401)).as_deref(), Some("401"));
        for other in [
            json!("Incorrect key: sk-1"),
            json!(null),
            json!("x".repeat(65)),
            json!(""),
        ] {
            assert_eq!(code(&other), None);
        }
    }
}
