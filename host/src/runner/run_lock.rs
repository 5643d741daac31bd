//! Whether the host of a run is alive: it holds a lock on a file in the run's folder, which
//! the system takes from it when it dies. No process id that could be somebody else's by now.

use crate::process::recorder::create_private;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

/// The file that is locked.
pub const LOCK_FILE: &str = ".lock";

/// `runs list` looks by taking the lock for a moment; whoever wants it tries as often again.
const ATTEMPTS: u32 = 5;

const BETWEEN: Duration = Duration::from_millis(20);

/// The lock of a run's folder, held until this is dropped or the process dies.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

/// Who has a run's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// A living host.
    Host,
    /// Nobody.
    Nobody,
}

impl RunLock {
    /// Makes the lock of a new folder, which nobody else knows yet.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn create(folder: &Path) -> io::Result<Self> {
        let file = create_private(&folder.join(LOCK_FILE))?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other("somebody else has locked a new folder"),
            // Without locks a dead host can't be told from a living one.
            TryLockError::Error(error) => {
                io::Error::new(error.kind(), format!("can't lock a file in it: {error}"))
            }
        })?;
        Ok(Self { _file: file })
    }

    /// Takes over the folder of a dead host; `None` if its host lives.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn take(folder: &Path) -> io::Result<Option<Self>> {
        let path = folder.join(LOCK_FILE);
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // The host was done with it, or older than locks; from now on there is one.
                match create_private(&path) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        File::open(&path)?
                    }
                    created => created?,
                }
            }
            opened => opened?,
        };
        for attempt in 1..=ATTEMPTS {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self { _file: file })),
                Err(TryLockError::WouldBlock) if attempt < ATTEMPTS => std::thread::sleep(BETWEEN),
                Err(TryLockError::WouldBlock) => break,
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(None)
    }
}

/// Who has the folder now.
///
/// # Errors
///
/// What the system says.
pub fn holder(folder: &Path) -> io::Result<Holder> {
    let file = match File::open(folder.join(LOCK_FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Holder::Nobody),
        opened => opened?,
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(Holder::Nobody),
        Err(TryLockError::WouldBlock) => Ok(Holder::Host),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_folder_is_taken_over_only_once_its_host_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(holder(folder.path()).unwrap(), Holder::Nobody);
        let lock = RunLock::create(folder.path()).unwrap();
        assert_eq!(holder(folder.path()).unwrap(), Holder::Host);
        assert!(RunLock::take(folder.path()).unwrap().is_none());
        drop(lock);
        assert_eq!(holder(folder.path()).unwrap(), Holder::Nobody);
        let taken = RunLock::take(folder.path()).unwrap();
        assert!(taken.is_some());
        assert_eq!(holder(folder.path()).unwrap(), Holder::Host);
    }

    #[test]
    fn a_folder_without_a_lock_file_can_be_taken_over_and_is_locked_then() {
        let folder = tempfile::tempdir().unwrap();
        let taken = RunLock::take(folder.path()).unwrap();
        assert!(taken.is_some());
        assert!(RunLock::take(folder.path()).unwrap().is_none());
    }
}
