//! The engine's view of a supervised process tree.

use super::exit::{SentSignal, SignalReason, SignalTarget, signal_name};
use super::launch::{Launched, TreeKind, launch};
use crate::supervisor::protocol::{self, Reply, Request, SpawnCommand, SpawnErrorKind, SpawnId};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::collections::HashMap;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, Interest};
use tokio::net::UnixStream;
use tokio::sync::{Mutex as AsyncMutex, oneshot, watch};
use tokio::task::JoinHandle;

/// How long a supervisor may take to report.
const READY_LIMIT: Duration = Duration::from_secs(10);

/// How a tree is held together.
#[derive(Debug, Clone)]
pub struct TreeOptions {
    /// The akbench binary, which becomes the supervisor.
    pub supervisor: PathBuf,
    /// Kinds to try, strongest first.
    pub kinds: Vec<TreeKind>,
}

/// No supervisor could be started.
#[derive(Debug, thiserror::Error)]
#[error("failed to start a supervisor for the process tree: {}", attempts.join("; "))]
pub struct TreeError {
    /// One sentence for each kind that was tried.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
    lost: bool,
}

/// A supervised process tree. Dropping it ends everything in it.
pub struct ProcessTree {
    kind: TreeKind,
    /// Why a stronger kind was not used.
    degraded: Option<String>,
    socket: Arc<UnixStream>,
    sending: AsyncMutex<()>,
    shared: Arc<Mutex<Shared>>,
    reader: JoinHandle<()>,
    supervisor: Option<std::process::Child>,
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
    /// If none of the kinds works here.
    pub async fn start(options: &TreeOptions) -> Result<Self, TreeError> {
        let mut attempts = Vec::new();
        for &kind in &options.kinds {
            match Self::start_kind(&options.supervisor, kind).await {
                Ok((socket, buffer, supervisor)) => {
                    let degraded = (!attempts.is_empty()).then(|| attempts.join("; "));
                    return Ok(Self::new(kind, degraded, socket, buffer, supervisor));
                }
                Err(reason) => attempts.push(format!("{}: {reason}", kind.as_str())),
            }
        }
        Err(TreeError { attempts })
    }

    async fn start_kind(
        program: &Path,
        kind: TreeKind,
    ) -> Result<(UnixStream, Vec<u8>, std::process::Child), String> {
        let Launched { socket, child } =
            launch(program, kind).map_err(|error| error.to_string())?;
        let socket = socket
            .set_nonblocking(true)
            .and_then(|()| Ok((UnixStream::from_std(socket.try_clone()?)?, socket)));
        let (mut stream, socket) = socket.map_err(|error| error.to_string())?;
        let mut buffer = Vec::new();
        let ready = tokio::time::timeout(READY_LIMIT, next_reply(&mut stream, &mut buffer)).await;
        match ready {
            Ok(Ok(Some(Reply::Ready { pid_namespace })))
                if pid_namespace == (kind == TreeKind::PidNamespace) =>
            {
                Ok((stream, buffer, child))
            }
            Ok(Ok(Some(other))) => Err(format!("its first message was {other:?}")),
            Ok(Ok(None) | Err(_)) => Err(Launched { socket, child }.explain()),
            Err(_) => {
                let mut child = child;
                // It may have just ended; either way it is over.
                let _ = child.kill();
                Err(format!(
                    "no report within {} s; {}",
                    READY_LIMIT.as_secs(),
                    Launched { socket, child }.explain()
                ))
            }
        }
    }

    fn new(
        kind: TreeKind,
        degraded: Option<String>,
        socket: UnixStream,
        buffer: Vec<u8>,
        supervisor: std::process::Child,
    ) -> Self {
        let socket = Arc::new(socket);
        let shared = Arc::new(Mutex::new(Shared {
            slots: HashMap::new(),
            all_ended: Vec::new(),
            lost: false,
        }));
        let reader = tokio::spawn(read_replies(
            Arc::clone(&socket),
            buffer,
            Arc::clone(&shared),
        ));
        Self {
            kind,
            degraded,
            socket,
            sending: AsyncMutex::new(()),
            shared,
            reader,
            supervisor: Some(supervisor),
        }
    }

    /// How the tree is held together.
    pub fn kind(&self) -> TreeKind {
        self.kind
    }

    /// Why a stronger kind was not used; `None` if this is the strongest asked for.
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
        self.send(&Request::Spawn { spawn: id, command }, Some(&stdio))
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
        self.send(&Request::Signal { spawn: id, signal }, None)
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
        self.send(
            &Request::Terminate {
                spawn: id,
                grace_ms,
            },
            None,
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
            .send(&Request::TerminateAll { grace_ms }, None)
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

    fn census_without_supervisor(&self) -> Option<Census> {
        match self.kind {
            TreeKind::PidNamespace => Some(Census::default()),
            TreeKind::SubReaper => None,
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

    async fn send(&self, request: &Request, stdio: Option<&[OwnedFd; 3]>) -> io::Result<()> {
        let frame = protocol::encode(request)?;
        let _turn = self.sending.lock().await;
        let mut sent = 0;
        while sent < frame.len() {
            self.socket.writable().await?;
            let attempt = self.socket.try_io(Interest::WRITABLE, || {
                let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
                let mut ancillary = SendAncillaryBuffer::new(&mut space);
                let borrowed = stdio.map(|fds| fds.each_ref().map(AsFd::as_fd));
                if sent == 0
                    && let Some(borrowed) = &borrowed
                    && !ancillary.push(SendAncillaryMessage::ScmRights(borrowed))
                {
                    return Err(io::Error::other("no room for three file descriptors"));
                }
                let bytes = [IoSlice::new(&frame[sent..])];
                Ok(sendmsg(
                    &*self.socket,
                    &bytes,
                    &mut ancillary,
                    SendFlags::NOSIGNAL,
                )?)
            });
            match attempt {
                Ok(written) => sent += written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.reader.abort();
        // The closed socket tells the supervisor to end everything.
        let _ = rustix::net::shutdown(&*self.socket, rustix::net::Shutdown::Both);
        if let Some(mut supervisor) = self.supervisor.take() {
            std::thread::spawn(move || supervisor.wait());
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

async fn read_replies(socket: Arc<UnixStream>, mut buffer: Vec<u8>, shared: Arc<Mutex<Shared>>) {
    loop {
        while let Ok(Some(reply)) = protocol::decode::<Reply>(&mut buffer) {
            dispatch(reply, &mut lock(&shared));
        }
        if socket.readable().await.is_err() {
            break;
        }
        let mut chunk = [0; 16 << 10];
        match socket.try_read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => buffer.extend_from_slice(&chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => break,
        }
    }
    let mut shared = lock(&shared);
    shared.lost = true;
    shared.all_ended.clear();
    for slot in shared.slots.values_mut() {
        slot.spawned = None;
        slot.life.send_modify(|life| life.lost = true);
    }
}

fn dispatch(reply: Reply, shared: &mut Shared) {
    match reply {
        Reply::Ready { .. } => {}
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

async fn next_reply(socket: &mut UnixStream, buffer: &mut Vec<u8>) -> io::Result<Option<Reply>> {
    loop {
        if let Some(reply) = protocol::decode(buffer)? {
            return Ok(Some(reply));
        }
        if socket.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
