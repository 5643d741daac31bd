//! A session: one conversation, one process of the program for each task.

use crate::command_line::task_arguments;
use crate::config_toml::KEY_VARIABLE;
use crate::observe::{self, TASK};
use crate::probe;
use crate::progress;
use crate::stream::{Stream, Terminal};
use akbench_adapter_sdk::bindings::exports::akbench::agent::agent::GuestSession;
use akbench_adapter_sdk::evidence::GrantedEvidence;
use akbench_adapter_sdk::failure::failure;
use akbench_adapter_sdk::lines::LineSplitter;
use akbench_adapter_sdk::process::{Child, ExitStatus, Output, Signal, StdinMode, WaitError};
use akbench_adapter_sdk::types::{
    AgentStatus, Failure, FailureClass, Observations, Progress, Task,
};
use std::cell::RefCell;

/// Bytes that are read at once.
const CHUNK: u32 = 1 << 20;
/// How often a program that has nothing more to say is looked at, in milliseconds.
const STEP: u32 = 1_000;
/// How long a program may take to exit after its last event, in milliseconds; some versions
/// need five seconds.
const EXIT_WAIT: u32 = 30_000;
/// What a program that does not exit gets before it is killed, in milliseconds.
const EXIT_GRACE: u32 = 2_000;

/// One conversation with the program.
pub struct CodexSession {
    mode: Mode,
    state: RefCell<State>,
}

enum Mode {
    Run {
        sandbox_mode: String,
        credential: Option<String>,
    },
    Replay,
}

struct State {
    status: AgentStatus,
    running: Option<Running>,
    /// The conversation that the next task continues.
    thread: Option<String>,
}

/// A process at work.
struct Running {
    child: Child,
    splitter: LineSplitter,
    stream: Stream,
    stdout_ended: bool,
    /// Milliseconds waited for since there was nothing more to come.
    waited: u32,
}

impl CodexSession {
    /// A session that works.
    pub fn new(sandbox_mode: String, credential: Option<String>) -> Self {
        Self::with(Mode::Run {
            sandbox_mode,
            credential,
        })
    }

    /// A session whose work is over.
    pub fn replay() -> Self {
        Self::with(Mode::Replay)
    }

    fn with(mode: Mode) -> Self {
        let state = State {
            status: AgentStatus::Created,
            running: None,
            thread: None,
        };
        Self {
            mode,
            state: RefCell::new(state),
        }
    }
}

impl GuestSession for CodexSession {
    fn submit_task(&self, task: Task) -> Result<(), Failure> {
        let invalid = |message: &str| Err(failure(FailureClass::InvalidState, message));
        let Mode::Run {
            sandbox_mode,
            credential,
        } = &self.mode
        else {
            return invalid("a session in replay mode takes no task");
        };
        let mut state = self.state.borrow_mut();
        if state.running.is_some() {
            return invalid("a task is still running; wait for it or cancel it first");
        }
        if state.status != AgentStatus::Created && state.thread.is_none() {
            return invalid("the task before never began a conversation that could be continued");
        }
        if !task.attachments.is_empty() {
            let message = "this adapter passes no attachments on; put them into the workspace";
            return Err(failure(FailureClass::Unsupported, message));
        }
        let args = task_arguments(sandbox_mode, state.thread.as_deref());
        let key = credential
            .clone()
            .map(|credential| (KEY_VARIABLE, credential));
        let prompt = StdinMode::Bytes(task.instruction.into_bytes());
        let child = probe::start(TASK, args, key, prompt)?;
        state.status = AgentStatus::Running;
        state.running = Some(Running::new(child));
        Ok(())
    }

    fn wait_for_completion(&self, timeout: u32) -> Result<Progress, Failure> {
        let mut state = self.state.borrow_mut();
        let Some(running) = state.running.as_mut() else {
            if state.status == AgentStatus::Created {
                let message = "no task was submitted that could be waited for";
                return Err(failure(FailureClass::InvalidState, message));
            }
            return Ok(Progress::Ended);
        };
        match running.advance(timeout) {
            Ok(Some(exit)) => {
                state.settle(exit, false);
                Ok(Progress::Ended)
            }
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
            return Ok(());
        };
        // On an interrupt the program completes its session file; a plain end loses the last
        // lines of it. It takes a fraction of a second, so that most of the grace is spare.
        running.child.signal(Signal::Interrupt);
        let patience = grace - grace / 4;
        let exit = match running.child.wait(patience) {
            Ok(Some(exit)) => exit,
            Ok(None) => running.child.terminate(grace / 4),
            Err(WaitError::Interrupted) => running.child.terminate(0),
        };
        // What it still printed says which conversation a next task would continue.
        while !running.stdout_ended && running.read(0) == Ok(false) {}
        state.settle(exit, true);
        Ok(())
    }

    fn close(&self) -> Result<(), Failure> {
        self.state.borrow_mut().running = None;
        Ok(())
    }
}

impl State {
    fn settle(&mut self, exit: ExitStatus, cancelled: bool) {
        let Some(running) = self.running.take() else {
            return;
        };
        let completed = running.stream.terminal == Some(Terminal::Completed);
        self.status = match exit {
            ExitStatus::Exited(0) if completed => AgentStatus::Completed,
            _ if cancelled => AgentStatus::Cancelled,
            _ => AgentStatus::Failed,
        };
        if let Some(thread) = running.stream.thread_id {
            self.thread = Some(thread);
        }
    }
}

impl Running {
    fn new(child: Child) -> Self {
        Self {
            child,
            splitter: LineSplitter::default(),
            stream: Stream::default(),
            stdout_ended: false,
            waited: 0,
        }
    }

    /// Follows the program until it has ended, at most for about `timeout`; the engine
    /// interrupts at the exact end. `None` if the program goes on.
    fn advance(&mut self, timeout: u32) -> Result<Option<ExitStatus>, WaitError> {
        loop {
            let over = self.stdout_ended || self.stream.terminal.is_some();
            let patience = if over { STEP } else { timeout };
            let silent = if self.stdout_ended {
                match self.child.wait(patience)? {
                    Some(exit) => return Ok(Some(exit)),
                    None => true,
                }
            } else {
                self.read(patience)?
            };
            if silent && !over {
                return Ok(None);
            }
            if silent {
                self.waited = self.waited.saturating_add(STEP);
            }
            if self.waited >= EXIT_WAIT {
                return Ok(Some(self.child.terminate(EXIT_GRACE)));
            }
        }
    }

    /// Reads what the program printed; true if nothing came in time.
    fn read(&mut self, timeout: u32) -> Result<bool, WaitError> {
        let stream = &mut self.stream;
        let take = |line: akbench_adapter_sdk::lines::Line<'_>| {
            if let Some(meaning) = stream.push(line) {
                progress::emit(meaning);
            }
        };
        match self.child.read_stdout(CHUNK, timeout)? {
            Output::Bytes(bytes) => self.splitter.push(&bytes, take),
            Output::TimedOut => return Ok(true),
            Output::End => {
                self.splitter.finish(take);
                self.stdout_ended = true;
            }
        }
        Ok(false)
    }
}
