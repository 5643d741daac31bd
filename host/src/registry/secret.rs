//! Secrets: held in memory, given to a child by reference, never shown.

use std::fmt;
use std::hint;

/// Shorter secrets could not be masked in recordings: they would match by chance.
const MIN_BYTES: usize = 8;

/// A credential. It can't be printed or serialized, and its memory is cleared afterwards as
/// far as the language allows.
pub struct Secret {
    variable: String,
    text: String,
}

impl Secret {
    /// Takes a secret that came from the environment variable `variable`.
    ///
    /// # Errors
    ///
    /// If it is too short, looks like a number or contains a newline: then it could not be
    /// masked in recordings without damage.
    pub fn new(variable: &str, text: String) -> Result<Self, MissingCredential> {
        let secret = Self {
            variable: variable.to_owned(),
            text,
        };
        let problem = if secret.text.len() < MIN_BYTES {
            CredentialProblem::TooShort
        } else if secret.text.chars().all(may_be_in_a_number) {
            CredentialProblem::Number
        } else if secret.text.contains(['\n', '\r']) {
            CredentialProblem::Newline
        } else {
            return Ok(secret);
        };
        Err(MissingCredential {
            variable: variable.to_owned(),
            problem,
        })
    }

    /// The secret itself, for masking and for the child's environment.
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// The host's variable that it came from.
    pub fn variable(&self) -> &str {
        &self.variable
    }
}

/// Masks in a number leave none, and a line of JSON with one can't be read any more.
fn may_be_in_a_number(c: char) -> bool {
    c.is_ascii_digit() || "+-.eE".contains(c)
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(redacted)")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.fill(0);
        // Keeps the compiler from leaving out a write that nobody reads.
        hint::black_box(&bytes);
    }
}

/// A runtime needs a credential, and there is none that can be used. Never holds its text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable `{variable}` {problem}")]
pub struct MissingCredential {
    /// The variable that should hold the credential.
    pub variable: String,
    /// What is wrong with it.
    pub problem: CredentialProblem,
}

/// Why a credential can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CredentialProblem {
    /// The variable is unset or empty.
    #[error("is not set: expected the runtime's credential in it")]
    Unset,
    /// Fewer than 8 bytes.
    #[error(
        "holds a credential of fewer than {MIN_BYTES} bytes, which could not be masked in recordings: use a longer one"
    )]
    TooShort,
    /// It has nothing but what numbers are written with.
    #[error(
        "holds a credential that looks like a number, whose mask would damage the numbers in recordings: use one with other characters"
    )]
    Number,
    /// It contains a line break.
    #[error(
        "holds a credential with a line break in it, which could not be masked in recordings: remove the line break"
    )]
    Newline,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn a_secret_shows_itself_only_when_asked() {
        let secret = Secret::new("ACME_KEY", "hunter2hunter2".to_owned()).expect("a secret");
        assert_eq!(
            format!("{secret:?} {:#?}", [&secret]),
            "Secret(redacted) [\n    Secret(redacted),\n]"
        );
        assert_eq!(secret.expose(), "hunter2hunter2");
    }

    #[test]
    fn secrets_that_could_not_be_masked_are_refused_without_showing_them() {
        for (text, problem) in [
            ("", CredentialProblem::TooShort),
            ("hunter2", CredentialProblem::TooShort),
            ("0000000000", CredentialProblem::Number),
            ("-1.5e+0123", CredentialProblem::Number),
            ("hunter2hunter2\n", CredentialProblem::Newline),
            ("hunter2\rhunter2", CredentialProblem::Newline),
        ] {
            let error = Secret::new("ACME_KEY", text.to_owned()).expect_err("refused");
            assert_eq!(error.problem, problem);
            let shown = format!("{error} {error:?}");
            let hidden = text.is_empty() || !shown.contains(text.trim());
            assert!(shown.contains("ACME_KEY") && hidden, "{shown}");
        }
    }
}
