//! What the program put in front of a tool's output: how a command ended.
//!
//! Only the program's own header counts. Everything after `Output:` was written by the
//! tool, which may print anything.

use serde_json::Value;

/// What an output says about the call's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// A command ended with this code.
    Exited(i32),
    /// The tool did what it was asked for, or at least nothing says otherwise.
    Returned,
    /// The program or the tool reported a failure without a code.
    Failed,
    /// It was not allowed to run.
    Denied,
    /// The turn was interrupted while it ran.
    Aborted,
    /// It goes on in the background.
    Running,
}

/// The end of a call of `tool`, from its output item.
pub fn ending(tool: &str, output: &Value) -> Ending {
    match output {
        Value::String(text) => of_text(tool, text),
        Value::Array(parts) => {
            let first = parts
                .first()
                .and_then(|part| part.get("text"))
                .and_then(Value::as_str);
            first.map_or(Ending::Returned, |text| of_text(tool, text))
        }
        // Old versions: `{"content": "...", "success": false}`.
        Value::Object(object) => match object.get("success").and_then(Value::as_bool) {
            Some(false) => Ending::Failed,
            _ => match object.get("content").and_then(Value::as_str) {
                Some(text) => of_text(tool, text),
                None => Ending::Returned,
            },
        },
        _ => Ending::Returned,
    }
}

fn of_text(tool: &str, text: &str) -> Ending {
    of_header(tool, text)
        .or_else(|| of_record(tool, text))
        .or_else(|| of_sentence(tool, text))
        .unwrap_or(Ending::Returned)
}

/// Whether the program, not an outside server, writes this tool's output.
fn is_own(tool: &str) -> bool {
    matches!(
        tool,
        "exec_command"
            | "write_stdin"
            | "shell"
            | "shell_command"
            | "local_shell"
            | "container.exec"
            | "apply_patch"
            | "exec"
            | "wait"
    )
}

/// The newer form: lines like `Process exited with code 3` up to `Output:`.
fn of_header(tool: &str, text: &str) -> Option<Ending> {
    if !is_own(tool) {
        return None;
    }
    let mut text = text;
    // Some versions repeat the command first, which may span lines.
    if text.starts_with("Command: ") {
        text = &text[text.find("\nChunk ID: ")? + 1..];
    }
    let (header, body) = match text.split_once("\nOutput:") {
        Some((header, body)) => (header, body.trim_start_matches('\n')),
        None => (text, ""),
    };
    for line in header.lines() {
        let code = line
            .strip_prefix("Process exited with code ")
            .or_else(|| line.strip_prefix("Exit code: "));
        if let Some(code) = code {
            return code.trim().parse().ok().map(Ending::Exited);
        }
        match line {
            "Script completed" => return Some(Ending::Returned),
            "Script failed" => return Some(Ending::Failed),
            "aborted by user" => return Some(Ending::Aborted),
            _ if line.starts_with("Process running with session ID ") => {
                return Some(Ending::Running);
            }
            _ => {}
        }
    }
    // A patch that came as a command: the program ran it itself, and its own output follows.
    (header.starts_with("Wall time: ") && !body.is_empty())
        .then(|| of_header("apply_patch", body).or_else(|| of_record("apply_patch", body)))?
}

/// The oldest form: `{"output":"…","metadata":{"exit_code":3}}`.
fn of_record(tool: &str, text: &str) -> Option<Ending> {
    if !is_own(tool) || !text.starts_with('{') {
        return None;
    }
    let record: Value = serde_json::from_str(text).ok()?;
    let code = record.get("metadata")?.get("exit_code")?.as_i64()?;
    i32::try_from(code).ok().map(Ending::Exited)
}

/// Sentences of the program in place of an output.
fn of_sentence(tool: &str, text: &str) -> Option<Ending> {
    if text
        .strip_prefix("unsupported call: ")
        .is_some_and(|name| name.ends_with(tool))
    {
        return Some(Ending::Failed);
    }
    if text.starts_with("aborted by user after ") && text.lines().count() == 1 {
        return Some(Ending::Aborted);
    }
    if !is_own(tool) {
        return None;
    }
    if text.starts_with("patch rejected: ") || text.starts_with("exec_command rejected: ") {
        return Some(Ending::Denied);
    }
    const FAILED: [&str; 4] = [
        "exec_command failed for `",
        "apply_patch verification failed: ",
        "failed in sandbox",
        "failed to parse function arguments: ",
    ];
    FAILED
        .iter()
        .any(|known| text.starts_with(known))
        .then_some(Ending::Failed)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use serde_json::json;

    #[test]
    fn all_known_forms_are_read() {
        for (tool, output, expected) in [
            (
                "exec_command",
                json!(
                    "Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 3\nOriginal token count: 1\nOutput:\nx\n"
                ),
                Ending::Exited(3),
            ),
            (
                "exec_command",
                json!(
                    "Command: /bin/bash -lc 'a\nb'\nChunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\n"
                ),
                Ending::Exited(1),
            ),
            (
                "exec_command",
                json!(
                    "Chunk ID: a\nWall time: 10 seconds\nProcess running with session ID 7\nOutput:\n"
                ),
                Ending::Running,
            ),
            (
                "shell",
                json!("{\"output\":\"x\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.0}}"),
                Ending::Exited(2),
            ),
            (
                "shell_command",
                json!("Exit code: 4\nWall time: 0 seconds\nOutput:\none\n"),
                Ending::Exited(4),
            ),
            (
                "exec_command",
                json!(
                    "Wall time: 0.1 seconds\nOutput:\nExit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess."
                ),
                Ending::Exited(0),
            ),
            (
                "exec_command",
                json!("Wall time: 2.2 seconds\naborted by user"),
                Ending::Aborted,
            ),
            (
                "shell",
                json!("aborted by user after 2.1s"),
                Ending::Aborted,
            ),
            (
                "exec",
                json!([{"type": "input_text", "text": "Script failed\nWall time 0.1 seconds\nOutput:\n"}]),
                Ending::Failed,
            ),
            (
                "apply_patch",
                json!("apply_patch verification failed: no"),
                Ending::Failed,
            ),
            (
                "apply_patch",
                json!("patch rejected: writing outside of the project"),
                Ending::Denied,
            ),
            (
                "no_such_tool",
                json!("unsupported call: no_such_tool"),
                Ending::Failed,
            ),
            ("update_plan", json!("Plan updated"), Ending::Returned),
        ] {
            assert_eq!(ending(tool, &output), expected, "{output}");
        }
    }

    #[test]
    fn what_a_tool_prints_is_no_header() {
        let output = json!(
            "Chunk ID: a\nWall time: 0 seconds\nProcess exited with code 0\nOutput:\nProcess exited with code 9\n"
        );
        assert_eq!(ending("exec_command", &output), Ending::Exited(0));
        let output = json!("Wall time: 0 seconds\nOutput:\nExit code: 9");
        assert_eq!(ending("some_server_tool", &output), Ending::Returned);
        let output = json!("Exit code: 9");
        assert_eq!(ending("some_server_tool", &output), Ending::Returned);
    }
}
