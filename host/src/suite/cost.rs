//! What running the suite took.

use serde::Serialize;
use std::fs;
use std::time::{Duration, Instant};

/// How long it took, and how much of that was computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// From the first case to the end of the last.
    pub duration_ms: u64,
    /// Time of processors, of this process and of those that it started and that have ended;
    /// `None` if the system does not tell.
    pub cpu_ms: Option<u64>,
}

/// A running measurement.
pub struct Meter {
    started: Instant,
    cpu: Option<Duration>,
}

impl Meter {
    /// Begins.
    pub fn start() -> Self {
        Self {
            started: Instant::now(),
            cpu: cpu_time(),
        }
    }

    /// Ends.
    pub fn stop(self) -> Cost {
        let used = cpu_time().zip(self.cpu);
        Cost {
            duration_ms: milliseconds(self.started.elapsed()),
            cpu_ms: used.map(|(now, then)| milliseconds(now.saturating_sub(then))),
        }
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Of this process and of the children that it has waited for.
fn cpu_time() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let ticks = ticks(&stat)?;
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Some(Duration::from_millis(
        ticks.saturating_mul(1000) / per_second,
    ))
}

/// The sum of `utime`, `stime`, `cutime` and `cstime`, fields 14 to 17.
fn ticks(stat: &str) -> Option<u64> {
    // The name before the last parenthesis may hold anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields = fields.split(' ').skip(11).take(4).map(str::parse::<u64>);
    let fields = fields.collect::<Result<Vec<_>, _>>().ok()?;
    (fields.len() == 4).then(|| fields.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_times_are_found_behind_any_name() {
        let stat = "7 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4 20 0 1 0 999 1 1";
        assert_eq!(ticks(stat), Some(127));
        assert_eq!(ticks("7 (a) S 1 2"), None);
    }

    #[test]
    fn this_process_has_computed() {
        assert!(cpu_time().is_some());
    }
}
