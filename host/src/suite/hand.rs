//! The operations one by one, for cases in which their order matters.

use super::case::{Unproven, could_not, failed};
use super::lab::{INSTRUCTION, NO_LIMITS, task};
use super::place::Place;
use crate::contract::interrupt::{Interrupter, interruption};
use crate::contract::observed::{EnvironmentReport, Observations, ReportedFailure};
use crate::contract::session::SessionHost;
use crate::contract::v0_1::{
    AgentConfig, AgentStatus, Instance, InstanceOptions, Prepared, Progress,
};
use crate::process::exit::SignalReason;
use crate::process::redaction::Redactor;
use crate::process::tree::{Census, ProcessTree};
use crate::runner::collect::copy_home_evidence;
use crate::runner::operate::{AdapterFault, Operation, operate};
use crate::sandbox::engine::Sandbox;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;

/// What every operation but waiting gets. Shorter than in a run: the agent is a recording.
pub const LIMIT: Duration = Duration::from_secs(10);

/// How long an agent that ends by itself may take.
const TO_THE_END: Duration = Duration::from_secs(60);

/// What a tree gets before it is killed.
const TREE_GRACE: Duration = Duration::from_millis(300);

/// What an operation answered; the outer error is a fault of the adapter.
pub type Answer<T> = Result<Result<T, ReportedFailure>, Unproven>;

type Finishers = Arc<Mutex<Vec<JoinHandle<io::Result<()>>>>>;

/// An instance whose operations a case calls.
pub struct Hand {
    instance: Instance,
    interrupter: Interrupter,
    tree: Arc<ProcessTree>,
    finishers: Finishers,
    redactor: Redactor,
    home: PathBuf,
    evidence: PathBuf,
    home_evidence: Vec<String>,
    config: AgentConfig,
}

impl Hand {
    /// Instantiates the adapter in a place.
    ///
    /// # Errors
    ///
    /// If it traps at once.
    pub async fn new(
        sandbox: &Sandbox,
        component: &Prepared,
        memory_bytes: u64,
        place: &Place,
        tree: Arc<ProcessTree>,
        home_evidence: &[String],
    ) -> Result<Self, Unproven> {
        let (interrupter, interrupt) = interruption();
        let host = SessionHost::new(
            Arc::clone(&place.grants),
            Some(Arc::clone(&tree)),
            place.redactor.clone(),
            interrupt,
            Arc::clone(&place.journal),
            Arc::clone(&place.audit),
        );
        let finishers = host.finishers();
        let options = InstanceOptions { host, memory_bytes };
        let instance = Instance::new(sandbox, component, options).await;
        let folders = &place.grants.folders;
        Ok(Self {
            instance: instance.map_err(|error| {
                failed(format!("the adapter could not be instantiated: {error:#}"))
            })?,
            interrupter,
            tree,
            finishers,
            redactor: place.redactor.clone(),
            home: folders.agent_home.clone(),
            evidence: folders.evidence.clone(),
            home_evidence: home_evidence.to_vec(),
            config: place.config.clone(),
        })
    }

    /// Changes the configuration.
    pub fn config(&mut self) -> &mut AgentConfig {
        &mut self.config
    }

    /// `validate-environment`.
    ///
    /// # Errors
    ///
    /// A fault. So in all operations.
    pub async fn validate(&mut self) -> Answer<EnvironmentReport> {
        let config = self.config.clone();
        self.operate(Operation::ValidateEnvironment, LIMIT, async |i| {
            i.validate_environment(&config).await
        })
        .await
    }

    /// `validate-environment`, during which the engine wants the session back.
    ///
    /// # Errors
    ///
    /// A fault.
    pub async fn validate_interrupted(&mut self) -> Answer<EnvironmentReport> {
        let config = self.config.clone();
        let short = Duration::from_millis(500);
        self.operate(Operation::ValidateEnvironment, short, async |i| {
            i.validate_environment(&config).await
        })
        .await
    }

    /// `start-session`.
    ///
    /// # Errors
    ///
    /// A fault.
    pub async fn start(&mut self) -> Answer<()> {
        let config = self.config.clone();
        self.operate(Operation::StartSession, LIMIT, async |i| {
            i.start_session(&config).await
        })
        .await
    }

    /// `submit-task`.
    ///
    /// # Errors
    ///
    /// A fault.
    pub async fn submit(&mut self) -> Answer<()> {
        let task = task(INSTRUCTION, NO_LIMITS);
        self.operate(Operation::SubmitTask, LIMIT, async |i| {
            i.submit_task(&task).await
        })
        .await
    }

    /// `wait-for-completion`.
    ///
    /// # Errors
    ///
    /// A fault.
    pub async fn wait(&mut self, timeout: Duration) -> Answer<Progress> {
        self.operate(Operation::WaitForCompletion, timeout, async |i| {
            i.wait_for_completion(timeout).await
        })
        .await
    }

    /// `wait-for-completion`, interrupted as soon as `ready` is over.
    ///
    /// # Errors
    ///
    /// A fault, or what `ready` says.
    pub async fn wait_interrupted(
        &mut self,
        ready: impl Future<Output = Result<(), Unproven>>,
    ) -> Answer<Progress> {
        let interrupter = &self.interrupter;
        let waiting = operate(
            &mut self.instance,
            interrupter,
            Operation::WaitForCompletion,
            TO_THE_END,
            async |i| i.wait_for_completion(TO_THE_END).await,
        );
        let interrupting = async {
            ready.await?;
            interrupter.raise();
            // From here on the adapter has its grace and no more.
            tokio::time::sleep(crate::runner::limits::RETURN_GRACE).await;
            Err(failed(format!(
                "wait-for-completion did not return within {} s of the interruption",
                crate::runner::limits::RETURN_GRACE.as_secs()
            )))
        };
        tokio::select! {
            biased;
            waited = waiting => waited.map_err(|fault| broke(&fault)),
            late = interrupting => late,
        }
    }

    /// Waits until the work is over.
    ///
    /// # Errors
    ///
    /// A fault, a failure, or no end.
    pub async fn wait_to_the_end(&mut self) -> Result<(), Unproven> {
        let until = tokio::time::Instant::now() + TO_THE_END;
        while tokio::time::Instant::now() < until {
            let progress = self.wait(Duration::from_secs(5)).await?;
            if works("wait-for-completion", Ok(progress))? == Progress::Ended {
                return Ok(());
            }
        }
        Err(failed(format!(
            "the work was not over after {} s",
            TO_THE_END.as_secs()
        )))
    }

    /// `get-status`.
    ///
    /// # Errors
    ///
    /// A fault.
    pub async fn status(&mut self) -> Result<AgentStatus, Unproven> {
        self.operate(Operation::GetStatus, LIMIT, async |i| i.status().await)
            .await
    }

    /// `collect-observations`, once nothing runs any more.
    ///
    /// # Errors
    ///
    /// A fault, a failure, or values that the contract does not allow.
    pub async fn collect(&mut self) -> Result<Observations, Unproven> {
        let collected = self
            .operate(Operation::CollectObservations, LIMIT, async |i| {
                i.collect_observations().await
            })
            .await?;
        let (observations, violations) = works("collect-observations", Ok(collected))?;
        match violations.first() {
            Some(violation) => Err(failed(violation.to_string())),
            None => Ok(observations),
        }
    }

    /// `cancel`.
    ///
    /// # Errors
    ///
    /// A fault.
    pub async fn cancel(&mut self) -> Answer<()> {
        let grace = Duration::from_secs(2);
        self.operate(Operation::Cancel, LIMIT, async |i| i.cancel(grace).await)
            .await
    }

    /// `close`, after which the session still exists.
    ///
    /// # Errors
    ///
    /// A fault.
    pub async fn close_and_keep(&mut self) -> Answer<()> {
        self.operate(Operation::Close, LIMIT, async |i| i.close_and_keep().await)
            .await
    }

    /// `close`.
    ///
    /// # Errors
    ///
    /// A fault.
    pub async fn close(&mut self) -> Answer<()> {
        self.operate(Operation::Close, LIMIT, async |i| i.close().await)
            .await
    }

    /// Ends what still runs and completes the evidence, as a run does.
    ///
    /// # Errors
    ///
    /// If evidence was lost, or a process survived.
    pub async fn end_agent(&mut self) -> Result<Census, Unproven> {
        let census = self
            .tree
            .end_all(TREE_GRACE, SignalReason::SessionEnd)
            .await
            .ok_or_else(|| failed("the supervisor of the process tree was lost"))?;
        let finishers = std::mem::take(
            &mut *self
                .finishers
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        for finisher in finishers {
            if let Ok(Err(error)) = finisher.await {
                return Err(could_not("record")(error));
            }
        }
        copy_home_evidence(
            &self.home,
            &self.home_evidence,
            &self.evidence,
            &self.redactor,
        )
        .map_err(could_not("copy evidence"))?;
        if census.survivors > 0 {
            return Err(failed(format!("{} processes survived", census.survivors)));
        }
        Ok(census)
    }

    async fn operate<T>(
        &mut self,
        operation: Operation,
        limit: Duration,
        call: impl AsyncFnOnce(&mut Instance) -> wasmtime::Result<T>,
    ) -> Result<T, Unproven> {
        operate(
            &mut self.instance,
            &self.interrupter,
            operation,
            limit,
            call,
        )
        .await
        .map_err(|fault| broke(&fault))
    }
}

fn broke(fault: &AdapterFault) -> Unproven {
    failed(fault.failure.message.clone())
}

/// The answer of an operation that has to succeed.
///
/// # Errors
///
/// Its failure.
pub fn works<T>(operation: &str, answer: Answer<T>) -> Result<T, Unproven> {
    answer?.map_err(|failure| {
        let (class, message) = (failure.class, failure.message);
        failed(format!("{operation} failed ({class:?}): {message}"))
    })
}

/// The failure of an operation that must not succeed.
///
/// # Errors
///
/// If it does.
pub fn fails<T>(operation: &str, answer: Answer<T>) -> Result<ReportedFailure, Unproven> {
    match answer? {
        Err(failure) => Ok(failure),
        Ok(_) => Err(failed(format!("{operation} succeeded"))),
    }
}
