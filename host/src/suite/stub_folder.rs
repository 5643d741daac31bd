//! The folder that an author supplies: recordings of the agent's program, and what they show.
//!
//! `suite.json` names the scenario folder of each role. A folder that lacks what the adapter's
//! descriptor makes necessary is an error that names the file and the fix.

use super::cli_folder::{self, CliSection};
use super::expectation::{Expectation, Named};
use super::real_agent::CliSuite;
use super::scenario::Scenario;
use crate::registry::{AgentDescriptor, Capability, Support};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};

/// The name and version of the format.
const SCHEMA: &str = "akbench.suite/1";

/// Something is wrong with a file of the author's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` {problem}", path.display())]
pub struct StubError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong, and what to do.
    pub problem: String,
}

impl StubError {
    /// A problem with a file.
    pub fn new(path: &Path, problem: String) -> Self {
        Self {
            path: path.to_owned(),
            problem,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteFile {
    schema: String,
    #[serde(default)]
    parameters: Map<String, Value>,
    scenarios: RoleFolders,
    cli: Option<CliSection>,
}

/// Which scenario folder plays which role.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RoleFolders {
    completes: String,
    fails: String,
    wrong_version: Option<String>,
    sandbox_broken: Option<String>,
    interrupted: Option<String>,
    continues: Option<String>,
}

/// A recording and what must be observed of it.
#[derive(Debug, Clone)]
pub struct Recording {
    /// What the program does.
    pub scenario: Scenario,
    /// What is to be observed.
    pub expected: Expectation,
}

/// Everything in the folder, checked.
#[derive(Debug, Clone)]
pub struct StubFolder {
    /// The parameters of every case.
    pub parameters: Map<String, Value>,
    /// A task that the agent completes.
    pub completes: Recording,
    /// A task that the agent itself reports as failed.
    pub fails: Recording,
    /// A version that the adapter must refuse. `None` if the adapter takes any.
    pub wrong_version: Option<Scenario>,
    /// The agent's own sandbox does not start. `None` if it has none.
    pub sandbox_broken: Option<Scenario>,
    /// The agent hangs in the middle of its work, and does what it does when interrupted.
    /// `None` if it can't be cancelled.
    pub interrupted: Option<Recording>,
    /// Plays a first and then a second task of one conversation; the expectation is that of
    /// the second. `None` if it takes one task only.
    pub continues: Option<Recording>,
    /// For the agent's own program. `None` if the folder says nothing about it.
    pub cli: Option<CliSuite>,
}

impl StubFolder {
    /// Reads the folder of an agent.
    ///
    /// # Errors
    ///
    /// Everything that is missing or wrong, at once.
    pub fn load(folder: &Path, descriptor: &AgentDescriptor) -> Result<Self, Vec<StubError>> {
        let path = folder.join("suite.json");
        let one = |problem: String| vec![StubError::new(&path, problem)];
        let bytes = fs::read(&path).map_err(|error| {
            one(format!(
                "can't be read: {error}; `--stub` expects a folder whose suite.json names the \
                 scenario folder of each role"
            ))
        })?;
        let file: SuiteFile =
            serde_json::from_slice(&bytes).map_err(|error| one(format!("is no suite: {error}")))?;
        if file.schema != SCHEMA {
            let found = file.schema;
            return Err(one(format!(
                "has the schema `{found}`, expected `{SCHEMA}`"
            )));
        }
        let mut reader = Reader {
            folder,
            path: &path,
            problems: Vec::new(),
        };
        let roles = file.scenarios;
        reader.check_needed(&roles, descriptor);
        let completes = reader.recording(&roles.completes, Named::Everything);
        let fails = reader.recording(&roles.fails, Named::Outcome);
        let wrong_version = reader.optional(roles.wrong_version.as_deref());
        let sandbox_broken = reader.optional(roles.sandbox_broken.as_deref());
        let interrupted = roles.interrupted.as_deref();
        let interrupted = interrupted.and_then(|name| reader.recording(name, Named::Outcome));
        if let Some(recording) = &interrupted {
            reader.check_hangs(recording, roles.interrupted.as_deref().unwrap_or_default());
        }
        let continues = roles.continues.as_deref();
        let continues = continues.and_then(|name| reader.recording(name, Named::Everything));
        let cli = file
            .cli
            .map(|cli| cli_folder::load(cli, folder, descriptor));
        let cli = cli.and_then(|cli| reader.keep_all(cli));
        match (completes, fails) {
            (Some(completes), Some(fails)) if reader.problems.is_empty() => Ok(Self {
                parameters: file.parameters,
                completes,
                fails,
                wrong_version,
                sandbox_broken,
                interrupted,
                continues,
                cli,
            }),
            _ => Err(reader.problems),
        }
    }
}

struct Reader<'a> {
    folder: &'a Path,
    path: &'a Path,
    problems: Vec<StubError>,
}

impl Reader<'_> {
    /// What the descriptor claims has to be shown.
    fn check_needed(&mut self, roles: &RoleFolders, descriptor: &AgentDescriptor) {
        let support = |capability| descriptor.capabilities.support(capability);
        let needed = [
            (
                "interrupted",
                roles.interrupted.is_none(),
                Capability::Cancellation,
                "a task in whose middle the agent hangs (a step `hang`) until it is interrupted",
            ),
            (
                "continues",
                roles.continues.is_none(),
                Capability::MultiTurn,
                "a first and a second task of one conversation",
            ),
            (
                "sandbox_broken",
                roles.sandbox_broken.is_none(),
                Capability::AppliedSandbox,
                "probes that show the agent's own sandbox failing",
            ),
        ];
        for (role, missing, capability, what) in needed {
            if missing && support(capability) == Support::Supported {
                self.problems.push(StubError::new(
                    self.path,
                    format!(
                        "names no scenario `{role}`, but the descriptor calls `{capability}` \
                         supported: add a folder that plays {what}, and name it there"
                    ),
                ));
            }
        }
    }

    fn check_hangs(&mut self, recording: &Recording, folder: &str) {
        if !recording.scenario.task_steps().iter().any(|s| s == "hang") {
            let path = self.folder.join(folder).join("scenario.json");
            let problem = "plays a task without a step \"hang\", at which it is to be \
                           interrupted; add one where the recording stops";
            self.problems
                .push(StubError::new(&path, problem.to_owned()));
        }
    }

    fn optional(&mut self, folder: Option<&str>) -> Option<Scenario> {
        let folder = self.folder.join(folder?);
        self.keep(Scenario::load(&folder))
    }

    fn recording(&mut self, folder: &str, named: Named) -> Option<Recording> {
        let folder = self.folder.join(folder);
        let scenario = self.keep(Scenario::load(&folder));
        let expected = self.keep(Expectation::load(&folder.join("expect.json"), named));
        Some(Recording {
            scenario: scenario?,
            expected: expected?,
        })
    }

    fn keep_all<T>(&mut self, read: Result<T, Vec<StubError>>) -> Option<T> {
        read.map_err(|problems| self.problems.extend(problems)).ok()
    }

    fn keep<T>(&mut self, read: Result<T, StubError>) -> Option<T> {
        read.map_err(|problem| self.problems.push(problem)).ok()
    }
}
