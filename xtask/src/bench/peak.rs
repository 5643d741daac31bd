//! Peak memory of a process and of its descendants that run the same program.
//!
//! The kernel keeps each process's peak (`VmHWM`), so looking now and then misses only what
//! a process gains between the last look and its end. `wait4` would miss nothing of the
//! child but says nothing about a grandchild that somebody else reaps.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::Duration;

/// How often to look.
const INTERVAL: Duration = Duration::from_millis(5);

/// Peaks of resident memory, in bytes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Peaks {
    /// The process itself.
    pub runner: u64,
    /// Its descendants that run the same program, added up.
    pub helpers: u64,
}

/// Waits for the child and watches it; `program` is what it runs.
///
/// # Errors
///
/// If the program's file cannot be looked at or the child cannot be waited for.
pub fn watch(child: &mut Child, program: &Path) -> io::Result<(ExitStatus, Peaks)> {
    let program = identity(program)?;
    let runner = child.id();
    let mut peaks = BTreeMap::new();
    loop {
        if let Some(status) = child.try_wait()? {
            let own = peaks.remove(&runner).unwrap_or(0);
            return Ok((
                status,
                Peaks {
                    runner: own,
                    helpers: peaks.values().sum(),
                },
            ));
        }
        look(runner, program, &mut peaks);
        // Sampling: there is no event to wait for.
        thread::sleep(INTERVAL);
    }
}

/// Notes the peaks of the process and its descendants; those that end meanwhile are skipped.
fn look(process: u32, program: (u64, u64), peaks: &mut BTreeMap<u32, u64>) {
    // By file, not by name: in a mount namespace of its own the name may differ.
    if identity(Path::new(&format!("/proc/{process}/exe"))).is_ok_and(|found| found == program)
        && let Ok(status) = fs::read_to_string(format!("/proc/{process}/status"))
        && let Some(peak) = peak_of(&status)
    {
        let known = peaks.entry(process).or_default();
        *known = peak.max(*known);
    }
    for thread in fs::read_dir(format!("/proc/{process}/task"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        for child in children
            .split_whitespace()
            .filter_map(|child| child.parse().ok())
        {
            look(child, program, peaks);
        }
    }
}

fn identity(file: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(file).map(|data| (data.dev(), data.ino()))
}

/// `VmHWM` of `/proc/<pid>/status`, in bytes.
fn peak_of(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim()
        .strip_suffix("kB")?
        .trim()
        .parse::<u64>()
        .ok()
        .map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_peak_is_read_and_a_zombie_has_none() {
        assert_eq!(
            peak_of("Name:\tx\nVmHWM:\t    1234 kB\nVmRSS:\t 1 kB\n"),
            Some(1234 * 1024)
        );
        assert_eq!(peak_of("Name:\tx\nState:\tZ (zombie)\n"), None);
    }

    #[test]
    fn this_very_process_has_a_peak() {
        let mut peaks = BTreeMap::new();
        let program = identity(Path::new("/proc/self/exe")).unwrap();
        look(std::process::id(), program, &mut peaks);
        assert!(peaks[&std::process::id()] > 0);
    }
}
