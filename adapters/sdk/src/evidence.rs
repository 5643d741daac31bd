//! What the engine recorded: the only thing from which observations may be derived.
//!
//! The same code runs in an adapter, over `/evidence`, and natively, over a folder of the
//! same layout, so that tests can replay recordings without wasm.

use crate::lines::{self, Line};
use serde::Deserialize;
use std::fmt;
use std::io::Read;

/// Reading a folder of evidence. Paths are relative to it and use `/`.
pub trait Evidence {
    /// The names in a folder, sorted; empty if there is no such folder.
    ///
    /// # Errors
    ///
    /// If the folder exists and can't be read.
    fn list(&self, folder: &str) -> Result<Vec<Entry>, EvidenceError>;

    /// Opens a file; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If the file exists and can't be opened.
    fn open(&self, path: &str) -> Result<Option<Box<dyn Read + '_>>, EvidenceError>;
}

/// A name in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The last part of its path.
    pub name: String,
    /// True for a folder.
    pub is_folder: bool,
}

/// Evidence that exists and could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceError {
    /// Relative to the evidence folder.
    pub path: String,
    /// What the system said.
    pub reason: String,
}

impl fmt::Display for EvidenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "evidence file `{}` could not be read: {}",
            self.path, self.reason
        )
    }
}

impl std::error::Error for EvidenceError {}

/// How a program ended, as the engine recorded it in `exit.json`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ExitRecord {
    /// How the program ended.
    pub status: ExitStatus,
    /// The signals that the engine sent, in order: an agent can turn SIGTERM into exit 0.
    #[serde(default)]
    pub signals: Vec<SentSignal>,
}

/// A program's own end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ExitStatus {
    /// It returned this code.
    Exited {
        /// 0 to 255.
        code: i32,
    },
    /// A signal ended it.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
}

/// A signal that the engine sent to a program or its tree.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SentSignal {
    /// For example `SIGINT`.
    pub signal: String,
    /// Why: `cancel`, `time_limit`, `idle_limit`, `adapter`, `leftovers`, `session_end`, …
    pub reason: String,
}

/// What was started, from `command.json`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CommandRecord {
    /// The program's name in the descriptor.
    pub program: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
}

/// One program that was started: a folder `spawns/<n>-<label>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpawnEvidence {
    /// Counted from 1 within the session.
    pub number: u32,
    /// As the adapter named it.
    pub label: String,
    /// The folder, relative to the evidence.
    pub folder: String,
    /// `None` if the record is missing or torn.
    pub command: Option<CommandRecord>,
    /// `None` if the end was not recorded: the program may have outlived its engine.
    pub exit: Option<ExitRecord>,
}

/// The programs that were started, in order.
///
/// # Errors
///
/// If a folder or record exists and can't be read.
pub fn spawns(evidence: &dyn Evidence) -> Result<Vec<SpawnEvidence>, EvidenceError> {
    let mut found = Vec::new();
    for entry in evidence.list("spawns")? {
        let Some((number, label)) = entry.name.split_once('-') else {
            continue;
        };
        let Ok(number) = number.parse() else { continue };
        let folder = format!("spawns/{}", entry.name);
        found.push(SpawnEvidence {
            number,
            label: label.to_owned(),
            command: read_record(evidence, &format!("{folder}/command.json"))?,
            exit: read_record(evidence, &format!("{folder}/exit.json"))?,
            folder,
        });
    }
    found.sort_by_key(|spawn| spawn.number);
    Ok(found)
}

/// Reads a whole file; `None` if there is none.
///
/// # Errors
///
/// If the file exists and can't be read.
pub fn read_all(evidence: &dyn Evidence, path: &str) -> Result<Option<Vec<u8>>, EvidenceError> {
    let Some(mut file) = evidence.open(path)? else {
        return Ok(None);
    };
    // Records are smaller; without room to begin with, the first reads are of 32 bytes each.
    let mut bytes = Vec::with_capacity(8 << 10);
    file.read_to_end(&mut bytes)
        .map_err(|error| EvidenceError {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
    Ok(Some(bytes))
}

/// Calls `each` for every line of a file; false if there is no such file.
///
/// # Errors
///
/// If the file exists and can't be read.
pub fn for_each_line(
    evidence: &dyn Evidence,
    path: &str,
    each: impl FnMut(Line<'_>),
) -> Result<bool, EvidenceError> {
    let Some(file) = evidence.open(path)? else {
        return Ok(false);
    };
    lines::for_each_line(file, each).map_err(|error| EvidenceError {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    Ok(true)
}

/// The paths of all files below a folder, sorted.
///
/// # Errors
///
/// If a folder exists and can't be read.
pub fn walk(evidence: &dyn Evidence, folder: &str) -> Result<Vec<String>, EvidenceError> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in evidence.list(&folder)? {
            let path = format!("{folder}/{}", entry.name);
            if entry.is_folder {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn read_record<T: for<'de> Deserialize<'de>>(
    evidence: &dyn Evidence,
    path: &str,
) -> Result<Option<T>, EvidenceError> {
    let bytes = read_all(evidence, path)?;
    // A record that doesn't parse was torn by a crash: as good as absent.
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

#[cfg(not(target_arch = "wasm32"))]
pub use native::FolderEvidence;

#[cfg(not(target_arch = "wasm32"))]
mod native {
    use super::{Entry, Evidence, EvidenceError};
    use std::fs::{self, File};
    use std::io::{self, Read};
    use std::path::PathBuf;

    /// Evidence in a folder of this machine, for tests and tools.
    #[derive(Debug, Clone)]
    pub struct FolderEvidence(pub PathBuf);

    impl Evidence for FolderEvidence {
        fn list(&self, folder: &str) -> Result<Vec<Entry>, EvidenceError> {
            let failed = |error: io::Error| EvidenceError {
                path: folder.to_owned(),
                reason: error.to_string(),
            };
            let listing = match fs::read_dir(self.0.join(folder)) {
                Ok(listing) => listing,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                Err(error) => return Err(failed(error)),
            };
            let mut entries = Vec::new();
            for entry in listing {
                let entry = entry.map_err(failed)?;
                entries.push(Entry {
                    name: entry.file_name().to_string_lossy().into_owned(),
                    is_folder: entry.file_type().map_err(failed)?.is_dir(),
                });
            }
            entries.sort();
            Ok(entries)
        }

        fn open(&self, path: &str) -> Result<Option<Box<dyn Read + '_>>, EvidenceError> {
            match File::open(self.0.join(path)) {
                Ok(file) => Ok(Some(Box::new(file))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(EvidenceError {
                    path: path.to_owned(),
                    reason: error.to_string(),
                }),
            }
        }
    }
}

#[cfg(target_arch = "wasm32")]
pub use guest::GrantedEvidence;

#[cfg(target_arch = "wasm32")]
mod guest {
    use super::{Entry, Evidence, EvidenceError};
    use crate::files::{self, FileReader};
    use std::io::Read;
    use wasip2::filesystem::types::{
        DescriptorFlags, DescriptorType, ErrorCode, OpenFlags, PathFlags,
    };

    /// The evidence that this adapter was granted, `/evidence`.
    #[derive(Debug, Clone, Copy)]
    pub struct GrantedEvidence;

    impl Evidence for GrantedEvidence {
        fn list(&self, folder: &str) -> Result<Vec<Entry>, EvidenceError> {
            let failed = |code: ErrorCode| error(folder, &code);
            let root = files::preopen("/evidence").map_err(|reason| EvidenceError {
                path: folder.to_owned(),
                reason,
            })?;
            let opened = root.open_at(
                PathFlags::empty(),
                folder,
                OpenFlags::DIRECTORY,
                DescriptorFlags::READ,
            );
            let opened = match opened {
                Ok(opened) => opened,
                Err(ErrorCode::NoEntry) => return Ok(Vec::new()),
                Err(code) => return Err(failed(code)),
            };
            let stream = opened.read_directory().map_err(failed)?;
            let mut entries = Vec::new();
            while let Some(entry) = stream.read_directory_entry().map_err(failed)? {
                entries.push(Entry {
                    name: entry.name,
                    is_folder: entry.type_ == DescriptorType::Directory,
                });
            }
            entries.sort();
            Ok(entries)
        }

        fn open(&self, path: &str) -> Result<Option<Box<dyn Read + '_>>, EvidenceError> {
            let root = files::preopen("/evidence").map_err(|reason| EvidenceError {
                path: path.to_owned(),
                reason,
            })?;
            match root.open_at(
                PathFlags::empty(),
                path,
                OpenFlags::empty(),
                DescriptorFlags::READ,
            ) {
                Ok(file) => Ok(Some(Box::new(FileReader::new(file)))),
                Err(ErrorCode::NoEntry) => Ok(None),
                Err(code) => Err(error(path, &code)),
            }
        }
    }

    fn error(path: &str, code: &ErrorCode) -> EvidenceError {
        EvidenceError {
            path: path.to_owned(),
            reason: code.name().to_owned(),
        }
    }
}
