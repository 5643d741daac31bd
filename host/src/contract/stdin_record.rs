//! What a program was given as its input, as evidence.

use crate::process::recorder::{RecordingFailure, create_private};
use crate::process::redaction::{RedactedStream, Redactor};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The record, for whoever writes the input and whoever completes the evidence.
#[derive(Clone)]
pub struct StdinRecord(Arc<Mutex<Record>>);

struct Record {
    path: PathBuf,
    file: File,
    /// Masks secrets; `None` once the record is complete.
    redacted: Option<RedactedStream>,
    failure: Option<RecordingFailure>,
}

impl StdinRecord {
    /// Creates the file.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn create(path: &Path, redactor: &Redactor) -> io::Result<Self> {
        Ok(Self(Arc::new(Mutex::new(Record {
            path: path.to_owned(),
            file: create_private(path)?,
            redacted: Some(redactor.stream()),
            failure: None,
        }))))
    }

    /// Notes what the program took. It has the bytes, so a failure stops nothing:
    /// [`StdinRecord::complete`] tells it.
    pub fn took(&self, bytes: &[u8]) {
        let mut record = self.lock();
        if let Some(redacted) = &mut record.redacted {
            let masked = redacted.push(bytes);
            record.keep(&masked);
        }
    }

    /// Writes what was held back as the possible beginning of a secret; nothing is noted after
    /// that. Returns why the record is not whole, `None` if it is.
    pub fn complete(&self) -> Option<RecordingFailure> {
        let mut record = self.lock();
        if let Some(mut redacted) = record.redacted.take() {
            let rest = redacted.finish();
            record.keep(&rest);
        }
        record.failure.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record {
    fn keep(&mut self, masked: &[u8]) {
        if self.failure.is_some() {
            // A record with a gap would show another input.
            return;
        }
        if let Err(error) = self.file.write_all(masked) {
            self.failure = Some(RecordingFailure::new(&self.path, &error));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::fs;

    fn record(path: &Path) -> StdinRecord {
        let redactor = Redactor::new([b"top-secret-word".as_slice()]).unwrap();
        StdinRecord::create(path, &redactor).unwrap()
    }

    #[test]
    fn what_could_still_have_become_a_secret_is_recorded_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stdin");
        let record = record(&path);
        record.took(b"a top-secret-word, a top-");
        record.took(b"sec");
        assert_eq!(record.complete(), None);
        record.took(b"after the end");
        assert_eq!(record.complete(), None);
        let recorded = fs::read_to_string(&path).unwrap();
        let (begins, ends) = (
            recorded.starts_with("a "),
            recorded.ends_with(", a top-sec"),
        );
        assert!(begins && ends && !recorded.contains("word"), "{recorded}");
    }

    #[test]
    fn a_record_that_cannot_be_written_is_told_and_has_no_gap() {
        let folder = tempfile::tempdir().unwrap();
        let again = folder.path().join("again");
        let record = record(&folder.path().join("stdin"));
        record.lock().file = File::options().write(true).open("/dev/full").unwrap();
        record.took(b"one");
        record.lock().file = File::create(&again).unwrap();
        record.took(b"two");
        let failure = record.complete().unwrap();
        assert!(
            failure.disk_full && failure.file.ends_with("/stdin"),
            "{failure:?}"
        );
        assert_eq!(fs::read(again).unwrap(), b"");
    }
}
