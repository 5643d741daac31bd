//! Building failures: a class, a sentence for people, and the facts that the class rests on.

use crate::types::{Failure, FailureClass};
use serde_json::Value;

/// A failure that nothing structured backs up yet.
pub fn failure(class: FailureClass, message: impl Into<String>) -> Failure {
    Failure {
        class,
        message: message.into(),
        evidence: "{}".to_owned(),
        retryable: false,
    }
}

/// A failure with its evidence, an object.
pub fn with_evidence(class: FailureClass, message: impl Into<String>, evidence: &Value) -> Failure {
    Failure {
        evidence: evidence.to_string(),
        ..failure(class, message)
    }
}

/// The same failure, marked as one that may go away by itself.
pub fn retryable(failure: Failure) -> Failure {
    Failure {
        retryable: true,
        ..failure
    }
}

/// What an operation other than `wait-for-completion` returns when the engine wants the
/// session back.
pub fn interrupted(operation: &str) -> Failure {
    failure(
        FailureClass::Interrupted,
        format!("{operation} was interrupted by the engine"),
    )
}
