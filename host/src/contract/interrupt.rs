//! Getting a session back from an adapter that waits.

use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// The engine's side.
pub struct Interrupter {
    raised: watch::Sender<bool>,
    deadline: Arc<Mutex<Option<Instant>>>,
}

/// What every blocking import listens to.
#[derive(Clone)]
pub struct Interrupt {
    raised: watch::Receiver<bool>,
    deadline: Arc<Mutex<Option<Instant>>>,
}

/// Both sides of one session's interruption.
pub fn interruption() -> (Interrupter, Interrupt) {
    let (sender, receiver) = watch::channel(false);
    let deadline = Arc::new(Mutex::new(None));
    let interrupter = Interrupter {
        raised: sender,
        deadline: Arc::clone(&deadline),
    };
    (
        interrupter,
        Interrupt {
            raised: receiver,
            deadline,
        },
    )
}

impl Interrupter {
    /// An operation begins: not interrupted, and over at `deadline`.
    pub fn begin(&self, deadline: Instant) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = Some(deadline);
        self.raised.send_replace(false);
    }

    /// Every blocking import returns `interrupted` from now until the next operation.
    pub fn raise(&self) {
        self.raised.send_replace(true);
    }
}

impl Interrupt {
    /// Is the session wanted back?
    pub fn is_wanted(&self) -> bool {
        *self.raised.borrow() || self.deadline().is_some_and(|at| at <= Instant::now())
    }

    /// Waits until the session is wanted back.
    pub async fn wanted(&mut self) {
        let deadline = self.deadline();
        let raised = async {
            if self.raised.wait_for(|raised| *raised).await.is_err() {
                // The engine is gone: so is the session.
            }
        };
        match deadline {
            Some(at) => tokio::select! {
                () = raised => {}
                () = sleep_until(at) => {}
            },
            None => raised.await,
        }
    }

    fn deadline(&self) -> Option<Instant> {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
