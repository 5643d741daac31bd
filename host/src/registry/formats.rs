//! The string formats that the published schemas name, beyond those of JSON Schema.

use super::base_url::check_base_url;
use super::identifier::is_identifier;
use super::path_glob::{RelativeGlob, check_home_glob};
use crate::dataset::RelativePath;
use crate::digest::Sha256;
use semver::{Version, VersionReq};
use std::path::Path;

/// A named format.
struct Format {
    name: &'static str,
    /// Completes "expected …".
    words: &'static str,
    check: fn(&str) -> bool,
}

const FORMATS: &[Format] = &[
    Format {
        name: "identifier",
        words: "a lower-case letter, then lower-case letters, digits, `-` or `_`",
        check: is_identifier,
    },
    Format {
        name: "semantic-version",
        words: "a semantic version without build metadata, such as 1.2.0",
        // With build metadata two descriptors could be of equal version and yet differ.
        check: |text| Version::parse(text).is_ok_and(|version| version.build.is_empty()),
    },
    Format {
        name: "version-requirement",
        words: "a version requirement such as `>=1.2.0, <2.0.0`",
        check: |text| VersionReq::parse(text).is_ok(),
    },
    Format {
        name: "environment-variable",
        words: "the name of an environment variable: letters, digits and `_`, not starting with a digit",
        check: is_variable,
    },
    Format {
        name: "file-name",
        words: "a file name without folders",
        check: is_file_name,
    },
    Format {
        name: "relative-glob",
        words: "a relative path of names, `..` and patterns that stay within one path component",
        check: |text| RelativeGlob::parse(text).is_ok(),
    },
    Format {
        name: "home-glob",
        words: "a glob relative to the agent's home, without `..`",
        check: |text| check_home_glob(text).is_ok(),
    },
    Format {
        name: "relative-path",
        words: "a path of names separated by `/`, without `.`, `..` or `.git`",
        check: RelativePath::is_one,
    },
    Format {
        name: "linear-regex",
        words: "a regular expression in the syntax of the Rust crate `regex`",
        check: |text| regex::Regex::new(text).is_ok(),
    },
    Format {
        name: "duration-text",
        words: "a duration above zero such as `90s`, `30m` or `1h 30m`",
        check: |text| humantime::parse_duration(text).is_ok_and(|limit| !limit.is_zero()),
    },
    Format {
        name: "argument",
        words: "an argument that is not empty",
        check: |text| !text.is_empty() && !text.contains('\0'),
    },
    Format {
        name: "absolute-path",
        words: "an absolute path",
        check: |text| Path::new(text).is_absolute() && !text.contains('\0'),
    },
    Format {
        name: "http-url",
        words: "an http or https URL with a host, and without user, query or fragment",
        check: |text| check_base_url(text).is_ok(),
    },
    Format {
        name: "header-name",
        words: "the name of an HTTP header that carries no secret (secrets belong in `credential`)",
        check: is_header_name,
    },
    Format {
        name: "header-value",
        words: "a header value: printable ASCII without spaces at its ends",
        check: |text| text.bytes().all(|byte| matches!(byte, b' '..=b'~')) && text.trim() == text,
    },
    Format {
        name: "sha256",
        words: "a SHA-256 digest of 64 hexadecimal digits",
        check: |text| Sha256::parse(text).is_some(),
    },
];

/// What a format expects, in words; `None` for a format that is not one of ours.
pub(super) fn words(name: &str) -> Option<&'static str> {
    FORMATS
        .iter()
        .find(|format| format.name == name)
        .map(|format| format.words)
}

/// Makes a validator check the formats.
pub(super) fn register(
    options: jsonschema::ValidationOptions<'_>,
) -> jsonschema::ValidationOptions<'_> {
    FORMATS
        .iter()
        .fold(options.should_validate_formats(true), |options, format| {
            options.with_format(format.name, format.check)
        })
}

fn is_variable(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_file_name(text: &str) -> bool {
    !matches!(text, "" | "." | "..") && !text.contains(['/', '\\', '\0'])
}

fn is_header_name(text: &str) -> bool {
    const SECRET: [&str; 5] = [
        "authorization",
        "proxy-authorization",
        "cookie",
        "x-api-key",
        "api-key",
    ];
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(token) && !SECRET.contains(&text.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn every_format_takes_the_good_and_refuses_the_bad() {
        for (name, good, bad) in [
            ("identifier", vec!["acme"], vec!["Acme", ""]),
            (
                "semantic-version",
                vec!["1.2.3", "1.0.0-rc.1"],
                vec!["1.2", "1.0.0+build", "v1.0.0"],
            ),
            (
                "version-requirement",
                vec![">=1, <2", "*", "^1.2"],
                vec!["new", ">=1 <2"],
            ),
            (
                "environment-variable",
                vec!["A", "_b1"],
                vec!["1A", "A-B", "", "A=B"],
            ),
            ("file-name", vec!["acme", ".acme"], vec!["a/b", "..", ""]),
            (
                "relative-glob",
                vec!["../x/*/bin/acme"],
                vec!["/x", "a/**/b", "", "a//b", "a/[", "."],
            ),
            (
                "home-glob",
                vec!["logs/**/*.jsonl", "**"],
                vec!["../x", "/x", "a//b", "a/[", "", "a/."],
            ),
            (
                "relative-path",
                vec!["a/b.txt"],
                vec!["../a", "/a", "a/./b", ""],
            ),
            ("linear-regex", vec!["^a+$"], vec!["(", "(?=a)"]),
            (
                "duration-text",
                vec!["90s", "1h 30m"],
                vec!["0s", "30", "-1s", "soon"],
            ),
            ("argument", vec!["a b"], vec!["", "a\0"]),
            ("absolute-path", vec!["/usr/bin/acme"], vec!["acme", ""]),
            (
                "http-url",
                vec!["http://127.0.0.1:1/v1"],
                vec!["ftp://a", "http://", "http://u:p@h/", "a"],
            ),
            (
                "header-name",
                vec!["X-Title"],
                vec!["Authorization", "a b", ""],
            ),
            ("header-value", vec!["a b", ""], vec!["a\nb", " a", "é"]),
        ] {
            let format = FORMATS
                .iter()
                .find(|format| format.name == name)
                .expect(name);
            for text in good {
                assert!((format.check)(text), "{name}: {text:?}");
            }
            for text in bad {
                assert!(!(format.check)(text), "{name}: {text:?}");
            }
        }
    }
}
