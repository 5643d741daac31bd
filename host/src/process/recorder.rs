//! Recording what a program writes: pipe to disk, with secrets masked on the way.
//!
//! Recording never waits for anybody: an adapter that is slow or dead costs no byte. Readers
//! take what they want from the file, so nothing is kept in memory between child and disk.

use super::redaction::Redactor;
use super::resources::limit::Resource;
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A pipe this large lets a program run ahead by as much, and makes reads large.
const PIPE_SIZE: usize = 1 << 20;

const CHUNK: usize = 256 << 10;

/// Which of a program's streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamName {
    /// What it prints.
    Stdout,
    /// What it complains.
    Stderr,
}

/// What happens on all recorded streams of a session: when a byte last came, for the idle
/// limit, how many came, and whether recording failed.
#[derive(Debug, Clone)]
pub struct Activity {
    epoch: Instant,
    last_ms: Arc<AtomicU64>,
    failed: watch::Sender<bool>,
    output: Arc<Output>,
}

#[derive(Debug)]
struct Output {
    limit: AtomicU64,
    recorded: AtomicU64,
    exceeded: watch::Sender<bool>,
}

impl Activity {
    /// Counts from now, up to the default limit of output.
    pub fn new() -> Self {
        let limit = Resource::Output.default_limit().unwrap_or(u64::MAX);
        Self {
            epoch: Instant::now(),
            last_ms: Arc::new(AtomicU64::new(0)),
            failed: watch::Sender::new(false),
            output: Arc::new(Output {
                limit: AtomicU64::new(limit),
                recorded: AtomicU64::new(0),
                exceeded: watch::Sender::new(false),
            }),
        }
    }

    /// The most bytes that are recorded of all streams together; `None` is no limit.
    pub fn limit_output(&self, limit: Option<u64>) {
        let limit = limit.unwrap_or(u64::MAX);
        self.output.limit.store(limit, Ordering::Relaxed);
    }

    /// Bytes recorded so far.
    pub fn recorded(&self) -> u64 {
        self.output.recorded.load(Ordering::Relaxed)
    }

    /// Waits until there was more output than is recorded.
    pub async fn output_exceeded(&self) {
        // The sender is ours, so it can't be gone.
        let mut exceeded = self.output.exceeded.subscribe();
        let _ = exceeded.wait_for(|exceeded| *exceeded).await;
    }

    /// Claims room for bytes that came; returns how many of them are to be recorded.
    fn claim(&self, bytes: u64) -> u64 {
        let limit = self.output.limit.load(Ordering::Relaxed);
        let before = self.output.recorded.fetch_add(bytes, Ordering::Relaxed);
        let granted = bytes.min(limit.saturating_sub(before));
        if granted < bytes {
            let excess = bytes - granted;
            self.output.recorded.fetch_sub(excess, Ordering::Relaxed);
            self.output.exceeded.send_replace(true);
        }
        granted
    }

    /// Evidence is being lost: the run should end.
    pub fn fail(&self) {
        self.failed.send_replace(true);
    }

    /// Waits until evidence is being lost.
    pub async fn failed(&self) {
        // The sender is ours, so it can't be gone.
        let _ = self.failed.subscribe().wait_for(|failed| *failed).await;
    }

    /// Something came.
    pub fn touch(&self) {
        let now = u64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_ms.store(now, Ordering::Relaxed);
    }

    /// When something last came.
    pub fn last(&self) -> Instant {
        self.epoch + std::time::Duration::from_millis(self.last_ms.load(Ordering::Relaxed))
    }
}

impl Default for Activity {
    fn default() -> Self {
        Self::new()
    }
}

/// How far a stream has been recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamState {
    /// Bytes in the file.
    pub written: u64,
    /// No more will come.
    pub ended: bool,
    /// Secrets masked so far.
    pub masks: u64,
    /// Why recording failed: the disk, nearly always. Later bytes were lost.
    pub failure: Option<RecordingFailure>,
}

/// The evidence could not be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingFailure {
    /// The file.
    pub file: String,
    /// What the system said.
    pub reason: String,
    /// True if there was no room left.
    pub disk_full: bool,
}

impl RecordingFailure {
    /// The system's error when this file was written.
    pub fn new(path: &Path, error: &io::Error) -> Self {
        Self {
            file: path.display().to_string(),
            reason: error.to_string(),
            disk_full: matches!(
                error.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            ),
        }
    }
}

/// `io.jsonl` of a spawn: what came when.
pub struct IoLog {
    file: Mutex<File>,
    started: Instant,
}

#[derive(Serialize)]
struct IoLine {
    /// Milliseconds since the program was started.
    t: u64,
    stream: StreamName,
    /// Where in the stream's file the bytes begin.
    offset: u64,
    bytes: u64,
}

impl IoLog {
    /// Creates the file; times count from now.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: Mutex::new(create_private(path)?),
            started: Instant::now(),
        })
    }

    fn note(&self, stream: StreamName, offset: u64, bytes: u64) -> io::Result<()> {
        let line = IoLine {
            t: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            stream,
            offset,
            bytes,
        };
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&text)
    }
}

/// One stream: being written by a task, read by whoever wants.
pub struct RecordedStream {
    file: File,
    state: watch::Receiver<StreamState>,
    task: JoinHandle<()>,
}

impl RecordedStream {
    /// Starts recording from the read end of a pipe.
    ///
    /// # Errors
    ///
    /// What the system says about the file or the pipe.
    pub fn start(
        pipe: OwnedFd,
        name: StreamName,
        path: &Path,
        io_log: Arc<IoLog>,
        redactor: &Redactor,
        activity: Activity,
    ) -> io::Result<Self> {
        // A smaller pipe works too: an ordinary user may have used up the allowance.
        let _ = rustix::pipe::fcntl_setpipe_size(&pipe, PIPE_SIZE);
        let writer = create_private(path)?;
        let file = File::open(path)?;
        let source = pipe::Receiver::from_owned_fd(pipe)?;
        let (sender, state) = watch::channel(StreamState::default());
        let recording = Recording {
            source,
            writer,
            path: path.to_owned(),
            name,
            io_log,
            redacted: redactor.stream(),
            activity,
            state: sender,
        };
        Ok(Self {
            file,
            state,
            task: tokio::spawn(recording.run()),
        })
    }

    /// How far it is.
    pub fn state(&self) -> StreamState {
        self.state.borrow().clone()
    }

    /// Follows how far it is.
    pub fn watch(&self) -> watch::Receiver<StreamState> {
        self.state.clone()
    }

    /// Reads what was recorded.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn read_at(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// Waits until no more will come.
    pub async fn ended(&self) -> StreamState {
        let mut state = self.state.clone();
        match state.wait_for(|state| state.ended).await {
            Ok(state) => state.clone(),
            // The task is gone, so nothing will come.
            Err(_) => self.state(),
        }
    }
}

impl Drop for RecordedStream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Recording {
    source: pipe::Receiver,
    writer: File,
    path: std::path::PathBuf,
    name: StreamName,
    io_log: Arc<IoLog>,
    redacted: super::redaction::RedactedStream,
    activity: Activity,
    state: watch::Sender<StreamState>,
}

impl Recording {
    async fn run(mut self) {
        let mut chunk = vec![0; CHUNK];
        loop {
            match self.source.read(&mut chunk).await {
                Ok(0) => break,
                Ok(read) => {
                    self.activity.touch();
                    let bytes = self.redacted.push(&chunk[..read]);
                    self.write(&bytes);
                }
                Err(error) => {
                    self.fail(&error);
                    break;
                }
            }
        }
        let rest = self.redacted.finish();
        self.write(&rest);
        self.state.send_modify(|state| state.ended = true);
    }

    /// After a failure the pipe is still drained, so that the program doesn't hang on it.
    fn write(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || self.state.borrow().failure.is_some() {
            return;
        }
        let offset = self.state.borrow().written;
        let length = self.activity.claim(bytes.len() as u64);
        // What comes after the limit is lost; whoever watches the limit ends the run.
        let bytes = &bytes[..usize::try_from(length).unwrap_or(bytes.len())];
        if bytes.is_empty() {
            return;
        }
        let written = self
            .writer
            .write_all(bytes)
            .and_then(|()| self.io_log.note(self.name, offset, length));
        match written {
            Ok(()) => self.state.send_modify(|state| {
                state.written += length;
                state.masks = self.redacted.masks();
            }),
            Err(error) => self.fail(&error),
        }
    }

    fn fail(&self, error: &io::Error) {
        let failure = RecordingFailure::new(&self.path, error);
        self.state
            .send_modify(|state| state.failure = Some(failure));
        self.activity.fail();
    }
}

/// Creates a file that only its owner can read; it must not exist yet.
///
/// # Errors
///
/// What the system says.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}
