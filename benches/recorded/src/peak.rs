//! The peak memory of this process, as the kernel keeps it.

use std::fs;
use std::io;

/// Bytes that were resident at most.
///
/// # Errors
///
/// If `/proc/self/status` can't be read or says nothing of it.
pub fn resident_bytes() -> io::Result<u64> {
    of(&fs::read_to_string("/proc/self/status")?, "VmHWM:")
}

/// Bytes that are resident now and belong to no file.
///
/// # Errors
///
/// As for [`resident_bytes`].
pub fn anonymous_bytes() -> io::Result<u64> {
    of(&fs::read_to_string("/proc/self/status")?, "RssAnon:")
}

fn of(status: &str, field: &str) -> io::Result<u64> {
    let kibibytes = status
        .lines()
        .find_map(|line| line.strip_prefix(field)?.trim().strip_suffix("kB"))
        .and_then(|text| text.trim().parse::<u64>().ok());
    let absent = || io::Error::other(format!("/proc/self/status has no line `{field} … kB`"));
    Ok(kibibytes.ok_or_else(absent)? << 10)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_field_is_found_and_one_that_is_missing_is_said_to_be() {
        assert_eq!(
            of("Name:\tx\nVmHWM:\t    12 kB\n", "VmHWM:").unwrap(),
            12 << 10
        );
        assert!(of("Name:\tx\n", "VmHWM:").is_err());
        assert!(resident_bytes().unwrap() > 0 && anonymous_bytes().unwrap() > 0);
    }
}
