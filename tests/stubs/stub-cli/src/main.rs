//! Plays any command line program from a scenario folder: see README.md beside this crate.

#![forbid(unsafe_code)]

mod content;
mod daemon;
mod failure;
mod files;
mod output;
mod player;
mod programs;
mod report;
mod scenario;
mod signals;
mod step;

use failure::Failure;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let played = match arguments.split_first() {
        Some((first, rest)) if first == daemon::LAUNCH => daemon::launch(rest),
        Some((first, rest)) if first == daemon::STAY => daemon::stay(rest),
        _ => scenario::folder().and_then(|folder| play(folder, &arguments)),
    };
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn play(folder: std::path::PathBuf, arguments: &[OsString]) -> Result<(), Failure> {
    let scenario = scenario::Scenario::load(&folder)?;
    let steps = scenario.steps_for(arguments)?;
    player::Player::new(folder).play(steps)
}
