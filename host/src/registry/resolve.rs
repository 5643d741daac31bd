//! Naming things by id and version: `id`, `id@1`, `id@1.2`, `id@1.2.0`.

use super::expectation::list;
use super::nearest::nearest;
use semver::Version;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// Something that exists in versions.
pub trait Versioned {
    /// Its id, without the version.
    fn id(&self) -> &str;
    /// Its version.
    fn version(&self) -> &Version;
}

impl<T: Versioned> Versioned for &T {
    fn id(&self) -> &str {
        (*self).id()
    }

    fn version(&self) -> &Version {
        (*self).version()
    }
}

/// What a name is supposed to name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A coding agent.
    Agent,
    /// An endpoint that serves a model.
    Runtime,
    /// An adapter in the catalog.
    Adapter,
    /// Something for an agent to do.
    Task,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "agent",
            Self::Runtime => "runtime",
            Self::Adapter => "adapter",
            Self::Task => "task",
        })
    }
}

/// A name that names nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// Not of the form of a name.
    #[error(
        "`{spec}` can't name a version of the {kind}: expected `id`, `id@1` or `id@1.2.0`; there are {}",
        list(existing)
    )]
    Malformed {
        /// What was asked for.
        kind: Kind,
        /// As it was asked for.
        spec: String,
        /// All that exist.
        existing: Vec<String>,
    },
    /// No such id.
    #[error("there is no {kind} `{id}`{}; there are {}", did_you_mean(nearest.as_deref()), list(existing))]
    UnknownId {
        /// What was asked for.
        kind: Kind,
        /// The id asked for.
        id: String,
        /// The id that was probably meant.
        nearest: Option<String>,
        /// All that exist.
        existing: Vec<String>,
    },
    /// The id exists, but in no such version.
    #[error(
        "there is no version `{wanted}` of {kind} `{id}`; there are {}",
        list(existing)
    )]
    UnknownVersion {
        /// What was asked for.
        kind: Kind,
        /// The id asked for.
        id: String,
        /// The version asked for.
        wanted: String,
        /// All versions of this id.
        existing: Vec<String>,
    },
}

impl ResolveError {
    pub(super) fn unknown(
        kind: Kind,
        id: &str,
        existing: impl IntoIterator<Item = String>,
    ) -> Self {
        let existing: Vec<String> = existing.into_iter().collect();
        let ids = existing
            .iter()
            .map(|name| name.split('@').next().unwrap_or(name));
        Self::UnknownId {
            kind,
            id: id.to_owned(),
            nearest: nearest(id, ids),
            existing,
        }
    }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest
        .map(|name| format!("; did you mean `{name}`?"))
        .unwrap_or_default()
}

/// Finds what a name means. A bare id, or one with the beginning of a version, takes the
/// newest that fits; a pre-release only if no release does.
///
/// # Errors
///
/// If nothing fits; the error lists what exists.
pub fn resolve<'a, T: Versioned>(
    kind: Kind,
    items: &'a [T],
    spec: &str,
) -> Result<&'a T, ResolveError> {
    let (id, version) = match spec.split_once('@') {
        Some((id, version)) => (id, Some(version)),
        None => (spec, None),
    };
    let wanted = match version.map(Wanted::parse) {
        None => Wanted::Newest,
        Some(Some(wanted)) if !id.is_empty() => wanted,
        Some(_) => {
            return Err(ResolveError::Malformed {
                kind,
                spec: spec.to_owned(),
                existing: names(items),
            });
        }
    };
    let versions: Vec<&T> = items.iter().filter(|item| item.id() == id).collect();
    if versions.is_empty() {
        return Err(ResolveError::unknown(kind, id, names(items)));
    }
    let fitting: Vec<&T> = versions
        .iter()
        .copied()
        .filter(|item| wanted.fits(item.version()))
        .collect();
    newest(&fitting)
        .copied()
        .ok_or_else(|| ResolveError::UnknownVersion {
            kind,
            id: id.to_owned(),
            wanted: version.unwrap_or_default().to_owned(),
            existing: names(&versions),
        })
}

/// The newest of several versions of the same thing; a pre-release only if there is nothing else.
pub(super) fn newest<T: Versioned>(versions: &[T]) -> Option<&T> {
    let rank = |item: &T| (item.version().pre.is_empty(), item.version().clone());
    versions.iter().max_by_key(|item| rank(item))
}

/// `id@version`.
pub(super) fn full_name(item: &impl Versioned) -> String {
    format!("{}@{}", item.id(), item.version())
}

fn names<T: Versioned>(items: &[T]) -> Vec<String> {
    let sorted: BTreeSet<(&str, &Version)> = items
        .iter()
        .map(|item| (item.id(), item.version()))
        .collect();
    sorted
        .into_iter()
        .map(|(id, version)| format!("{id}@{version}"))
        .collect()
}

enum Wanted {
    Newest,
    Major(u64),
    Minor(u64, u64),
    Exactly(Version),
}

impl Wanted {
    fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| {
            let plain = text.bytes().all(|byte| byte.is_ascii_digit())
                && (text == "0" || !text.starts_with('0'));
            text.parse().ok().filter(|_| plain)
        };
        match text.split('.').collect::<Vec<_>>()[..] {
            [major] => number(major).map(Self::Major),
            [major, minor] => Some(Self::Minor(number(major)?, number(minor)?)),
            _ => Version::parse(text).ok().map(Self::Exactly),
        }
    }

    fn fits(&self, version: &Version) -> bool {
        match self {
            Self::Newest => true,
            Self::Major(major) => version.major == *major,
            Self::Minor(major, minor) => (version.major, version.minor) == (*major, *minor),
            Self::Exactly(wanted) => version == wanted,
        }
    }
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
