//! Which versions of the program are known, and what differs between them.

use crate::parameters::Parameters;
use std::fmt;

/// The oldest version whose `exec --json` prints the events that this adapter reads.
pub const OLDEST: Version = Version::new(0, 44, 0);
/// The oldest version that was measured as a whole.
pub const OLDEST_VERIFIED: Version = Version::new(0, 118, 0);
/// The newest version that was measured, up to its patch level.
pub const NEWEST_VERIFIED: Version = Version::new(0, 171, u64::MAX);
/// From here on `[agents] enabled` is a setting; 0.118.0 refuses to start with it.
pub const AGENTS_TABLE: Version = Version::new(0, 147, 0);
/// From here on `web_search` is a setting of its own; before it was `tools.web_search`.
pub const WEB_SEARCH_MODES: Version = Version::new(0, 87, 0);
/// From here on the program does not write into its configuration that it trusts a workspace;
/// 0.155.1 still does.
pub const NO_TRUST_OF_ITS_OWN: Version = Version::new(0, 156, 1);

/// A released version, without a pre-release part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    major: u64,
    minor: u64,
    patch: u64,
}

impl Version {
    /// `major.minor.patch`.
    pub const fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// Reads `0.171.0`, `0.171.0-alpha.2` or `0.171.0+build`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let numbers = text.split(['-', '+']).next()?;
        let mut parts = numbers.split('.').map(|part| part.parse::<u64>().ok());
        let version = Self::new(parts.next()??, parts.next()??, parts.next()??);
        parts.next().is_none().then_some(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The version in what `codex --version` prints, word for word; `None` if it prints
/// something else. Warnings may stand on lines of their own.
pub fn reported(output: &str) -> Option<&str> {
    output
        .lines()
        .filter_map(|line| line.trim().strip_prefix("codex-cli "))
        .map(str::trim)
        .find(|text| Version::parse(text).is_some())
}

/// How far a version may be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// Prints another format.
    TooOld,
    /// Should work, was not measured as a whole.
    Unverified,
    /// Measured.
    Verified,
    /// Newer than anything measured.
    Newer,
}

/// How far `version` may be relied on.
pub fn support(version: Version) -> Support {
    if version < OLDEST {
        Support::TooOld
    } else if version < OLDEST_VERIFIED {
        Support::Unverified
    } else if version <= NEWEST_VERIFIED {
        Support::Verified
    } else {
        Support::Newer
    }
}

/// What a version cannot do of what was asked for, one sentence each.
pub fn limits(version: Version, parameters: &Parameters) -> Vec<String> {
    let mut limits = Vec::new();
    if version < WEB_SEARCH_MODES && parameters.web_search == "cached" {
        limits.push(format!(
            "codex {version} does not tell cached from live web search: web search is live"
        ));
    }
    limits
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn the_version_is_found_beside_a_warning() {
        let output = "WARNING: proceeding, even though\ncodex-cli 0.171.0\n";
        assert_eq!(reported(output), Some("0.171.0"));
        assert_eq!(
            reported("codex-cli 0.172.0-alpha.3\n"),
            Some("0.172.0-alpha.3")
        );
        assert_eq!(reported("codex 1\n"), None);
        assert_eq!(reported("codex-cli nightly\n"), None);
    }

    #[test]
    fn versions_compare_by_number_and_not_by_text() {
        assert!(Version::parse("0.9.0") < Version::parse("0.44.0"));
        assert_eq!(Version::parse("1.2"), None);
        assert_eq!(Version::parse("1.2.3.4"), None);
    }

    #[test]
    fn a_limit_is_told_only_where_it_matters() {
        let cached = Parameters {
            web_search: "cached".to_owned(),
            ..Parameters::default()
        };
        let old = Version::new(0, 47, 0);
        assert_eq!(limits(old, &cached).len(), 1);
        assert!(limits(old, &Parameters::default()).is_empty());
        assert!(limits(Version::new(0, 171, 0), &cached).is_empty());
    }

    #[test]
    fn each_range_has_its_own_support() {
        for (text, expected) in [
            ("0.43.9", Support::TooOld),
            ("0.44.0", Support::Unverified),
            ("0.117.5", Support::Unverified),
            ("0.118.0", Support::Verified),
            ("0.171.7", Support::Verified),
            ("0.172.0", Support::Newer),
            ("1.0.0", Support::Newer),
        ] {
            assert_eq!(support(Version::parse(text).unwrap()), expected, "{text}");
        }
    }
}
