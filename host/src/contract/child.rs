//! A running program as an adapter sees it: reading what was recorded, waiting, signalling.

use super::interrupt::Interrupt;
use super::stdin_record::StdinRecord;
use crate::process::exit::{ExitRecord, ExitStatus, SignalReason};
use crate::process::recorder::{RecordedStream, StreamState};
use crate::process::tree::{Life, ProcessTree};
use crate::supervisor::protocol::SpawnId;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Most that one read returns.
const MAX_READ: usize = 4 << 20;

/// Longest grace that an adapter may ask for.
const MAX_GRACE: Duration = Duration::from_secs(60);

/// How long a stream may stay open after the last process that could hold it has ended.
const STREAM_END: Duration = Duration::from_secs(1);

/// What a read brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Whole lines where there are any.
    Bytes(Vec<u8>),
    /// Nothing came in time.
    TimedOut,
    /// No more will come.
    End,
}

/// The engine wants the session back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

/// Why input was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StdinError {
    /// The engine wants the session back.
    Interrupted,
    /// The program closed its end.
    BrokenPipe,
}

/// The write end of a program's input, and its record.
pub struct PipedStdin {
    /// To the program.
    pub pipe: pipe::Sender,
    /// To the evidence.
    pub record: StdinRecord,
}

/// What a child is made of.
pub struct ChildParts {
    /// Its number.
    pub id: SpawnId,
    /// Where it runs.
    pub tree: Arc<ProcessTree>,
    /// Its life.
    pub life: watch::Receiver<Life>,
    /// Being recorded.
    pub stdout: Arc<RecordedStream>,
    /// Being recorded.
    pub stderr: Arc<RecordedStream>,
    /// `None` if its input is closed already.
    pub stdin: Option<PipedStdin>,
    /// Its evidence.
    pub folder: PathBuf,
    /// When it was started.
    pub started_at: Instant,
    /// Takes the session back.
    pub interrupt: Interrupt,
    /// Why the engine is stopping the agent.
    pub stop_reason: Arc<Mutex<Option<SignalReason>>>,
}

/// A running program.
pub struct Child {
    parts: ChildParts,
    read_stdout: u64,
    read_stderr: u64,
}

impl Child {
    /// Takes a program over; the task completes its evidence when it is over.
    pub fn new(parts: ChildParts) -> (Self, JoinHandle<io::Result<()>>) {
        let finisher = Finisher {
            id: parts.id,
            tree: Arc::clone(&parts.tree),
            life: parts.life.clone(),
            stdout: Arc::clone(&parts.stdout),
            stderr: Arc::clone(&parts.stderr),
            stdin: parts.stdin.as_ref().map(|stdin| stdin.record.clone()),
            folder: parts.folder.clone(),
            started_at: parts.started_at,
        };
        let child = Self {
            parts,
            read_stdout: 0,
            read_stderr: 0,
        };
        (child, tokio::spawn(finisher.run()))
    }

    /// Its number.
    pub fn id(&self) -> SpawnId {
        self.parts.id
    }

    /// Reads what it printed.
    ///
    /// # Errors
    ///
    /// If the engine wants the session back.
    pub async fn read_stdout(&mut self, max: u32, wait: Duration) -> Result<Output, Interrupted> {
        let stream = Arc::clone(&self.parts.stdout);
        let mut interrupt = self.parts.interrupt.clone();
        read(&stream, &mut self.read_stdout, &mut interrupt, max, wait).await
    }

    /// Reads what it complained.
    ///
    /// # Errors
    ///
    /// If the engine wants the session back.
    pub async fn read_stderr(&mut self, max: u32, wait: Duration) -> Result<Output, Interrupted> {
        let stream = Arc::clone(&self.parts.stderr);
        let mut interrupt = self.parts.interrupt.clone();
        read(&stream, &mut self.read_stderr, &mut interrupt, max, wait).await
    }

    /// Writes to its input; returns how many bytes it took.
    ///
    /// # Errors
    ///
    /// If it closed its end, or the engine wants the session back.
    pub async fn write_stdin(&mut self, bytes: &[u8]) -> Result<u32, StdinError> {
        let mut interrupt = self.parts.interrupt.clone();
        let Some(stdin) = &mut self.parts.stdin else {
            return Err(StdinError::BrokenPipe);
        };
        if interrupt.is_wanted() {
            return Err(StdinError::Interrupted);
        }
        loop {
            tokio::select! {
                biased;
                () = interrupt.wanted() => return Err(StdinError::Interrupted),
                ready = stdin.pipe.writable() => if ready.is_err() {
                    return Err(StdinError::BrokenPipe);
                },
            }
            match stdin.pipe.try_write(bytes) {
                Ok(taken) => {
                    stdin.record.took(&bytes[..taken]);
                    return Ok(u32::try_from(taken).unwrap_or(u32::MAX));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return Err(StdinError::BrokenPipe),
            }
        }
    }

    /// Ends its input.
    pub fn close_stdin(&mut self) {
        if let Some(stdin) = self.parts.stdin.take() {
            // A failure is told with the rest of the evidence.
            stdin.record.complete();
        }
    }

    /// Waits for the program itself.
    ///
    /// # Errors
    ///
    /// If the engine wants the session back.
    pub async fn wait(&mut self, wait: Duration) -> Result<Option<ExitStatus>, Interrupted> {
        if let Some(status) = self.status() {
            return Ok(Some(status));
        }
        if self.parts.interrupt.is_wanted() {
            return Err(Interrupted);
        }
        let mut life = self.parts.life.clone();
        // What `wait_for` returns is a lock: held while the status is read below, it would wait
        // for itself as soon as somebody wants to write in between.
        let over = async {
            let over = |life: &Life| life.raw_status.is_some() || life.lost;
            drop(life.wait_for(over).await);
        };
        tokio::select! {
            biased;
            () = self.parts.interrupt.wanted() => Err(Interrupted),
            () = over => Ok(Some(self.status().unwrap_or(LOST))),
            () = tokio::time::sleep(wait) => Ok(None),
        }
    }

    /// Sends a signal to the program itself.
    pub async fn signal(&mut self, signal: i32) {
        let reason = self.reason();
        // A supervisor that is gone has ended the program.
        let _ = self.parts.tree.signal(self.parts.id, signal, reason).await;
    }

    /// Ends the program and everything it started.
    pub async fn terminate(&mut self, grace: Duration) -> ExitStatus {
        let reason = self.reason();
        let grace = grace.min(MAX_GRACE);
        // As for `signal`.
        let _ = self
            .parts
            .tree
            .terminate(self.parts.id, grace, reason)
            .await;
        let mut life = self.parts.life.clone();
        let _ = life
            .wait_for(|life| life.cleared.is_some() || life.lost)
            .await;
        self.status().unwrap_or(LOST)
    }

    fn status(&self) -> Option<ExitStatus> {
        self.parts
            .life
            .borrow()
            .raw_status
            .map(ExitStatus::from_raw)
    }

    fn reason(&self) -> SignalReason {
        let reason = self
            .parts
            .stop_reason
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        reason.unwrap_or(SignalReason::Adapter)
    }
}

/// A program whose supervisor died took SIGKILL with it.
const LOST: ExitStatus = ExitStatus::Signalled { signal: 9 };

impl Drop for Child {
    /// A dropped handle stops the tree, as the contract says.
    fn drop(&mut self) {
        if self.parts.life.borrow().raw_status.is_some() {
            return;
        }
        let (tree, id) = (Arc::clone(&self.parts.tree), self.parts.id);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let grace = Duration::from_secs(1);
                let _ = tree.terminate(id, grace, SignalReason::Adapter).await;
            });
        }
    }
}

async fn read(
    stream: &RecordedStream,
    offset: &mut u64,
    interrupt: &mut Interrupt,
    max: u32,
    wait: Duration,
) -> Result<Output, Interrupted> {
    let max = (max.max(1) as usize).min(MAX_READ);
    if interrupt.is_wanted() {
        return Err(Interrupted);
    }
    let mut state = stream.watch();
    let deadline = tokio::time::Instant::now() + wait;
    loop {
        let known: StreamState = state.borrow_and_update().clone();
        let available = usize::try_from(known.written - *offset)
            .unwrap_or(usize::MAX)
            .min(max);
        if available > 0 {
            // The file is ours and has these bytes; if it was damaged there is nothing to read.
            let Ok(bytes) = stream.read_at(*offset, available) else {
                return Ok(Output::End);
            };
            let whole = whole_lines(&bytes, available == max || known.ended);
            if whole > 0 {
                *offset += whole as u64;
                let mut bytes = bytes;
                bytes.truncate(whole);
                return Ok(Output::Bytes(bytes));
            }
        } else if known.ended {
            return Ok(Output::End);
        }
        tokio::select! {
            biased;
            () = interrupt.wanted() => return Err(Interrupted),
            changed = state.changed() => if changed.is_err() {
                return Ok(Output::End);
            },
            () = tokio::time::sleep_until(deadline) => return Ok(Output::TimedOut),
        }
    }
}

/// How many bytes to hand out: up to the last newline, or all if no newline can be waited for.
fn whole_lines(bytes: &[u8], all_if_none: bool) -> usize {
    match memchr::memrchr(b'\n', bytes) {
        Some(at) => at + 1,
        None if all_if_none => bytes.len(),
        None => 0,
    }
}

/// Completes the evidence of one program.
struct Finisher {
    id: SpawnId,
    tree: Arc<ProcessTree>,
    life: watch::Receiver<Life>,
    stdout: Arc<RecordedStream>,
    stderr: Arc<RecordedStream>,
    /// `None` if nothing was written while it ran.
    stdin: Option<StdinRecord>,
    folder: PathBuf,
    started_at: Instant,
}

impl Finisher {
    async fn run(mut self) -> io::Result<()> {
        let over = |life: &Life| life.lost || life.cleared.is_some();
        // The tree may be gone: then what is known now is all that will be.
        let _ = self.life.wait_for(over).await;
        let life = self.life.borrow().clone();
        let both = async { (self.stdout.ended().await, self.stderr.ended().await) };
        // A survivor may hold a stream open; what it says later is nobody's evidence.
        let (stdout, stderr) = match timeout(STREAM_END, both).await {
            Ok(states) => states,
            Err(_) => (self.stdout.state(), self.stderr.state()),
        };
        // Whoever still has the other end of the input writes to nobody.
        let stdin = self.stdin.as_ref().and_then(StdinRecord::complete);
        let Some(raw_status) = life.raw_status else {
            // The supervisor died first: how the program ended is not known, so nothing is said.
            return Ok(());
        };
        let census = life.cleared.unwrap_or_default();
        let exited_at = life.exited_at.unwrap_or_else(Instant::now);
        let duration = exited_at.saturating_duration_since(self.started_at);
        let record = ExitRecord {
            status: ExitStatus::from_raw(raw_status),
            raw_status,
            finished_at: crate::clock::now(),
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            signals: self.tree.signals(self.id),
            ended: census.ended,
            survivors: census.survivors,
            stdout_bytes: stdout.written,
            stderr_bytes: stderr.written,
            stdout_masks: stdout.masks,
            stderr_masks: stderr.masks,
        };
        let mut text = serde_json::to_vec_pretty(&record)?;
        text.push(b'\n');
        crate::files::write_whole(&self.folder.join("exit.json"), &text)?;
        match stdout.failure.or(stderr.failure).or(stdin) {
            None => Ok(()),
            Some(failure) if failure.disk_full => Err(io::Error::new(
                io::ErrorKind::StorageFull,
                format!("{}: {}", failure.file, failure.reason),
            )),
            Some(failure) => Err(io::Error::other(format!(
                "{}: {}",
                failure.file, failure.reason
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::whole_lines;

    #[test]
    fn a_partial_line_stays_unless_no_newline_can_come() {
        assert_eq!(whole_lines(b"one\ntwo\nthr", false), 8);
        assert_eq!(whole_lines(b"thr", false), 0);
        assert_eq!(whole_lines(b"thr", true), 3);
    }
}
