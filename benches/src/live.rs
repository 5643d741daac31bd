//! Counting sessions that are at work at the same time.

use akbench::contract::events::{Observer, RunEvent};
use tokio::sync::watch;

/// Counts the messages of agents; programs that wait say one when they are at work.
pub struct Live(watch::Sender<usize>);

impl Live {
    /// None yet.
    pub fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    /// Waits until so many sessions are at work.
    pub async fn reached(&self, count: usize) {
        // The sender is ours, so it can't be gone.
        let _ = self.0.subscribe().wait_for(|live| *live >= count).await;
    }
}

impl Default for Live {
    fn default() -> Self {
        Self::new()
    }
}

impl Observer for Live {
    fn observe(&self, event: &RunEvent) {
        if matches!(event, RunEvent::Message { .. }) {
            self.0.send_modify(|live| *live += 1);
        }
    }
}
