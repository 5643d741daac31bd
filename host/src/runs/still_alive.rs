//! Processes of a dead host's run that are not dead yet. Its supervisor ends them when the host
//! is gone; that takes a moment, and until then they may still write.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// A supervisor that lost its host needs far less.
const PATIENCE: Duration = Duration::from_secs(10);

const BETWEEN: Duration = Duration::from_millis(20);

/// Waits until no process is left whose home is this one, as every program of a run has it in
/// its environment. Returns those that are left after ten seconds.
///
/// # Errors
///
/// If the processes can't be listed.
pub(super) fn wait_until_gone(home: &Path) -> io::Result<Vec<i32>> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let alive = processes_with(home)?;
        if alive.is_empty() || Instant::now() > deadline {
            return Ok(alive);
        }
        std::thread::sleep(BETWEEN);
    }
}

fn processes_with(home: &Path) -> io::Result<Vec<i32>> {
    let variable = [b"HOME=", home.as_os_str().as_bytes()].concat();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        // One that ends meanwhile is not there any more; those of other users, whose
        // environment can't be read, are not the run's.
        let Ok(entry) = entry else { continue };
        let Ok(environment) = fs::read(entry.path().join("environ")) else {
            continue;
        };
        let pid = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let mut variables = environment.split(|byte| *byte == 0);
        if let Some(pid) = pid
            && variables.any(|found| found == variable)
        {
            found.push(pid);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_counts_by_the_home_that_it_was_given() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(processes_with(home.path()).unwrap(), [] as [i32; 0]);
        let mut child = Command::new("cat")
            .env("HOME", home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Once it answers it has its environment: right after it was started the system may
        // still show none.
        let mut echo = [0; 1];
        child.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut echo)
            .unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        assert_eq!(processes_with(home.path()).unwrap(), [pid]);
        drop(child.stdin.take());
        assert_eq!(wait_until_gone(home.path()).unwrap(), [] as [i32; 0]);
        child.wait().unwrap();
    }
}
