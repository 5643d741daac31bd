//! Keeping a tree from taking all processes of the machine, where no control group does.
//!
//! A tree that forks without end leaves little computing time to anybody else, so the look is
//! short and frequent, and the end is one system call.

use super::processes;
use std::time::{Duration, Instant};

/// How often to look. In a PID namespace that is a list of names.
const INTERVAL: Duration = Duration::from_millis(100);

/// Without a namespace every process of the machine has to be looked at.
const SLOW_INTERVAL: Duration = Duration::from_millis(500);

/// Counts processes.
pub struct Guard {
    limit: u64,
    interval: Duration,
    next: Instant,
}

impl Guard {
    /// Looks for the first time after an interval.
    pub fn new(limit: u64) -> Self {
        let interval = if processes::own_namespace() {
            INTERVAL
        } else {
            SLOW_INTERVAL
        };
        Self {
            limit,
            interval,
            next: Instant::now() + interval,
        }
    }

    /// When to look again.
    pub fn next(&self) -> Instant {
        self.next
    }

    /// All that there are, if it is time to look and there are too many.
    pub fn look(&mut self, now: Instant) -> Option<Vec<i32>> {
        if now < self.next {
            return None;
        }
        let found = processes::names();
        self.next = Instant::now() + self.interval;
        (found.len() as u64 > self.limit).then_some(found)
    }
}
