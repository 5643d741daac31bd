//! The agent's own program, and what the suite's folder says about testing it.

use super::case::{Proof, Unproven, could_not, failed, require};
use super::endpoint::Endpoint;
use super::expectation::Expectation;
use super::place::{Binding, Place};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A file that the suite puts into the workspace of each session; its text is in no other.
pub const GIVEN: &str = "akbench-suite-given.txt";

/// Its copy, which the script of `completes` lets the agent make.
pub const SEEN: &str = "akbench-suite-seen.txt";

/// The agent's own program, and with what it is tested.
pub struct RealAgent {
    /// Its file, absolute.
    pub program: PathBuf,
    /// What the suite's folder says.
    pub suite: CliSuite,
    /// What plays the scripts; `None` if the agent uses no endpoint.
    pub endpoint_program: Option<PathBuf>,
    /// A real endpoint, if a person wants it asked.
    pub live: Option<Binding>,
}

/// The part of `suite.json` that is about the agent's own program.
#[derive(Debug, Clone)]
pub struct CliSuite {
    /// The model of the scripted endpoint; `None`: the agent chooses.
    pub model: Option<String>,
    /// The parameters of every case.
    pub parameters: Map<String, Value>,
    /// A task that the agent completes.
    pub completes: Role,
    /// The endpoint fails; `None` if the agent uses none.
    pub provider_error: Option<Role>,
    /// The agent waits in a tool call; `None` if it can't be cancelled.
    pub interrupted: Option<Role>,
}

/// What the endpoint plays, and what must come of it.
#[derive(Debug, Clone)]
pub struct Role {
    /// The script; `None` if the agent uses no endpoint.
    pub script: Option<PathBuf>,
    /// What must be observed.
    pub expected: Expectation,
    /// Files that must be in the workspace afterwards, and what is in them.
    pub workspace: BTreeMap<String, Vec<u8>>,
}

/// A place whose agent is the real one.
pub struct Staged {
    /// The place.
    pub place: Place,
    /// Its endpoint; `None` if the agent uses none.
    pub endpoint: Option<Endpoint>,
}

impl RealAgent {
    /// Starts the endpoint of a role.
    ///
    /// # Errors
    ///
    /// If it does not start.
    pub async fn start_endpoint(
        &self,
        role: &Role,
        folder: &Path,
    ) -> Result<Option<Endpoint>, Unproven> {
        let (Some(program), Some(script)) = (&self.endpoint_program, &role.script) else {
            return Ok(None);
        };
        Endpoint::start(program, script, folder).await.map(Some)
    }
}

impl Staged {
    /// Puts the file into the workspace that the agent is to copy.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn give(&self) -> Proof {
        let given = self.place.in_workspace(GIVEN);
        fs::write(given, self.text_given()).map_err(could_not("write into the workspace"))
    }

    /// The agent saw this workspace and no other.
    ///
    /// # Errors
    ///
    /// If it made no copy, or one of something else.
    pub fn was_seen(&self) -> Proof {
        let seen = fs::read_to_string(self.place.in_workspace(SEEN)).map_err(|_| {
            failed(format!(
                "the agent left no `{SEEN}` in the workspace: it did not work there, or the script \
                 does not let it copy `{GIVEN}`"
            ))
        })?;
        let given = self.text_given();
        require(seen.trim() == given.trim(), || {
            format!(
                "`{SEEN}` is not what was in the workspace: `{}`",
                seen.trim()
            )
        })
    }

    /// The folder of a session has a name of its own.
    fn text_given(&self) -> String {
        let folder = self.place.folder.path().file_name().unwrap_or_default();
        format!("{}\n", folder.to_string_lossy())
    }

    /// The workspace has what the role says.
    ///
    /// # Errors
    ///
    /// If a file is missing or different.
    pub fn has_changed(&self, role: &Role) -> Proof {
        for (name, wanted) in &role.workspace {
            let found = fs::read(self.place.in_workspace(name))
                .map_err(|_| failed(format!("the workspace has no `{name}` afterwards")))?;
            require(found == *wanted, || {
                format!("`{name}` in the workspace is not what suite's folder has as `{name}`")
            })?;
        }
        Ok(())
    }
}
