//! Finding the processes below the supervisor.
//!
//! Tools of agents are sessions of their own and daemons leave their parents, so neither a
//! process group nor a list of known children is enough. What holds: an orphan is handed
//! to the nearest sub-reaper, which the supervisor is, so everything that was ever started
//! stays its descendant.

use rustix::process::{Pid, Signal, getpid, kill_process};
use std::collections::HashMap;
use std::fs;

/// The processes below `root`, without `root` and without zombies.
pub fn descendants(root: Pid) -> Vec<Pid> {
    let mut children: HashMap<i32, Vec<(i32, bool)>> = HashMap::new();
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    for entry in entries.flatten() {
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
        if let Some((parent, zombie)) = parse_stat(&stat) {
            children.entry(parent).or_default().push((pid, zombie));
        }
    }
    let mut found = Vec::new();
    let mut next = vec![root.as_raw_nonzero().get()];
    while let Some(parent) = next.pop() {
        for &(pid, zombie) in children.get(&parent).into_iter().flatten() {
            next.push(pid);
            if !zombie && let Some(pid) = Pid::from_raw(pid) {
                found.push(pid);
            }
        }
    }
    found
}

/// All processes below this one.
pub fn all_descendants() -> Vec<Pid> {
    descendants(getpid())
}

/// Sends a signal to each; those that are gone already don't matter.
pub fn signal_all(pids: &[Pid], signal: Signal) {
    for &pid in pids {
        // ESRCH: it ended by itself.
        let _ = kill_process(pid, signal);
    }
}

/// Parent and whether the process is a zombie, from `/proc/<pid>/stat`. The second field is
/// the program's name in parentheses, which may itself hold spaces and parentheses.
fn parse_stat(stat: &[u8]) -> Option<(i32, bool)> {
    let end = stat.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    Some((parent, matches!(state, "Z" | "X")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_confuse_the_parser() {
        assert_eq!(parse_stat(b"12 (a) b (c)) S 7 12 12 0"), Some((7, false)));
        assert_eq!(parse_stat(b"12 (x) Z 1 12"), Some((1, true)));
        assert_eq!(parse_stat(b"12 (x"), None);
    }
}
