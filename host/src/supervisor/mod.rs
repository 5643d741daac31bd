//! The process that stands between the engine and everything that a session starts.
//!
//! One per session: the akbench binary in a hidden mode. It is PID 1 of a PID namespace
//! where the system allows that, else a sub-reaper; either way every descendant of every
//! program it started stays its descendant, so that it can end them all. It does nothing
//! else: it starts programs with the file descriptors it is handed, reports raw wait
//! statuses, and ends trees. When the engine dies, the socket closes and everything ends.

mod channel;
mod ending;
mod guard;
mod limits;
pub mod processes;
pub mod protocol;
mod usage;

use channel::{Channel, Received};
use ending::Ending;
use guard::Guard;
use protocol::{Reply, Request, SpawnCommand, SpawnErrorKind, SpawnId};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, setsid, wait,
};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The hidden command by which the akbench binary becomes a supervisor.
pub const HIDDEN_COMMAND: &str = "__supervise";

/// How long what a program left behind gets between SIGTERM and SIGKILL.
const LEFTOVER_GRACE: Duration = Duration::from_millis(200);

/// Supervises one session, then returns. The socket to the engine is standard input.
///
/// # Errors
///
/// If the socket or the system refuses; the engine sees the socket close.
pub fn run() -> io::Result<()> {
    // A session of its own: the terminal's Ctrl-C is for the engine, not for the tree. As
    // a session leader already (bubblewrap made one), there is nothing to do.
    let _ = setsid();
    if getpid() != Pid::INIT {
        set_child_subreaper(Some(getpid()))?;
    }
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let wakeup = listen_for_signals()?;
    let mut supervisor = Supervisor {
        channel: Channel::new(socket),
        running: BTreeMap::new(),
        childless: true,
        endings: Vec::new(),
        all: None,
        listener: None,
        ended: BTreeSet::new(),
        guard: None,
    };
    supervisor.channel.send(&Reply::Ready {
        pid_namespace: getpid() == Pid::INIT,
    })?;
    supervisor.serve(&wakeup)
}

/// SIGCHLD wakes the loop. The others are caught, not ignored: an ignored signal would be
/// inherited by every program, a caught one is reset by exec.
fn listen_for_signals() -> io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    for signal in [
        signal_hook::consts::SIGCHLD,
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGHUP,
    ] {
        signal_hook::low_level::pipe::register(signal, writer.try_clone()?)?;
    }
    Ok(reader)
}

struct Supervisor {
    channel: Channel,
    /// The programs that were started and have not been reaped.
    running: BTreeMap<SpawnId, Pid>,
    /// The system says that there is no child, so there is no descendant either.
    childless: bool,
    /// Trees that are being ended, each for one program.
    endings: Vec<(SpawnId, Ending)>,
    /// Everything is being ended.
    all: Option<Ending>,
    /// What the tree can reach of the network goes through here.
    listener: Option<TcpListener>,
    /// Counts processes, where no control group does.
    guard: Option<Guard>,
    /// Every process that had to be ended so far, for the census.
    ended: BTreeSet<i32>,
}

impl Supervisor {
    fn serve(&mut self, mut wakeup: &UnixStream) -> io::Result<()> {
        loop {
            let timeout = self.next_deadline().map(|at| {
                let left = at.saturating_duration_since(Instant::now());
                Timespec {
                    tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                    tv_nsec: i64::from(left.subsec_nanos()),
                }
            });
            let mut watched = vec![
                PollFd::new(&self.channel, PollFlags::IN),
                PollFd::new(wakeup, PollFlags::IN),
            ];
            watched.extend(self.listener.iter().map(|l| PollFd::new(l, PollFlags::IN)));
            match poll(&mut watched, timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let request_waiting = !watched[0].revents().is_empty();
            let connection_waiting = watched.get(2).is_some_and(|w| !w.revents().is_empty());
            let mut drained = [0; 64];
            while matches!(wakeup.read(&mut drained), Ok(read) if read > 0) {}
            self.reap()?;
            if request_waiting {
                match self.channel.receive()? {
                    Received::Closed => {
                        self.end_everything_unwatched();
                        return Ok(());
                    }
                    Received::Bytes => {
                        while let Some(request) = self.channel.next_request()? {
                            self.handle(request)?;
                        }
                    }
                }
            }
            if connection_waiting {
                self.hand_over_connections()?;
            }
            self.keep_guard()?;
            self.advance_endings()?;
        }
    }

    /// Ends everything if there are too many.
    fn keep_guard(&mut self) -> io::Result<()> {
        if self.childless {
            return Ok(());
        }
        let Some(guard) = &mut self.guard else {
            return Ok(());
        };
        let Some(found) = guard.look(Instant::now()) else {
            return Ok(());
        };
        processes::kill_everything();
        let processes = found.len() as u64;
        self.ended.extend(found);
        self.all = Some(Ending::new(Duration::ZERO));
        self.channel.send(&Reply::TooManyProcesses { processes })
    }

    fn listen(&mut self, port: u16) -> io::Result<u16> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        self.listener = Some(listener);
        Ok(port)
    }

    fn hand_over_connections(&mut self) -> io::Result<()> {
        let Some(listener) = &self.listener else {
            return Ok(());
        };
        // A connection that broke before it was accepted is not missed.
        while let Ok((connection, _)) = listener.accept() {
            self.channel
                .send_with(&Reply::Connection, connection.as_fd())?;
        }
        Ok(())
    }

    fn handle(&mut self, request: Request) -> io::Result<()> {
        match request {
            Request::Spawn { spawn, command } => {
                let Some(stdio) = self.channel.take_stdio() else {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "a spawn request came without its three file descriptors",
                    ));
                };
                let reply = match start(&command, stdio) {
                    Ok(pid) => {
                        self.running.insert(spawn, pid);
                        self.childless = false;
                        Reply::Spawned {
                            spawn,
                            pid: pid.as_raw_nonzero().get(),
                        }
                    }
                    Err(error) => Reply::SpawnFailed {
                        spawn,
                        kind: spawn_error_kind(&error),
                        message: error.to_string(),
                    },
                };
                self.channel.send(&reply)
            }
            Request::Limit {
                groups,
                processes,
                counting_group,
                open_files,
            } => {
                let Some(entrances) = self.channel.take_descriptors(groups) else {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "a request to limit came without its file descriptors",
                    ));
                };
                let groups: Vec<_> = entrances.into_iter().map(limits::enter).collect();
                let counted = counting_group.is_some_and(|at| groups.get(at) == Some(&None));
                self.guard = processes.filter(|_| !counted).map(Guard::new);
                if let (Some(most), false) = (processes, counted) {
                    limits::bound_processes(most);
                }
                let reply = Reply::Limited {
                    groups,
                    open_files: open_files.and_then(limits::open_files),
                };
                self.channel.send(&reply)
            }
            Request::Measure { memory_limit } => {
                let usage::Usage {
                    processes,
                    cpu_ms,
                    memory_bytes,
                } = usage::measure(memory_limit);
                self.channel.send(&Reply::Measured {
                    processes,
                    cpu_ms,
                    memory_bytes,
                })
            }
            Request::Signal { spawn, signal } => {
                if let Some(&pid) = self.running.get(&spawn)
                    && let Some(signal) = Signal::from_named_raw(signal)
                {
                    // ESRCH: it ended by itself in the meantime.
                    let _ = kill_process(pid, signal);
                }
                Ok(())
            }
            Request::Terminate { spawn, grace_ms } => {
                self.begin_ending(spawn, Duration::from_millis(grace_ms));
                Ok(())
            }
            Request::Listen { port } => {
                let reply = match self.listen(port) {
                    Ok(port) => Reply::Listening {
                        port: Some(port),
                        problem: None,
                    },
                    Err(error) => Reply::Listening {
                        port: None,
                        problem: Some(error.to_string()),
                    },
                };
                self.channel.send(&reply)
            }
            Request::TerminateAll { grace_ms } => {
                let grace = Duration::from_millis(grace_ms);
                match &mut self.all {
                    Some(ending) => ending.hurry(grace),
                    None => self.all = Some(Ending::new(grace)),
                }
                Ok(())
            }
        }
    }

    fn begin_ending(&mut self, spawn: SpawnId, grace: Duration) {
        if let Some((_, ending)) = self.endings.iter_mut().find(|(id, _)| *id == spawn) {
            ending.hurry(grace);
        } else if self.running.contains_key(&spawn) {
            self.endings.push((spawn, Ending::new(grace)));
        }
    }

    /// Collects everyone who has ended, so that no zombie stays.
    fn reap(&mut self) -> io::Result<()> {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    let ended = self.running.iter().find(|(_, known)| **known == pid);
                    let Some((&spawn, _)) = ended else { continue };
                    self.running.remove(&spawn);
                    self.channel.send(&Reply::Exited {
                        spawn,
                        raw_status: status.as_raw(),
                    })?;
                    // Whatever it left behind ends too; an ending under way keeps its grace.
                    if !self.endings.iter().any(|(id, _)| *id == spawn) {
                        self.endings.push((spawn, Ending::new(LEFTOVER_GRACE)));
                    }
                }
                Ok(None) => {
                    self.childless = false;
                    return Ok(());
                }
                Err(Errno::CHILD) => {
                    self.childless = true;
                    return Ok(());
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn advance_endings(&mut self) -> io::Result<()> {
        if self.endings.is_empty() && self.all.is_none() {
            return Ok(());
        }
        let now = Instant::now();
        let mut open = Vec::new();
        for (spawn, mut ending) in std::mem::take(&mut self.endings) {
            let targets = self.tree_of(spawn);
            // Where everything ends, a program of it is sent no signal of its own: a SIGTERM
            // after the SIGKILL would say that it could still have obeyed.
            let signal = match &self.all {
                Some(all) => ending.follow(all, now, &targets),
                None => ending.step(now, &targets),
            };
            if let Some(signal) = signal {
                self.channel.send(&Reply::TreeSignalled {
                    spawn: Some(spawn),
                    signal: signal.as_raw(),
                })?;
            }
            self.ended.extend(ending.seen());
            let Some((ended, survivors)) = ending.outcome(now, targets.len()) else {
                open.push((spawn, ending));
                continue;
            };
            if self.running.contains_key(&spawn) && survivors == 0 {
                // Its zombie is not reaped yet; the exit must be reported first.
                open.push((spawn, ending));
                continue;
            }
            self.channel.send(&Reply::Cleared {
                spawn,
                ended,
                survivors,
            })?;
        }
        self.endings = open;
        if let Some(mut ending) = self.all.take() {
            let targets = self.everything();
            if let Some(signal) = ending.step(now, &targets) {
                self.channel.send(&Reply::TreeSignalled {
                    spawn: None,
                    signal: signal.as_raw(),
                })?;
            }
            self.ended.extend(ending.seen());
            match ending.outcome(now, targets.len()) {
                Some((_, survivors))
                    if survivors > 0 || (self.endings.is_empty() && self.running.is_empty()) =>
                {
                    let ended = u32::try_from(self.ended.len()).unwrap_or(u32::MAX);
                    let ended = ended.saturating_sub(survivors);
                    self.channel.send(&Reply::AllEnded { ended, survivors })?;
                }
                _ => self.all = Some(ending),
            }
        }
        Ok(())
    }

    /// The processes that end with one program: its descendants and, unless another program
    /// of the session runs, the orphans, whose origin nobody can tell any more.
    fn tree_of(&self, spawn: SpawnId) -> Vec<Pid> {
        let own = self.running.get(&spawn).copied();
        let others: Vec<Pid> = self
            .running
            .iter()
            .filter(|(id, _)| **id != spawn)
            .map(|(_, pid)| *pid)
            .collect();
        if others.is_empty() {
            return self.everything();
        }
        let Some(own) = own else { return Vec::new() };
        let mut tree = processes::descendants(own);
        tree.push(own);
        tree
    }

    fn everything(&self) -> Vec<Pid> {
        if self.childless {
            return Vec::new();
        }
        processes::all_descendants()
    }

    fn next_deadline(&self) -> Option<Instant> {
        let endings = self.endings.iter().map(|(_, ending)| ending);
        let guard = self.guard.iter().filter(|_| !self.childless);
        endings
            .chain(&self.all)
            .map(Ending::next_step)
            .chain(guard.map(Guard::next))
            .min()
    }

    /// The engine is gone, so nobody is left to report to.
    fn end_everything_unwatched(&mut self) {
        let mut ending = Ending::new(LEFTOVER_GRACE);
        loop {
            while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {}
            let now = Instant::now();
            let targets = processes::all_descendants();
            ending.step(now, &targets);
            if ending.outcome(now, targets.len()).is_some() {
                return;
            }
            let pause = ending.next_step().saturating_duration_since(now);
            std::thread::sleep(pause.min(Duration::from_millis(20)));
        }
    }
}

fn start(command: &SpawnCommand, [stdin, stdout, stderr]: [OwnedFd; 3]) -> io::Result<Pid> {
    let child = Command::new(&command.program)
        .args(command.args.iter().map(|arg| &arg.0))
        .env_clear()
        .envs(command.env.iter().map(|(name, value)| (&name.0, &value.0)))
        .current_dir(&command.cwd)
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::from(stderr))
        .spawn()?;
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| io::Error::other("the system gave a process id that is out of range"))
}

fn spawn_error_kind(error: &io::Error) -> SpawnErrorKind {
    match error.kind() {
        io::ErrorKind::NotFound => SpawnErrorKind::NotFound,
        io::ErrorKind::PermissionDenied => SpawnErrorKind::NotExecutable,
        io::ErrorKind::ArgumentListTooLong => SpawnErrorKind::TooLong,
        _ if error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()) => {
            SpawnErrorKind::NotExecutable
        }
        _ => SpawnErrorKind::Other,
    }
}
