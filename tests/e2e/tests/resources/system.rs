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
    /// No bubblewrap is installed.
    Bubblewrap,
    /// Neither: nothing but a sub-reaper holds the tree.
    BubblewrapAndCgroups,
    /// Neither user nor PID namespaces can be made.
    Namespaces,
    /// The user is nobody special.
    Privilege,
}

impl Lack {
    /// As the documentation names it.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::WritableCgroups => "control groups that can be written",
            Self::Bubblewrap => "bubblewrap",
            Self::BubblewrapAndCgroups => "bubblewrap and such control groups",
            Self::Namespaces => "user and PID namespaces",
            Self::Privilege => "root's privileges",
        }
    }

    /// The program that takes it away from another one, and its arguments.
    fn wrapper(self) -> (&'static str, Vec<&'static str>) {
        match self {
            Self::Nothing => ("env", Vec::new()),
            Self::WritableCgroups | Self::Bubblewrap | Self::BubblewrapAndCgroups => {
                let mut arguments = vec!["--dev-bind", "/", "/"];
                if self != Self::Bubblewrap {
                    arguments.extend(["--ro-bind-try", "/sys/fs/cgroup", "/sys/fs/cgroup"]);
                }
                if self != Self::WritableCgroups {
                    let paths = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"];
                    for path in paths.into_iter().filter(|path| Path::new(path).exists()) {
                        arguments.extend(["--ro-bind", "/dev/null", path]);
                    }
                }
                arguments.push("--");
                ("bwrap", arguments)
            }
            Self::Namespaces => {
                let script = "echo 0 > /proc/sys/user/max_user_namespaces \
                              && echo 0 > /proc/sys/user/max_pid_namespaces && exec \"$@\"";
                let arguments = ["--user", "--map-root-user", "sh", "-c", script, "sh"];
                ("unshare", arguments.to_vec())
            }
            Self::Privilege => {
                let arguments = ["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"];
                ("setpriv", arguments.to_vec())
            }
        }
    }

    /// Whether it can be taken away here; says so if not.
    pub fn is_possible(self) -> bool {
        let (program, arguments) = self.wrapper();
        let tried = Command::new(program).args(arguments).arg("true").output();
        let problem = match tried {
            Ok(output) if output.status.success() => return true,
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => error.to_string(),
        };
        eprintln!("partly skipped: {self:?} can't be taken away here: {problem}");
        false
    }

    /// The same command in a system that lacks this.
    pub fn imposed_on(self, command: &Command) -> Command {
        let (program, arguments) = self.wrapper();
        through(command, program, &arguments)
    }
}

/// The user that owns nothing.
pub const NOBODY: &str = "65534";

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
