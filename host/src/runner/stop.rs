//! Asking a run to stop: once to cancel, twice to kill.

use tokio::sync::watch;

/// How urgently a run is to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Go on.
    None,
    /// Cancel as the agent's protocol asks.
    Cancel,
    /// Kill at once; the result is still written.
    Kill,
}

/// Whoever may stop the run.
#[derive(Clone)]
pub struct StopHandle(watch::Sender<Urgency>);

/// The run's side.
#[derive(Clone)]
pub struct StopSignal(watch::Receiver<Urgency>);

/// Both sides.
pub fn stop_pair() -> (StopHandle, StopSignal) {
    let (sender, receiver) = watch::channel(Urgency::None);
    (StopHandle(sender), StopSignal(receiver))
}

impl StopHandle {
    /// The first call cancels, the second kills.
    pub fn request(&self) {
        self.0.send_modify(|urgency| {
            *urgency = match *urgency {
                Urgency::None => Urgency::Cancel,
                Urgency::Cancel | Urgency::Kill => Urgency::Kill,
            }
        });
    }
}

impl StopSignal {
    /// How urgent it is now.
    pub fn urgency(&self) -> Urgency {
        *self.0.borrow()
    }

    /// Waits for this urgency or a higher one; for ever, if nobody can ask any more.
    pub async fn reached(&mut self, urgency: Urgency) {
        if self.0.wait_for(|now| *now >= urgency).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
