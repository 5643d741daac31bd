//! Limits that the supervisor takes on itself: whatever it starts inherits them.

use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit};
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::OwnedFd;

/// Enters a control group through its `cgroup.procs`, which moves the process, or its `tasks`,
/// which moves the thread that writes. Returns why that failed.
pub fn enter(entrance: OwnedFd) -> Option<String> {
    // The supervisor starts no threads: what another one started would be outside of the group.
    let threads = fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    if threads != 1 {
        return Some(format!("the supervisor has {threads} threads instead of 1"));
    }
    // `0` is whoever writes it.
    let entered = File::from(entrance).write_all(b"0");
    entered.err().map(|error| error.to_string())
}

/// Limits open files. Returns why that failed.
pub fn open_files(most: u64) -> Option<String> {
    // Where the system's limit is lower, that one holds: nobody but root may have more.
    set(Resource::Nofile, most)
        .err()
        .map(|error| error.to_string())
}

/// Bounds the number of processes and threads at twice the limit, where the system can: so
/// that a tree which grows faster than it is counted finds an end. Which is the case for an
/// ordinary user in a user namespace of the tree's own; elsewhere the system would count other
/// processes of the user, or, for root, none.
pub fn bound_processes(most: u64) {
    if !geteuid().is_root() && in_own_user_namespace() && counts_by_namespace() {
        // Without it there is still the count.
        let _ = set(Resource::Nproc, most.saturating_mul(2));
    }
}

fn set(resource: Resource, most: u64) -> rustix::io::Result<()> {
    let system = getrlimit(resource).maximum;
    let most = system.map_or(most, |system| most.min(system));
    let limit = Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    setrlimit(resource, limit)
}

/// Every user of the machine is there in the first namespace only.
fn in_own_user_namespace() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let fields: Vec<&str> = map.split_whitespace().collect();
    !fields.is_empty() && fields != ["0", "0", "4294967295"]
}

/// Since Linux 5.14.
fn counts_by_namespace() -> bool {
    let system = rustix::system::uname();
    let release = system.release().to_string_lossy();
    let mut numbers = release
        .split(['.', '-'])
        .map_while(|part| part.parse().ok());
    let version: (u32, u32) = (
        numbers.next().unwrap_or_default(),
        numbers.next().unwrap_or_default(),
    );
    version >= (5, 14)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn what_has_another_thread_does_not_enter_alone() {
        let folder = tempfile::tempdir().unwrap();
        let entrance = folder.path().join("tasks");
        let file = File::create(&entrance).unwrap();
        let (go_on, waits) = mpsc::channel::<()>();
        let other = std::thread::spawn(move || waits.recv());
        let reason = enter(file.into()).unwrap();
        assert!(reason.contains("threads instead of 1"), "{reason}");
        assert_eq!(fs::read(&entrance).unwrap(), b"");
        drop(go_on);
        assert!(other.join().unwrap().is_err());
    }
}
