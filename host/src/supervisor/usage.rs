//! What the supervised tree uses: computing time, memory, processes.

use super::processes::{Entry, Table};
use rustix::process::getpid;
use std::fs;

/// A look at the tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processes and threads.
    pub processes: u64,
    /// Of all that are there, and of all that were reaped. Missing: what was spent by children
    /// of programs that ignore SIGCHLD, which the system does not add up.
    pub cpu_ms: u64,
    /// Memory that is nobody else's.
    pub memory_bytes: u64,
}

/// Looks at everything below this process. Where the quick count of memory exceeds
/// `memory_limit`, a slower one follows that counts shared pages once.
pub fn measure(memory_limit: Option<u64>) -> Usage {
    let table = Table::read();
    let tree = table.below(getpid());
    let reaped = table.entry(getpid()).map_or(0, |own| own.reaped_ticks);
    let ticks: u64 = tree
        .iter()
        .map(|entry| entry.ticks + entry.reaped_ticks)
        .sum();
    let living = || tree.iter().copied().filter(|entry| !entry.zombie);
    let mut memory_bytes = 0;
    if let Some(limit) = memory_limit {
        memory_bytes = living().map(quick_memory).sum();
        if memory_bytes > limit {
            memory_bytes = living()
                .map(|entry| exact_memory(entry).unwrap_or_else(|| quick_memory(entry)))
                .sum();
        }
    }
    Usage {
        processes: living().map(|entry| entry.threads).sum(),
        cpu_ms: (ticks + reaped) * 1000 / rustix::param::clock_ticks_per_second().max(1),
        memory_bytes,
    }
}

/// Resident pages that no file backs. Pages that a child shares with its parent count twice.
fn quick_memory(entry: &Entry) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/statm", entry.pid)).unwrap_or_default();
    let mut fields = text
        .split(' ')
        .skip(1)
        .map_while(|field| field.parse().ok());
    let (resident, shared): (u64, u64) = (fields.next().unwrap_or(0), fields.next().unwrap_or(0));
    resident.saturating_sub(shared) * rustix::param::page_size() as u64
}

/// Each page in as many parts as there are processes that share it; `None` if that can't be
/// read.
fn exact_memory(entry: &Entry) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", entry.pid)).ok()?;
    parse_rollup(&text)
}

fn parse_rollup(text: &str) -> Option<u64> {
    let kibibytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    Some((kibibytes("Pss_Anon:")? + kibibytes("Pss_Shmem:")?) << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_counts_and_files_do_not() {
        let text = "00400000-7ffd [rollup]\nRss: 900 kB\nPss: 500 kB\nPss_Anon:   300 kB\n\
                    Pss_File:   150 kB\nPss_Shmem:   50 kB\n";
        assert_eq!(parse_rollup(text), Some(350 << 10));
        assert_eq!(parse_rollup("Rss: 1 kB\n"), None);
    }
}
