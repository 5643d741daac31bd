//! What a run's `audit.jsonl` says about its beginning, as far as its host came.

use crate::digest::Sha256;
use crate::runner::result::ConfinementRecord;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use std::io;
use std::path::Path;

/// What was noted before the session began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Trail {
    /// Of the workspace as the agent found it; `None` if it was not ready.
    pub(super) workspace_sha256: Option<Sha256>,
    /// What contained the session; `None` if nothing was started.
    pub(super) confinement: Option<ConfinementRecord>,
    /// When the last line was written.
    pub(super) last_at: Option<Timestamp>,
}

#[derive(Deserialize)]
struct Line {
    at: String,
    audit: String,
    #[serde(default)]
    detail: Value,
    #[serde(default)]
    workspace_sha256: Option<Sha256>,
}

/// Reads the audit of the run in this folder; lines that a crash tore are passed over.
///
/// # Errors
///
/// What the system says.
pub(super) fn trail(folder: &Path) -> io::Result<Trail> {
    let bytes = match std::fs::read(folder.join("audit.jsonl")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Trail::default()),
        read => read?,
    };
    let mut trail = Trail::default();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(line) = serde_json::from_slice::<Line>(line) else {
            continue;
        };
        trail.last_at = line.at.parse().ok().or(trail.last_at);
        match line.audit.as_str() {
            "prepared" => trail.workspace_sha256 = line.workspace_sha256,
            "contained" => trail.confinement = serde_json::from_value(line.detail).ok(),
            _ => {}
        }
    }
    Ok(trail)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_torn_last_line_hides_nothing_that_came_before() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(trail(folder.path()).unwrap(), Trail::default());
        let sha256 = Sha256::of(b"tree");
        let lines = format!(
            "{{\"at\":\"2026-01-02T03:04:05.000Z\",\"audit\":\"prepared\",\"workspace_sha256\":\"{sha256}\"}}\n\
             {{\"at\":\"2026-01-02T03:04:06.000Z\",\"audit\":\"contained\",\"detail\":{{\"files\":\"bubblewrap\",\
             \"tree\":\"t\",\"network\":\"full\",\"limits\":{{}},\"notes\":[]}}}}\n\
             {{\"at\":\"2026-01-02T03:04:07.000Z\",\"audit\":\"spa"
        );
        std::fs::write(folder.path().join("audit.jsonl"), lines).unwrap();
        let read = trail(folder.path()).unwrap();
        assert_eq!(read.workspace_sha256, Some(sha256));
        let files = read.confinement.unwrap().files;
        assert_eq!(files.as_deref(), Some("bubblewrap"));
        assert_eq!(read.last_at.unwrap().to_string(), "2026-01-02T03:04:06Z");
    }
}
