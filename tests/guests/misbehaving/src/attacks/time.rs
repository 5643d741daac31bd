//! Not coming back.

use super::{Attack, Attempt};
use crate::attacks::programs::command;
use akbench_adapter_sdk::process;
use wasip2::clocks::monotonic_clock;

const HOUR: u64 = 3_600_000_000_000;

pub const ATTACKS: &[Attack] = &[
    ("sleep", sleep),
    ("naps", naps),
    ("waits_for_a_program", waits_for_a_program),
    ("reads_without_end", reads_without_end),
];

fn sleep() -> Attempt {
    monotonic_clock::subscribe_duration(HOUR).block();
    Ok("an hour went by".to_owned())
}

/// Computes next to nothing, and sleeps in between.
fn naps() -> Attempt {
    for _ in 0..3_600_000 {
        monotonic_clock::subscribe_duration(HOUR / 3_600_000).block();
    }
    Ok("an hour went by".to_owned())
}

/// Waits again whenever it is interrupted.
fn waits_for_a_program() -> Attempt {
    let child = process::spawn(&command("agent", &["--sleep"]));
    let child = child.map_err(|error| format!("{error:?}"))?;
    loop {
        if let Ok(Some(status)) = child.wait(u32::MAX) {
            return Err(format!("{status:?}"));
        }
    }
}

fn reads_without_end() -> Attempt {
    let child = process::spawn(&command("agent", &["--sleep"]));
    let child = child.map_err(|error| format!("{error:?}"))?;
    loop {
        let read = child.read_stdout(1, u32::MAX);
        if matches!(read, Ok(process::Output::End)) {
            return Err("the program ended".to_owned());
        }
    }
}
