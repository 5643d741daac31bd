//! Finding kept runs.

use crate::runner::result::{RunResult, SCHEMA};
use crate::runner::run_lock::{self, Holder};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A folder of a run.
#[derive(Debug, Clone)]
pub struct StoredRun {
    /// The folder's name.
    pub id: String,
    /// Where it is.
    pub folder: PathBuf,
    /// How far it came.
    pub state: RunState,
}

/// How far a run came.
#[derive(Debug, Clone)]
pub enum RunState {
    /// It has a result.
    Finished(Box<RunResult>),
    /// It has a plan and no result, and its host is alive.
    Running,
    /// It has a plan and no result, and its host is dead.
    Dead,
    /// It has a result that can't be read: why.
    Unreadable(String),
}

/// No run, or no single one, fits a name.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// The folder can't be read.
    #[error("the folder of the runs, `{}`, can't be read: {error}; name another with `--out`", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The folder holds no run.
    #[error("there is no run in `{}`; name another folder with `--out`", folder.display())]
    Empty {
        /// The folder.
        folder: PathBuf,
    },
    /// None has such an id.
    #[error("there is no run `{name}` in `{}`; `akbench runs list` shows those there are", folder.display())]
    Unknown {
        /// As it was asked for.
        name: String,
        /// The folder.
        folder: PathBuf,
    },
    /// Several ids begin so.
    #[error("`{name}` is the beginning of {} runs: {}; give more of the id", ids.len(), ids.join(", "))]
    Ambiguous {
        /// As it was asked for.
        name: String,
        /// Their ids.
        ids: Vec<String>,
    },
}

/// All runs of a folder, oldest first: ids sort by time.
///
/// # Errors
///
/// If the folder can't be read.
pub fn list(runs: &Path) -> Result<Vec<StoredRun>, FindError> {
    let ids = ids(runs)?;
    Ok(ids.into_iter().map(|id| read(runs, id)).collect())
}

/// The run of this id, or whose id begins so; without a name the newest.
///
/// # Errors
///
/// If there is none, or more than one.
pub fn find(runs: &Path, name: Option<&str>) -> Result<StoredRun, FindError> {
    let mut ids = ids(runs)?;
    let folder = runs.to_owned();
    let Some(name) = name else {
        let newest = ids.pop().ok_or(FindError::Empty { folder })?;
        return Ok(read(runs, newest));
    };
    let wanted = name.to_lowercase();
    ids.retain(|id| !wanted.is_empty() && id.starts_with(&wanted));
    let name = name.to_owned();
    match ids.len() {
        0 => Err(FindError::Unknown { name, folder }),
        1 => Ok(read(runs, ids.remove(0))),
        _ => Err(FindError::Ambiguous { name, ids }),
    }
}

/// The runs of these names, each an id or its beginning; all of the folder if there are none.
///
/// # Errors
///
/// If the folder can't be read, or a name fits no run or more than one.
pub fn select(runs: &Path, names: &[String]) -> Result<Vec<StoredRun>, FindError> {
    if names.is_empty() {
        return list(runs);
    }
    names.iter().map(|name| find(runs, Some(name))).collect()
}

/// A folder without a plan or a result is not a run's.
fn ids(runs: &Path) -> Result<Vec<String>, FindError> {
    let failed = |error| FindError::Folder {
        folder: runs.to_owned(),
        error,
    };
    let mut ids = Vec::new();
    for entry in fs::read_dir(runs).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        let is_run = path.join("plan.json").is_file() || path.join("result.json").is_file();
        // A host is still making those whose names begin with a dot.
        let id = entry.file_name().into_string();
        if is_run && let Some(id) = id.ok().filter(|id| !id.starts_with('.')) {
            ids.push(id);
        }
    }
    ids.sort();
    Ok(ids)
}

/// Reads a run as it is now.
pub(super) fn read(runs: &Path, id: String) -> StoredRun {
    let folder = runs.join(&id);
    let state = match fs::read(folder.join("result.json")) {
        Ok(bytes) => parse(&bytes).map_or_else(RunState::Unreadable, RunState::Finished),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match run_lock::holder(&folder) {
            Ok(Holder::Host) => RunState::Running,
            Ok(Holder::Nobody) => RunState::Dead,
            Err(error) => RunState::Unreadable(error.to_string()),
        },
        Err(error) => RunState::Unreadable(error.to_string()),
    };
    StoredRun { id, folder, state }
}

fn parse(bytes: &[u8]) -> Result<Box<RunResult>, String> {
    let result: RunResult = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if result.schema != SCHEMA {
        return Err(format!(
            "it has the schema `{}`; this akbench reads `{SCHEMA}`",
            result.schema
        ));
    }
    Ok(Box::new(result))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn runs_are_found_by_the_beginning_of_their_id_and_torn_results_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path();
        for id in ["01aa", "01ab", "02zz"] {
            fs::create_dir(runs.join(id)).unwrap();
            fs::write(runs.join(id).join("plan.json"), "{}").unwrap();
        }
        fs::create_dir(runs.join("notes")).unwrap();
        fs::write(runs.join("02zz/result.json"), "{\"schema\":").unwrap();

        let ids: Vec<String> = list(runs).unwrap().into_iter().map(|run| run.id).collect();
        assert_eq!(ids, ["01aa", "01ab", "02zz"]);
        let newest = find(runs, None).unwrap();
        assert_eq!(newest.id, "02zz");
        assert!(matches!(newest.state, RunState::Unreadable(_)));
        let found = find(runs, Some("01AB")).unwrap();
        assert!(matches!(found.state, RunState::Dead));
        let lock = run_lock::RunLock::take(&runs.join("01ab")).unwrap();
        assert!(matches!(
            find(runs, Some("01ab")).unwrap().state,
            RunState::Running
        ));
        drop(lock);
        assert!(matches!(
            find(runs, Some("01")),
            Err(FindError::Ambiguous { ids, .. }) if ids.len() == 2
        ));
        for unknown in ["03", "", "notes"] {
            assert!(matches!(
                find(runs, Some(unknown)),
                Err(FindError::Unknown { .. })
            ));
        }
    }
}
