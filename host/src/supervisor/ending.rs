//! Ending a set of processes: SIGTERM, a grace, SIGKILL until none is left, a census.

use rustix::process::{Pid, Signal};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::processes::signal_all;

/// How often SIGKILL is repeated: a tree that forks while it is killed needs several rounds.
const ROUND: Duration = Duration::from_millis(10);

/// Who is alive this long after the first SIGKILL counts as a survivor.
const GIVE_UP: Duration = Duration::from_secs(2);

/// One tree on its way out.
pub struct Ending {
    started: Instant,
    grace: Duration,
    asked: bool,
    killed_at: Option<Instant>,
    seen: BTreeSet<i32>,
}

impl Ending {
    /// Begins now; a grace of 0 means SIGKILL at once.
    pub fn new(grace: Duration) -> Self {
        Self {
            started: Instant::now(),
            grace,
            asked: false,
            killed_at: None,
            seen: BTreeSet::new(),
        }
    }

    /// Shortens the grace, if the new one ends earlier.
    pub fn hurry(&mut self, grace: Duration) {
        let elapsed = self.started.elapsed();
        self.grace = self.grace.min(elapsed + grace);
    }

    /// True once the time for asking is over.
    pub fn is_killing(&self, now: Instant) -> bool {
        now >= self.started + self.grace
    }

    /// Does what is due and returns a signal if it was sent for the first time.
    pub fn step(&mut self, now: Instant, targets: &[Pid]) -> Option<Signal> {
        if targets.is_empty() {
            return None;
        }
        self.see(targets);
        if self.is_killing(now) {
            // Stopped first, so that what is about to fork doesn't get to it.
            signal_all(targets, Signal::STOP);
            signal_all(targets, Signal::KILL);
            let first = self.killed_at.is_none();
            self.killed_at.get_or_insert(now);
            return first.then_some(Signal::KILL);
        }
        if self.asked {
            return None;
        }
        self.asked = true;
        signal_all(targets, Signal::TERM);
        // A stopped process does not see SIGTERM before it goes on.
        signal_all(targets, Signal::CONT);
        Some(Signal::TERM)
    }

    /// As [`Ending::step`] for a program whose end is part of the end of everything: that one
    /// asks, and kills.
    pub fn follow(&mut self, all: &Self, now: Instant, targets: &[Pid]) -> Option<Signal> {
        self.asked = true;
        if !all.is_killing(now) {
            return self.step(now, targets);
        }
        self.see(targets);
        self.killed_at.get_or_insert(now);
        None
    }

    fn see(&mut self, targets: &[Pid]) {
        let ids = targets.iter().map(|pid| pid.as_raw_nonzero().get());
        self.seen.extend(ids);
    }

    /// Every process that was asked to end.
    pub fn seen(&self) -> impl Iterator<Item = i32> + '_ {
        self.seen.iter().copied()
    }

    /// When to look again.
    pub fn next_step(&self) -> Instant {
        if self.killed_at.is_some() || !self.asked {
            return Instant::now() + ROUND;
        }
        // Until then SIGCHLD wakes the loop: the last of a tree to die is a child of the
        // supervisor, by birth or because its parent died before it.
        self.started + self.grace
    }

    /// Processes ended and survivors, once it is over.
    pub fn outcome(&self, now: Instant, alive: usize) -> Option<(u32, u32)> {
        let gave_up = self.killed_at.is_some_and(|at| now >= at + GIVE_UP);
        if alive > 0 && !gave_up {
            return None;
        }
        let survivors = u32::try_from(alive).unwrap_or(u32::MAX);
        let seen = u32::try_from(self.seen.len()).unwrap_or(u32::MAX);
        Some((seen.saturating_sub(survivors), survivors))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_asked_for_nothing_once_everything_is_killed() {
        let now = Instant::now();
        // Nobody is there to be signalled, so the target is one that can't exist.
        let targets: Vec<Pid> = Pid::from_raw(i32::MAX).into_iter().collect();
        let (all, mut one) = (
            Ending::new(Duration::ZERO),
            Ending::new(Duration::from_secs(9)),
        );
        assert_eq!(one.follow(&all, now, &targets), None);
        assert_eq!(one.outcome(now, 0), Some((1, 0)));
        let (all, mut one) = (
            Ending::new(Duration::from_secs(9)),
            Ending::new(Duration::from_secs(9)),
        );
        assert_eq!(one.follow(&all, now, &targets), None);
        assert_eq!(
            one.step(now + Duration::from_secs(10), &targets),
            Some(Signal::KILL)
        );
    }
}
