//! The agent's program for demo, tests and measurements: the real CLI or a stand-in.

pub mod real_cli;
pub mod stub;

use std::env;
use std::ffi::OsString;
use std::path::Path;

use crate::failure::{Explain, Outcome};

/// The name under which the descriptor looks the agent's program up.
pub const PROGRAM: &str = "codex";

/// `PATH` with `folder` before everything else.
///
/// # Errors
///
/// If the folder's name contains a `:`.
pub fn path_with(folder: &Path) -> Outcome<OsString> {
    let others = env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(folder.to_owned()).chain(env::split_paths(&others));
    env::join_paths(paths).explain(|| format!("put {} into PATH", folder.display()))
}
