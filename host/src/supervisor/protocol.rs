//! What the engine and the supervisor of a process tree say to each other.
//!
//! Frames on a Unix stream socket: a little-endian `u32` length, then that many bytes of
//! JSON. A spawn request carries three file descriptors (stdin, stdout, stderr), a request to
//! limit one for each control group, attached to the frame's first byte.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Numbers the programs that a session starts, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SpawnId(pub u32);

/// Bytes that need not be UTF-8: arguments, paths and environment values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<u8>", into = "Vec<u8>")]
pub struct OsText(pub OsString);

impl From<Vec<u8>> for OsText {
    fn from(bytes: Vec<u8>) -> Self {
        Self(OsString::from_vec(bytes))
    }
}

impl From<OsText> for Vec<u8> {
    fn from(text: OsText) -> Self {
        text.0.as_bytes().to_vec()
    }
}

/// A program to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpawnCommand {
    /// Absolute.
    pub program: PathBuf,
    /// Without the program's own name.
    pub args: Vec<OsText>,
    /// The whole environment: nothing is inherited.
    pub env: Vec<(OsText, OsText)>,
    /// Absolute.
    pub cwd: PathBuf,
}

/// What the engine asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// Take on limits, before anything is started: what is started later inherits them.
    /// Answered by [`Reply::Limited`].
    Limit {
        /// How many control groups to enter; as many file descriptors come along.
        groups: usize,
        /// The most processes; what has more is killed, and [`Reply::TooManyProcesses`] says
        /// so. `None` is no limit.
        processes: Option<u64>,
        /// Which of the groups limits processes, so that nobody needs to count them.
        counting_group: Option<usize>,
        /// File descriptors of each process; `None` leaves the system's limit.
        open_files: Option<u64>,
    },
    /// Look at what the tree uses. Answered by [`Reply::Measured`].
    Measure {
        /// Memory is measured, and exactly if it seems to be more than this; `None` does not
        /// measure it.
        memory_limit: Option<u64>,
    },
    /// Start a program; three file descriptors come along.
    Spawn {
        /// Chosen by the engine.
        spawn: SpawnId,
        /// What to start.
        command: SpawnCommand,
    },
    /// Send a signal to one program, not to its tree.
    Signal {
        /// Which program.
        spawn: SpawnId,
        /// The signal's number.
        signal: i32,
    },
    /// End one program and everything it started.
    Terminate {
        /// Which program.
        spawn: SpawnId,
        /// Milliseconds between SIGTERM and SIGKILL; 0 sends SIGKILL at once.
        grace_ms: u64,
    },
    /// Listen on a loopback port and hand over every connection. Answered by
    /// [`Reply::Listening`].
    Listen {
        /// 0 for any.
        port: u16,
    },
    /// End everything. Answered by [`Reply::AllEnded`].
    TerminateAll {
        /// Milliseconds between SIGTERM and SIGKILL; 0 sends SIGKILL at once.
        grace_ms: u64,
    },
}

/// Why a program could not be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpawnErrorKind {
    /// There is no such file.
    NotFound,
    /// The file can't be executed by this user, or is no executable.
    NotExecutable,
    /// The argument list is longer than the system allows.
    TooLong,
    /// Anything else.
    Other,
}

/// What the supervisor reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// The supervisor is up. Its first message.
    Ready {
        /// True if it is PID 1 of a namespace of its own.
        pid_namespace: bool,
    },
    /// The answer to [`Request::Listen`].
    Listening {
        /// The port; `None` if it can't be listened on.
        port: Option<u16>,
        /// Why not.
        problem: Option<String>,
    },
    /// The answer to [`Request::Limit`].
    Limited {
        /// Why a group could not be entered, for each in turn; `None` if it was.
        groups: Vec<Option<String>>,
        /// Why the limit of open files could not be set; `None` if it was, or none was asked
        /// for.
        open_files: Option<String>,
    },
    /// There were more processes than allowed; all of them have been sent SIGKILL.
    TooManyProcesses {
        /// How many were seen.
        processes: u64,
    },
    /// The answer to [`Request::Measure`].
    Measured {
        /// Processes and threads.
        processes: u64,
        /// Computing time so far, of those that ended too, milliseconds.
        cpu_ms: u64,
        /// Memory that is nobody else's, bytes; 0 if it was not to be measured.
        memory_bytes: u64,
    },
    /// Something connected; the connection comes along as a file descriptor.
    Connection,
    /// The program runs.
    Spawned {
        /// Which program.
        spawn: SpawnId,
        /// Its process id as the supervisor sees it.
        pid: i32,
    },
    /// The program could not be started.
    SpawnFailed {
        /// Which program.
        spawn: SpawnId,
        /// Why, for programs.
        kind: SpawnErrorKind,
        /// Why, for people.
        message: String,
    },
    /// The program itself has ended; what it left behind may still run.
    Exited {
        /// Which program.
        spawn: SpawnId,
        /// As `waitpid` returned it.
        raw_status: i32,
    },
    /// Signals sent to a whole tree, in order; reported before [`Reply::Cleared`].
    TreeSignalled {
        /// The program whose tree it was; `None` for everything.
        spawn: Option<SpawnId>,
        /// The signal's number.
        signal: i32,
    },
    /// Nothing of the program's tree is left, or what is left could not be ended.
    Cleared {
        /// Which program.
        spawn: SpawnId,
        /// Processes that had to be ended after the program itself was over.
        ended: u32,
        /// Processes that are still alive.
        survivors: u32,
    },
    /// The answer to [`Request::TerminateAll`].
    AllEnded {
        /// Processes that had to be ended since the supervisor started.
        ended: u32,
        /// Processes that are still alive.
        survivors: u32,
    },
}

/// The longest frame that either side accepts: arguments and environment of one program.
pub const MAX_FRAME: usize = 8 << 20;

/// A frame ready to be sent.
///
/// # Errors
///
/// If the message does not fit [`MAX_FRAME`].
pub fn encode(message: &impl Serialize) -> std::io::Result<Vec<u8>> {
    let body = serde_json::to_vec(message)?;
    if body.len() > MAX_FRAME {
        return Err(std::io::Error::new(
            std::io::ErrorKind::InvalidInput,
            format!(
                "a message of {} bytes exceeds the limit of {MAX_FRAME}",
                body.len()
            ),
        ));
    }
    let mut frame = Vec::with_capacity(body.len() + 4);
    frame.extend_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes());
    frame.extend_from_slice(&body);
    Ok(frame)
}

/// Takes one whole frame off the front of `buffer`; `None` if there is none yet.
///
/// # Errors
///
/// If the frame is too long or is not the message expected.
pub fn decode<T: for<'de> Deserialize<'de>>(buffer: &mut Vec<u8>) -> std::io::Result<Option<T>> {
    let Some(head) = buffer.first_chunk::<4>() else {
        return Ok(None);
    };
    let length = u32::from_le_bytes(*head) as usize;
    if length > MAX_FRAME {
        return Err(std::io::Error::new(
            std::io::ErrorKind::InvalidData,
            format!("a frame announces {length} bytes, the limit is {MAX_FRAME}"),
        ));
    }
    if buffer.len() < 4 + length {
        return Ok(None);
    }
    let message = serde_json::from_slice(&buffer[4..4 + length])?;
    buffer.drain(..4 + length);
    Ok(Some(message))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_frame_arrives_whole_however_it_is_cut() {
        let sent = Reply::Exited {
            spawn: SpawnId(3),
            raw_status: 9,
        };
        let frame = encode(&sent).unwrap();
        let mut buffer = Vec::new();
        for byte in &frame[..frame.len() - 1] {
            buffer.push(*byte);
            assert_eq!(decode::<Reply>(&mut buffer).unwrap(), None);
        }
        buffer.push(frame[frame.len() - 1]);
        assert_eq!(decode::<Reply>(&mut buffer).unwrap(), Some(sent));
        assert!(buffer.is_empty());
    }

    #[test]
    fn bytes_that_are_not_utf8_survive() {
        let text = OsText(OsString::from_vec(vec![b'a', 0xff, b'b']));
        let json = serde_json::to_string(&text).unwrap();
        assert_eq!(serde_json::from_str::<OsText>(&json).unwrap(), text);
    }
}
