//! Values of command-line arguments that clap doesn't know.

use crate::registry::Capability;
use std::path::PathBuf;
use std::time::Duration;

/// A time limit: more than nothing.
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

/// The name of a capability.
pub fn capability(text: &str) -> Result<Capability, String> {
    let named = |capability: &&Capability| capability.as_str() == text;
    Capability::ALL.iter().find(named).copied().ok_or_else(|| {
        let known: Vec<_> = Capability::ALL.iter().map(|known| known.as_str()).collect();
        format!(
            "there is no such capability; there are {}",
            known.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_limit_is_a_positive_duration() {
        assert_eq!(duration("30m"), Ok(Duration::from_secs(1800)));
        assert_eq!(duration("1h 30m"), Ok(Duration::from_secs(5400)));
        for (text, says) in [
            ("0", "leaves no time"),
            ("0s", "leaves no time"),
            ("-5s", "negative"),
            ("30", "unit is missing"),
            ("soon", "expected a duration"),
            ("", "expected a duration"),
        ] {
            let error = duration(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
