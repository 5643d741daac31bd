//! The agent's process while it works: followed to its end, or stopped.

use crate::line::Line;
use akbench_adapter_sdk::events::{self, Event};
use akbench_adapter_sdk::lines::{self, LineSplitter};
use akbench_adapter_sdk::process::{Child, ExitStatus, Output, Signal, WaitError};
use akbench_adapter_sdk::types::AgentStatus;

/// Bytes that are read at once.
const CHUNK: u32 = 1 << 20;
/// How long an agent may take to exit after its last line, in milliseconds.
const EXIT_WAIT: u32 = 2_000;
/// What an agent that does not exit gets before it is killed, in milliseconds.
const EXIT_GRACE: u32 = 500;

/// A process, and what it said so far.
pub struct Running {
    child: Child,
    splitter: LineSplitter,
    last: Option<Line>,
    stdout_ended: bool,
}

impl Running {
    /// Begins to follow a process.
    pub fn new(child: Child) -> Self {
        Self {
            child,
            splitter: LineSplitter::default(),
            last: None,
            stdout_ended: false,
        }
    }

    /// Follows the agent until it has ended; `None` if it goes on.
    ///
    /// # Errors
    ///
    /// If the engine wants the session back.
    pub fn advance(&mut self, timeout: u32) -> Result<Option<ExitStatus>, WaitError> {
        while !self.stdout_ended && self.last.is_none() {
            if self.read(timeout)? {
                return Ok(None);
            }
        }
        // It said its last word, or closed its mouth: now it has to go.
        match self.child.wait(EXIT_WAIT)? {
            Some(exit) => Ok(Some(exit)),
            None => Ok(Some(self.child.terminate(EXIT_GRACE))),
        }
    }

    /// Stops the agent within this grace, in milliseconds, and reads what it says to that.
    pub fn stop(&mut self, grace: u32) -> ExitStatus {
        // Asked politely first: many agents save what a kill would lose.
        self.child.signal(Signal::Interrupt);
        let exit = match self.child.wait(grace - grace / 4) {
            Ok(Some(exit)) => exit,
            Ok(None) => self.child.terminate(grace / 4),
            Err(WaitError::Interrupted) => self.child.terminate(0),
        };
        while !self.stdout_ended && self.read(0) == Ok(false) {}
        exit
    }

    /// What became of the session: completed is only what said so and also ended well.
    pub fn settled(self, exit: ExitStatus, cancelled: bool) -> AgentStatus {
        match (exit, self.last) {
            (ExitStatus::Exited(0), Some(Line::Done)) => AgentStatus::Completed,
            _ if cancelled => AgentStatus::Cancelled,
            _ => AgentStatus::Failed,
        }
    }

    /// Reads what the agent printed; true if nothing came in time.
    fn read(&mut self, timeout: u32) -> Result<bool, WaitError> {
        let last = &mut self.last;
        let mut take = |line: lines::Line<'_>| {
            let Some(said) = Line::parse(line.bytes) else {
                return;
            };
            if let Line::Message { text } = &said {
                events::emit(&Event::Message(text.clone()));
            }
            if said.is_last() {
                *last = Some(said);
            }
        };
        match self.child.read_stdout(CHUNK, timeout)? {
            Output::Bytes(bytes) => self.splitter.push(&bytes, &mut take),
            Output::TimedOut => return Ok(true),
            Output::End => {
                self.splitter.finish(&mut take);
                self.stdout_ended = true;
            }
        }
        Ok(false)
    }
}
