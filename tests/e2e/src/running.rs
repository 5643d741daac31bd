//! An `akbench` that is at work while the test looks on.

use crate::processes::{self, PATIENCE};
use crate::scene::Ran;
use rustix::process::{Pid, Signal, kill_process};
use std::io;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// A started `akbench`. Dropped before its end, it is killed, and everything that it started
/// ends with it.
pub struct Running {
    pid: Pid,
    output: Receiver<io::Result<Output>>,
    over: bool,
}

impl Running {
    /// Starts it; what it prints is kept.
    pub fn start(command: &mut Command) -> Self {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("akbench starts");
        let pid = Pid::from_child(&child);
        let (sender, output) = channel();
        thread::spawn(move || {
            // A test that failed is not there any more to receive it.
            let _ = sender.send(child.wait_with_output());
        });
        Self {
            pid,
            output,
            over: false,
        }
    }

    /// Its process id.
    pub fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Sends it a signal, as a terminal or an operator would.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).expect("akbench is there to be signalled");
    }

    /// Waits for its end and for the end of its output.
    ///
    /// # Panics
    ///
    /// If that takes longer than [`PATIENCE`].
    pub fn finish(self) -> Ran {
        self.finish_or_tell(String::new)
    }

    /// The same; `more` is added to the message if it takes too long.
    ///
    /// # Panics
    ///
    /// If that takes longer than [`PATIENCE`].
    pub fn finish_or_tell(mut self, more: impl FnOnce() -> String) -> Ran {
        match self.output.recv_timeout(PATIENCE) {
            Ok(output) => {
                self.over = true;
                output.expect("akbench can be waited for").into()
            }
            Err(_) => panic!(
                "akbench did not end within {PATIENCE:?}; it still runs {:#?}\n{}",
                processes::descendants(self.pid()),
                more()
            ),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Not over means not reaped, unless it ended this very moment by itself.
        if !self.over && self.output.try_recv().is_err() {
            let _ = kill_process(self.pid, Signal::KILL);
        }
    }
}
