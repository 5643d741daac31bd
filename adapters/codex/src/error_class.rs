//! From the program's own words about an error to a class.
//!
//! Typed codes come first. A message counts only where the program itself put it into an
//! error field, and only if it has a known form from its first character on; what is not
//! known stays unknown.

use akbench_adapter_sdk::types::FailureClass;
use serde_json::Value;

/// The class of a typed `codex_error_info`; `None` for `other`, unknown codes and absence.
pub fn of_code(info: &Value) -> Option<FailureClass> {
    if let Some(code) = info.as_str() {
        return of_word(code);
    }
    let (code, details) = info.as_object()?.iter().next()?;
    match code.as_str() {
        "http_connection_failed"
        | "response_stream_connection_failed"
        | "response_stream_disconnected"
        | "response_too_many_failed_attempts" => match details.get("http_status_code") {
            Some(Value::Null) | None => Some(FailureClass::Network),
            Some(status) => status.as_u64().and_then(of_status),
        },
        word => of_word(word),
    }
}

fn of_word(code: &str) -> Option<FailureClass> {
    Some(match code {
        "context_window_exceeded" => FailureClass::ContextWindowExceeded,
        "usage_limit_exceeded" => FailureClass::QuotaExceeded,
        "session_budget_exceeded" => FailureClass::AgentLimit,
        "server_overloaded" | "internal_server_error" => FailureClass::ProviderError,
        "model_not_found" => FailureClass::ModelNotFound,
        "unauthorized" => FailureClass::Authentication,
        "cyber_policy" => FailureClass::AgentRefusal,
        "sandbox_error" => FailureClass::SandboxUnavailable,
        _ => return None,
    })
}

/// The class of a status with which the endpoint refused for good. A plain 400 is nobody's:
/// the agent may have asked for nonsense, or the endpoint may not know what it should.
fn of_status(status: u64) -> Option<FailureClass> {
    Some(match status {
        401 | 403 => FailureClass::Authentication,
        402 => FailureClass::QuotaExceeded,
        429 => FailureClass::RateLimited,
        500..=599 => FailureClass::ProviderError,
        _ => return None,
    })
}

/// The class of a code that the endpoint put into its answer.
fn of_endpoint_code(body: &str) -> Option<FailureClass> {
    let body: Value = serde_json::from_str(body).ok()?;
    let error = body.get("error").unwrap_or(&body);
    Some(match error.get("code").and_then(Value::as_str)? {
        "context_length_exceeded" => FailureClass::ContextWindowExceeded,
        "model_not_found" => FailureClass::ModelNotFound,
        "insufficient_quota" => FailureClass::QuotaExceeded,
        "invalid_api_key" => FailureClass::Authentication,
        "rate_limit_exceeded" => FailureClass::RateLimited,
        _ => return None,
    })
}

/// The class of a message in an error field; `None` if its form is not known.
pub fn of_message(message: &str) -> Option<FailureClass> {
    // Versions differ in the apostrophe alone.
    let message = message.trim().replace('\u{2019}', "'");
    let message = message.as_str();
    of_whole(message)
        .or_else(|| of_refusal(message))
        .or_else(|| of_broken_stream(message))
        .or_else(|| of_endpoint_code(message))
}

fn of_whole(message: &str) -> Option<FailureClass> {
    Some(match message {
        "Quota exceeded. Check your plan and billing details." => FailureClass::QuotaExceeded,
        "We're currently experiencing high demand, which may cause temporary errors."
        | "Selected model is at capacity. Please try a different model." => {
            FailureClass::ProviderError
        }
        "Incomplete response returned, reason: max_output_tokens" => {
            FailureClass::OutputLimitExceeded
        }
        "Incomplete response returned, reason: content_filter" => FailureClass::AgentRefusal,
        _ if is_out_of_room(message) => FailureClass::ContextWindowExceeded,
        _ if is_missing_variable(message) => FailureClass::Authentication,
        _ => return None,
    })
}

fn is_out_of_room(message: &str) -> bool {
    message
        .strip_prefix("Codex ran out of room in the model's context window. Start a new ")
        .and_then(|rest| rest.strip_suffix(" or clear earlier history before retrying."))
        .is_some_and(|noun| noun == "thread" || noun == "conversation")
}

/// ``Missing environment variable: `NAME`.``, with a hint after it in some versions.
fn is_missing_variable(message: &str) -> bool {
    message
        .strip_prefix("Missing environment variable: `")
        .and_then(|rest| rest.split_once("`."))
        .is_some_and(|(name, _)| !name.is_empty() && !name.contains(['`', ' ']))
}

/// `unexpected status 401 Unauthorized: BODY, url: URL` and
/// `exceeded retry limit, last status: 429 Too Many Requests`.
fn of_refusal(message: &str) -> Option<FailureClass> {
    let (status, rest) = message
        .strip_prefix("unexpected status ")
        .or_else(|| message.strip_prefix("exceeded retry limit, last status: "))?
        .split_at_checked(3)?;
    let status = status
        .parse()
        .ok()
        .filter(|_| rest.is_empty() || rest.starts_with(' '))?;
    let body = rest.split_once(": ").map_or("", |(_, body)| body);
    let body = body.rsplit_once(", url: ").map_or(body, |(body, _)| body);
    of_endpoint_code(body).or_else(|| of_status(status))
}

fn of_broken_stream(message: &str) -> Option<FailureClass> {
    if message.starts_with("Connection failed: ") {
        return Some(FailureClass::Network);
    }
    let cause = message.strip_prefix("stream disconnected before completion: ")?;
    if cause == "idle timeout waiting for SSE" {
        return Some(FailureClass::ProviderTimeout);
    }
    // After the colon may stand what the endpoint said, too: only the program's own words
    // show that it was the connection.
    const CONNECTION: [&str; 7] = [
        "stream closed before response.completed",
        "error sending request",
        "error decoding response body",
        "failed to lookup address information",
        "Transport error: ",
        "connection closed",
        "Connection reset",
    ];
    CONNECTION
        .iter()
        .any(|known| cause.starts_with(known))
        .then_some(FailureClass::Network)
}

/// Whether the same request may well succeed later.
pub fn is_retryable(class: &FailureClass) -> bool {
    matches!(
        class,
        FailureClass::RateLimited
            | FailureClass::Network
            | FailureClass::ProviderError
            | FailureClass::ProviderTimeout
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use serde_json::json;

    #[test]
    fn typed_codes_decide() {
        for (info, expected) in [
            (
                json!({"http_connection_failed": {"http_status_code": 401}}),
                Some(FailureClass::Authentication),
            ),
            (
                json!({"http_connection_failed": {"http_status_code": null}}),
                Some(FailureClass::Network),
            ),
            (
                json!({"http_connection_failed": {"http_status_code": 503}}),
                Some(FailureClass::ProviderError),
            ),
            (
                json!({"response_too_many_failed_attempts": {"http_status_code": 429}}),
                Some(FailureClass::RateLimited),
            ),
            (
                json!("usage_limit_exceeded"),
                Some(FailureClass::QuotaExceeded),
            ),
            (
                json!("context_window_exceeded"),
                Some(FailureClass::ContextWindowExceeded),
            ),
            (json!("model_not_found"), Some(FailureClass::ModelNotFound)),
            (
                json!("server_overloaded"),
                Some(FailureClass::ProviderError),
            ),
            (json!("other"), None),
            (json!(null), None),
            (
                json!({"http_connection_failed": {"http_status_code": "401"}}),
                None,
            ),
        ] {
            assert_eq!(of_code(&info), expected, "{info}");
        }
    }

    #[test]
    fn known_messages_are_matched_from_their_start() {
        let body = r#"{"error": {"message": "m", "code": "context_length_exceeded"}}"#;
        for (message, expected) in [
            (
                "unexpected status 401 Unauthorized: no, url: http://x",
                FailureClass::Authentication,
            ),
            (
                "exceeded retry limit, last status: 429 Too Many Requests",
                FailureClass::RateLimited,
            ),
            (
                "exceeded retry limit, last status: 401 Unauthorized",
                FailureClass::Authentication,
            ),
            (body, FailureClass::ContextWindowExceeded),
            (
                &format!("unexpected status 400 Bad Request: {body}, url: http://x"),
                FailureClass::ContextWindowExceeded,
            ),
            (
                &format!("unexpected status 400 Bad Request: {body}"),
                FailureClass::ContextWindowExceeded,
            ),
            (
                "We\u{2019}re currently experiencing high demand, which may cause temporary errors.",
                FailureClass::ProviderError,
            ),
            (
                "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
                FailureClass::ContextWindowExceeded,
            ),
            (
                "Incomplete response returned, reason: max_output_tokens",
                FailureClass::OutputLimitExceeded,
            ),
            (
                "Missing environment variable: `K`.",
                FailureClass::Authentication,
            ),
            (
                "stream disconnected before completion: idle timeout waiting for SSE",
                FailureClass::ProviderTimeout,
            ),
            (
                "stream disconnected before completion: stream closed before response.completed",
                FailureClass::Network,
            ),
            (
                "Connection failed: error sending request",
                FailureClass::Network,
            ),
        ] {
            assert_eq!(of_message(message), Some(expected), "{message}");
        }
    }

    #[test]
    fn what_merely_contains_a_known_message_stays_unknown() {
        for message in [
            "the tool said: unexpected status 401 Unauthorized",
            "unexpected status 4011",
            "unexpected status 400 Bad Request: x",
            r#"{"error": {"message": "Unsupported parameter", "code": "unsupported_parameter"}}"#,
            "stream disconnected before completion: you were rate limited",
            "Missing environment variable: `A B`.",
            "",
        ] {
            assert_eq!(of_message(message), None, "{message}");
        }
    }
}
