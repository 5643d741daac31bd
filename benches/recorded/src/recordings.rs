//! Lines of recorded sessions. Everything that is measured reads what an agent really wrote,
//! repeated until it is long enough.

use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where the recordings lie in this repository.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/codex/recordings")
}

/// The lines of all recordings' event streams that show an agent at work: none that begins or
/// ends a turn.
///
/// # Errors
///
/// If a recording can't be read, or there is no such line.
pub fn events(recordings: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut lines = Vec::new();
    for recording in sorted(recordings)? {
        keep(&recording.join("stdout.jsonl"), &mut lines, |line| {
            line["type"]
                .as_str()
                .is_some_and(|kind| kind.starts_with("item."))
        })?;
    }
    some(lines, recordings)
}

/// The lines of all recordings' session files that stand within a turn.
///
/// # Errors
///
/// If a recording can't be read, or there is no such line.
pub fn session_lines(recordings: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut lines = Vec::new();
    for recording in sorted(recordings)? {
        let rollouts = recording.join("rollouts");
        if !rollouts.is_dir() {
            continue;
        }
        for file in sorted(&rollouts)? {
            keep(&file, &mut lines, is_within_a_turn)?;
        }
    }
    some(lines, recordings)
}

fn is_within_a_turn(line: &Value) -> bool {
    let begins_or_ends = [
        "task_started",
        "task_complete",
        "turn_aborted",
        "user_message",
    ];
    match line["type"].as_str() {
        Some("session_meta") | None => false,
        Some("event_msg") => !line["payload"]["type"]
            .as_str()
            .is_some_and(|kind| begins_or_ends.contains(&kind)),
        Some(_) => true,
    }
}

fn keep(file: &Path, lines: &mut Vec<Vec<u8>>, wanted: impl Fn(&Value) -> bool) -> io::Result<()> {
    let bytes = fs::read(file)
        .map_err(|error| io::Error::new(error.kind(), format!("`{}`: {error}", file.display())))?;
    for line in bytes.split(|&byte| byte == b'\n') {
        if serde_json::from_slice(line).is_ok_and(|value| wanted(&value)) {
            let mut line = line.to_vec();
            line.push(b'\n');
            lines.push(line);
        }
    }
    Ok(())
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("`{}`: {error}", folder.display()));
    let mut paths = fs::read_dir(folder)
        .map_err(named)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<Vec<_>>>()?;
    paths.retain(|path| path.file_name().is_some_and(|name| name != "README.md"));
    paths.sort();
    Ok(paths)
}

fn some(lines: Vec<Vec<u8>>, folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    if lines.is_empty() {
        let text = format!("`{}` holds no recorded line to repeat", folder.display());
        return Err(io::Error::other(text));
    }
    Ok(lines)
}
