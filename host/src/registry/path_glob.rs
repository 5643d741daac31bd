//! Globs over paths: small ones that find a program, and those that select evidence.

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// A glob that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the glob `{glob}` can't be used: {reason}")]
pub struct InvalidGlob {
    /// The glob as it was written.
    pub glob: String,
    /// Why.
    pub reason: String,
}

/// A glob relative to some folder: names, `..`, and patterns (`*`, `?`, `[a-z]`) that match
/// within one path component. As in a shell, a pattern matches hidden names only if it starts
/// with a dot itself.
#[derive(Clone, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct RelativeGlob {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone)]
enum Part {
    /// A name or `..`, taken as it is.
    Plain(String),
    Pattern {
        matcher: GlobMatcher,
        hidden: bool,
    },
}

impl RelativeGlob {
    /// Reads a glob.
    ///
    /// # Errors
    ///
    /// If it is empty or absolute, has an empty component, `.` or `**`, or if a component is
    /// no valid pattern.
    pub fn parse(text: &str) -> Result<Self, InvalidGlob> {
        let invalid = |reason: &str| InvalidGlob {
            glob: text.to_owned(),
            reason: reason.to_owned(),
        };
        let mut parts = Vec::new();
        for component in components(text)? {
            if component == "**" {
                return Err(invalid("`**` is not supported here"));
            }
            let is_pattern = component.contains(['*', '?', '[', ']', '{', '}', '\\']);
            parts.push(if is_pattern {
                Part::Pattern {
                    matcher: component_matcher(component).map_err(|reason| invalid(&reason))?,
                    hidden: component.starts_with('.'),
                }
            } else {
                Part::Plain(component.to_owned())
            });
        }
        Ok(Self {
            text: text.to_owned(),
            parts,
        })
    }

    /// The glob as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Everything that matches below `folder`, sorted. Folders that can't be read match nothing.
    pub fn matches_in(&self, folder: &Path) -> Vec<PathBuf> {
        let mut found = vec![folder.to_owned()];
        for part in &self.parts {
            found = match part {
                Part::Plain(name) => found
                    .iter()
                    .map(|path| path.join(name))
                    .filter(|path| path.exists())
                    .collect(),
                Part::Pattern { matcher, hidden } => found
                    .iter()
                    .flat_map(|path| matching_names(path, matcher, *hidden))
                    .collect(),
            };
        }
        found
    }
}

impl fmt::Debug for RelativeGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A matcher's own output is pages of automata.
        write!(f, "RelativeGlob({:?})", self.text)
    }
}

impl PartialEq for RelativeGlob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for RelativeGlob {}

impl From<RelativeGlob> for String {
    fn from(glob: RelativeGlob) -> Self {
        glob.text
    }
}

impl TryFrom<String> for RelativeGlob {
    type Error = InvalidGlob;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

/// Whether a glob selects files below a home: relative, never leaving it; `**` stands for any
/// number of folders.
pub(super) fn check_home_glob(text: &str) -> Result<(), InvalidGlob> {
    for component in components(text)? {
        if component == ".." {
            return Err(InvalidGlob {
                glob: text.to_owned(),
                reason: "`..` would leave the home".to_owned(),
            });
        }
        component_matcher(component).map_err(|reason| InvalidGlob {
            glob: text.to_owned(),
            reason,
        })?;
    }
    Ok(())
}

fn components(text: &str) -> Result<Vec<&str>, InvalidGlob> {
    let invalid = |reason: &str| InvalidGlob {
        glob: text.to_owned(),
        reason: reason.to_owned(),
    };
    if text.starts_with('/') {
        return Err(invalid("it is absolute"));
    }
    let components: Vec<&str> = text.split('/').collect();
    if components
        .iter()
        .any(|component| matches!(*component, "" | ".") || component.contains('\0'))
    {
        return Err(invalid("a path component is empty or `.`"));
    }
    Ok(components)
}

fn component_matcher(component: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(component)
        .literal_separator(true)
        .backslash_escape(true)
        .build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| error.kind().to_string())
}

fn matching_names(folder: &Path, matcher: &GlobMatcher, hidden: bool) -> Vec<PathBuf> {
    let Ok(listing) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut matches: Vec<PathBuf> = listing
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            (hidden || !name.to_string_lossy().starts_with('.')) && matcher.is_match(&name)
        })
        .map(|entry| entry.path())
        .collect();
    matches.sort();
    matches
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn patterns_match_within_one_component_and_parents_are_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        for file in [
            "a/bin/x",
            "b/bin/x",
            "b/bin/y",
            ".c/bin/x",
            "b/deep/er/x",
            "wrapper/w",
        ] {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            fs::write(path, "").expect("a file");
        }
        let start = folder.path().join("wrapper");
        let found = |glob: &str| -> Vec<String> {
            let matches = RelativeGlob::parse(glob).expect(glob).matches_in(&start);
            let text = |path: PathBuf| {
                path.strip_prefix(&start)
                    .expect("below the start")
                    .to_string_lossy()
                    .into_owned()
            };
            matches.into_iter().map(text).collect()
        };
        assert_eq!(found("../*/bin/x"), ["../a/bin/x", "../b/bin/x"]);
        assert_eq!(found("../.*/bin/x"), ["../.c/bin/x"]);
        assert_eq!(found("../b/bin/[xy]"), ["../b/bin/x", "../b/bin/y"]);
        assert_eq!(found("../*/x"), Vec::<String>::new());
        assert_eq!(found("../nothing/*/x"), Vec::<String>::new());
        assert_eq!(found("w"), ["w"]);
    }
}
