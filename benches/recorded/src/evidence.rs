//! Folders of evidence as the engine records them, with a stream or a session file as long as
//! is wanted.

use crate::recordings;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

const THREAD: &str = "01900000-0000-7000-8000-000000000000";

const COMMAND: &str =
    r#"{"program":"codex","label":"task","args":["exec","--json","-"],"cwd":"workspace"}"#;

const EXIT: &str = r#"{"status":{"kind":"exited","code":0},"signals":[]}"#;

/// What is long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Long {
    /// What the program printed.
    Stream,
    /// The file in which it keeps its conversation.
    SessionFile,
}

/// Lays a task's evidence out whose long part has at least `bytes` bytes; returns how many
/// lines that part has, and how many bytes.
///
/// # Errors
///
/// If the recordings can't be read or the folder can't be written.
pub fn lay_out(evidence: &Path, long: Long, bytes: u64) -> io::Result<(u64, u64)> {
    let spawn = evidence.join("spawns/1-task");
    let home = evidence.join("home/sessions/2026/11/30");
    fs::create_dir_all(&spawn)?;
    fs::create_dir_all(&home)?;
    fs::write(spawn.join("command.json"), COMMAND)?;
    fs::write(spawn.join("exit.json"), EXIT)?;
    fs::write(spawn.join("stdin"), "")?;
    fs::write(spawn.join("stderr"), "")?;
    let recordings = recordings::folder();
    let (events, lines) = match long {
        Long::Stream => (recordings::events(&recordings)?, Vec::new()),
        Long::SessionFile => (Vec::new(), recordings::session_lines(&recordings)?),
    };
    let stream = write(
        &spawn.join("stdout"),
        &format!(
            "{{\"type\":\"thread.started\",\"thread_id\":\"{THREAD}\"}}\n{{\"type\":\"turn.started\"}}\n"
        ),
        &events,
        "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":1,\"cached_input_tokens\":0,\"output_tokens\":1,\"reasoning_output_tokens\":0}}\n",
        bytes,
    )?;
    let session = write(
        &home.join(format!("rollout-2026-11-30T00-00-00-{THREAD}.jsonl")),
        &format!(
            "{{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"{THREAD}\",\"cli_version\":\"0.171.0\"}}}}\n\
             {{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{{\"type\":\"task_started\",\"turn_id\":\"turn\"}}}}\n"
        ),
        &lines,
        "{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{\"type\":\"task_complete\",\"turn_id\":\"turn\",\"last_agent_message\":\"done\"}}\n",
        bytes,
    )?;
    Ok(match long {
        Long::Stream => stream,
        Long::SessionFile => session,
    })
}

/// `begin`, then the lines again and again, then `end`. Without lines, only both ends.
fn write(
    path: &Path,
    begin: &str,
    lines: &[Vec<u8>],
    end: &str,
    bytes: u64,
) -> io::Result<(u64, u64)> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    file.write_all(begin.as_bytes())?;
    let mut count = 0;
    let mut written = (begin.len() + end.len()) as u64;
    for line in lines.iter().cycle() {
        if written >= bytes {
            break;
        }
        file.write_all(line)?;
        written += line.len() as u64;
        count += 1;
    }
    file.write_all(end.as_bytes())?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?;
    Ok((count, written))
}
