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
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A file of JSON lines; every line is masked and written at once.
struct JsonLines {
    log: Mutex<Log>,
    redactor: Redactor,
}

struct Log {
    file: File,
    /// The length of the whole lines in it.
    length: u64,
    /// Lines that could not be written.
    lost: u64,
}

impl JsonLines {
    fn create(path: &Path, redactor: Redactor) -> io::Result<Self> {
        Ok(Self {
            log: Mutex::new(Log {
                file: create_private(path)?,
                length: 0,
                lost: 0,
            }),
            redactor,
        })
    }

    fn nowhere(redactor: Redactor) -> io::Result<Self> {
        Ok(Self {
            log: Mutex::new(Log {
                file: File::options().write(true).open("/dev/null")?,
                length: 0,
                lost: 0,
            }),
            redactor,
        })
    }

    /// Appends a line; returns its length. What can't be written is said and counted.
    fn append(&self, line: &impl Serialize) -> u64 {
        let written = serde_json::to_vec(line).and_then(|text| {
            if self.redactor.is_clean(&text) {
                return Ok(text);
            }
            // Masked text by text: a mask across the line could leave no JSON.
            let mut document = serde_json::from_slice(&text)?;
            self.redactor.mask_document(&mut document);
            serde_json::to_vec(&document)
        });
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let appended = written.map_err(io::Error::from).and_then(|mut text| {
            text.push(b'\n');
            log.append(&text).map(|()| text.len() as u64)
        });
        match appended {
            Ok(length) => length,
            Err(error) => {
                log.lost += 1;
                tracing::warn!(%error, "failed to append to a log of the run");
                0
            }
        }
    }

    fn lost(&self) -> u64 {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.lost
    }
}

impl Log {
    /// A line is there whole or not at all, so that later ones can be read.
    fn append(&mut self, text: &[u8]) -> io::Result<()> {
        self.file.write_all_at(text, self.length).inspect_err(|_| {
            // Where that fails too, the next line is written over the rest of this one.
            let _ = self.file.set_len(self.length);
        })?;
        self.length += text.len() as u64;
        Ok(())
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

    /// Events that could not be written.
    pub fn lost(&self) -> u64 {
        self.lines.lost()
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

    /// Lines that could not be written.
    pub fn lost(&self) -> u64 {
        self.lines.lost()
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
