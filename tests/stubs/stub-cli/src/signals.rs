//! Signals: their names, ignoring and handling them, and sending them to oneself.

use crate::failure::Failure;
use serde::Deserialize;
use signal_hook::consts::signal as number;
use signal_hook::iterator::Signals;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

const NAMES: [(&str, i32); 19] = [
    ("SIGABRT", number::SIGABRT),
    ("SIGALRM", number::SIGALRM),
    ("SIGBUS", number::SIGBUS),
    ("SIGCHLD", number::SIGCHLD),
    ("SIGCONT", number::SIGCONT),
    ("SIGFPE", number::SIGFPE),
    ("SIGHUP", number::SIGHUP),
    ("SIGILL", number::SIGILL),
    ("SIGINT", number::SIGINT),
    ("SIGKILL", number::SIGKILL),
    ("SIGPIPE", number::SIGPIPE),
    ("SIGQUIT", number::SIGQUIT),
    ("SIGSEGV", number::SIGSEGV),
    ("SIGSTOP", number::SIGSTOP),
    ("SIGTERM", number::SIGTERM),
    ("SIGTSTP", number::SIGTSTP),
    ("SIGUSR1", number::SIGUSR1),
    ("SIGUSR2", number::SIGUSR2),
    ("SIGXCPU", number::SIGXCPU),
];

/// A signal by its name, for example `SIGTERM`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct SignalName(i32);

impl TryFrom<String> for SignalName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match NAMES.iter().find(|(known, _)| *known == name) {
            Some((_, number)) => Ok(Self(*number)),
            None => {
                let known = NAMES.map(|(known, _)| known).join(", ");
                Err(format!("unknown signal `{name}`, expected one of {known}"))
            }
        }
    }
}

/// A signal that a program can handle or ignore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Catchable(i32);

impl Catchable {
    pub(crate) fn number(self) -> i32 {
        self.0
    }
}

impl TryFrom<String> for Catchable {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let SignalName(number) = SignalName::try_from(name.clone())?;
        if signal_hook::consts::FORBIDDEN.contains(&number) {
            return Err(format!("`{name}` can be neither handled nor ignored"));
        }
        Ok(Self(number))
    }
}

/// Keeps a signal from doing anything. Programs that this one starts get it at its default.
pub(crate) fn ignore(signal: i32) -> io::Result<()> {
    // A handler that nobody asks about ignores the signal; unlike SIG_IGN it needs no `unsafe`.
    signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))).map(drop)
}

/// Remembers that a signal was handled, so that `hang` knows when to end.
#[derive(Debug, Default)]
pub(crate) struct Handled {
    since_the_last_wait: Mutex<bool>,
    changed: Condvar,
}

impl Handled {
    /// Waits until a signal was handled to the end of its steps. One that came since the last
    /// wait counts: whoever sent it could not know how far this program was.
    pub(crate) fn wait(&self) {
        let handled = self
            .since_the_last_wait
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_while(handled, |handled| !*handled);
        *waited.unwrap_or_else(PoisonError::into_inner) = false;
    }

    fn set(&self) {
        *self
            .since_the_last_wait
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }
}

/// From now on calls `handler` in a thread of its own whenever the signal comes.
pub(crate) fn handle(
    signal: Catchable,
    handled: Arc<Handled>,
    handler: impl Fn() -> Result<(), Failure> + Send + 'static,
) -> io::Result<()> {
    let mut signals = Signals::new([signal.number()])?;
    thread::Builder::new().spawn(move || {
        for _ in signals.forever() {
            match handler() {
                Ok(()) => handled.set(),
                Err(failure) => failure.exit(),
            }
        }
    })?;
    Ok(())
}

/// Ends this process by a signal, whatever handles or ignores the signal.
pub(crate) fn kill_self(SignalName(signal): SignalName) -> Result<(), Failure> {
    signal_hook::low_level::emulate_default_handler(signal)
        .map_err(|error| Failure::step(format!("failed to end by signal {signal}: {error}")))
}

/// Stops this process until it gets SIGCONT.
pub(crate) fn stop_self() -> Result<(), Failure> {
    signal_hook::low_level::raise(number::SIGSTOP)
        .map_err(|error| Failure::step(format!("failed to stop: {error}")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_signal_that_cannot_be_handled_is_refused_for_handlers_only() {
        let refused = Catchable::try_from("SIGKILL".to_owned()).unwrap_err();
        assert_eq!(refused, "`SIGKILL` can be neither handled nor ignored");
        assert!(SignalName::try_from("SIGKILL".to_owned()).is_ok());
        assert!(
            SignalName::try_from("TERM".to_owned())
                .unwrap_err()
                .starts_with("unknown signal `TERM`")
        );
    }
}
