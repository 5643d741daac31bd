//! Running other programs and saying so.

use std::process::{Command, Stdio};

use crate::failure::{Explain, Failure, Outcome};

/// Runs a command with this terminal; `doing` completes "failed to …".
///
/// # Errors
///
/// If it cannot be started or does not end with exit status 0.
pub fn run(command: &mut Command, doing: &str) -> Outcome {
    eprintln!("xtask: {}", shown(command));
    let status = command
        .status()
        .explain(|| format!("{doing}: cannot start `{}`", shown(command)))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "failed to {doing}: `{}` ended with {status}",
        shown(command)
    )))
}

/// Runs a command and returns what it printed; its stderr goes to this terminal.
///
/// # Errors
///
/// If it cannot be started, does not end with exit status 0 or prints no UTF-8.
pub fn read(command: &mut Command, doing: &str) -> Outcome<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .explain(|| format!("{doing}: cannot start `{}`", shown(command)))?;
    if !output.status.success() {
        let status = output.status;
        return Err(Failure::new(format!(
            "failed to {doing}: `{}` ended with {status}",
            shown(command)
        )));
    }
    String::from_utf8(output.stdout)
        .explain(|| format!("{doing}: `{}` printed no UTF-8", shown(command)))
}

/// What a command prints, or `None` if it cannot be started or fails: for looking around.
pub fn probe(command: &mut Command) -> Option<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The command as a person would type it.
pub fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy()];
    words.extend(command.get_args().map(|arg| arg.to_string_lossy()));
    words.join(" ")
}
