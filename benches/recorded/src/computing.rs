//! How long the calling thread really computed. On a machine that others use too, the time on
//! the wall tells more about them.

use std::fs;
use std::io;
use std::time::Duration;

/// What this thread spent on a core so far.
///
/// # Errors
///
/// If the kernel does not say.
pub fn of_this_thread() -> io::Result<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
    let unreadable = || {
        let text = text.trim();
        io::Error::other(format!(
            "/proc/thread-self/schedstat is `{text}`: expected numbers"
        ))
    };
    Ok(Duration::from_nanos(nanoseconds.ok_or_else(unreadable)?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn time_passes_while_a_thread_computes() {
        let before = of_this_thread().unwrap();
        let mut sum = 0_u64;
        while of_this_thread().unwrap() == before {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(of_this_thread().unwrap() > before);
    }
}
