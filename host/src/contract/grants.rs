//! What one session may do: the allow-list that the descriptor and the person at the
//! command line wrote.

use crate::registry::Secret;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// The folders of one session. None lies inside another.
#[derive(Debug, Clone)]
pub struct Folders {
    /// Where the agent works; the adapter can't read it.
    pub workspace: PathBuf,
    /// The agent's private home.
    pub agent_home: PathBuf,
    /// The adapter's own files.
    pub artifacts: PathBuf,
    /// What the engine records.
    pub evidence: PathBuf,
}

/// What one session may start, with what.
pub struct Grants {
    /// Programs by the name in the descriptor: absolute files.
    pub programs: BTreeMap<String, PathBuf>,
    /// The environment that every program gets.
    pub environment: Vec<(OsString, OsString)>,
    /// Secrets by the name in the runtime binding.
    pub credentials: BTreeMap<String, Arc<Secret>>,
    /// Where things are.
    pub folders: Folders,
}

/// Variables that only the engine sets: with them an adapter could make a granted program
/// run another one, or leave its isolated folders.
const ENGINE_VARIABLES: &[&str] = &["HOME", "PATH", "TMPDIR", "BASH_ENV", "ENV", "IFS"];

/// Is this a variable that an adapter may set?
pub fn may_set_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.contains(['=', '\0'])
        && !ENGINE_VARIABLES.contains(&name)
        && !name.starts_with("LD_")
        && !name.starts_with("GCONV_")
}

/// Checks a path relative to a folder: `/`-separated, and never above it.
pub fn is_inside(relative: &str) -> bool {
    !relative.starts_with('/')
        && !relative.contains('\0')
        && relative.split('/').all(|part| part != "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_redirect_programs_are_the_engines() {
        for refused in ["PATH", "HOME", "LD_PRELOAD", "BASH_ENV", "", "A=B"] {
            assert!(!may_set_variable(refused), "{refused}");
        }
        assert!(may_set_variable("AGENT_API_KEY"));
    }

    #[test]
    fn paths_stay_inside_their_folder() {
        for inside in [".", "a", "a/b", "a/..b", ""] {
            assert!(is_inside(inside), "{inside}");
        }
        for outside in ["..", "../a", "a/../../b", "/a", "a/.."] {
            assert!(!is_inside(outside), "{outside}");
        }
    }
}
