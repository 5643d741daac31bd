//! The operations of a session, one of them broken.

use crate::adapter::traps_if;
use crate::breaks::Break;
use crate::configuration::Configured;
use crate::falsify::Memory;
use crate::instruction;
use crate::leak;
use crate::observe;
use akbench_adapter_sdk::bindings::exports::akbench::agent::agent::GuestSession;
use akbench_adapter_sdk::events::{self, Event};
use akbench_adapter_sdk::failure::{failure, interrupted};
use akbench_adapter_sdk::process::{
    self, Child, Command, Directory, EnvPart, ExitStatus, StdinMode, WaitError,
};
use akbench_adapter_sdk::types::{
    AgentStatus, Failure, FailureClass, Observations, Progress, Task,
};
use akbench_fake_adapter::adapter::not_started;
use akbench_fake_adapter::observe::TASK;
use akbench_fake_adapter::running::Running;
use akbench_fake_adapter::session::command;
use std::cell::RefCell;

/// The variable in which the agent looks for its key.
const KEY: &str = "FAKE_AGENT_KEY";
/// Waits of less than this many milliseconds are short.
const SHORT_WAIT: u32 = 1_000;
/// Waits of at least this many milliseconds end only by themselves or by an interruption.
const LONG_WAIT: u32 = 10_000;
/// A flood of events is this many of a kilobyte each.
const FLOOD: usize = 256;

/// One conversation with the agent.
pub struct BrokenSession {
    broken: Break,
    /// `None` in replay.
    live: Option<Live>,
    state: RefCell<State>,
}

struct Live {
    /// A second task continues the first.
    continues: bool,
    /// The name of the runtime's credential.
    credential: Option<String>,
}

struct State {
    status: AgentStatus,
    running: Option<Running>,
    /// A process that nobody asked for.
    early: Option<Child>,
    time_limit: Option<u32>,
    cancels: u32,
    late_cancel: bool,
    closes: u32,
    asked: u32,
}

impl BrokenSession {
    /// A session that works.
    pub fn new(configured: Configured) -> Result<Self, Failure> {
        let broken = configured.broken;
        let runtime = configured.config.runtime;
        let live = Live {
            continues: configured.continues,
            credential: runtime.and_then(|runtime| runtime.credential),
        };
        let session = Self::with(broken, Some(live));
        if broken == Break::WorksAtStart {
            let early = process::spawn(&command("early", &["work"], StdinMode::Piped));
            session.state.borrow_mut().early = Some(early.map_err(|error| not_started(&error))?);
        }
        Ok(session)
    }

    /// A session whose work is over.
    pub fn replay(broken: Break) -> Self {
        Self::with(broken, None)
    }

    fn with(broken: Break, live: Option<Live>) -> Self {
        let state = State {
            status: AgentStatus::Created,
            running: None,
            early: None,
            time_limit: None,
            cancels: 0,
            late_cancel: false,
            closes: 0,
            asked: 0,
        };
        Self {
            broken,
            live,
            state: RefCell::new(state),
        }
    }

    fn command(&self, live: &Live, is_first: bool, task: Task) -> Command {
        let prompt = instruction::changed(self.broken, task.instruction);
        let args = if is_first { ["work"] } else { ["continue"] };
        let mut command = command(TASK, &args, StdinMode::Bytes(prompt.into_bytes()));
        if let Some(name) = &live.credential {
            let value = vec![EnvPart::Credential(name.clone())];
            command.env.push((KEY.to_owned(), value));
        }
        match self.broken {
            Break::WorksInHome => command.cwd = Directory::AgentHome,
            Break::HomeIsWorkspace => {
                let value = vec![EnvPart::Path(Directory::Workspace)];
                command.env.push(("FAKE_AGENT_HOME".to_owned(), value));
            }
            _ => {}
        }
        command
    }
}

impl GuestSession for BrokenSession {
    fn submit_task(&self, task: Task) -> Result<(), Failure> {
        traps_if(self.broken == Break::TrapInSubmit);
        let Some(live) = &self.live else {
            return invalid("a session in replay mode takes no task");
        };
        let mut state = self.state.borrow_mut();
        let is_first = state.status == AgentStatus::Created;
        match state.status {
            AgentStatus::Created => {}
            AgentStatus::Running if self.broken == Break::TaskSwallowed => return Ok(()),
            AgentStatus::Running => return invalid("the first task is not over"),
            _ if live.continues || self.broken == Break::SecondTaskTaken => {}
            _ => return invalid("this agent takes one task only"),
        }
        state.time_limit = task.time_limit;
        let child = process::spawn(&self.command(live, is_first, task));
        let child = child.map_err(|error| not_started(&error))?;
        state.status = AgentStatus::Running;
        state.running = Some(Running::new(child));
        Ok(())
    }

    fn wait_for_completion(&self, timeout: u32) -> Result<Progress, Failure> {
        traps_if(self.broken == Break::TrapInWait);
        let mut state = self.state.borrow_mut();
        let Some(running) = state.running.as_mut() else {
            return match state.status {
                AgentStatus::Created => invalid("no task was submitted that could be waited for"),
                _ => Ok(Progress::Ended),
            };
        };
        match (running.advance(timeout), self.broken) {
            (Ok(Some(exit)), broken) => {
                state.settle(exit, false);
                if broken == Break::EventFlood && state.status == AgentStatus::Completed {
                    (0..FLOOD).for_each(|_| events::emit(&Event::Message("x".repeat(1 << 10))));
                }
                Ok(Progress::Ended)
            }
            (_, Break::TimeoutEnds) if timeout < SHORT_WAIT => Ok(Progress::Ended),
            (Err(WaitError::Interrupted), Break::InterruptedWaitFails) if timeout >= LONG_WAIT => {
                Err(interrupted("wait-for-completion"))
            }
            (Ok(None) | Err(WaitError::Interrupted), _) => Ok(Progress::Pending),
        }
    }

    fn get_status(&self) -> AgentStatus {
        traps_if(self.broken == Break::TrapInStatus);
        match (self.broken, self.state.borrow().status) {
            (Break::CompletedIsRunning, AgentStatus::Completed) => AgentStatus::Running,
            (Break::FailedIsCompleted, AgentStatus::Failed) => AgentStatus::Completed,
            (Break::CancelledIsFailed, AgentStatus::Cancelled) => AgentStatus::Failed,
            (_, status) => status,
        }
    }

    fn collect_observations(&self) -> Result<Observations, Failure> {
        traps_if(self.broken == Break::TrapInCollect);
        let unknown = |reason| failure(FailureClass::Unknown, reason);
        if self.broken == Break::LogsKeptRaw && self.live.is_some() {
            leak::keep_logs().map_err(unknown)?;
        }
        let mut state = self.state.borrow_mut();
        state.asked += 1;
        let memory = Memory {
            asked: state.asked,
            late_cancel: state.late_cancel,
            time_limit: state.time_limit,
        };
        let memory = self.live.as_ref().map(|_| memory);
        observe::observed(self.broken, memory).map_err(|error| unknown(error.to_string()))
    }

    fn cancel(&self, grace: u32) -> Result<(), Failure> {
        traps_if(self.broken == Break::TrapInCancel);
        let mut state = self.state.borrow_mut();
        state.cancels += 1;
        let is_unused = state.status == AgentStatus::Created;
        if self.broken == Break::CancelNeedsTask && is_unused {
            return invalid("there is nothing to cancel");
        }
        if self.broken == Break::CancelOnce && state.cancels > 1 {
            return invalid("it is cancelled already");
        }
        let Some(mut running) = state.running.take() else {
            state.late_cancel = self.broken == Break::LateCancelCounts;
            return Ok(());
        };
        let kills = match state.time_limit {
            None => self.broken == Break::CancelKills,
            Some(_) => self.broken == Break::LimitKills,
        };
        if kills {
            // What is dropped is ended with SIGTERM, and not asked.
            drop(running);
            state.status = AgentStatus::Cancelled;
            return Ok(());
        }
        let exit = running.stop(grace);
        state.status = running.settled(exit, true);
        Ok(())
    }

    fn close(&self) -> Result<(), Failure> {
        traps_if(self.broken == Break::TrapInClose);
        let mut state = self.state.borrow_mut();
        state.closes += 1;
        state.early = None;
        let is_unused = state.status == AgentStatus::Created && state.cancels == 0;
        let is_live = self.live.is_some();
        let was_running = state.running.take().is_some();
        match self.broken {
            Break::CloseOnce if state.closes > 1 => invalid("it is closed already"),
            Break::CloseNeedsTask if is_unused && is_live => invalid("it was never used"),
            Break::CloseNeedsEnd if was_running => invalid("the agent is at work"),
            _ => Ok(()),
        }
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
