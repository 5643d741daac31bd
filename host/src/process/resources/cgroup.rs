//! A control group of one process tree.
//!
//! The supervisor enters it before it starts anything, so whatever it starts is in it. The
//! group is removed once the tree is gone. Its owner holds a lock on its folder: what a host
//! that was killed left behind is not locked, and the next one removes it.

use super::hierarchy::{Controller, Site, Version};
use super::limit::{Resource, ResourceLimits};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What groups of ours are called: this, and something that is nobody else's.
const PREFIX: &str = "akbench-";

/// How often, and how long, an empty group may refuse to be removed: the last process is
/// counted a moment longer than it is seen.
const REMOVAL_STEP: Duration = Duration::from_millis(5);
const REMOVAL_STEPS: u32 = 400;

/// A group; removed when dropped, if nothing is in it.
#[derive(Debug)]
pub struct ControlGroup {
    path: PathBuf,
    version: Version,
    controllers: Vec<Controller>,
    /// Held as long as the group is ours.
    _lock: File,
}

/// What a group has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// In the resource's unit; the most that was seen at once where it comes and goes.
    pub measured: Option<u64>,
    /// Whether the system refused more.
    pub refused: bool,
}

impl ControlGroup {
    /// Makes a group with these limits and removes what dead hosts left beside it.
    ///
    /// # Errors
    ///
    /// What the system says, with the file.
    pub fn create(site: &Site, limits: &ResourceLimits) -> io::Result<Self> {
        remove_abandoned(&site.parent);
        let name = format!(
            "{PREFIX}{}",
            ulid::Ulid::generate().to_string().to_lowercase()
        );
        let path = site.parent.join(name);
        fs::create_dir(&path).map_err(|error| named(&error, &site.parent))?;
        let group = match lock(&path) {
            Ok(lock) => Self {
                path,
                version: site.version,
                controllers: site.controllers.clone(),
                _lock: lock,
            },
            Err(error) => {
                // Empty and unlocked: if this fails, the next host does it.
                let _ = fs::remove_dir(&path);
                return Err(named(&error, &path));
            }
        };
        group.limit(limits)?;
        Ok(group)
    }

    fn limit(&self, limits: &ResourceLimits) -> io::Result<()> {
        if let Some(bytes) = limits
            .of(Resource::Memory)
            .filter(|_| self.has(Controller::Memory))
        {
            match self.version {
                Version::V1 => {
                    self.write("memory.limit_in_bytes", &bytes.to_string())?;
                    // Memory and swap together; absent where swap is not counted.
                    self.write_if_there("memory.memsw.limit_in_bytes", &bytes.to_string())?;
                }
                Version::V2 => {
                    self.write("memory.max", &bytes.to_string())?;
                    self.write_if_there("memory.swap.max", "0")?;
                }
            }
        }
        if let Some(most) = limits
            .of(Resource::Processes)
            .filter(|_| self.has(Controller::Pids))
        {
            // The supervisor is one of them.
            self.write("pids.max", &most.saturating_add(1).to_string())?;
        }
        Ok(())
    }

    /// Which interface it has.
    pub fn version(&self) -> Version {
        self.version
    }

    /// What it limits or counts.
    pub fn controllers(&self) -> &[Controller] {
        &self.controllers
    }

    fn has(&self, controller: Controller) -> bool {
        self.controllers.contains(&controller)
    }

    /// The file through which a process of one thread enters: what writes `0` to it is in.
    ///
    /// In version 1 that is `tasks`, which moves a thread. Before the system moves a process it
    /// waits until no other is being forked, for ten milliseconds and more, and lets none be
    /// forked until it is done; a thread that moves itself needs none of that (since Linux 5.5).
    /// In version 2 a thread can't enter a group of this kind alone.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn entrance(&self) -> io::Result<OwnedFd> {
        let path = self.path.join(match self.version {
            Version::V1 => "tasks",
            Version::V2 => "cgroup.procs",
        });
        let file = OpenOptions::new().write(true).open(&path);
        file.map(OwnedFd::from)
            .map_err(|error| named(&error, &path))
    }

    /// What one controller has counted so far.
    pub fn counts(&self, controller: Controller) -> Counts {
        let refusals = |file: &str, key: &str| self.entry(file, key).is_some_and(|count| count > 0);
        match (controller, self.version) {
            (Controller::Cpu, Version::V1) => Counts {
                measured: self.number("cpuacct.usage").map(|nanos| nanos / 1_000_000),
                refused: false,
            },
            (Controller::Cpu, Version::V2) => Counts {
                measured: self
                    .entry("cpu.stat", "usage_usec")
                    .map(|micros| micros / 1000),
                refused: false,
            },
            (Controller::Memory, Version::V1) => Counts {
                measured: self.number("memory.max_usage_in_bytes"),
                refused: refusals("memory.oom_control", "oom_kill"),
            },
            (Controller::Memory, Version::V2) => Counts {
                measured: self
                    .number("memory.peak")
                    .or_else(|| self.number("memory.current")),
                refused: refusals("memory.events", "oom_kill"),
            },
            (Controller::Pids, _) => Counts {
                measured: self
                    .number("pids.peak")
                    .or_else(|| self.number("pids.current"))
                    .map(|with_supervisor| with_supervisor.saturating_sub(1)),
                refused: refusals("pids.events", "max"),
            },
        }
    }

    /// A file that holds one number.
    fn number(&self, file: &str) -> Option<u64> {
        let text = fs::read_to_string(self.path.join(file)).ok()?;
        text.trim().parse().ok()
    }

    /// A file that holds a name and a number in each line.
    fn entry(&self, file: &str, key: &str) -> Option<u64> {
        let text = fs::read_to_string(self.path.join(file)).ok()?;
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(name, _)| *name == key)?.1.trim().parse().ok()
    }

    fn write(&self, file: &str, value: &str) -> io::Result<()> {
        let path = self.path.join(file);
        fs::write(&path, value).map_err(|error| named(&error, &path))
    }

    fn write_if_there(&self, file: &str, value: &str) -> io::Result<()> {
        match self.write(file, value) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            written => written,
        }
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        for _ in 0..REMOVAL_STEPS {
            match fs::remove_dir(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    std::thread::sleep(REMOVAL_STEP);
                }
                Err(error) => {
                    let path = self.path.display();
                    tracing::warn!(%error, %path, "failed to remove a control group");
                    return;
                }
                Ok(()) => return,
            }
        }
        let path = self.path.display();
        tracing::warn!(%path, "a control group stays because a process is still in it");
    }
}

fn lock(path: &Path) -> io::Result<File> {
    let folder = File::open(path)?;
    flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
    Ok(folder)
}

/// Removes groups whose host is dead: nobody holds their lock and nothing is in them.
fn remove_abandoned(parent: &Path) {
    // What can't be listed or removed is somebody else's business.
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let ours = entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.starts_with(PREFIX));
        if ours && let Ok(_lock) = lock(&entry.path()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn named(error: &io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn group(folder: &Path, version: Version) -> ControlGroup {
        let site = Site {
            parent: folder.to_owned(),
            version,
            controllers: vec![Controller::Cpu, Controller::Memory, Controller::Pids],
        };
        let limits = ResourceLimits::NONE
            .with(Resource::Memory, Some(1 << 20))
            .with(Resource::Processes, Some(9));
        ControlGroup::create(&site, &limits).unwrap()
    }

    /// An ordinary folder stands in for the system's: the files appear as they are written.
    #[test]
    fn limits_are_written_and_counts_are_read_as_each_version_has_them() {
        let folder = tempfile::tempdir().unwrap();
        let v2 = group(folder.path(), Version::V2);
        let read = |group: &ControlGroup, file| fs::read_to_string(group.path.join(file)).unwrap();
        assert_eq!(read(&v2, "memory.max"), "1048576");
        assert_eq!(read(&v2, "memory.swap.max"), "0");
        assert_eq!(read(&v2, "pids.max"), "10");
        fs::write(v2.path.join("memory.events"), "low 0\noom 2\noom_kill 1\n").unwrap();
        fs::write(v2.path.join("memory.peak"), "1048576\n").unwrap();
        fs::write(v2.path.join("cpu.stat"), "usage_usec 2500\nuser_usec 1\n").unwrap();
        fs::write(v2.path.join("pids.events"), "max 0\n").unwrap();
        let counts = |measured, refused| Counts { measured, refused };
        assert_eq!(v2.counts(Controller::Memory), counts(Some(1 << 20), true));
        assert_eq!(v2.counts(Controller::Cpu), counts(Some(2), false));
        assert_eq!(v2.counts(Controller::Pids), counts(None, false));

        let v1 = group(folder.path(), Version::V1);
        assert_eq!(read(&v1, "memory.limit_in_bytes"), "1048576");
        fs::write(
            v1.path.join("memory.oom_control"),
            "under_oom 0\noom_kill 0\n",
        )
        .unwrap();
        fs::write(v1.path.join("cpuacct.usage"), "7000000\n").unwrap();
        fs::write(v1.path.join("pids.events"), "max 3\n").unwrap();
        fs::write(v1.path.join("pids.current"), "4\n").unwrap();
        assert_eq!(v1.counts(Controller::Memory), counts(None, false));
        // Each through its own.
        fs::write(v1.path.join("tasks"), "").unwrap();
        fs::write(v2.path.join("cgroup.procs"), "").unwrap();
        assert!(v1.entrance().is_ok() && v2.entrance().is_ok());
        assert_eq!(v1.counts(Controller::Cpu), counts(Some(7), false));
        assert_eq!(v1.counts(Controller::Pids), counts(Some(3), true));
    }

    /// The system's own version 2, as far as this user may write there.
    #[test]
    fn a_process_that_enters_is_counted_and_its_group_goes_with_it() {
        let roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(Path::new);
        let Some(parent) = roots
            .into_iter()
            .find(|root| root.join("cgroup.controllers").exists())
        else {
            eprintln!("skipped: no control groups of version 2 are mounted");
            return;
        };
        let site = Site {
            parent: parent.to_owned(),
            version: Version::V2,
            controllers: vec![Controller::Cpu],
        };
        let group = match ControlGroup::create(&site, &ResourceLimits::NONE) {
            Ok(group) => group,
            Err(error) => {
                eprintln!("skipped: {error}");
                return;
            }
        };
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let entrance = File::from(group.entrance().unwrap());
        let mut entrance = io::BufWriter::new(entrance);
        io::Write::write_all(&mut entrance, child.id().to_string().as_bytes()).unwrap();
        drop(entrance);
        let inside = fs::read_to_string(group.path.join("cgroup.procs")).unwrap();
        assert_eq!(inside.trim(), child.id().to_string());
        assert!(group.counts(Controller::Cpu).measured.is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        let path = group.path.clone();
        drop(group);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_dead_host_left_is_removed_and_what_is_held_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let abandoned = folder.path().join("akbench-abandoned");
        fs::create_dir(&abandoned).unwrap();
        fs::create_dir(folder.path().join("another")).unwrap();
        let site = Site {
            parent: folder.path().to_owned(),
            version: Version::V2,
            controllers: vec![Controller::Cpu],
        };
        let held = ControlGroup::create(&site, &ResourceLimits::NONE).unwrap();
        assert!(!abandoned.exists());
        let next = ControlGroup::create(&site, &ResourceLimits::NONE).unwrap();
        assert!(held.path.exists() && folder.path().join("another").exists());
        let path = next.path.clone();
        drop(next);
        assert!(!path.exists());
    }
}
