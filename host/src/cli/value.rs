//! Values of command-line arguments that clap doesn't know.

use std::path::PathBuf;
use std::time::Duration;

/// The longest limit: a year as `humantime` reads `1y`. What no clock can count to is no limit.
const LONGEST: Duration = Duration::from_secs(31_557_600);

/// A time limit: more than nothing, at most a year.
pub fn duration(text: &str) -> Result<Duration, String> {
    let expected = "expected a duration such as `90s`, `30m` or `1h 30m`";
    if text.trim_start().starts_with('-') {
        return Err(format!("a limit can't be negative; {expected}"));
    }
    let duration = humantime::parse_duration(text).map_err(|error| match text.parse::<f64>() {
        Ok(_) if text != "0" => format!("the unit is missing; {expected}"),
        Ok(_) => format!("a limit of 0 leaves no time to work; {expected}"),
        Err(_) => format!("{error}; {expected}"),
    })?;
    if duration.is_zero() {
        return Err(format!("a limit of 0 leaves no time to work; {expected}"));
    }
    if duration > LONGEST {
        return Err("a limit can't be longer than a year; leave it out for none".to_owned());
    }
    Ok(duration)
}

/// `NAME=FILE`.
pub fn program(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => {
            Ok((name.to_owned(), PathBuf::from(path)))
        }
        _ => {
            Err("expected `NAME=FILE`: a program's name in the descriptor, and its file".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_limit_is_a_positive_duration() {
        assert_eq!(duration("30m"), Ok(Duration::from_secs(1800)));
        assert_eq!(duration("1h 30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration("1y"), Ok(LONGEST));
        for (text, says) in [
            ("0", "leaves no time"),
            ("0s", "leaves no time"),
            ("-5s", "negative"),
            ("30", "unit is missing"),
            ("soon", "expected a duration"),
            ("", "expected a duration"),
            ("9000000000y", "longer than a year"),
            ("600000000000y", "expected a duration"),
        ] {
            let error = duration(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
