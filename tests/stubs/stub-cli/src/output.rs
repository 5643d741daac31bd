//! Writing to stdout and stderr.

use crate::content::{Flood, Write};
use crate::failure::Failure;
use rustix::stdio;
use serde::Deserialize;
use std::fs::File;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Channel {
    #[default]
    Stdout,
    Stderr,
}

impl Channel {
    fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// Writes past Rust's own buffer, which would keep an unfinished line.
pub(crate) fn write_whole(channel: Channel, mut bytes: &[u8]) -> io::Result<()> {
    let target = match channel {
        Channel::Stdout => stdio::stdout(),
        Channel::Stderr => stdio::stderr(),
    };
    while !bytes.is_empty() {
        match rustix::io::write(target, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn put(channel: Channel, bytes: &[u8]) -> Result<(), Failure> {
    write_whole(channel, bytes)
        .map_err(|error| Failure::step(format!("failed to write to {}: {error}", channel.name())))
}

/// Plays a `stdout` or `stderr` step.
pub(crate) fn write(channel: Channel, step: &Write, folder: &Path) -> Result<(), Failure> {
    let bytes = step.content.load(folder)?;
    let pieces: Box<dyn Iterator<Item = &[u8]>> = match step.piece_bytes {
        Some(size) => Box::new(bytes.chunks(size)),
        None if step.delay_ms > 0 => Box::new(bytes.split_inclusive(|byte| *byte == b'\n')),
        None => Box::new(std::iter::once(bytes.as_slice())),
    };
    for piece in pieces {
        put(channel, piece)?;
        thread::sleep(Duration::from_millis(step.delay_ms));
    }
    Ok(())
}

/// Plays a `flood` step: the last repetition is cut so that the total is exact.
pub(crate) fn flood(step: &Flood, folder: &Path) -> Result<(), Failure> {
    const BLOCK: usize = 64 << 10;
    let unit = step.content.load(folder)?;
    if unit.is_empty() {
        return Err(Failure::scenario(
            "`flood` needs something to repeat, but its content is empty",
        ));
    }
    // Whole units, so that blocks can follow each other.
    let block = unit.repeat(BLOCK.div_ceil(unit.len()));
    let mut left = step.total_bytes;
    while left > 0 {
        let now = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
        put(step.to, &block[..now])?;
        left -= now as u64;
    }
    Ok(())
}

/// Puts `/dev/null` in the place of a channel, which closes the pipe that was there.
pub(crate) fn close(channel: Channel) -> Result<(), Failure> {
    let replace = || -> io::Result<()> {
        let null = File::options().write(true).open("/dev/null")?;
        match channel {
            Channel::Stdout => stdio::dup2_stdout(&null)?,
            Channel::Stderr => stdio::dup2_stderr(&null)?,
        }
        Ok(())
    };
    replace().map_err(|error| Failure::step(format!("failed to close {}: {error}", channel.name())))
}
