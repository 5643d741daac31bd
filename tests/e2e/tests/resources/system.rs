//! What a system may lack, imposed on one command.

use akbench_e2e::real::through;
use std::path::Path;
use std::process::Command;

/// What is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// All that this machine has is there.
    Nothing,
    /// Control groups can be seen and not written.
    WritableCgroups,
}

impl Lack {
    /// The same command in a system that lacks this.
    pub fn imposed_on(self, command: &Command) -> Command {
        match self {
            Self::Nothing => through(command, "env", &[]),
            Self::WritableCgroups => through(
                command,
                "bwrap",
                &[
                    "--dev-bind",
                    "/",
                    "/",
                    "--ro-bind-try",
                    "/sys/fs/cgroup",
                    "/sys/fs/cgroup",
                    "--",
                ],
            ),
        }
    }
}

/// Whether a control group for this controller can be made here.
pub fn cgroups_can_be_written(controller: &str) -> bool {
    let parent = Path::new("/sys/fs/cgroup").join(controller);
    let probe = parent.join(format!("akbench-test-{}", std::process::id()));
    let made = std::fs::create_dir(&probe).and_then(|()| std::fs::remove_dir(&probe));
    if made.is_err() {
        eprintln!("partly skipped: needs writable control groups of version 1");
    }
    made.is_ok()
}
