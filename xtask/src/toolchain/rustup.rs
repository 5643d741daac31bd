//! Adding the target to the active toolchain.

use std::env;
use std::process::{Command, Stdio};

use super::{Closed, TARGET};
use crate::steps;

/// Lets rustup download the target, if the active toolchain is one of rustup's.
pub fn add_target() -> Result<(), Closed> {
    // rustup names the toolchain it chose to every program that it starts.
    let toolchain = env::var("RUSTUP_TOOLCHAIN")
        .map_err(|_| "the active toolchain is not one of rustup's".to_owned())?;
    let mut command = Command::new("rustup");
    command
        .args(["target", "add", "--toolchain", &toolchain, TARGET])
        // Without a network this is to fail soon, not to retry for minutes.
        .env("RUSTUP_DOWNLOAD_TIMEOUT", "30")
        .env("RUSTUP_MAX_RETRIES", "1")
        .stdin(Stdio::null());
    eprintln!("xtask: {}", steps::shown(&command));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{}` ended with {status}", steps::shown(&command))),
        Err(error) => Err(format!("rustup cannot be started: {error}")),
    }
}
