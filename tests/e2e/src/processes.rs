//! Looking through `/proc` for processes that are alive, or should not be any more.
//!
//! Tests run outside the PID namespaces of the runs that they watch, so they see everything.

use crate::scene::Scene;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Long enough for a loaded machine; what is waited for normally comes in a moment.
pub const PATIENCE: Duration = Duration::from_secs(100);

/// A process that no later process can be taken for: ids are used again, start times are not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// Its id as seen from outside every namespace.
    pub pid: i32,
    /// In clock ticks since the system started.
    started: u64,
    /// Its arguments, for messages; empty if it has no memory any more.
    pub command_line: String,
}

struct Stat {
    parent: i32,
    started: u64,
    /// Dead, and only waiting for somebody to read its status.
    zombie: bool,
}

impl Process {
    /// Whether it still runs. A zombie does not: nobody here may be reaping orphans.
    pub fn is_alive(&self) -> bool {
        stat(self.pid).is_some_and(|now| now.started == self.started && !now.zombie)
    }
}

fn stat(pid: i32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before the last parenthesis may hold anything, spaces included.
    let (_, fields) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    Some(Stat {
        zombie: matches!(*fields.first()?, "Z" | "X"),
        parent: fields.get(1)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    })
}

fn process(pid: i32) -> Option<(Process, Stat)> {
    let stat = stat(pid).filter(|stat| !stat.zombie)?;
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let arguments = arguments.split(|byte| *byte == 0);
    let words: Vec<_> = arguments.map(String::from_utf8_lossy).collect();
    let process = Process {
        pid,
        started: stat.started,
        command_line: words.join(" ").trim_end().to_owned(),
    };
    Some((process, stat))
}

fn everyone() -> Vec<(Process, Stat)> {
    let entries = fs::read_dir("/proc").expect("/proc is mounted").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(process).collect()
}

/// The processes that have this text in their arguments.
pub fn with_argument(text: &str) -> Vec<Process> {
    let all = everyone().into_iter().map(|(process, _)| process);
    all.filter(|process| process.command_line.contains(text))
        .collect()
}

/// The processes that have to do with this folder: by their arguments, their environment or
/// the folder that they work in.
pub fn of_folder(folder: &Path) -> Vec<Process> {
    let all = everyone().into_iter().map(|(process, _)| process);
    all.filter(|process| belongs_to(process, folder)).collect()
}

fn belongs_to(process: &Process, folder: &Path) -> bool {
    let name = folder.as_os_str().as_bytes();
    let environment = fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
    let works_in = fs::read_link(format!("/proc/{}/cwd", process.pid)).unwrap_or_default();
    process.command_line.contains(&*folder.to_string_lossy())
        || environment.windows(name.len()).any(|part| part == name)
        || works_in.starts_with(folder)
}

/// Command lines of living processes that run a program of the scene, whatever namespace or
/// session they are in.
pub fn of_scene(scene: &Scene) -> Vec<String> {
    let marker = scene.path("programs").display().to_string();
    let all = everyone().into_iter().map(|(process, _)| process);
    // The host's own arguments name the program too, but do not begin with it.
    all.filter(|process| process.command_line.starts_with(&marker))
        .map(|process| format!("{} {}", process.pid, process.command_line))
        .collect()
}

/// Everything that this process has started, directly or through others.
pub fn descendants(of: i32) -> Vec<Process> {
    let all: BTreeMap<i32, (Process, Stat)> = everyone()
        .into_iter()
        .map(|(process, stat)| (process.pid, (process, stat)))
        .collect();
    let mut found = BTreeSet::from([of]);
    loop {
        let new: Vec<i32> = all
            .iter()
            .filter(|(pid, (_, stat))| !found.contains(pid) && found.contains(&stat.parent))
            .map(|(pid, _)| *pid)
            .collect();
        if new.is_empty() {
            break;
        }
        found.extend(new);
    }
    found.remove(&of);
    let known = |pid: &i32| all.get(pid).map(|(process, _)| process.clone());
    found.iter().filter_map(known).collect()
}

/// Waits until `look` finds something, and hands it over.
///
/// # Panics
///
/// If that takes longer than [`PATIENCE`].
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(
            Instant::now() < deadline,
            "waited for {PATIENCE:?} in vain: {what}"
        );
        // Nothing reports what happens in other processes, so they are looked at again.
        thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until `holds`, at most for `limit`. Returns whether it came to hold.
pub fn wait_until(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        if holds() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until all of these are dead.
///
/// # Panics
///
/// If one outlives [`PATIENCE`]; the message names it.
pub fn wait_until_dead(processes: &[Process]) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let alive: Vec<_> = processes.iter().filter(|one| one.is_alive()).collect();
        if alive.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "still alive: {alive:#?}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_child_is_found_and_is_dead_when_it_was_killed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mark = format!("31415.{}", std::process::id());
        let mut child = Command::new("sleep")
            .arg(&mark)
            .current_dir(folder.path())
            .spawn()
            .expect("sleep starts");
        let found = wait_for("the child", || with_argument(&mark).pop());
        let own = i32::try_from(std::process::id()).expect("process ids are small");
        assert!(found.is_alive());
        assert!(descendants(own).contains(&found));
        assert!(of_folder(folder.path()).contains(&found));
        child.kill().expect("a child can be killed");
        // Not waited for: a zombie is dead enough.
        wait_until_dead(std::slice::from_ref(&found));
        assert_eq!(with_argument(&mark), []);
        child.wait().expect("a child can be waited for");
    }
}
