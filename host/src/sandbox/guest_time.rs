//! Charging an adapter for its own computing time only.
//!
//! An operation may wait for hours on the agent and must not compute for more than seconds.
//! Epochs tick for both, so time spent in blocking imports is left out of the account, and
//! while every guest waits, nothing ticks at all.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use wasmtime::EngineWeak;

/// The resolution of CPU limits, and how often a busy guest lets others run.
pub const TICK: Duration = Duration::from_millis(10);

#[derive(Default)]
struct Active {
    guests: usize,
    stop: bool,
}

/// Advances the engine's epoch while at least one guest computes.
pub struct Ticker {
    active: Arc<(Mutex<Active>, Condvar)>,
}

impl Ticker {
    /// Starts the thread; it sleeps until a guest computes.
    pub fn start(engine: EngineWeak) -> Self {
        let active = Arc::new((Mutex::new(Active::default()), Condvar::new()));
        let shared = Arc::clone(&active);
        std::thread::spawn(move || {
            let (lock, changed) = &*shared;
            loop {
                let state = lock.lock().unwrap_or_else(PoisonError::into_inner);
                let state = changed
                    .wait_while(state, |active| active.guests == 0 && !active.stop)
                    .unwrap_or_else(PoisonError::into_inner);
                if state.stop {
                    return;
                }
                drop(state);
                std::thread::sleep(TICK);
                match engine.upgrade() {
                    Some(engine) => engine.increment_epoch(),
                    None => return,
                }
            }
        });
        Self { active }
    }

    fn change(&self, update: impl FnOnce(&mut Active)) {
        let (lock, changed) = &*self.active;
        update(&mut lock.lock().unwrap_or_else(PoisonError::into_inner));
        changed.notify_one();
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.change(|active| active.stop = true);
    }
}

/// The account of one instance.
pub struct GuestTime {
    ticker: Arc<Ticker>,
    spent: Duration,
    running_since: Option<Instant>,
    limit: Duration,
}

impl GuestTime {
    /// An account that is not running yet.
    pub fn new(ticker: Arc<Ticker>) -> Self {
        Self {
            ticker,
            spent: Duration::ZERO,
            running_since: None,
            limit: Duration::MAX,
        }
    }

    /// An operation begins: nothing spent, this much allowed.
    pub fn begin(&mut self, limit: Duration) {
        self.pause();
        self.spent = Duration::ZERO;
        self.limit = limit;
        self.resume();
    }

    /// The operation is over, or the guest waits for the host.
    pub fn pause(&mut self) {
        if let Some(since) = self.running_since.take() {
            self.spent += since.elapsed();
            self.ticker.change(|active| active.guests -= 1);
        }
    }

    /// The guest computes again.
    pub fn resume(&mut self) {
        if self.running_since.is_none() {
            self.running_since = Some(Instant::now());
            self.ticker.change(|active| active.guests += 1);
        }
    }

    /// The limit, if more than that was spent.
    pub fn exceeded(&self) -> Option<Duration> {
        let running = self
            .running_since
            .map_or(Duration::ZERO, |since| since.elapsed());
        (self.spent + running > self.limit).then_some(self.limit)
    }
}

impl Drop for GuestTime {
    fn drop(&mut self) {
        self.pause();
    }
}
