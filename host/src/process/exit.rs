//! How a program ended: the raw facts, and the record of them in the evidence.

use serde::{Deserialize, Serialize};

/// A program's own end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ExitStatus {
    /// It returned this code.
    Exited {
        /// 0 to 255.
        code: i32,
    },
    /// A signal ended it.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
}

impl ExitStatus {
    /// Reads what `waitpid` returned.
    pub fn from_raw(raw: i32) -> Self {
        // The layout of wait(2) on Linux; stopped and continued are never asked for.
        match raw & 0x7f {
            0 => Self::Exited {
                code: (raw >> 8) & 0xff,
            },
            signal => Self::Signalled { signal },
        }
    }
}

/// Why the engine ended a program or sent it a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignalReason {
    /// A person or program asked for it.
    Cancel,
    /// The task's time was over.
    TimeLimit,
    /// No byte came for too long.
    IdleLimit,
    /// The tree ran into a limit on what it may use of the machine.
    ResourceLimit,
    /// The adapter asked for it of its own.
    Adapter,
    /// The program had ended and left processes behind.
    Leftovers,
    /// The session was over, or broke.
    SessionEnd,
}

/// To whom a signal went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignalTarget {
    /// The program alone.
    Program,
    /// The program and everything it started.
    Tree,
}

/// A signal that the engine sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentSignal {
    /// Its name, for example `SIGINT`.
    pub signal: String,
    /// Why it was sent.
    pub reason: SignalReason,
    /// To whom.
    pub target: SignalTarget,
    /// Milliseconds since the program was started.
    pub at_ms: u64,
}

/// `exit.json` of a spawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitRecord {
    /// The program's own end.
    pub status: ExitStatus,
    /// As `waitpid` returned it.
    pub raw_status: i32,
    /// When it was seen, RFC 3339.
    pub finished_at: String,
    /// From start to end, milliseconds.
    pub duration_ms: u64,
    /// What the engine sent before; empty if it ended by itself.
    pub signals: Vec<SentSignal>,
    /// Processes of its tree that the engine ended.
    pub ended: u32,
    /// Processes of its tree that could not be ended.
    pub survivors: u32,
    /// Bytes recorded of each stream.
    pub stdout_bytes: u64,
    /// Bytes recorded of each stream.
    pub stderr_bytes: u64,
    /// Secrets masked in stdout.
    pub stdout_masks: u64,
    /// Secrets masked in stderr.
    pub stderr_masks: u64,
}

/// The usual name of a signal, or its number.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_statuses_are_told_apart() {
        assert_eq!(ExitStatus::from_raw(0), ExitStatus::Exited { code: 0 });
        assert_eq!(
            ExitStatus::from_raw(137 << 8),
            ExitStatus::Exited { code: 137 }
        );
        assert_eq!(ExitStatus::from_raw(9), ExitStatus::Signalled { signal: 9 });
        assert_eq!(
            ExitStatus::from_raw(11 | 0x80),
            ExitStatus::Signalled { signal: 11 }
        );
    }
}
