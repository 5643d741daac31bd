//! The attacks, as `docs/sandbox.md` lists them.

/// One attack.
pub struct Attack {
    pub channel: &'static str,
    /// For people.
    pub what: &'static str,
    pub how: How,
}

/// How it is made, and what comes of it.
#[derive(Clone, Copy)]
pub enum How {
    /// The attack of this name fails, and the adapter goes on.
    Denied(&'static str),
    /// It ends the session.
    Stopped {
        /// Of the adapter.
        parameter: &'static str,
        /// The run's time limit, where nothing else would end it soon.
        limit: Option<&'static str>,
        /// The class of the failure.
        ends: &'static str,
        /// What is said about it.
        says: &'static str,
        /// For people.
        outcome: &'static str,
    },
}

impl Attack {
    /// For the table.
    pub fn outcome(&self) -> &'static str {
        match self.how {
            How::Denied(_) => "denied",
            How::Stopped { outcome, .. } => outcome,
        }
    }
}

const fn denied(channel: &'static str, what: &'static str, name: &'static str) -> Attack {
    Attack {
        channel,
        what,
        how: How::Denied(name),
    }
}

const fn stopped(
    channel: &'static str,
    what: &'static str,
    parameter: &'static str,
    limit: Option<&'static str>,
    ends: &'static str,
    says: &'static str,
    outcome: &'static str,
) -> Attack {
    Attack {
        channel,
        what,
        how: How::Stopped {
            parameter,
            limit,
            ends,
            says,
            outcome,
        },
    }
}

const FILES: &str = "files";
const PROGRAMS: &str = "programs";
const SECRETS: &str = "environment and secrets";
const NETWORK: &str = "network";
const CPU: &str = "CPU";
const MEMORY: &str = "memory and handles";
const STATE: &str = "host state";
const TIME: &str = "time";

/// All of them.
pub const ATTACKS: &[Attack] = &[
    denied(FILES, "open the folder above its own", "parent_folder"),
    denied(FILES, "open an absolute path", "absolute_path"),
    denied(
        FILES,
        "find the workspace or a fourth folder",
        "other_folders",
    ),
    denied(FILES, "read through a symbolic link", "symlink_read"),
    denied(FILES, "write through a symbolic link", "symlink_write"),
    denied(FILES, "link a host file into its folder", "hard_link"),
    denied(FILES, "rename a file out of its folder", "rename_out"),
    denied(FILES, "list the folders above its own", "list_outside"),
    denied(PROGRAMS, "start a shell", "shell"),
    denied(PROGRAMS, "start a program by its path", "program_by_path"),
    denied(
        PROGRAMS,
        "start a program that it wrote itself",
        "planted_program",
    ),
    denied(
        PROGRAMS,
        "load code into a granted program by a variable",
        "loader_variables",
    ),
    denied(
        PROGRAMS,
        "name a folder outside the workspace",
        "outside_folder",
    ),
    denied(
        PROGRAMS,
        "place evidence elsewhere by a label",
        "label_leads_out",
    ),
    denied(PROGRAMS, "split an argument with a NUL", "split_argument"),
    denied(SECRETS, "read the host's environment", "host_variables"),
    denied(SECRETS, "read the host's arguments", "host_arguments"),
    denied(SECRETS, "read the host's standard input", "host_stdin"),
    denied(
        SECRETS,
        "use a credential that is not granted",
        "other_credential",
    ),
    denied(
        SECRETS,
        "have the agent print the credential",
        "credential_through_stdout",
    ),
    denied(
        SECRETS,
        "have the agent complain about the credential",
        "credential_through_stderr",
    ),
    denied(
        SECRETS,
        "put the credential on a command line",
        "credential_in_argument",
    ),
    denied(
        SECRETS,
        "read the credential in the evidence",
        "credential_in_evidence",
    ),
    denied(NETWORK, "connect to the host's loopback", "tcp_loopback"),
    denied(
        NETWORK,
        "connect to a cloud's metadata service",
        "tcp_metadata_service",
    ),
    denied(NETWORK, "connect by IPv6", "tcp_ipv6"),
    denied(NETWORK, "listen on a port", "tcp_listen"),
    denied(NETWORK, "send a datagram", "udp_send"),
    denied(NETWORK, "look a name up", "name_lookup"),
    stopped(
        CPU,
        "compute without end when given the task",
        "behaviour=loop_in_submit",
        Some("1s"),
        "adapter_timeout",
        "submit",
        "stopped after its time (adapter_timeout)",
    ),
    stopped(
        CPU,
        "compute without end while it waits",
        "behaviour=loop_in_wait",
        Some("1s"),
        "adapter_timeout",
        "wait",
        "stopped after its time (adapter_timeout)",
    ),
    stopped(
        CPU,
        "compute without end when it is to cancel",
        "behaviour=loop_in_cancel",
        Some("1s"),
        "agent_timeout",
        "did not return from cancel",
        "stopped, and named as a violation",
    ),
    stopped(
        CPU,
        "compute without end when it is closed",
        "behaviour=loop_in_close",
        None,
        "none",
        "did not return from close",
        "stopped, and named as a violation",
    ),
    stopped(
        CPU,
        "call the host without end",
        "attack=clock_loop",
        Some("1s"),
        "adapter_timeout",
        "submit",
        "stopped after its time (adapter_timeout)",
    ),
    stopped(
        MEMORY,
        "take all memory",
        "behaviour=memory_bomb",
        None,
        "adapter_limit",
        "memory",
        "stopped at the limit (adapter_limit)",
    ),
    stopped(
        MEMORY,
        "hand the host a gigabyte of text",
        "behaviour=gigabyte_string",
        None,
        "adapter_limit",
        "memory",
        "stopped at the limit (adapter_limit)",
    ),
    stopped(
        MEMORY,
        "recurse without end",
        "behaviour=deep_recursion",
        None,
        "adapter_trap",
        "",
        "stopped (adapter_trap)",
    ),
    stopped(
        MEMORY,
        "open folders by the hundred thousand",
        "behaviour=leaked_handles",
        None,
        "adapter_trap",
        "",
        "stopped (adapter_trap)",
    ),
    stopped(
        MEMORY,
        "make timers by the million",
        "attack=leaked_pollables",
        None,
        "adapter_trap",
        "",
        "stopped (adapter_trap)",
    ),
    stopped(
        MEMORY,
        "ask the host for gigabytes of random bytes",
        "attack=random_gigabyte",
        None,
        "adapter_trap",
        "",
        "stopped (adapter_trap)",
    ),
    stopped(
        MEMORY,
        "read half a terabyte at once",
        "attack=huge_read",
        None,
        "none",
        "denied",
        "denied",
    ),
    stopped(
        MEMORY,
        "start programs without end",
        "behaviour=leaked_children",
        None,
        "unknown",
        "64 programs",
        "refused from the 65th on",
    ),
    denied(STATE, "change the evidence", "change_evidence"),
    denied(STATE, "add to the evidence", "forge_evidence"),
    denied(STATE, "forge an event by a line break", "forge_event"),
    denied(STATE, "forge a log line by a line break", "forge_log"),
    denied(
        STATE,
        "control the terminal by what it says",
        "control_terminal",
    ),
    denied(
        STATE,
        "pass a host file off as its own by a link",
        "link_as_artifact",
    ),
    stopped(
        STATE,
        "name a host file as its log",
        "attack=log_outside",
        None,
        "none",
        "native-logs",
        "dropped, and named as a violation",
    ),
    stopped(
        STATE,
        "emit a hundred megabytes of events",
        "attack=event_flood",
        None,
        "none",
        "more than 64 MiB",
        "cut off at 64 MiB, which is said",
    ),
    stopped(
        STATE,
        "log a hundred megabytes",
        "attack=log_flood",
        None,
        "none",
        "more than 64 MiB",
        "cut off at 64 MiB, which is said",
    ),
    stopped(
        TIME,
        "sleep for an hour",
        "attack=sleep",
        Some("1s"),
        "adapter_timeout",
        "submit",
        "stopped after its time (adapter_timeout)",
    ),
    stopped(
        TIME,
        "sleep for an hour in short naps",
        "attack=naps",
        Some("1s"),
        "adapter_timeout",
        "submit",
        "stopped after its time (adapter_timeout)",
    ),
    stopped(
        TIME,
        "wait for a program that does not end",
        "attack=waits_for_a_program",
        Some("1s"),
        "adapter_timeout",
        "submit",
        "stopped after its time (adapter_timeout)",
    ),
    stopped(
        TIME,
        "read from a program that prints nothing",
        "attack=reads_without_end",
        Some("1s"),
        "adapter_timeout",
        "submit",
        "stopped after its time (adapter_timeout)",
    ),
    stopped(
        TIME,
        "go on waiting when it is interrupted",
        "behaviour=ignores_interruption",
        Some("1s"),
        "adapter_timeout",
        "wait",
        "stopped after its time (adapter_timeout)",
    ),
];
