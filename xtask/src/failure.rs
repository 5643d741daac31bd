//! The one error of this tool: a sentence for the person at the terminal.

use std::fmt;

/// What went wrong, in words: what happened, where, what was expected, what to do.
#[derive(Debug)]
pub struct Failure(String);

/// The result of a step.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// A failure with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Turns another error into a [`Failure`] that says what was being done.
pub trait Explain<T> {
    /// `doing` completes the sentence "failed to …".
    ///
    /// # Errors
    ///
    /// The error it is called on, if any, with its causes.
    fn explain(self, doing: impl FnOnce() -> String) -> Outcome<T>;
}

impl<T, E: fmt::Display> Explain<T> for Result<T, E> {
    fn explain(self, doing: impl FnOnce() -> String) -> Outcome<T> {
        // The alternate form prints the causes where the error type keeps them.
        self.map_err(|error| Failure(format!("failed to {}: {error:#}", doing())))
    }
}
