//! A session: one process of the agent for one task.

use crate::adapter::not_started;
use crate::observe::{self, TASK};
use crate::parameters::Parameters;
use crate::running::Running;
use crate::simulate;
use akbench_adapter_sdk::bindings::exports::akbench::agent::agent::GuestSession;
use akbench_adapter_sdk::evidence::GrantedEvidence;
use akbench_adapter_sdk::failure::failure;
use akbench_adapter_sdk::process::{
    self, Child, Command, Directory, ExitStatus, SpawnError, StdinMode, WaitError,
};
use akbench_adapter_sdk::types::{
    AgentStatus, Failure, FailureClass, Observations, Progress, Task,
};
use std::cell::RefCell;

/// The program's name in the descriptor.
const PROGRAM: &str = "agent";

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

/// The agent's program, to be started in the workspace.
pub fn command(label: &str, args: &[&str], stdin: StdinMode) -> Command {
    Command {
        program: PROGRAM.to_owned(),
        label: label.to_owned(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        env: Vec::new(),
        cwd: Directory::Workspace,
        stdin,
    }
}

/// Starts the agent's program in the workspace.
///
/// # Errors
///
/// What the engine says.
pub fn start(label: &str, args: &[&str], stdin: StdinMode) -> Result<Child, SpawnError> {
    process::spawn(&command(label, args, stdin))
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
        match start(TASK, &["work"], prompt) {
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
        // Where nothing runs there is nothing to stop, and that is no failure.
        if let Some(running) = state.running.as_mut() {
            let exit = running.stop(grace);
            state.settle(exit, true);
        }
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
        if let Some(running) = self.running.take() {
            self.status = running.settled(exit, cancelled);
        }
    }
}

fn invalid<T>(message: &str) -> Result<T, Failure> {
    Err(failure(FailureClass::InvalidState, message))
}
