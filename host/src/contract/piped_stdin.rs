//! A program's input while its adapter writes it, and the record of that.

use crate::process::recorder::{RecordingFailure, create_private};
use crate::process::redaction::{RedactedStream, Redactor};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tokio::net::unix::pipe;

/// Why the record is not whole; empty as long as it is.
pub type RecordFailed = Arc<OnceLock<RecordingFailure>>;

/// The write end of a program's input. Dropping it ends the input and completes its record.
pub struct PipedStdin {
    pipe: pipe::Sender,
    record: File,
    path: PathBuf,
    redacted: RedactedStream,
    failed: RecordFailed,
}

impl PipedStdin {
    /// Takes the write end over and creates the record.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn new(write_end: OwnedFd, path: &Path, redactor: &Redactor) -> io::Result<Self> {
        Ok(Self {
            pipe: pipe::Sender::from_owned_fd(write_end)?,
            record: create_private(path)?,
            path: path.to_owned(),
            redacted: redactor.stream(),
            failed: RecordFailed::default(),
        })
    }

    /// Where a failure of the record will be told.
    pub fn failed(&self) -> RecordFailed {
        Arc::clone(&self.failed)
    }

    /// Waits until the program may take something.
    ///
    /// # Errors
    ///
    /// If it closed its end.
    pub async fn writable(&self) -> io::Result<()> {
        self.pipe.writable().await
    }

    /// Writes what the program takes at once, and records that much.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if it takes nothing now; anything else: it closed its end.
    pub fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.pipe.try_write(bytes)?;
        let masked = self.redacted.push(&bytes[..taken]);
        self.keep(&masked);
        Ok(taken)
    }

    /// The program has the bytes, so this stops nothing: what is missing is told in the end.
    fn keep(&mut self, masked: &[u8]) {
        if self.failed.get().is_some() {
            // A record with a gap would show another input.
            return;
        }
        if let Err(error) = self.record.write_all(masked) {
            // Only set here, where it was found empty.
            let _ = self.failed.set(RecordingFailure::new(&self.path, &error));
        }
    }
}

impl Drop for PipedStdin {
    fn drop(&mut self) {
        let rest = self.redacted.finish();
        self.keep(&rest);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::Read;

    fn stdin(path: &Path) -> (PipedStdin, io::PipeReader) {
        let (reader, writer) = io::pipe().unwrap();
        let redactor = Redactor::new([b"top-secret-word".as_slice()]).unwrap();
        let stdin = PipedStdin::new(writer.into(), path, &redactor).unwrap();
        (stdin, reader)
    }

    async fn write(stdin: &mut PipedStdin, bytes: &[u8]) {
        stdin.writable().await.unwrap();
        assert_eq!(stdin.try_write(bytes).unwrap(), bytes.len());
    }

    #[tokio::test]
    async fn what_could_still_have_become_a_secret_is_recorded_when_the_input_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stdin");
        let (mut stdin, mut program) = stdin(&path);
        write(&mut stdin, b"a top-secret-word, a top-sec").await;
        drop(stdin);
        let mut read = String::new();
        program.read_to_string(&mut read).unwrap();
        assert_eq!(read, "a top-secret-word, a top-sec");
        let recorded = std::fs::read_to_string(&path).unwrap();
        assert!(
            recorded.starts_with("a ") && recorded.ends_with(", a top-sec"),
            "{recorded}"
        );
        assert!(!recorded.contains("word"), "{recorded}");
    }

    #[tokio::test]
    async fn a_record_that_cannot_be_written_is_told_and_the_program_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let (mut stdin, mut program) = stdin(&folder.path().join("stdin"));
        stdin.record = File::options().write(true).open("/dev/full").unwrap();
        let failed = stdin.failed();
        assert_eq!(failed.get(), None);
        write(&mut stdin, b"one").await;
        assert!(failed.get().is_some_and(|failure| failure.disk_full));
        stdin.record = File::create(folder.path().join("again")).unwrap();
        write(&mut stdin, b"two").await;
        drop(stdin);
        let mut read = String::new();
        program.read_to_string(&mut read).unwrap();
        assert_eq!(read, "onetwo");
        let again = std::fs::read(folder.path().join("again")).unwrap();
        assert_eq!(again, b"", "a record with a gap");
    }
}
