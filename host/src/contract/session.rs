//! One adapter instance's reach into the world: starting programs and telling people.

use super::child::{Child, ChildParts, PipedStdin};
use super::events::{Level, RunEvent};
use super::grants::{Grants, is_inside, may_set_variable};
use super::interrupt::Interrupt;
use super::stdin_record::StdinRecord;
use crate::journal::{Audit, Journal};
use crate::process::exit::SignalReason;
use crate::process::recorder::{Activity, IoLog, RecordedStream, StreamName, create_private};
use crate::process::redaction::Redactor;
use crate::process::tree::{ProcessTree, SpawnError};
use crate::supervisor::protocol::{OsText, SpawnCommand, SpawnErrorKind, SpawnId};
use rustix::pipe::{PipeFlags, pipe_with};
use serde::Serialize;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;

/// Programs that one session may start.
const MAX_SPAWNS: u32 = 64;

/// Longest label of a spawn.
const MAX_LABEL: usize = 40;

/// Bytes of events and logs that one session may emit.
const MAX_EVENT_BYTES: u64 = 64 << 20;

/// A folder that the engine prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Directory {
    /// Where the agent works.
    Workspace,
    /// The agent's private home.
    AgentHome,
    /// The adapter's own files.
    Artifacts,
}

/// A piece of an environment variable's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvPart {
    /// As it is.
    Text(String),
    /// The host path of a folder.
    Path(Directory),
    /// A secret, by name.
    Credential(String),
}

/// What a program reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StdinMode {
    /// End of file at once.
    Closed,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
    /// What the adapter writes.
    Piped,
}

/// A program that the adapter wants started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterCommand {
    /// A name in the descriptor.
    pub program: String,
    /// Names the evidence.
    pub label: String,
    /// Arguments.
    pub args: Vec<String>,
    /// Variables.
    pub env: Vec<(String, Vec<EnvPart>)>,
    /// Where it starts.
    pub cwd: Directory,
    /// What it reads.
    pub stdin: StdinMode,
}

/// Why an adapter's program was not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpawnRefusal {
    /// Not in the grants.
    NotGranted(String),
    /// No such file.
    NotFound(String),
    /// Not executable.
    NotExecutable(String),
    /// A limit of the host.
    Limit(String),
    /// Anything else.
    Failed(String),
}

/// `command.json` of a spawn. Credentials stand there by name.
#[derive(Serialize)]
struct CommandRecord<'a> {
    program: &'a str,
    path: String,
    args: &'a [String],
    /// The names only; values may hold what is nobody's business.
    env: Vec<String>,
    cwd: Directory,
    stdin: &'static str,
    started_at: String,
}

/// Everything that an adapter instance can reach.
pub struct SessionHost {
    /// What it may do.
    pub grants: Arc<Grants>,
    /// `None` in replay: then nothing can be started.
    pub tree: Option<Arc<ProcessTree>>,
    /// Masks secrets.
    pub redactor: Redactor,
    /// For the idle limit.
    pub activity: Activity,
    /// Takes the session back.
    pub interrupt: Interrupt,
    /// Events and logs.
    pub journal: Arc<Journal>,
    /// Grants, spawns and denials.
    pub audit: Arc<Audit>,
    /// Why the engine is stopping the agent, for the record of signals.
    pub stop_reason: Arc<Mutex<Option<SignalReason>>>,
    finishers: Arc<Mutex<Vec<JoinHandle<io::Result<()>>>>>,
    spawned: u32,
    event_bytes: u64,
}

impl SessionHost {
    /// A session that has started nothing yet.
    pub fn new(
        grants: Arc<Grants>,
        tree: Option<Arc<ProcessTree>>,
        redactor: Redactor,
        interrupt: Interrupt,
        journal: Arc<Journal>,
        audit: Arc<Audit>,
    ) -> Self {
        Self {
            grants,
            tree,
            redactor,
            activity: Activity::new(),
            interrupt,
            journal,
            audit,
            stop_reason: Arc::default(),
            finishers: Arc::default(),
            spawned: 0,
            event_bytes: 0,
        }
    }

    /// The tasks that complete the evidence of each program.
    pub fn finishers(&self) -> Arc<Mutex<Vec<JoinHandle<io::Result<()>>>>> {
        Arc::clone(&self.finishers)
    }

    /// Starts a program, if it is granted.
    ///
    /// # Errors
    ///
    /// What the adapter is told.
    pub async fn spawn(&mut self, command: AdapterCommand) -> Result<Child, SpawnRefusal> {
        let started = self.start(&command).await;
        match &started {
            Ok(child) => self
                .audit
                .spawned(child.id(), &command.program, &command.label),
            Err(refusal) => self.audit.refused(&command.program, refusal),
        }
        started
    }

    async fn start(&mut self, command: &AdapterCommand) -> Result<Child, SpawnRefusal> {
        let Some(tree) = self.tree.clone() else {
            return Err(SpawnRefusal::NotGranted(
                "programs: the session replays evidence".to_owned(),
            ));
        };
        let Some(program) = self.grants.programs.get(&command.program).cloned() else {
            return Err(SpawnRefusal::NotGranted(format!(
                "program `{}`",
                command.program
            )));
        };
        check_label(&command.label)?;
        if self.spawned >= MAX_SPAWNS {
            return Err(SpawnRefusal::Limit(format!(
                "{MAX_SPAWNS} programs per session"
            )));
        }
        let environment = self.environment(command)?;
        let id = SpawnId(self.spawned + 1);
        let folder = self
            .grants
            .folders
            .evidence
            .join("spawns")
            .join(format!("{}-{}", id.0, command.label));
        let failed = |error: io::Error| SpawnRefusal::Failed(error.to_string());
        self.record_command(&folder, command, &program, &environment)
            .map_err(failed)?;
        self.spawned += 1;

        let (stdin_read, stdin_write) =
            pipe_with(PipeFlags::CLOEXEC).map_err(|e| failed(e.into()))?;
        let (stdout_read, stdout_write) =
            pipe_with(PipeFlags::CLOEXEC).map_err(|e| failed(e.into()))?;
        let (stderr_read, stderr_write) =
            pipe_with(PipeFlags::CLOEXEC).map_err(|e| failed(e.into()))?;
        let request = SpawnCommand {
            program,
            args: command
                .args
                .iter()
                .map(|arg| OsText(OsString::from(arg)))
                .collect(),
            env: environment
                .into_iter()
                .map(|(name, value)| (OsText(name), OsText(value)))
                .collect(),
            cwd: self.folder(command.cwd).to_owned(),
        };
        let io_log = Arc::new(IoLog::create(&folder.join("io.jsonl")).map_err(failed)?);
        let record = |pipe: OwnedFd, name, file: &str| {
            RecordedStream::start(
                pipe,
                name,
                &folder.join(file),
                Arc::clone(&io_log),
                &self.redactor,
                self.activity.clone(),
            )
            .map(Arc::new)
            .map_err(failed)
        };
        let stdout = record(stdout_read, StreamName::Stdout, "stdout")?;
        let stderr = record(stderr_read, StreamName::Stderr, "stderr")?;
        let stdin = self.stdin(&folder, command, stdin_write).map_err(failed)?;
        let started_at = Instant::now();
        let program = tree
            .spawn(id, request, [stdin_read, stdout_write, stderr_write])
            .await
            .map_err(refusal)?;
        let parts = ChildParts {
            id,
            tree,
            life: program.life,
            stdout,
            stderr,
            stdin,
            folder,
            started_at,
            interrupt: self.interrupt.clone(),
            stop_reason: Arc::clone(&self.stop_reason),
        };
        let (child, finisher) = Child::new(parts);
        self.finishers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(finisher);
        Ok(child)
    }

    fn stdin(
        &self,
        folder: &Path,
        command: &AdapterCommand,
        write_end: OwnedFd,
    ) -> io::Result<Option<PipedStdin>> {
        let path = folder.join("stdin");
        match &command.stdin {
            StdinMode::Closed => create_private(&path).map(|_| None),
            StdinMode::Bytes(bytes) => {
                let mut record = create_private(&path)?;
                let mut masked = bytes.clone();
                self.redactor.mask(&mut masked);
                record.write_all(&masked)?;
                let mut pipe = pipe::Sender::from_owned_fd(write_end)?;
                let bytes = bytes.clone();
                tokio::spawn(async move {
                    use tokio::io::AsyncWriteExt;
                    // A program need not read what it is given: a broken pipe is its choice.
                    let _ = pipe.write_all(&bytes).await;
                });
                Ok(None)
            }
            StdinMode::Piped => Ok(Some(PipedStdin {
                pipe: pipe::Sender::from_owned_fd(write_end)?,
                record: StdinRecord::create(&path, &self.redactor)?,
            })),
        }
    }

    fn record_command(
        &self,
        folder: &Path,
        command: &AdapterCommand,
        program: &Path,
        environment: &[(OsString, OsString)],
    ) -> io::Result<()> {
        crate::files::create_private_folders(folder)?;
        let record = CommandRecord {
            program: &command.program,
            path: program.display().to_string(),
            args: &command.args,
            env: environment
                .iter()
                .map(|(name, _)| name.to_string_lossy().into_owned())
                .collect(),
            cwd: command.cwd,
            stdin: match command.stdin {
                StdinMode::Closed => "closed",
                StdinMode::Bytes(_) => "bytes",
                StdinMode::Piped => "piped",
            },
            started_at: crate::clock::now(),
        };
        let mut text = serde_json::to_vec_pretty(&record)?;
        self.redactor.mask(&mut text);
        crate::files::write_whole(&folder.join("command.json"), &text)
    }

    fn environment(
        &self,
        command: &AdapterCommand,
    ) -> Result<Vec<(OsString, OsString)>, SpawnRefusal> {
        let mut environment = self.grants.environment.clone();
        for (name, parts) in &command.env {
            if !may_set_variable(name) {
                return Err(SpawnRefusal::NotGranted(format!("variable `{name}`")));
            }
            let mut value = OsString::new();
            for part in parts {
                match part {
                    EnvPart::Text(text) => value.push(text),
                    EnvPart::Path(directory) => value.push(self.folder(*directory)),
                    EnvPart::Credential(credential) => {
                        let secret = self.grants.credentials.get(credential).ok_or_else(|| {
                            SpawnRefusal::NotGranted(format!("credential `{credential}`"))
                        })?;
                        value.push(OsStr::new(secret.expose()));
                    }
                }
            }
            environment.retain(|(known, _)| known.as_os_str() != OsStr::new(name));
            environment.push((OsString::from(name), value));
        }
        Ok(environment)
    }

    /// The host path of a file in a folder.
    ///
    /// # Errors
    ///
    /// If it would lie outside, or is not UTF-8.
    pub fn locate(&self, directory: Directory, relative: &str) -> Result<String, String> {
        if !is_inside(relative) {
            return Err(format!("the path `{relative}` leaves its folder"));
        }
        let folder = self.folder(directory);
        let path = match relative.trim_matches(['.', '/']) {
            "" => folder.to_owned(),
            _ => folder.join(relative),
        };
        path.into_os_string()
            .into_string()
            .map_err(|path| format!("the path `{}` is not UTF-8", PathBuf::from(path).display()))
    }

    /// Takes an event. What a session emits beyond its share is dropped, which is said once: an
    /// agent that prints without end is no fault of the adapter that passes it on.
    pub fn emit(&mut self, event: &RunEvent) {
        if self.event_bytes > MAX_EVENT_BYTES {
            return;
        }
        self.event_bytes += self.journal.record(event);
        if self.event_bytes > MAX_EVENT_BYTES {
            let text = format!(
                "more than {} MiB of events: further ones are dropped, the evidence is not",
                MAX_EVENT_BYTES >> 20
            );
            self.journal.record(&RunEvent::Warning { text });
        }
    }

    /// Takes a log line, as [`SessionHost::emit`] takes an event.
    pub fn log(&mut self, level: Level, text: String) {
        self.emit(&RunEvent::Log { level, text });
    }

    fn folder(&self, directory: Directory) -> &Path {
        match directory {
            Directory::Workspace => &self.grants.folders.workspace,
            Directory::AgentHome => &self.grants.folders.agent_home,
            Directory::Artifacts => &self.grants.folders.artifacts,
        }
    }
}

fn check_label(label: &str) -> Result<(), SpawnRefusal> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if label.is_empty() || label.len() > MAX_LABEL || !label.chars().all(allowed) {
        return Err(SpawnRefusal::Failed(format!(
            "the label `{label}` must have 1 to {MAX_LABEL} lower-case letters, digits or `-`"
        )));
    }
    Ok(())
}

fn refusal(error: SpawnError) -> SpawnRefusal {
    match error {
        SpawnError::Refused { kind, message } => match kind {
            SpawnErrorKind::NotFound => SpawnRefusal::NotFound(message),
            SpawnErrorKind::NotExecutable => SpawnRefusal::NotExecutable(message),
            SpawnErrorKind::TooLong => SpawnRefusal::Limit(message),
            SpawnErrorKind::Other => SpawnRefusal::Failed(message),
        },
        other => SpawnRefusal::Failed(other.to_string()),
    }
}
