//! Ctrl-C and SIGTERM: the first cancels the run, the second kills it at once.

use super::CliError;
use crate::runner::stop::StopHandle;
use tokio::signal::unix::{SignalKind, signal};

/// Listens from now on.
pub fn stop_on_signals(stop: StopHandle) -> Result<(), CliError> {
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        let mut signals = signal(kind).map_err(|error| CliError::System {
            action: "listen for signals",
            error,
        })?;
        let stop = stop.clone();
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                stop.request();
            }
        });
    }
    Ok(())
}
