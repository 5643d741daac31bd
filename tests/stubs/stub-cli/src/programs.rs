//! Running other programs, as a wrapper does.

use crate::failure::Failure;
use serde::Deserialize;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program to run with this one's environment, folder, stdin, stdout and stderr.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    /// Relative to the folder that this executable lies in; an absolute path is taken as it is.
    program: PathBuf,
    #[serde(default)]
    args: Vec<String>,
    /// Adds the arguments that this program got.
    #[serde(default)]
    pass_args: bool,
    /// Goes on at once instead of waiting for the end.
    #[serde(default)]
    background: bool,
    /// The exit status that must come; `None`: any. Not looked at in the background.
    #[serde(default)]
    require_exit: Option<i32>,
}

pub(crate) fn run(step: &Run) -> Result<(), Failure> {
    let own = env::current_exe().map_err(|error| {
        Failure::step(format!(
            "failed to find out where this program lies: {error}"
        ))
    })?;
    let program = own.parent().unwrap_or(Path::new("/")).join(&step.program);
    let failed = |error| Failure::step(format!("failed to run {}: {error}", program.display()));
    let mut command = Command::new(&program);
    command.args(&step.args);
    if step.pass_args {
        command.args(env::args_os().skip(1));
    }
    let mut child = command.spawn().map_err(failed)?;
    if step.background {
        return Ok(());
    }
    let status = child.wait().map_err(failed)?;
    match step.require_exit {
        Some(wanted) if status.code() != Some(wanted) => Err(Failure::step(format!(
            "{} ended with {status}, expected exit status {wanted}",
            program.display()
        ))),
        _ => Ok(()),
    }
}
