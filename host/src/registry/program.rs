//! Finding the programs that a descriptor names, and judging their versions.

use super::path_glob::RelativeGlob;
use semver::{Prerelease, Version, VersionReq};
use serde::{Deserialize, Serialize};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A program that the adapter may start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The name by which the adapter asks for it.
    pub name: String,
    /// Where to look, in order.
    pub find: Vec<FindRule>,
    /// Which versions may be used.
    pub versions: VersionPolicy,
}

/// One place to look for a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum FindRule {
    /// A name in the host's PATH.
    Path {
        /// Without folders.
        path: String,
    },
    /// A file at a place relative to the real file of a wrapper in the host's PATH.
    Beside {
        /// The wrapper's name in PATH; symbolic links are followed.
        beside: String,
        /// Relative to the folder of the wrapper's real file. The first match wins, in
        /// alphabetical order.
        glob: RelativeGlob,
    },
    /// A fixed place.
    File {
        /// Absolute.
        file: PathBuf,
    },
}

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundProgram {
    /// Its name in the descriptor.
    pub name: String,
    /// The executable: absolute, with links resolved.
    pub path: PathBuf,
    /// The rule that found it.
    pub rule: FindRule,
}

/// No rule found a program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("program `{program}` was not found; install it or put it in PATH; tried: {}", tried.join("; "))]
pub struct NotFound {
    /// Its name in the descriptor.
    pub program: String,
    /// Where the rules looked and why that brought nothing, without repetitions.
    pub tried: Vec<String>,
}

impl Program {
    /// Looks for the program. `path_var` is the value of the host's PATH, `None` if it is
    /// unset; relative folders in it are ignored, because what they mean depends on the
    /// current folder.
    ///
    /// # Errors
    ///
    /// If no rule yields an executable regular file.
    pub fn find(&self, path_var: Option<&OsStr>) -> Result<FoundProgram, NotFound> {
        let mut tried = Vec::new();
        for rule in &self.find {
            match rule.look(path_var) {
                Ok(path) => {
                    return Ok(FoundProgram {
                        name: self.name.clone(),
                        path,
                        rule: rule.clone(),
                    });
                }
                // Rules that start from the same wrapper fail alike when it is missing.
                Err(reason) if tried.contains(&reason) => {}
                Err(reason) => tried.push(reason),
            }
        }
        Err(NotFound {
            program: self.name.clone(),
            tried,
        })
    }
}

impl FindRule {
    fn look(&self, path_var: Option<&OsStr>) -> Result<PathBuf, String> {
        match self {
            Self::Path { path } => look_in_path(path, path_var),
            Self::Beside { beside, glob } => {
                let wrapper = look_in_path(beside, path_var)?;
                let folder = wrapper.parent().unwrap_or(Path::new("/"));
                let matches = glob.matches_in(folder);
                matches
                    .iter()
                    .find_map(|path| executable(path).ok())
                    .ok_or_else(|| match matches.first() {
                        Some(first) => format!("{} is not an executable file", first.display()),
                        None => format!("nothing matches {}/{}", folder.display(), glob.as_str()),
                    })
            }
            Self::File { file } => executable(file),
        }
    }
}

fn look_in_path(name: &str, path_var: Option<&OsStr>) -> Result<PathBuf, String> {
    let Some(path_var) = path_var else {
        return Err(format!("`{name}` in PATH: PATH is not set"));
    };
    let candidates = env::split_paths(path_var)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name));
    let mut refused = None;
    for candidate in candidates {
        match executable(&candidate) {
            Ok(path) => return Ok(path),
            Err(reason) if candidate.exists() => refused = refused.or(Some(reason)),
            Err(_) => {}
        }
    }
    Err(refused.unwrap_or_else(|| format!("`{name}` is in no folder of PATH")))
}

/// The real path of an executable regular file, or why it is none.
fn executable(path: &Path) -> Result<PathBuf, String> {
    let failed = |reason: &dyn std::fmt::Display| format!("{}: {reason}", path.display());
    let real = fs::canonicalize(path).map_err(|error| failed(&error))?;
    let metadata = fs::metadata(&real).map_err(|error| failed(&error))?;
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        return Err(failed(&"not an executable file"));
    }
    Ok(real)
}

/// Which versions of a program may be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionPolicy {
    /// The versions that the adapter was verified with.
    pub supported: VersionReq,
    /// Further versions that may work. `None`: there are none.
    #[serde(default)]
    pub unverified: Option<VersionReq>,
}

/// What a policy says of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Verified.
    Supported,
    /// May work, nobody has shown it.
    Unverified,
    /// Not to be used.
    Refused,
}

impl VersionPolicy {
    /// How a version stands. A pre-release that no requirement names is at best unverified,
    /// even if the release that it leads to is supported.
    pub fn standing(&self, version: &Version) -> Standing {
        let unverified = |version| {
            self.unverified
                .as_ref()
                .is_some_and(|wanted| wanted.matches(version))
        };
        if self.supported.matches(version) {
            return Standing::Supported;
        }
        if unverified(version) {
            return Standing::Unverified;
        }
        if !version.pre.is_empty() {
            let mut release = version.clone();
            release.pre = Prerelease::EMPTY;
            if self.supported.matches(&release) || unverified(&release) {
                return Standing::Unverified;
            }
        }
        Standing::Refused
    }
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;
