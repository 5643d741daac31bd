//! Taking more than there is: computing time, memory, handles.

use super::{Attack, Attempt};
use crate::attacks::files::folder;
use akbench_adapter_sdk::events::{self, Event, Level};
use std::hint::black_box;
use wasip2::clocks::monotonic_clock;
use wasip2::filesystem::types::{DescriptorFlags, OpenFlags, PathFlags};
use wasip2::random::random::get_random_bytes;

pub const ATTACKS: &[Attack] = &[
    ("clock_loop", clock_loop),
    ("random_gigabyte", random_gigabyte),
    ("huge_read", huge_read),
    ("leaked_pollables", leaked_pollables),
    ("event_flood", event_flood),
    ("log_flood", log_flood),
];

/// Computes nothing and calls the host without end.
fn clock_loop() -> Attempt {
    loop {
        black_box(monotonic_clock::now());
    }
}

fn random_gigabyte() -> Attempt {
    let mut bytes = 0;
    for _ in 0..1024 {
        bytes += black_box(get_random_bytes(1 << 30)).len();
    }
    Ok(format!("{bytes} bytes"))
}

/// A file of a terabyte that takes no room, read at once.
fn huge_read() -> Attempt {
    let named = |code: wasip2::filesystem::types::ErrorCode| code.name().to_owned();
    let file = folder("/artifacts")?
        .open_at(
            PathFlags::empty(),
            "sparse",
            OpenFlags::CREATE,
            DescriptorFlags::READ | DescriptorFlags::WRITE,
        )
        .map_err(named)?;
    file.set_size(1 << 40).map_err(named)?;
    let read = file.read(1 << 39, 0).map(|(bytes, _)| bytes.len());
    // Nobody should have to digest a terabyte afterwards.
    file.set_size(0).map_err(named)?;
    match read {
        Ok(bytes) if bytes > 256 << 20 => Ok(format!("{bytes} bytes at once")),
        Ok(bytes) => Err(format!("{bytes} bytes at once")),
        Err(code) => Err(named(code)),
    }
}

fn leaked_pollables() -> Attempt {
    for _ in 0..1_000_000 {
        std::mem::forget(monotonic_clock::subscribe_duration(1 << 60));
    }
    Ok("a million were made".to_owned())
}

fn event_flood() -> Attempt {
    let text = "x".repeat(100_000);
    for _ in 0..1_000 {
        events::emit(&Event::Message(text.clone()));
    }
    Ok("a hundred megabytes were emitted".to_owned())
}

fn log_flood() -> Attempt {
    let line = "x".repeat(100_000);
    for _ in 0..1_000 {
        events::log(Level::Info, &line);
    }
    Ok("a hundred megabytes were logged".to_owned())
}
