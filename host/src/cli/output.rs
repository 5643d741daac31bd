//! Standard output: data only.

use super::CliError;
use serde::Serialize;
use std::io::{self, Write};

/// Writes text. A reader that has seen enough (`| head`) is no error.
pub fn text(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(failed(error)),
        _ => Ok(()),
    }
}

/// Writes a JSON document.
pub fn json(value: &impl Serialize) -> Result<(), CliError> {
    let mut document = serde_json::to_string_pretty(value).map_err(|e| failed(e.into()))?;
    document.push('\n');
    text(&document)
}

fn failed(error: io::Error) -> CliError {
    CliError::System {
        action: "write to standard output",
        error,
    }
}
