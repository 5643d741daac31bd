//! What can be wrong with the files of a registry.

use super::expectation::list;
use std::path::PathBuf;

/// One problem of one file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct RegistryError {
    /// The file, or the folder of a source.
    pub file: PathBuf,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a file. A pointer is a JSON Pointer (RFC 6901) into it; the empty
/// pointer means the whole document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The file or folder exists and can't be read.
    #[error("can't be read: {reason}")]
    Unreadable {
        /// What the system said.
        reason: String,
    },
    /// The folder of a source does not exist.
    #[error("the folder of source `{source_name}` does not exist")]
    NoSuchFolder {
        /// The source's name.
        source_name: String,
    },
    /// Not JSON, or JSON with a key that occurs twice in one object.
    #[error("line {line}, column {column}: {reason}")]
    Syntax {
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in bytes.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A key that the format does not know.
    #[error("at `{pointer}`: unknown key; {}", hint(nearest.as_deref(), known))]
    UnknownKey {
        /// Of the key itself.
        pointer: String,
        /// The known key that was probably meant.
        nearest: Option<String>,
        /// All keys that are known at this place.
        known: Vec<String>,
    },
    /// A key that must be there is not.
    #[error("at `{pointer}`: the key `{key}` is missing")]
    MissingKey {
        /// Of the object that lacks the key.
        pointer: String,
        /// The missing key.
        key: String,
    },
    /// A value that is not what it should be.
    #[error("at `{pointer}`: expected {expected}, found {found}")]
    Value {
        /// Of the value.
        pointer: String,
        /// In words.
        expected: String,
        /// The value as JSON, shortened if it is long.
        found: String,
    },
    /// The file names something that another file of the same source, or the same file
    /// further up, has already named.
    #[error("{what} is already described in {}; remove one of the two", first.display())]
    Duplicate {
        /// For example ``agent `acme@1.0.0` ``.
        what: String,
        /// Where it was seen first.
        first: PathBuf,
    },
    /// A schema that is built into this program can't be used: a defect of the program.
    #[error("the built-in schema for this file is broken, please report it: {reason}")]
    BrokenSchema {
        /// What is wrong with the schema.
        reason: String,
    },
}

impl Problem {
    /// Where in the document; `None` if the problem is not about a place in it.
    pub fn pointer(&self) -> Option<&str> {
        match self {
            Self::UnknownKey { pointer, .. }
            | Self::MissingKey { pointer, .. }
            | Self::Value { pointer, .. } => Some(pointer),
            Self::Unreadable { .. }
            | Self::NoSuchFolder { .. }
            | Self::Syntax { .. }
            | Self::Duplicate { .. }
            | Self::BrokenSchema { .. } => None,
        }
    }
}

/// What to write instead of an unknown name.
pub(super) fn hint(nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if known.is_empty() => "none is known here".to_owned(),
        None => format!("known are {}", list(known)),
    }
}
