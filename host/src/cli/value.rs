//! Values of command-line arguments that clap doesn't know.

use crate::process::resources::limit::{Resource, Unit};
use crate::registry::Capability;
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

/// `NAME=VALUE`: what a process tree may use; `None` lifts the limit.
pub fn resource_limit(text: &str) -> Result<(Resource, Option<u64>), String> {
    let names = || Resource::ALL.map(Resource::name).join(", ");
    let Some((name, value)) = text.split_once('=') else {
        return Err(format!("expected `NAME=VALUE`; the names are {}", names()));
    };
    let named = |resource: &Resource| resource.name() == name;
    let resource = Resource::ALL
        .into_iter()
        .find(named)
        .ok_or_else(|| format!("there is no limit `{name}`; the names are {}", names()))?;
    if value == "none" {
        return Ok((resource, None));
    }
    let limit = match resource.unit() {
        Unit::Milliseconds => {
            let limit = duration(value)?;
            u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)
        }
        Unit::Bytes => size(value)?,
        Unit::Count => value
            .parse()
            .map_err(|_| format!("`{value}` is no number; expected a number or `none`"))?,
    };
    if limit < resource.least() {
        return Err(format!(
            "a limit of {value} is too little for any program; expected at least {}, or `none`",
            resource.least()
        ));
    }
    Ok((resource, Some(limit)))
}

/// A number of bytes.
fn size(text: &str) -> Result<u64, String> {
    let expected = "expected a size such as `500MB`, `4GiB` or a number of bytes, or `none`";
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        _ => return Err(format!("`{text}` has no unit that is known; {expected}")),
    };
    let number: u64 = digits
        .trim_end()
        .parse()
        .map_err(|_| format!("`{text}` is no size; {expected}"))?;
    number
        .checked_mul(unit)
        .ok_or_else(|| format!("`{text}` is more than can be counted; {expected}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_resource_has_a_limit_in_its_unit() {
        let limit = |text| resource_limit(text);
        assert_eq!(limit("memory=4GiB"), Ok((Resource::Memory, Some(4 << 30))));
        assert_eq!(limit("disk=500MB"), Ok((Resource::Disk, Some(500_000_000))));
        assert_eq!(limit("output=4096"), Ok((Resource::Output, Some(4096))));
        assert_eq!(
            limit("cpu_time=1h"),
            Ok((Resource::CpuTime, Some(3_600_000)))
        );
        assert_eq!(limit("processes=none"), Ok((Resource::Processes, None)));
        assert_eq!(limit("open_files=64"), Ok((Resource::OpenFiles, Some(64))));
        for (text, says) in [
            ("memory", "expected `NAME=VALUE`"),
            ("ram=4GiB", "the names are cpu_time, memory"),
            ("memory=lots", "no unit that is known"),
            ("memory=-1", "is no size"),
            ("memory=GiB", "is no size"),
            ("memory=4parsecs", "no unit that is known"),
            ("memory=99999999999TB", "more than can be counted"),
            ("memory=1", "too little for any program"),
            ("open_files=3", "too little for any program"),
            ("processes=-3", "is no number"),
            ("cpu_time=3", "unit is missing"),
            ("processes=0", "too little"),
        ] {
            let error = limit(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

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
