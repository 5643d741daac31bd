//! Is a run's evidence what its result says it was?

use super::stored::{RunState, StoredRun};
use crate::contract::grants::is_inside;
use crate::digest::Sha256;
use crate::runner::collect::files_below;
use crate::runner::result::Artifact;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Something that is not as the result says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Difference {
    /// There is no result yet.
    #[error("it has no result: it still runs")]
    Running,
    /// There is no result.
    #[error("it has no result: its host died; `akbench runs recover` completes the record")]
    Dead,
    /// The result can't be read.
    #[error("its result can't be read: {reason}")]
    ResultUnreadable {
        /// Why.
        reason: String,
    },
    /// The result is another run's.
    #[error("its result is that of the run `{run_id}`")]
    OtherRun {
        /// The id in the result.
        run_id: String,
    },
    /// The path of an artifact leads out of the run's folder.
    #[error("the artifact `{path}` lies outside of the run's folder")]
    Outside {
        /// As the result names it.
        path: String,
    },
    /// An artifact is gone.
    #[error("the artifact `{path}` is missing")]
    Missing {
        /// Relative to `artifacts/`.
        path: String,
    },
    /// An artifact is there and can't be read, or is no regular file any more.
    #[error("the artifact `{path}` can't be read: {reason}")]
    Unreadable {
        /// Relative to `artifacts/`.
        path: String,
        /// Why.
        reason: String,
    },
    /// An artifact has another content.
    #[error(
        "the artifact `{path}` was changed: expected {expected_bytes} bytes with SHA-256 \
         {expected}, found {found_bytes} bytes with {found}"
    )]
    Changed {
        /// Relative to `artifacts/`.
        path: String,
        /// As recorded.
        expected: Sha256,
        /// As recorded.
        expected_bytes: u64,
        /// As it is now.
        found: Sha256,
        /// As it is now.
        found_bytes: u64,
    },
    /// The diff of the workspace is not what it was.
    #[error("workspace.diff was changed: expected the SHA-256 {expected}, found {found}")]
    DiffChanged {
        /// As recorded.
        expected: Sha256,
        /// As it is now.
        found: Sha256,
    },
    /// The diff of the workspace can't be read.
    #[error("workspace.diff can't be read: {reason}")]
    DiffUnreadable {
        /// Why.
        reason: String,
    },
    /// A file that the result does not list.
    #[error("the file `{path}` is not in the result: it was added later")]
    Added {
        /// Relative to `artifacts/`.
        path: String,
    },
}

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// The run.
    pub run_id: String,
    /// Nothing differs.
    pub intact: bool,
    /// Artifacts that were digested.
    pub artifacts: usize,
    /// Everything that differs.
    pub differences: Vec<Difference>,
}

/// Digests every artifact of a run and its diff again and compares them with the result.
pub fn verify(run: &StoredRun) -> Verification {
    let (artifacts, differences) = match &run.state {
        RunState::Running => (0, vec![Difference::Running]),
        RunState::Dead => (0, vec![Difference::Dead]),
        RunState::Unreadable(reason) => {
            let reason = reason.clone();
            (0, vec![Difference::ResultUnreadable { reason }])
        }
        RunState::Finished(result) => {
            let mut differences = Vec::new();
            if result.run_id != run.id {
                let run_id = result.run_id.clone();
                differences.push(Difference::OtherRun { run_id });
            }
            let root = run.folder.join("artifacts");
            differences.extend(result.artifacts.iter().filter_map(|a| compare(&root, a)));
            differences.extend(added(&root, &result.artifacts));
            differences.extend(compare_diff(&run.folder, result.workspace.diff_sha256));
            (result.artifacts.len(), differences)
        }
    };
    Verification {
        run_id: run.id.clone(),
        intact: differences.is_empty(),
        artifacts,
        differences,
    }
}

fn compare(root: &Path, artifact: &Artifact) -> Option<Difference> {
    let path = artifact.path.clone();
    if !is_inside(&path) {
        return Some(Difference::Outside { path });
    }
    let file = root.join(&path);
    // Not followed: a link to an equal file is not the evidence.
    match fs::symlink_metadata(&file) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => {
            let reason = "it is no regular file any more".to_owned();
            return Some(Difference::Unreadable { path, reason });
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Some(Difference::Missing { path });
        }
        Err(error) => {
            let reason = error.to_string();
            return Some(Difference::Unreadable { path, reason });
        }
    }
    match Sha256::of_file(&file) {
        Ok((found, bytes)) if found == artifact.sha256 && bytes == artifact.bytes => None,
        Ok((found, found_bytes)) => Some(Difference::Changed {
            path,
            expected: artifact.sha256,
            expected_bytes: artifact.bytes,
            found,
            found_bytes,
        }),
        Err(error) => {
            let reason = error.to_string();
            Some(Difference::Unreadable { path, reason })
        }
    }
}

fn compare_diff(folder: &Path, expected: Option<Sha256>) -> Option<Difference> {
    let expected = expected?;
    match Sha256::of_file(&folder.join("workspace.diff")) {
        Ok((found, _)) if found == expected => None,
        Ok((found, _)) => Some(Difference::DiffChanged { expected, found }),
        Err(error) => Some(Difference::DiffUnreadable {
            reason: error.to_string(),
        }),
    }
}

fn added(root: &Path, listed: &[Artifact]) -> Vec<Difference> {
    let listed: BTreeSet<&str> = listed
        .iter()
        .map(|artifact| artifact.path.as_str())
        .collect();
    match files_below(root) {
        Ok(files) => files
            .into_iter()
            .map(|file| file.to_string_lossy().into_owned())
            .filter(|path| !listed.contains(path.as_str()))
            .map(|path| Difference::Added { path })
            .collect(),
        Err(error) => vec![Difference::Unreadable {
            path: ".".to_owned(),
            reason: error.to_string(),
        }],
    }
}
