//! Starting the supervisor of a process tree, in the containment that was asked for.

use super::confinement::{FileView, privilege_arguments};
use crate::supervisor::HIDDEN_COMMAND;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::sync::{Mutex, OnceLock, PoisonError};

/// How a tree is held together, and what it can reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Containment {
    /// The supervisor is PID 1 of a namespace: when it ends, the kernel ends all the rest.
    Namespaces {
        /// What of the file system there is; `None` shows all of it.
        files: Option<FileView>,
        /// False for a network namespace with nothing but a loopback device.
        network: bool,
        /// A file that appears as `/etc/hosts`.
        hosts: Option<PathBuf>,
    },
    /// The supervisor inherits every orphan below it; nothing is hidden.
    SubReaper,
}

impl Containment {
    /// How the tree is held together, as it stands in the result.
    pub fn tree(&self) -> &'static str {
        match self {
            Self::Namespaces { .. } => "pid-namespace",
            Self::SubReaper => "sub-reaper",
        }
    }

    /// How files are confined, as it stands in the result.
    pub fn files(&self) -> &'static str {
        match self {
            Self::Namespaces { files: Some(_), .. } => "bubblewrap",
            Self::Namespaces { files: None, .. } | Self::SubReaper => "none",
        }
    }

    /// True if the tree is in a network namespace of its own.
    pub fn hides_network(&self) -> bool {
        matches!(self, Self::Namespaces { network: false, .. })
    }

    fn describe(&self) -> String {
        let network = if self.hides_network() {
            " without network"
        } else {
            ""
        };
        format!("{} with files {}{network}", self.tree(), self.files())
    }

    /// A sentence about a containment that did not work here.
    pub fn failed(&self, reason: &str) -> String {
        format!("{}: {reason}", self.describe())
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

/// A supervisor that is started before it is known whether anybody needs it, so that it gets
/// ready while other things are prepared.
pub struct EarlyLaunch {
    containment: Containment,
    launched: Option<Launched>,
}

impl EarlyLaunch {
    /// Starts it. If that fails, so does whoever needs it, and says why.
    pub fn start(program: &Path, containment: Containment) -> Self {
        let launched = launch(program, &containment).ok();
        Self {
            containment,
            launched,
        }
    }

    /// The supervisor, if it is held together like this.
    pub(super) fn take(&mut self, containment: &Containment) -> Option<Launched> {
        self.launched.take_if(|_| self.containment == *containment)
    }
}

impl Drop for EarlyLaunch {
    /// Nobody needed it: it has started nothing and ends at once.
    fn drop(&mut self) {
        if let Some(Launched { socket, mut child }) = self.launched.take() {
            drop(socket);
            // It may be gone already; either way it is over and has to be waited for.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts a supervisor: `program` is the akbench binary.
///
/// # Errors
///
/// If it can't be started; whether it works, its first message tells.
pub fn launch(program: &Path, containment: &Containment) -> io::Result<Launched> {
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = match containment {
        Containment::SubReaper => Command::new(program),
        Containment::Namespaces {
            files,
            network,
            hosts,
        } => {
            let mut command = Command::new(find_bubblewrap().ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::NotFound,
                    "bubblewrap (bwrap) is not installed",
                )
            })?);
            command.args(["--unshare-pid", "--as-pid-1", "--die-with-parent"]);
            if !network {
                command.arg("--unshare-net");
            }
            command.args(file_arguments(program, files.as_ref()));
            if let Some(hosts) = hosts {
                command.arg("--ro-bind").arg(hosts).arg("/etc/hosts");
            }
            command.arg("--").arg(program);
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

fn file_arguments(program: &Path, files: Option<&FileView>) -> Vec<OsString> {
    let Some(view) = files else {
        let everything = ["--dev-bind", "/", "/", "--proc", "/proc"];
        return everything.into_iter().map(OsString::from).collect();
    };
    let mut view = view.clone();
    // The supervisor itself, which may lie in somebody's home.
    view.readable.push(program.to_owned());
    let mut arguments: Vec<OsString> = ["--unshare-ipc", "--unshare-uts"]
        .iter()
        .chain(privilege_arguments())
        .map(OsString::from)
        .collect();
    arguments.extend(view.arguments());
    arguments
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
