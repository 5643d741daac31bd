//! A measurement that could not be made.

use std::fmt;

/// In words; a measurement has no caller that could do anything about it.
#[derive(Debug)]
pub struct Unmeasured(pub String);

impl fmt::Display for Unmeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unmeasured {}

/// Turns any error into an [`Unmeasured`] that says what was being done.
pub trait Doing<T> {
    /// `what` completes the sentence "failed to …".
    ///
    /// # Errors
    ///
    /// The error it is called on.
    fn doing(self, what: &str) -> Result<T, Unmeasured>;
}

impl<T, E: fmt::Display> Doing<T> for Result<T, E> {
    fn doing(self, what: &str) -> Result<T, Unmeasured> {
        self.map_err(|error| Unmeasured(format!("failed to {what}: {error:#}")))
    }
}
