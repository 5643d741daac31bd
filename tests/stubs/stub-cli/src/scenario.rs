//! Finding and reading the scenario, and picking the case that a command line asks for.

use crate::failure::Failure;
use crate::step::Step;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// The content of `scenario.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    cases: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(default)]
    when: When,
    steps: Vec<Step>,
}

/// Every condition that is there must be met.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct When {
    /// All arguments, exactly.
    args_are: Option<Vec<String>>,
    /// The first arguments.
    args_start: Option<Vec<String>>,
    /// One argument, or several anywhere and in any order.
    args_contain: Option<OneOrMore>,
    /// Environment variables with their values; `null`: must not be set.
    #[serde(default)]
    env: BTreeMap<String, Option<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a string or a list of strings")]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl When {
    fn is_met(&self, arguments: &[OsString]) -> bool {
        let same = |(wanted, found): (&String, &OsString)| OsStr::new(wanted) == found;
        let starts = |wanted: &Vec<String>| {
            wanted.len() <= arguments.len() && wanted.iter().zip(arguments).all(same)
        };
        let has = |wanted: &String| arguments.iter().any(|found| same((wanted, found)));
        self.args_are
            .as_ref()
            .is_none_or(|wanted| wanted.len() == arguments.len() && starts(wanted))
            && self.args_start.as_ref().is_none_or(starts)
            && self
                .args_contain
                .as_ref()
                .is_none_or(|wanted| match wanted {
                    OneOrMore::One(wanted) => has(wanted),
                    OneOrMore::More(wanted) => wanted.iter().all(has),
                })
            && self.env.iter().all(|(name, wanted)| {
                env::var_os(name).as_deref() == wanted.as_ref().map(OsStr::new)
            })
    }
}

/// The folder that belongs to this executable: `/x/NAME.scenario` to `/x/NAME`.
pub(crate) fn folder() -> Result<PathBuf, Failure> {
    let mut path = env::current_exe()
        .map_err(|error| {
            Failure::scenario(format!(
                "failed to find out where this program lies: {error}"
            ))
        })?
        .into_os_string();
    path.push(".scenario");
    Ok(path.into())
}

impl Scenario {
    pub(crate) fn load(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join("scenario.json");
        let bytes = fs::read(&path).map_err(|error| {
            Failure::scenario(format!(
                "failed to read {}: {error}; put the scenario there, or copy (not symlink) this program to where its scenario lies",
                path.display()
            ))
        })?;
        serde_json::from_slice(&bytes).map_err(|error| {
            Failure::scenario(format!("{} is no scenario: {error}", path.display()))
        })
    }

    /// The steps of the first case that matches.
    pub(crate) fn steps_for(&self, arguments: &[OsString]) -> Result<&[Step], Failure> {
        self.cases
            .iter()
            .find(|case| case.when.is_met(arguments))
            .map(|case| case.steps.as_slice())
            .ok_or_else(|| {
                Failure::no_case(format!(
                    "none of the {} cases of the scenario matches the arguments {arguments:?}",
                    self.cases.len()
                ))
            })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn met(when: &str, arguments: &[&str]) -> bool {
        let when: When = serde_json::from_str(when).unwrap();
        when.is_met(&arguments.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn conditions_on_arguments_compare_whole_arguments() {
        assert!(met("{}", &[]));
        assert!(met(r#"{"args_start": ["exec"]}"#, &["exec", "--json"]));
        assert!(!met(r#"{"args_start": ["exec"]}"#, &["--json", "exec"]));
        assert!(!met(r#"{"args_start": ["exec", "--json"]}"#, &["exec"]));
        assert!(met(r#"{"args_contain": "exec"}"#, &["--json", "exec"]));
        assert!(!met(r#"{"args_contain": "exec"}"#, &["executor"]));
        assert!(met(r#"{"args_contain": ["b", "a"]}"#, &["a", "b"]));
        assert!(!met(r#"{"args_contain": ["b", "c"]}"#, &["a", "b"]));
        assert!(met(r#"{"args_are": []}"#, &[]));
        assert!(!met(r#"{"args_are": ["a"]}"#, &["a", "b"]));
    }

    #[test]
    fn conditions_on_the_environment_may_ask_for_absence() {
        assert!(met(r#"{"env": {"NOT_SET_ANYWHERE": null}}"#, &[]));
        assert!(!met(r#"{"env": {"NOT_SET_ANYWHERE": "1"}}"#, &[]));
    }
}
