//! Paths in a task's files: below a folder, and never out of it.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// A path of plain names separated by `/`: not absolute, no `.`, no `..`, nothing empty, and
/// nothing in a `.git` folder, whose content git alone may write.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct RelativePath(String);

/// A text that is no such path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a path below the folder: expected names separated by `/`, without `.`, `..` or `.git`"
)]
pub struct InvalidPath(pub String);

impl RelativePath {
    /// Whether a text is one.
    pub fn is_one(text: &str) -> bool {
        !text.contains(['\0', '\n'])
            && text
                .split('/')
                .all(|name| !matches!(name, "" | "." | ".." | ".git"))
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path below `root`. Refuses one that leads over a symbolic link, which could point
    /// anywhere; the last name itself may be anything or nothing.
    ///
    /// # Errors
    ///
    /// The link, relative to `root`.
    pub fn below(&self, root: &Path) -> Result<PathBuf, PathBuf> {
        let mut path = root.to_owned();
        let mut names = self.0.split('/').peekable();
        while let Some(name) = names.next() {
            path.push(name);
            let is_link = fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
            if is_link && names.peek().is_some() {
                return Err(path.strip_prefix(root).map_or(path.clone(), Path::to_owned));
            }
        }
        Ok(path)
    }
}

impl TryFrom<String> for RelativePath {
    type Error = InvalidPath;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if Self::is_one(&text) {
            Ok(Self(text))
        } else {
            Err(InvalidPath(text))
        }
    }
}

impl From<RelativePath> for String {
    fn from(path: RelativePath) -> Self {
        path.0
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_paths_that_stay_below_their_folder_are_paths() {
        for good in ["a", "a/b.txt", ".hidden", "a..b", "..."] {
            assert!(RelativePath::is_one(good), "{good}");
        }
        for bad in [
            "",
            "/a",
            "a/",
            "a//b",
            ".",
            "..",
            "a/../b",
            "./a",
            ".git/config",
            "a/.git",
            "a\0b",
        ] {
            assert!(!RelativePath::is_one(bad), "{bad}");
        }
    }

    #[test]
    fn a_path_over_a_link_is_refused_and_the_link_itself_is_not() {
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc", root.path().join("out")).unwrap();
        let path = |text: &str| RelativePath::try_from(text.to_owned()).unwrap();
        assert_eq!(
            path("out/passwd").below(root.path()),
            Err(PathBuf::from("out"))
        );
        assert!(path("out").below(root.path()).is_ok());
    }
}
