//! How this program itself fails, told apart by exit code from what it plays.

use std::fmt;
use std::process::ExitCode;

/// Exit code: a step could not be carried out.
const STEP: u8 = 96;
/// Exit code: no case of the scenario matches the command line.
const NO_CASE: u8 = 97;
/// Exit code: the scenario is missing or malformed.
const SCENARIO: u8 = 98;

#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    pub(crate) fn step(message: impl Into<String>) -> Self {
        Self {
            code: STEP,
            message: message.into(),
        }
    }

    pub(crate) fn no_case(message: impl Into<String>) -> Self {
        Self {
            code: NO_CASE,
            message: message.into(),
        }
    }

    pub(crate) fn scenario(message: impl Into<String>) -> Self {
        Self {
            code: SCENARIO,
            message: message.into(),
        }
    }

    /// Says on stderr what happened, and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        self.tell();
        ExitCode::from(self.code)
    }

    /// The same from a thread that is not the main one.
    pub(crate) fn exit(&self) -> ! {
        self.tell();
        std::process::exit(self.code.into())
    }

    /// Only says on stderr what happened.
    pub(crate) fn tell(&self) {
        // Not `eprintln!`, which panics where stderr is closed.
        let _ = crate::output::write_whole(
            crate::output::Channel::Stderr,
            format!("{self}\n").as_bytes(),
        );
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "stub-cli: {}", self.message)
    }
}
