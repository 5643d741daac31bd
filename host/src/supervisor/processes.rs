//! Finding the processes below the supervisor.
//!
//! Tools of agents are sessions of their own and daemons leave their parents, so neither a
//! process group nor a list of known children is enough. What holds: an orphan is handed
//! to the nearest sub-reaper, which the supervisor is, so everything that was ever started
//! stays its descendant.

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};
use std::collections::HashMap;
use std::fs;

/// One process, as `/proc` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub pid: i32,
    /// Dead, and not reaped yet.
    pub zombie: bool,
    /// Threads that it has.
    pub threads: u64,
    /// Computing time of its own, in clock ticks.
    pub ticks: u64,
    /// Computing time of the children that it has reaped, and of theirs.
    pub reaped_ticks: u64,
    parent: i32,
}

/// All processes at one moment.
pub struct Table {
    children: HashMap<i32, Vec<Entry>>,
}

impl Table {
    /// Reads `/proc`.
    pub fn read() -> Self {
        let mut children: HashMap<i32, Vec<Entry>> = HashMap::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok())
            else {
                continue;
            };
            // A process may be gone by now: then it is no descendant any more.
            let Ok(stat) = fs::read(format!("/proc/{pid}/stat")) else {
                continue;
            };
            if let Some(entry) = parse_stat(pid, &stat) {
                children.entry(entry.parent).or_default().push(entry);
            }
        }
        Self { children }
    }

    /// The processes below `root`, zombies included, without `root`.
    pub fn below(&self, root: Pid) -> Vec<&Entry> {
        let mut found = Vec::new();
        let mut next = vec![root.as_raw_nonzero().get()];
        while let Some(parent) = next.pop() {
            for entry in self.children.get(&parent).into_iter().flatten() {
                next.push(entry.pid);
                found.push(entry);
            }
        }
        found
    }

    /// One process.
    pub fn entry(&self, pid: Pid) -> Option<&Entry> {
        let pid = pid.as_raw_nonzero().get();
        let mut all = self.children.values().flatten();
        all.find(|entry| entry.pid == pid)
    }
}

/// The processes below `root`, without `root` and without zombies.
pub fn descendants(root: Pid) -> Vec<Pid> {
    let table = Table::read();
    let living = table.below(root).into_iter().filter(|entry| !entry.zombie);
    living
        .filter_map(|entry| Pid::from_raw(entry.pid))
        .collect()
}

/// All processes below this one.
pub fn all_descendants() -> Vec<Pid> {
    descendants(getpid())
}

/// True if this process is PID 1: then everything that it can see is below it.
pub fn own_namespace() -> bool {
    getpid() == Pid::INIT
}

/// The processes below this one, by id. In a namespace of its own that takes no more than a
/// list of names, zombies among them.
pub fn names() -> Vec<i32> {
    if !own_namespace() {
        let all = all_descendants().into_iter();
        return all.map(|pid| pid.as_raw_nonzero().get()).collect();
    }
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|pid| *pid != Pid::INIT.as_raw_nonzero().get())
        .collect()
}

/// Sends SIGKILL to everything below this process at once, in one system call where this is
/// PID 1: nothing is born meanwhile, and nothing needs to be found first.
pub fn kill_everything() {
    if own_namespace() {
        // The group of PID 1 stands for every process that can be signalled, but for PID 1.
        // ESRCH: there is none.
        let _ = kill_process_group(Pid::INIT, Signal::KILL);
    } else {
        signal_all(&all_descendants(), Signal::KILL);
    }
}

/// Sends a signal to each; those that are gone already don't matter.
pub fn signal_all(pids: &[Pid], signal: Signal) {
    for &pid in pids {
        // ESRCH: it ended by itself.
        let _ = kill_process(pid, signal);
    }
}

/// Reads `/proc/<pid>/stat`. The second field is the program's name in parentheses, which may
/// itself hold spaces and parentheses; the numbers of the others count from there.
fn parse_stat(pid: i32, stat: &[u8]) -> Option<Entry> {
    let end = stat.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Entry {
        pid,
        zombie: matches!(*fields.first()?, "Z" | "X"),
        parent: fields.get(1)?.parse().ok()?,
        ticks: number(11)? + number(12)?,
        reaped_ticks: number(13)? + number(14)?,
        threads: number(17)?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_confuse_the_parser() {
        let rest = "7 12 12 0 -1 4194560 10 20 0 0 30 5 400 6 20 0 3 0 8812";
        let entry = parse_stat(12, format!("12 (a) b (c)) S {rest}").as_bytes()).unwrap();
        assert_eq!((entry.parent, entry.zombie), (7, false));
        assert_eq!((entry.ticks, entry.reaped_ticks), (35, 406));
        assert_eq!(entry.threads, 3);
        let entry = parse_stat(12, format!("12 (x) Z {rest}").as_bytes()).unwrap();
        assert!(entry.zombie);
        assert_eq!(parse_stat(12, b"12 (x"), None);
        assert_eq!(parse_stat(12, b"12 (x) Z 1 12"), None);
    }
}
