//! Driving one session through the contract: validate, start, submit, wait, stop, collect,
//! close. Nothing here knows any agent.

use super::collect::{Masks, copy_home_evidence};
use super::limits::{self, RunLimits};
use super::operate::{AdapterFault, Operation, instantiation_fault, not_returned, operate};
use super::replay::{ReplayError, ReplaySetup, Replayed, replay};
use super::result::Phases;
use super::session_record::milliseconds;
use super::stop::{StopSignal, Urgency};
use crate::contract::events::RunEvent;
use crate::contract::grants::Grants;
use crate::contract::interrupt::{Interrupter, interruption};
use crate::contract::observed::{EnvironmentReport, Observations, Phase, ReportedFailure};
use crate::contract::session::SessionHost;
use crate::contract::v0_1::{AgentConfig, Instance, InstanceOptions, Progress, Task};
use crate::journal::{Audit, Journal};
use crate::process::exit::SignalReason;
use crate::process::recorder::Activity;
use crate::process::redaction::Redactor;
use crate::process::resources::limit::Hit;
use crate::process::resources::watch::{Findings, Watch};
use crate::process::tree::{Census, ProcessTree};
use crate::sandbox::component::AdapterComponent;
use crate::sandbox::engine::Sandbox;
use serde::{Deserialize, Serialize};
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// What a session needs.
pub struct SessionSetup {
    /// The wasm engine.
    pub sandbox: Sandbox,
    /// The adapter.
    pub component: AdapterComponent,
    /// Bytes of memory that it may use.
    pub memory_bytes: u64,
    /// What it may do.
    pub grants: Arc<Grants>,
    /// Globs of evidence in the agent's home.
    pub home_evidence: Vec<String>,
    /// Where programs run.
    pub tree: Arc<ProcessTree>,
    /// Masks secrets.
    pub redactor: Redactor,
    /// Events.
    pub journal: Arc<Journal>,
    /// Grants and denials.
    pub audit: Arc<Audit>,
    /// The experiment's configuration.
    pub config: AgentConfig,
    /// What to do.
    pub task: Task,
    /// How long it may take.
    pub limits: RunLimits,
    /// Whoever may stop the run.
    pub stop: StopSignal,
    /// Folders that the agent can write to: their growth is limited.
    pub written: Vec<std::path::PathBuf>,
    /// A file whose removal makes room when the disk is full.
    pub reserve: std::path::PathBuf,
}

/// Why the engine ended the agent's work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "detail", rename_all = "snake_case")]
pub enum StopCause {
    /// Somebody asked for it.
    Cancelled,
    /// The time was over.
    TimeLimit(#[serde(with = "milliseconds")] Duration),
    /// Nothing came for this long.
    IdleLimit(#[serde(with = "milliseconds")] Duration),
    /// The tree ran into a limit on what it may use of the machine.
    ResourceLimit(Hit),
    /// Evidence was being lost.
    RecordingFailed,
    /// The engine died in this phase, and the tree with it.
    HostDied(Phase),
}

impl StopCause {
    fn reason(&self) -> SignalReason {
        match self {
            Self::Cancelled => SignalReason::Cancel,
            Self::TimeLimit(_) => SignalReason::TimeLimit,
            Self::IdleLimit(_) => SignalReason::IdleLimit,
            Self::ResourceLimit(_) => SignalReason::ResourceLimit,
            Self::RecordingFailed | Self::HostDied(_) => SignalReason::SessionEnd,
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Cancelled => "cancelled".to_owned(),
            Self::TimeLimit(limit) => format!("the time limit of {limit:?} is over"),
            Self::IdleLimit(limit) => format!("no output for {limit:?}"),
            Self::ResourceLimit(hit) => hit.describe(),
            Self::RecordingFailed => "evidence can't be recorded any more".to_owned(),
            Self::HostDied(_) => "the engine died".to_owned(),
        }
    }
}

/// What came of a session.
#[derive(Debug, Default)]
pub struct Driven {
    /// What `validate-environment` found.
    pub report: EnvironmentReport,
    /// How long each phase took.
    pub phases: Phases,
    /// An operation that failed by the adapter's own word, and the phase.
    pub failed: Option<(Phase, ReportedFailure)>,
    /// The adapter broke.
    pub fault: Option<AdapterFault>,
    /// The engine ended the work.
    pub stopped: Option<StopCause>,
    /// The work was submitted, so there is something to observe.
    pub submitted: bool,
    /// What was observed; `None` if nothing could be.
    pub observations: Option<Observations>,
    /// Where the adapter broke the contract, observing apart.
    pub violations: Vec<String>,
    /// Where it broke it in what it observed.
    pub observed_violations: Vec<String>,
    /// Evidence that could not be written.
    pub recording_failure: Option<RecordingFailed>,
    /// Programs started.
    pub spawned: u32,
    /// What was left of the tree.
    pub census: Option<Census>,
    /// What the tree used of each limited resource, and the first limit that it ran into.
    pub resources: Findings,
    /// Masks in the copied files.
    pub masks: Masks,
}

impl Driven {
    /// Adds what observing again from the evidence brought.
    pub fn take_replayed(&mut self, replayed: Result<Replayed, ReplayError>) {
        match replayed {
            Ok(replayed) => {
                self.observations = Some(replayed.observations);
                self.observed_violations.extend(replayed.violations);
            }
            // A fault that made the replay necessary is already recorded and explains more.
            Err(ReplayError::Fault(fault)) => {
                self.fault.get_or_insert(fault);
            }
            Err(ReplayError::Failed(failure)) => {
                self.failed.get_or_insert((Phase::Collect, failure));
            }
        }
    }
}

/// Evidence that could not be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingFailed {
    /// What the system said.
    pub message: String,
    /// True if there was no room left.
    pub disk_full: bool,
}

impl RecordingFailed {
    fn new(error: &io::Error) -> Self {
        Self {
            message: error.to_string(),
            disk_full: matches!(
                error.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            ),
        }
    }
}

type Finishers = Arc<Mutex<Vec<JoinHandle<io::Result<()>>>>>;

struct Session<'a> {
    setup: &'a SessionSetup,
    stop: StopSignal,
    interrupter: Interrupter,
    activity: Activity,
    watch: Watch,
    stop_reason: Arc<Mutex<Option<SignalReason>>>,
    finishers: Finishers,
    driven: Driven,
}

/// How far a session goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// `validate-environment` only.
    Validate,
    /// To the end of the agent's work.
    Work,
}

/// Runs a session from `validate-environment` to `close`.
pub async fn drive(setup: &SessionSetup) -> Driven {
    drive_to(setup, Extent::Work).await
}

/// Validates the environment as [`drive`] does, and ends there: no work is done.
pub async fn validate(setup: &SessionSetup) -> Driven {
    drive_to(setup, Extent::Validate).await
}

async fn drive_to(setup: &SessionSetup, extent: Extent) -> Driven {
    let (interrupter, interrupt) = interruption();
    let host = SessionHost::new(
        Arc::clone(&setup.grants),
        Some(Arc::clone(&setup.tree)),
        setup.redactor.clone(),
        interrupt,
        Arc::clone(&setup.journal),
        Arc::clone(&setup.audit),
    );
    let watch = Watch::start(
        Arc::clone(&setup.tree),
        setup.written.clone(),
        host.activity.clone(),
    );
    let watch = watch.await;
    let mut session = Session {
        setup,
        stop: setup.stop.clone(),
        interrupter,
        activity: host.activity.clone(),
        watch,
        stop_reason: Arc::clone(&host.stop_reason),
        finishers: host.finishers(),
        driven: Driven::default(),
    };
    let options = InstanceOptions {
        host,
        memory_bytes: setup.memory_bytes,
    };
    let mut instance =
        match Instance::new(&setup.sandbox, &setup.component.component, options).await {
            Ok(instance) => Some(instance),
            Err(error) => {
                session.driven.fault =
                    Some(instantiation_fault(Operation::ValidateEnvironment, &error));
                None
            }
        };
    if let Some(running) = &mut instance
        && let Err(fault) = session.work(running, extent).await
    {
        session.driven.fault = Some(fault);
        // A store is not to be used after a trap.
        instance = None;
    }
    session.end_tree().await;
    session.observe(instance).await;
    session.driven
}

impl Session<'_> {
    /// Everything until the agent's work is over or was ended.
    async fn work(&mut self, instance: &mut Instance, extent: Extent) -> Result<(), AdapterFault> {
        let config = &self.setup.config;
        let started = self.enter(Phase::Validate);
        let validated = self
            .stoppable(
                instance,
                Operation::ValidateEnvironment,
                limits::PREPARE,
                async |i| i.validate_environment(config).await,
            )
            .await;
        self.driven.phases.validate = Some(elapsed(started));
        match validated? {
            Some(Ok(report)) => {
                if let Some(version) = report.agent_version.clone() {
                    self.setup
                        .journal
                        .record(&RunEvent::AgentVersion { version });
                }
                self.driven.report = report;
            }
            Some(Err(failure)) => return self.fail(Phase::Validate, failure),
            None => return Ok(()),
        }
        if extent == Extent::Validate {
            return Ok(());
        }

        let started = self.enter(Phase::Start);
        let opened = self
            .stoppable(
                instance,
                Operation::StartSession,
                limits::PREPARE,
                async |i| i.start_session(config).await,
            )
            .await;
        self.driven.phases.start = Some(elapsed(started));
        match opened? {
            Some(Ok(())) => {}
            Some(Err(failure)) => return self.fail(Phase::Start, failure),
            None => return Ok(()),
        }

        let started = self.enter(Phase::Work);
        let worked = self.submit_and_wait(instance).await;
        self.driven.phases.work = Some(elapsed(started));
        worked
    }

    async fn submit_and_wait(&mut self, instance: &mut Instance) -> Result<(), AdapterFault> {
        let began = tokio::time::Instant::now();
        self.activity.touch();
        let task = &self.setup.task;
        self.driven.submitted = true;
        let submitted = self
            .stoppable(instance, Operation::SubmitTask, limits::SUBMIT, async |i| {
                i.submit_task(task).await
            })
            .await?;
        match submitted {
            Some(Ok(())) => {}
            Some(Err(failure)) => return self.fail(Phase::Work, failure),
            None => return self.cancel(instance).await,
        }
        while !self.wait_once(instance, began).await? {}
        if self.driven.stopped.is_some() {
            return self.cancel(instance).await;
        }
        Ok(())
    }

    /// One `wait-for-completion`. True once the work is over or is to be ended.
    async fn wait_once(
        &mut self,
        instance: &mut Instance,
        began: tokio::time::Instant,
    ) -> Result<bool, AdapterFault> {
        let mut stop = self.stop.clone();
        let activity = self.activity.clone();
        let run_limits = self.setup.limits;
        let mut waiting = pin!(operate(
            instance,
            &self.interrupter,
            Operation::WaitForCompletion,
            limits::WAIT_SLICE,
            async |i| i.wait_for_completion(limits::WAIT_SLICE).await,
        ));
        let cause = tokio::select! {
            biased;
            waited = &mut waiting => match waited? {
                Ok(Progress::Ended) => return Ok(true),
                Ok(Progress::Pending) => return Ok(false),
                Err(failure) => {
                    self.driven.failed = Some((Phase::Work, failure));
                    return Ok(true);
                }
            },
            cause = next_cause(run_limits, began, &activity, &mut stop) => cause,
            hit = self.watch.hit() => StopCause::ResourceLimit(hit),
        };
        let text = cause.describe();
        self.setup
            .journal
            .record(&RunEvent::Stopping { reason: text });
        self.set_stop_reason(cause.reason());
        if cause == StopCause::RecordingFailed {
            // What is left to record is small. A disk that can't even remove a file can't be
            // helped; the error of the next write tells.
            let _ = std::fs::remove_file(&self.setup.reserve);
        }
        self.driven.stopped = Some(cause);
        self.kill_if_urgent().await;
        self.interrupter.raise();
        let returned = tokio::select! {
            biased;
            returned = tokio::time::timeout(limits::RETURN_GRACE, &mut waiting) => returned,
            () = stop.reached(Urgency::Kill) => return Ok(true),
        };
        match returned {
            // Whatever it says now: the work is being stopped, the evidence will tell.
            Ok(result) => drop(result?),
            Err(_) => {
                return Err(not_returned(Operation::WaitForCompletion, Duration::ZERO));
            }
        }
        Ok(true)
    }

    /// Lets the adapter stop the agent as its protocol asks.
    async fn cancel(&mut self, instance: &mut Instance) -> Result<(), AdapterFault> {
        if self.stop.urgency() == Urgency::Kill || self.is_urgent() {
            return Ok(());
        }
        let mut stop = self.stop.clone();
        let limit = limits::CANCEL_GRACE + limits::RETURN_GRACE;
        let cancelling = operate(
            instance,
            &self.interrupter,
            Operation::Cancel,
            limit,
            async |i| i.cancel(limits::CANCEL_GRACE).await,
        );
        let cancelled = tokio::select! {
            biased;
            // The stop explains the end of the run, so this would be told nowhere else.
            cancelled = cancelling => cancelled.inspect_err(|fault| {
                self.driven.violations.push(fault.failure.message.clone());
            })?,
            // The second signal: the tree is killed next, so the adapter need not return.
            () = stop.reached(Urgency::Kill) => return Ok(()),
        };
        if let Err(failure) = cancelled {
            let class = failure.class;
            self.driven
                .violations
                .push(format!("cancel failed ({class:?}): {}", failure.message));
        }
        Ok(())
    }

    /// An operation that a request to stop interrupts. `None` if it did.
    async fn stoppable<T>(
        &mut self,
        instance: &mut Instance,
        operation: Operation,
        limit: Duration,
        call: impl AsyncFnOnce(&mut Instance) -> wasmtime::Result<T>,
    ) -> Result<Option<T>, AdapterFault> {
        let mut stop = self.stop.clone();
        let mut calling = pin!(operate(instance, &self.interrupter, operation, limit, call));
        let cause = tokio::select! {
            biased;
            result = &mut calling => return result.map(Some),
            () = stop.reached(Urgency::Cancel) => StopCause::Cancelled,
            hit = self.watch.hit() => StopCause::ResourceLimit(hit),
        };
        self.set_stop_reason(cause.reason());
        self.driven.stopped = Some(cause);
        self.kill_if_urgent().await;
        self.interrupter.raise();
        let returned = tokio::select! {
            biased;
            returned = tokio::time::timeout(limits::RETURN_GRACE, &mut calling) => returned,
            () = stop.reached(Urgency::Kill) => return Ok(None),
        };
        match returned {
            Ok(result) => result.map(|_| None),
            Err(_) => Err(not_returned(operation, Duration::ZERO)),
        }
    }

    fn is_urgent(&self) -> bool {
        matches!(&self.driven.stopped, Some(StopCause::ResourceLimit(hit)) if hit.is_urgent())
    }

    /// Ends the tree before anybody is asked, if it is taking the machine away.
    async fn kill_if_urgent(&self) {
        if self.is_urgent() {
            let reason = SignalReason::ResourceLimit;
            // The census that counts is taken when the session ends.
            let _ = self.setup.tree.end_all(Duration::ZERO, reason).await;
        }
    }

    /// Ends everything that runs, and completes the evidence.
    async fn end_tree(&mut self) {
        let grace = match self.stop.urgency() {
            Urgency::Kill => Duration::ZERO,
            Urgency::None | Urgency::Cancel => limits::TREE_GRACE,
        };
        let reason = self
            .driven
            .stopped
            .as_ref()
            .map_or(SignalReason::SessionEnd, StopCause::reason);
        self.driven.census = self.setup.tree.end_all(grace, reason).await;
        self.driven.resources = self.watch.finish().await;
        let finishers = std::mem::take(
            &mut *self
                .finishers
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        self.driven.spawned = u32::try_from(finishers.len()).unwrap_or(u32::MAX);
        for finisher in finishers {
            if let Ok(Err(error)) = finisher.await {
                self.driven.recording_failure = Some(RecordingFailed::new(&error));
            }
        }
        match self.copy_home_evidence().await {
            Ok(masks) => self.driven.masks = masks,
            Err(error) => self.driven.recording_failure = Some(RecordingFailed::new(&error)),
        }
    }

    /// On a thread of its own: a home can be large, and whoever drives may have but one thread
    /// for all sessions.
    async fn copy_home_evidence(&self) -> io::Result<Masks> {
        let folders = &self.setup.grants.folders;
        let (home, evidence) = (folders.agent_home.clone(), folders.evidence.clone());
        let globs = self.setup.home_evidence.clone();
        let redactor = self.setup.redactor.clone();
        let copying = move || copy_home_evidence(&home, &globs, &evidence, &redactor);
        match tokio::task::spawn_blocking(copying).await {
            Ok(copied) => copied,
            Err(panic) => Err(io::Error::other(panic)),
        }
    }

    /// Derives the observations from the evidence, in this instance or, if it broke, in a
    /// fresh one that replays.
    async fn observe(&mut self, instance: Option<Instance>) {
        if let Some(mut instance) = instance {
            if self.driven.submitted && self.collect(&mut instance).await {
                self.close(&mut instance).await;
                return;
            }
            if !self.driven.submitted {
                return;
            }
        }
        if self.driven.submitted {
            self.replay().await;
        }
    }

    /// True if the instance is still good.
    async fn collect(&mut self, instance: &mut Instance) -> bool {
        let started = self.enter(Phase::Collect);
        let collected = operate(
            instance,
            &self.interrupter,
            Operation::CollectObservations,
            limits::COLLECT,
            async |i| i.collect_observations().await,
        )
        .await;
        self.driven.phases.collect = Some(elapsed(started));
        match collected {
            Ok(Ok((observations, violations))) => {
                self.driven.observations = Some(observations);
                let named = violations.iter().map(ToString::to_string);
                self.driven.observed_violations.extend(named);
                true
            }
            Ok(Err(failure)) => {
                self.driven.failed.get_or_insert((Phase::Collect, failure));
                true
            }
            Err(fault) => {
                self.driven.fault.get_or_insert(fault);
                false
            }
        }
    }

    async fn close(&mut self, instance: &mut Instance) {
        let started = self.enter(Phase::Close);
        let closed = operate(
            instance,
            &self.interrupter,
            Operation::Close,
            limits::CLOSE,
            async |i| i.close().await,
        )
        .await;
        self.driven.phases.close = Some(elapsed(started));
        // The work is over and observed: a close that fails breaks the contract, not the run.
        match closed {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => {
                self.driven
                    .violations
                    .push(format!("close failed: {}", failure.message));
            }
            Err(fault) => self.driven.violations.push(fault.failure.message),
        }
    }

    async fn replay(&mut self) {
        let setup = self.setup;
        let replayed = replay(&ReplaySetup {
            sandbox: setup.sandbox.clone(),
            component: setup.component.clone(),
            memory_bytes: setup.memory_bytes,
            grants: Arc::clone(&setup.grants),
            redactor: setup.redactor.clone(),
            journal: Arc::clone(&setup.journal),
            audit: Arc::clone(&setup.audit),
            config: setup.config.clone(),
        })
        .await;
        self.driven.take_replayed(replayed);
    }

    fn fail(&mut self, phase: Phase, failure: ReportedFailure) -> Result<(), AdapterFault> {
        self.driven.failed = Some((phase, failure));
        Ok(())
    }

    fn enter(&self, phase: Phase) -> Instant {
        self.setup.journal.record(&RunEvent::Phase { phase });
        Instant::now()
    }

    fn set_stop_reason(&self, reason: SignalReason) {
        *self
            .stop_reason
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(reason);
    }
}

/// Waits until there is a reason to end the agent's work.
async fn next_cause(
    limits: RunLimits,
    began: tokio::time::Instant,
    activity: &Activity,
    stop: &mut StopSignal,
) -> StopCause {
    let time = async {
        match limits.time {
            Some(limit) => {
                tokio::time::sleep_until(began + limit).await;
                StopCause::TimeLimit(limit)
            }
            None => std::future::pending().await,
        }
    };
    let idle = async {
        let Some(limit) = limits.idle else {
            return std::future::pending().await;
        };
        loop {
            let silent_since = activity.last();
            let over = silent_since + limit;
            if Instant::now() >= over {
                return StopCause::IdleLimit(limit);
            }
            tokio::time::sleep_until(over.into()).await;
        }
    };
    tokio::select! {
        () = stop.reached(Urgency::Cancel) => StopCause::Cancelled,
        cause = time => cause,
        cause = idle => cause,
        () = activity.failed() => StopCause::RecordingFailed,
    }
}

fn elapsed(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
