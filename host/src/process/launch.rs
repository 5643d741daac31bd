//! Starting the supervisor of a process tree, in the strongest containment the system allows.

use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::supervisor::HIDDEN_COMMAND;

/// How a tree is to be held together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeKind {
    /// The supervisor is PID 1 of a namespace: when it ends, the kernel ends all the rest.
    PidNamespace,
    /// The supervisor inherits every orphan below it.
    SubReaper,
}

impl TreeKind {
    /// As it stands in the result.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PidNamespace => "pid-namespace",
            Self::SubReaper => "sub-reaper",
        }
    }
}

/// A supervisor that has been started; it has not reported yet.
pub struct Launched {
    /// The engine's end of the socket.
    pub socket: UnixStream,
    /// The supervisor, or the bubblewrap around it.
    pub child: Child,
}

impl Launched {
    /// Why it ended instead of reporting: its last words.
    pub fn explain(mut self) -> String {
        let mut words = String::new();
        if let Some(stderr) = self.child.stderr.take() {
            // Unreadable words are no reason to fail: the exit status follows.
            let _ = stderr.take(4096).read_to_string(&mut words);
        }
        let words = words.trim();
        match self.child.wait() {
            Ok(status) if words.is_empty() => status.to_string(),
            Ok(status) => format!("{words} ({status})"),
            Err(error) => format!("{words} ({error})"),
        }
    }
}

/// Starts a supervisor: `program` is the akbench binary.
///
/// # Errors
///
/// If it can't be started; whether it works, its first message tells.
pub fn launch(program: &Path, kind: TreeKind) -> io::Result<Launched> {
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = match kind {
        TreeKind::SubReaper => Command::new(program),
        TreeKind::PidNamespace => {
            let mut command = Command::new(find_bubblewrap().ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::NotFound,
                    "bubblewrap (bwrap) is not installed",
                )
            })?);
            command
                .args(["--unshare-pid", "--as-pid-1", "--die-with-parent"])
                .args(["--dev-bind", "/", "/", "--proc", "/proc", "--"])
                .arg(program);
            command
        }
    };
    command
        .arg(HIDDEN_COMMAND)
        .env_clear()
        .current_dir("/")
        // Its own group at once: a Ctrl-C before it has made its session must not reach it.
        .process_group(0)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    Ok(Launched {
        socket: ours,
        child: spawn_from_lasting_thread(command)?,
    })
}

fn find_bubblewrap() -> Option<PathBuf> {
    // Not from PATH: this is what everything else rests on.
    ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"]
        .into_iter()
        .map(PathBuf::from)
        .find(|path| path.is_file())
}

type Job = (Command, mpsc::Sender<io::Result<Child>>);

/// "Die with parent" follows the thread that forked, not the process; so all supervisors are
/// forked by one thread that lives as long as the process does.
fn spawn_from_lasting_thread(command: Command) -> io::Result<Child> {
    static JOBS: OnceLock<Mutex<mpsc::Sender<Job>>> = OnceLock::new();
    let jobs = JOBS.get_or_init(|| {
        let (sender, receiver) = mpsc::channel::<Job>();
        std::thread::spawn(move || {
            for (mut command, answer) in receiver {
                // The asker waits for the answer, so somebody receives it.
                let _ = answer.send(command.spawn());
            }
        });
        Mutex::new(sender)
    });
    let (answer, answered) = mpsc::channel();
    let gone = || io::Error::other("the thread that starts supervisors is gone");
    jobs.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .send((command, answer))
        .map_err(|_| gone())?;
    answered.recv().map_err(|_| gone())?
}
