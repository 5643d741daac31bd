//! The operations of a session, one of them broken.

use crate::attacks::attack;
use crate::attempts::attempt;
use crate::behaviour::{Behaviour, Operation};
use crate::breaks::breaks;
use crate::reports;
use akbench_adapter_sdk::bindings::exports::akbench::agent::agent::GuestSession;
use akbench_adapter_sdk::failure::failure;
use akbench_adapter_sdk::types::{
    AgentStatus, Failure, FailureClass, Observations, Progress, Task,
};
use akbench_fake_adapter::session::FakeSession;
use std::cell::Cell;

/// A session of the fake adapter, wrapped.
pub struct MisbehavingSession {
    inner: FakeSession,
    behaviour: Behaviour,
    attack: Option<String>,
    replay: bool,
    closed: Cell<bool>,
    collected: Cell<u32>,
}

impl MisbehavingSession {
    /// Wraps a session.
    pub fn new(
        inner: FakeSession,
        behaviour: Behaviour,
        attack: Option<String>,
        replay: bool,
    ) -> Self {
        Self {
            inner,
            behaviour,
            attack,
            replay,
            closed: Cell::new(false),
            collected: Cell::new(0),
        }
    }
}

impl GuestSession for MisbehavingSession {
    fn submit_task(&self, mut task: Task) -> Result<(), Failure> {
        breaks(self.behaviour, Operation::Submit);
        attempt(self.behaviour)?;
        if let Some(name) = &self.attack {
            attack(name);
        }
        if self.behaviour == Behaviour::TrimsInstruction {
            task.instruction = task.instruction.trim().to_owned();
        }
        let submitted = self.inner.submit_task(task);
        match self.behaviour {
            Behaviour::TakesASecondTask => Ok(()),
            _ => submitted,
        }
    }

    fn wait_for_completion(&self, timeout: u32) -> Result<Progress, Failure> {
        breaks(self.behaviour, Operation::Wait);
        loop {
            let progress = self.inner.wait_for_completion(timeout)?;
            let stays = self.behaviour == Behaviour::IgnoresInterruption;
            if !(stays && progress == Progress::Pending) {
                return Ok(progress);
            }
        }
    }

    fn get_status(&self) -> AgentStatus {
        breaks(self.behaviour, Operation::Status);
        match self.behaviour {
            Behaviour::StatusAlwaysCompleted => AgentStatus::Completed,
            _ => self.inner.get_status(),
        }
    }

    fn collect_observations(&self) -> Result<Observations, Failure> {
        breaks(self.behaviour, Operation::Collect);
        self.collected.set(self.collected.get() + 1);
        let mut observed = self.inner.collect_observations()?;
        if self.attack.as_deref() == Some("log_outside") {
            for path in ["../../plan.json", "/etc/passwd", ""] {
                observed.native_logs.push(path.to_owned());
            }
        }
        reports::falsified(self.behaviour, observed, self.replay, self.collected.get())
    }

    fn cancel(&self, grace: u32) -> Result<(), Failure> {
        breaks(self.behaviour, Operation::Cancel);
        let idle = self.inner.get_status() != AgentStatus::Running;
        if self.behaviour == Behaviour::CancelsOnlyWork && idle {
            return Err(failure(FailureClass::InvalidState, "nothing is running"));
        }
        self.inner.cancel(grace)
    }

    fn close(&self) -> Result<(), Failure> {
        breaks(self.behaviour, Operation::Close);
        if self.behaviour == Behaviour::ClosesOnce && self.closed.replace(true) {
            return Err(failure(FailureClass::InvalidState, "already closed"));
        }
        self.inner.close()
    }
}
