//! The run's append-only logs: what happened (`events.jsonl`) and what was allowed or
//! denied (`audit.jsonl`).

use crate::contract::events::{Observer, RunEvent, Silent};
use crate::contract::session::SpawnRefusal;
use crate::process::recorder::create_private;
use crate::process::redaction::Redactor;
use crate::supervisor::protocol::SpawnId;
use serde::Serialize;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A file of JSON lines; every line is masked and written at once.
struct JsonLines {
    file: Mutex<File>,
    redactor: Redactor,
}

impl JsonLines {
    fn create(path: &Path, redactor: Redactor) -> io::Result<Self> {
        Ok(Self {
            file: Mutex::new(create_private(path)?),
            redactor,
        })
    }

    fn nowhere(redactor: Redactor) -> io::Result<Self> {
        Ok(Self {
            file: Mutex::new(File::options().write(true).open("/dev/null")?),
            redactor,
        })
    }

    /// Appends a line; returns its length. What can't be written is reported once, by the
    /// result's own writing: the same disk is full.
    fn append(&self, line: &impl Serialize) -> u64 {
        let Ok(mut text) = serde_json::to_vec(line) else {
            return 0;
        };
        self.redactor.mask(&mut text);
        text.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(&text) {
            tracing::warn!(%error, "failed to append to a log of the run");
        }
        text.len() as u64
    }
}

#[derive(Serialize)]
struct Stamped<'a, T> {
    at: String,
    #[serde(flatten)]
    what: &'a T,
}

/// `events.jsonl`, and whoever watches.
pub struct Journal {
    lines: JsonLines,
    observer: Arc<dyn Observer>,
}

impl Journal {
    /// Creates the file.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn create(
        path: &Path,
        redactor: Redactor,
        observer: Arc<dyn Observer>,
    ) -> io::Result<Self> {
        Ok(Self {
            lines: JsonLines::create(path, redactor)?,
            observer,
        })
    }

    /// Records nothing: for evidence that is observed again, whose own log is complete.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn silent(redactor: Redactor) -> io::Result<Self> {
        Ok(Self {
            lines: JsonLines::nowhere(redactor)?,
            observer: Arc::new(Silent),
        })
    }

    /// Records an event; returns how many bytes it took.
    pub fn record(&self, event: &RunEvent) -> u64 {
        self.observer.observe(event);
        self.lines.append(&Stamped {
            at: crate::clock::now(),
            what: event,
        })
    }
}

/// `audit.jsonl`.
pub struct Audit {
    lines: JsonLines,
}

impl Audit {
    /// Creates the file.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn create(path: &Path, redactor: Redactor) -> io::Result<Self> {
        Ok(Self {
            lines: JsonLines::create(path, redactor)?,
        })
    }

    /// Records nothing, as [`Journal::silent`].
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn silent(redactor: Redactor) -> io::Result<Self> {
        Ok(Self {
            lines: JsonLines::nowhere(redactor)?,
        })
    }

    /// What contains the session.
    pub fn contained(&self, confinement: &impl Serialize) {
        self.note(&json!({"audit": "contained", "detail": json!(confinement)}));
    }

    /// The workspace is ready, with this digest.
    pub fn prepared(&self, workspace: &crate::digest::Sha256) {
        self.note(&json!({"audit": "prepared", "workspace_sha256": workspace}));
    }

    /// Something was granted to the session.
    pub fn granted(&self, what: &str, detail: Value) {
        self.note(&json!({"audit": "granted", "what": what, "detail": detail}));
    }

    /// A program was started.
    pub fn spawned(&self, id: SpawnId, program: &str, label: &str) {
        self.note(&json!({"audit": "spawned", "spawn": id, "program": program, "label": label}));
    }

    /// A program was not started.
    pub fn refused(&self, program: &str, refusal: &SpawnRefusal) {
        let (kind, detail) = match refusal {
            SpawnRefusal::NotGranted(what) => ("not_granted", what),
            SpawnRefusal::NotFound(what) => ("not_found", what),
            SpawnRefusal::NotExecutable(what) => ("not_executable", what),
            SpawnRefusal::Limit(what) => ("limit", what),
            SpawnRefusal::Failed(what) => ("failed", what),
        };
        self.note(&json!({"audit": "refused", "program": program, "why": kind, "detail": detail}));
    }

    /// Anything else worth a line.
    pub fn note(&self, line: &Value) {
        self.lines.append(&Stamped {
            at: crate::clock::now(),
            what: line,
        });
    }
}
