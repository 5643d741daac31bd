//! Bytes that a scenario names: a text, a file of its folder, or the bytes themselves.

use crate::failure::Failure;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    Bytes(Vec<u8>),
    /// Relative to the scenario folder.
    File(PathBuf),
}

impl Content {
    /// Exactly one of the three keys must be there.
    pub(crate) fn of(
        text: Option<String>,
        file: Option<PathBuf>,
        bytes: Option<Vec<u8>>,
    ) -> Result<Self, String> {
        match (text, file, bytes) {
            (Some(text), None, None) => Ok(Self::Bytes(text.into_bytes())),
            (None, Some(file), None) => Ok(Self::File(file)),
            (None, None, Some(bytes)) => Ok(Self::Bytes(bytes)),
            _ => Err("expected exactly one of `text`, `file` and `bytes`".to_owned()),
        }
    }

    pub(crate) fn load(&self, folder: &Path) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Bytes(bytes) => Ok(bytes.clone()),
            Self::File(file) => {
                let path = folder.join(file);
                fs::read(&path).map_err(|error| {
                    Failure::scenario(format!("failed to read {}: {error}", path.display()))
                })
            }
        }
    }
}

/// What to write to stdout or stderr.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "WriteKeys")]
pub(crate) struct Write {
    pub(crate) content: Content,
    /// Pause after each piece, in milliseconds.
    pub(crate) delay_ms: u64,
    /// Bytes of a piece; `None`: a piece is a line.
    pub(crate) piece_bytes: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteKeys {
    text: Option<String>,
    file: Option<PathBuf>,
    bytes: Option<Vec<u8>>,
    #[serde(default)]
    delay_ms: u64,
    piece_bytes: Option<usize>,
}

impl TryFrom<WriteKeys> for Write {
    type Error = String;

    fn try_from(keys: WriteKeys) -> Result<Self, String> {
        if keys.piece_bytes == Some(0) {
            return Err("`piece_bytes` must be at least 1".to_owned());
        }
        Ok(Self {
            content: Content::of(keys.text, keys.file, keys.bytes)?,
            delay_ms: keys.delay_ms,
            piece_bytes: keys.piece_bytes,
        })
    }
}

/// What to repeat on stdout or stderr.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "FloodKeys")]
pub(crate) struct Flood {
    pub(crate) content: Content,
    pub(crate) total_bytes: u64,
    pub(crate) to: crate::output::Channel,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FloodKeys {
    text: Option<String>,
    file: Option<PathBuf>,
    bytes: Option<Vec<u8>>,
    total_bytes: u64,
    #[serde(default)]
    to: crate::output::Channel,
}

impl TryFrom<FloodKeys> for Flood {
    type Error = String;

    fn try_from(keys: FloodKeys) -> Result<Self, String> {
        Ok(Self {
            content: Content::of(keys.text, keys.file, keys.bytes)?,
            total_bytes: keys.total_bytes,
            to: keys.to,
        })
    }
}

/// A file to write or to add to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "FileKeys")]
pub(crate) struct FileContent {
    pub(crate) place: crate::files::Place,
    pub(crate) content: Content,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileKeys {
    path: PathBuf,
    into_env: Option<String>,
    text: Option<String>,
    file: Option<PathBuf>,
    bytes: Option<Vec<u8>>,
    #[serde(default)]
    may_fail: bool,
}

impl TryFrom<FileKeys> for FileContent {
    type Error = String;

    fn try_from(keys: FileKeys) -> Result<Self, String> {
        Ok(Self {
            content: Content::of(keys.text, keys.file, keys.bytes)?,
            place: crate::files::Place {
                path: keys.path,
                into_env: keys.into_env,
                may_fail: keys.may_fail,
            },
        })
    }
}
