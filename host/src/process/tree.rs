//! The engine's view of a supervised process tree.

use super::exit::{SentSignal, SignalReason, SignalTarget, signal_name};
use super::forward::{Destination, carry};
use super::launch::{Containment, EarlyLaunch, Launched, launch};
use super::link::{ReplyReceiver, RequestSender, link};
use super::resources::apply::{Applied, refused};
use super::resources::limit::{Resource, ResourceLimits};
use crate::supervisor::protocol::{Reply, Request, SpawnCommand, SpawnErrorKind, SpawnId};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

/// How long a supervisor may take to report.
const READY_LIMIT: Duration = Duration::from_secs(10);

/// How long a supervisor may take to end: it gives what it finds a grace of its own.
const GONE_LIMIT: Duration = Duration::from_secs(5);

/// How a tree is held together.
#[derive(Debug, Clone)]
pub struct TreeOptions {
    /// The akbench binary, which becomes the supervisor.
    pub supervisor: PathBuf,
    /// Containments to try, strongest first.
    pub attempts: Vec<Containment>,
    /// What the tree may use of the machine.
    pub limits: ResourceLimits,
}

/// No supervisor could be started.
#[derive(Debug, thiserror::Error)]
#[error("failed to start a supervisor for the process tree: {}", attempts.join("; "))]
pub struct TreeError {
    /// One sentence for each containment that was tried.
    pub attempts: Vec<String>,
}

/// A program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The system refused.
    #[error("{message}")]
    Refused {
        /// Why, for programs.
        kind: SpawnErrorKind,
        /// Why, for people.
        message: String,
    },
    /// The supervisor is gone, and with it the tree.
    #[error("the supervisor of the process tree is gone")]
    SupervisorLost,
    /// The request could not be sent.
    #[error("failed to ask the supervisor: {0}")]
    Channel(#[from] io::Error),
}

/// What ending a tree came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Census {
    /// Processes that had to be ended.
    pub ended: u32,
    /// Processes that are still alive.
    pub survivors: u32,
}

/// A program's life as far as it is known.
#[derive(Debug, Clone, Default)]
pub struct Life {
    /// As `waitpid` returned it; `None` while it runs.
    pub raw_status: Option<i32>,
    /// When the end was seen.
    pub exited_at: Option<Instant>,
    /// Set once nothing of its tree is left.
    pub cleared: Option<Census>,
    /// The supervisor is gone: nothing more will be known.
    pub lost: bool,
}

/// What a tree uses at one moment, as its supervisor sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeUsage {
    /// Processes and threads.
    pub processes: u64,
    /// Computing time so far, of those that ended too, milliseconds.
    pub cpu_ms: u64,
    /// Memory that is nobody else's; 0 if it is not limited.
    pub memory_bytes: u64,
}

/// What came of taking on limits: why a control group could not be entered, for each in turn,
/// and why the limit of open files could not be set.
type LimitsTaken = (Vec<Option<String>>, Option<String>);

struct Slot {
    spawned: Option<oneshot::Sender<Result<i32, SpawnError>>>,
    life: watch::Sender<Life>,
    started: Instant,
    signals: Vec<SentSignal>,
    ending: SignalReason,
}

struct Shared {
    slots: HashMap<SpawnId, Slot>,
    all_ended: Vec<oneshot::Sender<Census>>,
    /// Somebody waits for the supervisor to listen.
    listening: Option<oneshot::Sender<Result<u16, String>>>,
    /// Somebody waits for the supervisor to take on limits.
    limited: Option<oneshot::Sender<LimitsTaken>>,
    /// Those who wait for a measurement, in the order in which they asked.
    measuring: VecDeque<oneshot::Sender<TreeUsage>>,
    /// Set once the tree had too many processes and was ended for it.
    too_many: watch::Sender<Option<u64>>,
    /// Where connections from inside the network namespace are carried.
    destination: Option<Destination>,
    lost: bool,
}

/// A supervised process tree. Dropping it ends everything in it.
pub struct ProcessTree {
    containment: Containment,
    /// Why a stronger one was not used.
    degraded: Option<String>,
    /// Its limits; the control groups among them are removed once the supervisor is gone.
    applied: Applied,
    requests: RequestSender,
    shared: Arc<Mutex<Shared>>,
    reader: JoinHandle<()>,
    supervisor: Mutex<Option<std::process::Child>>,
}

/// A supervisor that has reported.
struct Started {
    requests: RequestSender,
    replies: ReplyReceiver,
    supervisor: std::process::Child,
}

/// A program that was started.
pub struct StartedProgram {
    /// Its number.
    pub id: SpawnId,
    /// Follows its life.
    pub life: watch::Receiver<Life>,
}

impl ProcessTree {
    /// Starts a supervisor.
    ///
    /// # Errors
    ///
    /// If none of the containments works here.
    pub async fn start(options: &TreeOptions) -> Result<Self, TreeError> {
        Self::start_with(options, None).await
    }

    /// As [`ProcessTree::start`], with a supervisor that may have been started already.
    ///
    /// # Errors
    ///
    /// If none of the containments works here.
    pub async fn start_with(
        options: &TreeOptions,
        mut early: Option<EarlyLaunch>,
    ) -> Result<Self, TreeError> {
        let mut attempts = Vec::new();
        for containment in &options.attempts {
            let launched = early.as_mut().and_then(|early| early.take(containment));
            match Self::start_in(&options.supervisor, containment, launched).await {
                Ok(started) => {
                    let degraded = (!attempts.is_empty()).then(|| attempts.join("; "));
                    let mut tree = Self::new(containment.clone(), degraded, started);
                    match tree.limit(options.limits).await {
                        Ok(()) => return Ok(tree),
                        Err(error) => attempts.push(containment.failed(&error.to_string())),
                    }
                }
                Err(reason) => attempts.push(containment.failed(&reason)),
            }
        }
        Err(TreeError { attempts })
    }

    async fn start_in(
        program: &Path,
        containment: &Containment,
        launched: Option<Launched>,
    ) -> Result<Started, String> {
        let Launched { socket, child } = match launched {
            Some(launched) => launched,
            None => launch(program, containment).map_err(|error| error.to_string())?,
        };
        let kept = socket.try_clone().map_err(|error| error.to_string())?;
        let (requests, mut replies) = link(socket).map_err(|error| error.to_string())?;
        match tokio::time::timeout(READY_LIMIT, replies.next()).await {
            Ok(Ok(Some(Reply::Ready { pid_namespace })))
                if pid_namespace == (*containment != Containment::SubReaper) =>
            {
                Ok(Started {
                    requests,
                    replies,
                    supervisor: child,
                })
            }
            Ok(Ok(Some(other))) => Err(format!("its first message was {other:?}")),
            Ok(Ok(None) | Err(_)) => Err(Launched {
                socket: kept,
                child,
            }
            .explain()),
            Err(_) => {
                let mut child = child;
                // It may have just ended; either way it is over.
                let _ = child.kill();
                let launched = Launched {
                    socket: kept,
                    child,
                };
                Err(format!(
                    "no report within {} s; {}",
                    READY_LIMIT.as_secs(),
                    launched.explain()
                ))
            }
        }
    }

    fn new(containment: Containment, degraded: Option<String>, started: Started) -> Self {
        let shared = Arc::new(Mutex::new(Shared {
            slots: HashMap::new(),
            all_ended: Vec::new(),
            listening: None,
            limited: None,
            measuring: VecDeque::new(),
            too_many: watch::Sender::new(None),
            destination: None,
            lost: false,
        }));
        let reader = tokio::spawn(read_replies(started.replies, Arc::clone(&shared)));
        Self {
            containment,
            degraded,
            applied: Applied::nothing(),
            requests: started.requests,
            shared,
            reader,
            supervisor: Mutex::new(Some(started.supervisor)),
        }
    }

    /// Applies limits, before the first program is started.
    async fn limit(&mut self, limits: ResourceLimits) -> io::Result<()> {
        let mut applied = Applied::prepare(limits);
        let entrances = applied.entrances();
        let open_files = limits.of(Resource::OpenFiles);
        let processes = limits.of(Resource::Processes);
        if !entrances.is_empty() || open_files.is_some() || processes.is_some() {
            let (sender, answer) = oneshot::channel();
            lock(&self.shared).limited = Some(sender);
            let request = Request::Limit {
                groups: entrances.len(),
                processes,
                counting_group: applied.counting_group(),
                open_files,
            };
            self.requests.send(&request, &entrances).await?;
            let (groups, open_files) = answer.await.map_err(|_| supervisor_gone())?;
            applied.entered(groups);
            if let Some(reason) = open_files {
                applied.open_files_refused(refused(&reason));
            }
        }
        self.applied = applied;
        Ok(())
    }

    /// Its limits, and how each is applied.
    pub fn applied(&self) -> &Applied {
        &self.applied
    }

    /// What it uses now; `None` if the supervisor is gone.
    pub async fn measure(&self) -> Option<TreeUsage> {
        let (sender, answer) = oneshot::channel();
        let request = Request::Measure {
            memory_limit: self.applied.limits().of(Resource::Memory),
        };
        {
            let mut shared = lock(&self.shared);
            if shared.lost {
                return None;
            }
            shared.measuring.push_back(sender);
        }
        self.requests.send(&request, &[]).await.ok()?;
        answer.await.ok()
    }

    /// Waits until the tree was ended for having too many processes; for ever if it is not.
    /// Returns how many there were.
    pub async fn too_many_processes(&self) -> u64 {
        let mut found = lock(&self.shared).too_many.subscribe();
        let found = found.wait_for(Option::is_some).await.map(|found| *found);
        match found {
            Ok(Some(processes)) => processes,
            // The tree is gone, so it will not have too many any more.
            Ok(None) | Err(_) => std::future::pending().await,
        }
    }

    /// Lets the tree reach one address: what connects to the loopback port returned, inside
    /// the tree's network namespace, is carried there. `port` is the port wished for, 0 for
    /// any.
    ///
    /// # Errors
    ///
    /// If the port can't be listened on, or the supervisor is gone.
    pub async fn forward(&self, port: u16, destination: Destination) -> io::Result<u16> {
        let (sender, answer) = oneshot::channel();
        {
            let mut shared = lock(&self.shared);
            shared.listening = Some(sender);
            shared.destination = Some(destination);
        }
        self.requests.send(&Request::Listen { port }, &[]).await?;
        match answer.await {
            Ok(Ok(port)) => Ok(port),
            Ok(Err(reason)) => Err(io::Error::other(reason)),
            Err(_) => Err(supervisor_gone()),
        }
    }

    /// How the tree is held together.
    pub fn containment(&self) -> &Containment {
        &self.containment
    }

    /// Why a stronger one was not used; `None` if this is the strongest asked for.
    pub fn degraded(&self) -> Option<&str> {
        self.degraded.as_deref()
    }

    /// Starts a program with these three streams.
    ///
    /// # Errors
    ///
    /// If the system refuses, or the supervisor is gone.
    pub async fn spawn(
        &self,
        id: SpawnId,
        command: SpawnCommand,
        stdio: [OwnedFd; 3],
    ) -> Result<StartedProgram, SpawnError> {
        let (spawned, answer) = oneshot::channel();
        let (life_sender, life) = watch::channel(Life::default());
        {
            let mut shared = lock(&self.shared);
            if shared.lost {
                return Err(SpawnError::SupervisorLost);
            }
            shared.slots.insert(
                id,
                Slot {
                    spawned: Some(spawned),
                    life: life_sender,
                    started: Instant::now(),
                    signals: Vec::new(),
                    ending: SignalReason::Leftovers,
                },
            );
        }
        self.requests
            .send(&Request::Spawn { spawn: id, command }, &stdio)
            .await?;
        drop(stdio);
        match answer.await {
            Ok(Ok(_pid)) => Ok(StartedProgram { id, life }),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(SpawnError::SupervisorLost),
        }
    }

    /// Sends a signal to one program.
    ///
    /// # Errors
    ///
    /// If the supervisor is gone.
    pub async fn signal(&self, id: SpawnId, signal: i32, reason: SignalReason) -> io::Result<()> {
        self.note_signal(id, signal, reason, SignalTarget::Program);
        self.requests
            .send(&Request::Signal { spawn: id, signal }, &[])
            .await
    }

    /// Begins to end a program and everything it started; its life tells when that is done.
    ///
    /// # Errors
    ///
    /// If the supervisor is gone.
    pub async fn terminate(
        &self,
        id: SpawnId,
        grace: Duration,
        reason: SignalReason,
    ) -> io::Result<()> {
        if let Some(slot) = lock(&self.shared).slots.get_mut(&id) {
            slot.ending = reason;
        }
        let grace_ms = millis(grace);
        self.requests
            .send(
                &Request::Terminate {
                    spawn: id,
                    grace_ms,
                },
                &[],
            )
            .await
    }

    /// Ends everything and counts what was left. A supervisor that is gone took its
    /// namespace along; of a sub-reaper's tree nothing is known then, hence `None`.
    pub async fn end_all(&self, grace: Duration, reason: SignalReason) -> Option<Census> {
        let (sender, answer) = oneshot::channel();
        {
            let mut shared = lock(&self.shared);
            if shared.lost {
                return self.census_without_supervisor();
            }
            for slot in shared.slots.values_mut() {
                if slot.life.borrow().raw_status.is_none() {
                    slot.ending = reason;
                }
            }
            shared.all_ended.push(sender);
        }
        let grace_ms = millis(grace);
        if self
            .requests
            .send(&Request::TerminateAll { grace_ms }, &[])
            .await
            .is_err()
        {
            return self.census_without_supervisor();
        }
        match answer.await {
            Ok(census) => Some(census),
            Err(_) => self.census_without_supervisor(),
        }
    }

    /// Ends the supervisor and waits until it is gone: after that no process of the tree is
    /// left, not even the ones that held it together.
    pub async fn shut_down(&self) {
        self.requests.hang_up();
        let Some(mut supervisor) = self.take_supervisor() else {
            return;
        };
        let gone = tokio::task::spawn_blocking(move || supervisor.wait());
        if tokio::time::timeout(GONE_LIMIT, gone).await.is_err() {
            tracing::warn!("the supervisor of the process tree takes long to end");
        }
    }

    fn take_supervisor(&self) -> Option<std::process::Child> {
        self.supervisor
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn census_without_supervisor(&self) -> Option<Census> {
        match self.containment {
            Containment::Namespaces { .. } => Some(Census::default()),
            Containment::SubReaper => None,
        }
    }

    /// The signals that were sent to a program or its tree so far.
    pub fn signals(&self, id: SpawnId) -> Vec<SentSignal> {
        let shared = lock(&self.shared);
        shared
            .slots
            .get(&id)
            .map(|slot| slot.signals.clone())
            .unwrap_or_default()
    }

    fn note_signal(&self, id: SpawnId, signal: i32, reason: SignalReason, target: SignalTarget) {
        if let Some(slot) = lock(&self.shared).slots.get_mut(&id) {
            slot.note(signal, reason, target);
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.reader.abort();
        self.requests.hang_up();
        if let Some(mut supervisor) = self.take_supervisor() {
            let groups = std::mem::replace(&mut self.applied, Applied::nothing());
            std::thread::spawn(move || {
                // It is ours and not waited for yet, so this can't fail.
                let _ = supervisor.wait();
                drop(groups);
            });
        }
    }
}

impl Slot {
    fn note(&mut self, signal: i32, reason: SignalReason, target: SignalTarget) {
        self.signals.push(SentSignal {
            signal: signal_name(signal),
            reason,
            target,
            at_ms: millis(self.started.elapsed()),
        });
    }
}

async fn read_replies(mut replies: ReplyReceiver, shared: Arc<Mutex<Shared>>) {
    // A reply that can't be read is as bad as none: the supervisor can't be relied on.
    while let Ok(Some(reply)) = replies.next().await {
        if reply == Reply::Connection {
            let destination = lock(&shared).destination.clone();
            if let (Some(inside), Some(destination)) = (replies.take_descriptor(), destination) {
                tokio::spawn(async move {
                    if let Err(error) = carry(inside, &destination).await {
                        tracing::debug!(%error, "a carried connection ended");
                    }
                });
            }
            continue;
        }
        dispatch(reply, &mut lock(&shared));
    }
    let mut shared = lock(&shared);
    shared.lost = true;
    shared.all_ended.clear();
    shared.listening = None;
    shared.limited = None;
    shared.measuring.clear();
    for slot in shared.slots.values_mut() {
        slot.spawned = None;
        slot.life.send_modify(|life| life.lost = true);
    }
}

fn dispatch(reply: Reply, shared: &mut Shared) {
    match reply {
        Reply::Ready { .. } | Reply::Connection => {}
        Reply::Listening { port, problem } => {
            if let Some(waiting) = shared.listening.take() {
                // Whoever asked may have been dropped.
                let _ = waiting.send(port.ok_or_else(|| problem.unwrap_or_default()));
            }
        }
        Reply::Limited { groups, open_files } => {
            if let Some(waiting) = shared.limited.take() {
                // Whoever asked may have been dropped.
                let _ = waiting.send((groups, open_files));
            }
        }
        Reply::TooManyProcesses { processes } => {
            shared.too_many.send_replace(Some(processes));
        }
        Reply::Measured {
            processes,
            cpu_ms,
            memory_bytes,
        } => {
            if let Some(waiting) = shared.measuring.pop_front() {
                // Whoever asked may have given up waiting.
                let _ = waiting.send(TreeUsage {
                    processes,
                    cpu_ms,
                    memory_bytes,
                });
            }
        }
        Reply::Spawned { spawn, pid } => answer_spawn(shared, spawn, Ok(pid)),
        Reply::SpawnFailed {
            spawn,
            kind,
            message,
        } => {
            answer_spawn(shared, spawn, Err(SpawnError::Refused { kind, message }));
            shared.slots.remove(&spawn);
        }
        Reply::Exited { spawn, raw_status } => {
            if let Some(slot) = shared.slots.get_mut(&spawn) {
                slot.life.send_modify(|life| {
                    life.raw_status = Some(raw_status);
                    life.exited_at = Some(Instant::now());
                });
            }
        }
        Reply::TreeSignalled { spawn, signal } => {
            for (id, slot) in &mut shared.slots {
                let concerned = spawn.is_none_or(|spawn| spawn == *id);
                if concerned && slot.life.borrow().cleared.is_none() {
                    slot.note(signal, slot.ending, SignalTarget::Tree);
                }
            }
        }
        Reply::Cleared {
            spawn,
            ended,
            survivors,
        } => {
            if let Some(slot) = shared.slots.get_mut(&spawn) {
                let census = Census { ended, survivors };
                slot.life.send_modify(|life| life.cleared = Some(census));
            }
        }
        Reply::AllEnded { ended, survivors } => {
            for waiting in shared.all_ended.drain(..) {
                // Whoever asked may have given up waiting.
                let _ = waiting.send(Census { ended, survivors });
            }
        }
    }
}

fn answer_spawn(shared: &mut Shared, spawn: SpawnId, result: Result<i32, SpawnError>) {
    if let Some(waiting) = shared
        .slots
        .get_mut(&spawn)
        .and_then(|slot| slot.spawned.take())
    {
        // Whoever asked may have been dropped.
        let _ = waiting.send(result);
    }
}

fn supervisor_gone() -> io::Error {
    io::Error::other("the supervisor of the process tree is gone")
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
