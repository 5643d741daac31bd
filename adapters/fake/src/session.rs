//! A session: one process of the agent for one task.

use crate::adapter::not_started;
use crate::line::Line;
use crate::observe::{self, TASK};
use crate::parameters::Parameters;
use crate::simulate;
use akbench_adapter_sdk::bindings::exports::akbench::agent::agent::GuestSession;
use akbench_adapter_sdk::events::{self, Event};
use akbench_adapter_sdk::evidence::GrantedEvidence;
use akbench_adapter_sdk::failure::failure;
use akbench_adapter_sdk::lines::LineSplitter;
use akbench_adapter_sdk::process::{
    self, Child, Command, Directory, ExitStatus, Output, Signal, SpawnError, StdinMode, WaitError,
};
use akbench_adapter_sdk::types::{
    AgentStatus, Failure, FailureClass, Observations, Progress, Task,
};
use std::cell::RefCell;

/// The program's name in the descriptor.
const PROGRAM: &str = "agent";
/// Bytes that are read at once.
const CHUNK: u32 = 1 << 20;
/// How long an agent may take to exit after its last line, in milliseconds.
const EXIT_WAIT: u32 = 2_000;
/// What an agent that does not exit gets before it is killed, in milliseconds.
const EXIT_GRACE: u32 = 500;

/// One conversation with the agent.
pub struct FakeSession {
    /// `None` in replay.
    parameters: Option<Parameters>,
    // An operation takes `&self`, and the engine calls them one at a time.
    state: RefCell<State>,
}

struct State {
    status: AgentStatus,
    running: Option<Running>,
}

struct Running {
    child: Child,
    splitter: LineSplitter,
    last: Option<Line>,
    stdout_ended: bool,
}

/// Starts the agent's program in the workspace.
///
/// # Errors
///
/// What the engine says.
pub fn start(label: &str, args: Vec<String>, stdin: StdinMode) -> Result<Child, SpawnError> {
    process::spawn(&Command {
        program: PROGRAM.to_owned(),
        label: label.to_owned(),
        args,
        env: Vec::new(),
        cwd: Directory::Workspace,
        stdin,
    })
}

impl FakeSession {
    /// A session that works.
    pub fn new(parameters: Parameters) -> Self {
        Self::with(Some(parameters))
    }

    /// A session whose work is over.
    pub fn replay() -> Self {
        Self::with(None)
    }

    fn with(parameters: Option<Parameters>) -> Self {
        let state = State {
            status: AgentStatus::Created,
            running: None,
        };
        Self {
            parameters,
            state: RefCell::new(state),
        }
    }
}

impl GuestSession for FakeSession {
    fn submit_task(&self, task: Task) -> Result<(), Failure> {
        let Some(parameters) = &self.parameters else {
            return invalid("a session in replay mode takes no task");
        };
        let mut state = self.state.borrow_mut();
        if state.status != AgentStatus::Created {
            return invalid("this agent takes one task only");
        }
        // On stdin, because arguments have a limit and can't hold a NUL.
        let prompt = StdinMode::Bytes(task.instruction.into_bytes());
        match start(TASK, vec!["work".to_owned()], prompt) {
            Ok(child) => {
                state.status = AgentStatus::Running;
                state.running = Some(Running::new(child));
                Ok(())
            }
            Err(SpawnError::NotGranted(_)) => {
                state.status = simulate::work(parameters.behaviour)?;
                Ok(())
            }
            Err(error) => Err(not_started(&error)),
        }
    }

    fn wait_for_completion(&self, timeout: u32) -> Result<Progress, Failure> {
        let mut state = self.state.borrow_mut();
        let Some(running) = state.running.as_mut() else {
            return match state.status {
                AgentStatus::Created => invalid("no task was submitted that could be waited for"),
                _ => Ok(Progress::Ended),
            };
        };
        match running.advance(timeout) {
            Ok(Some(exit)) => {
                state.settle(exit, false);
                Ok(Progress::Ended)
            }
            // The engine wants the session back, or the time is over: both mean "not yet".
            Ok(None) | Err(WaitError::Interrupted) => Ok(Progress::Pending),
        }
    }

    fn get_status(&self) -> AgentStatus {
        self.state.borrow().status
    }

    fn collect_observations(&self) -> Result<Observations, Failure> {
        observe::observe(&GrantedEvidence)
            .map_err(|error| failure(FailureClass::Unknown, error.to_string()))
    }

    fn cancel(&self, grace: u32) -> Result<(), Failure> {
        let mut state = self.state.borrow_mut();
        let Some(running) = state.running.as_mut() else {
            // Nothing runs: there is nothing to stop, and that is no failure.
            return Ok(());
        };
        // Asked politely first: many agents save what a kill would lose.
        running.child.signal(Signal::Interrupt);
        let exit = match running.child.wait(grace - grace / 4) {
            Ok(Some(exit)) => exit,
            Ok(None) => running.child.terminate(grace / 4),
            Err(WaitError::Interrupted) => running.child.terminate(0),
        };
        while !running.stdout_ended && running.read(0) == Ok(false) {}
        state.settle(exit, true);
        Ok(())
    }

    fn close(&self) -> Result<(), Failure> {
        // Dropping the child ends it and all that it started.
        self.state.borrow_mut().running = None;
        Ok(())
    }
}

impl State {
    fn settle(&mut self, exit: ExitStatus, cancelled: bool) {
        let last = self.running.take().and_then(|running| running.last);
        self.status = match (exit, last) {
            (ExitStatus::Exited(0), Some(Line::Done)) => AgentStatus::Completed,
            _ if cancelled => AgentStatus::Cancelled,
            _ => AgentStatus::Failed,
        };
    }
}

impl Running {
    fn new(child: Child) -> Self {
        Self {
            child,
            splitter: LineSplitter::default(),
            last: None,
            stdout_ended: false,
        }
    }

    /// Follows the agent until it has ended; `None` if it goes on.
    fn advance(&mut self, timeout: u32) -> Result<Option<ExitStatus>, WaitError> {
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

    /// Reads what the agent printed; true if nothing came in time.
    fn read(&mut self, timeout: u32) -> Result<bool, WaitError> {
        let last = &mut self.last;
        let mut take = |line: akbench_adapter_sdk::lines::Line<'_>| {
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

fn invalid<T>(message: &str) -> Result<T, Failure> {
    Err(failure(FailureClass::InvalidState, message))
}
