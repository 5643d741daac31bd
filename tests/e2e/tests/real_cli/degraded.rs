//! A system that allows fewer namespaces than this one: a user namespace whose own limits
//! are zero.

use akbench_e2e::real::through;
use std::process::Command;

/// Which namespaces can't be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Without {
    /// No user namespaces: no sandbox of the CLI's own.
    User,
    /// No PID namespaces, either: no PID namespace of ours.
    UserAndPid,
}

impl Without {
    fn script(self) -> &'static str {
        match self {
            Self::User => "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"",
            Self::UserAndPid => {
                "echo 0 > /proc/sys/user/max_user_namespaces \
                 && echo 0 > /proc/sys/user/max_pid_namespaces && exec \"$@\""
            }
        }
    }

    fn arguments(self) -> [&'static str; 6] {
        ["--user", "--map-root-user", "sh", "-c", self.script(), "sh"]
    }

    /// Whether such a place can be made here; says so if not.
    pub fn is_possible(self, test: &str) -> bool {
        let mut command = Command::new("unshare");
        command.args(self.arguments()).arg("true");
        let problem = match command.output() {
            Ok(output) if output.status.success() => return true,
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => error.to_string(),
        };
        eprintln!("{test}: skipped: no user namespace with limits of its own here: {problem}");
        false
    }
}

/// The same command where these namespaces can't be made.
pub fn without_namespaces(command: &Command, without: Without) -> Command {
    through(command, "unshare", &without.arguments())
}
