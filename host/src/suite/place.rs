//! Where one session happens: folders of its own, and the agent's program in them.

use super::case::{Unproven, could_not};
use super::scenario::Scenario;
use crate::contract::events::Silent;
use crate::contract::grants::{Folders, Grants};
use crate::contract::v0_1::{AgentConfig, RuntimeBinding};
use crate::journal::{Audit, Journal};
use crate::process::confinement::FileView;
use crate::process::launch::Containment;
use crate::process::redaction::Redactor;
use crate::registry::{AgentDescriptor, Need, Secret};
use crate::runner::plan::CREDENTIAL_NAME;
use crate::runner::run_folder::RunFolder;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The credential of all cases. It has what JSON escapes and what base64 aligns.
pub const CANARY: &str = "canary-\"4711/suite+credential";

/// The variable of the folder where the agent leaves what the suite asks it for: not in the
/// workspace, so that a case about anything else does not depend on where the agent works.
pub const LEFT_IN: &str = "TMPDIR";

/// The suite's own file: the agent has come this far.
const MARKER: &str = "akbench-suite-working";

/// How long an agent may take to come that far.
const MARKER_LIMIT: Duration = Duration::from_secs(30);

/// Folders, grants and logs of one session.
pub struct Place {
    /// Its folder.
    pub folder: RunFolder,
    /// What the session may do.
    pub grants: Arc<Grants>,
    /// Masks [`CANARY`].
    pub redactor: Redactor,
    /// Events.
    pub journal: Arc<Journal>,
    /// Grants and denials.
    pub audit: Arc<Audit>,
    /// The configuration of every case.
    pub config: AgentConfig,
}

impl Place {
    /// Makes one below `runs`, in which the first program of the descriptor is the stub that
    /// plays `scenario`. Without a scenario nothing is granted.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn new(
        runs: &Path,
        descriptor: &AgentDescriptor,
        parameters: &Map<String, Value>,
        played: Option<(&Path, &Scenario)>,
    ) -> Result<Self, Unproven> {
        let prepare = "prepare the folders of a session";
        let folder = RunFolder::create(runs).map_err(could_not(prepare))?;
        fs::create_dir(folder.workspace()).map_err(could_not(prepare))?;
        let mut programs = BTreeMap::new();
        fs::create_dir(folder.path().join("programs")).map_err(could_not(prepare))?;
        if let (Some((stub, scenario)), Some(program)) = (played, descriptor.programs.first()) {
            let path = folder.path().join("programs").join(&program.name);
            let installed = scenario.install(stub, &path);
            installed.map_err(could_not("put the stub in place"))?;
            programs.insert(program.name.clone(), path);
        }
        let runtime = runtime(descriptor);
        let mut credentials = BTreeMap::new();
        if runtime.is_some() {
            let secret = Secret::new("AKBENCH_SUITE_CREDENTIAL", CANARY.to_owned());
            let secret = secret.map_err(could_not("make a credential"))?;
            credentials.insert(CREDENTIAL_NAME.to_owned(), Arc::new(secret));
        }
        let redactor = Redactor::new([CANARY.as_bytes()]).map_err(could_not("mask"))?;
        let journal = Journal::create(&folder.events(), redactor.clone(), Arc::new(Silent));
        let audit = Audit::create(&folder.audit(), redactor.clone());
        let grants = Grants {
            programs,
            environment: environment(descriptor, &folder),
            credentials,
            folders: Folders {
                workspace: folder.workspace(),
                agent_home: folder.agent_home(),
                artifacts: folder.adapter_artifacts(),
                evidence: folder.evidence(),
            },
        };
        Ok(Self {
            grants: Arc::new(grants),
            redactor,
            journal: Arc::new(journal.map_err(could_not("create events.jsonl"))?),
            audit: Arc::new(audit.map_err(could_not("create audit.jsonl"))?),
            config: AgentConfig {
                parameters: parameters.clone(),
                runtime,
                replay: false,
            },
            folder,
        })
    }

    /// The same place, but with this evidence instead of its own.
    pub fn with_evidence(mut self, evidence: &Path) -> Self {
        let grants = &self.grants;
        self.grants = Arc::new(Grants {
            programs: BTreeMap::new(),
            environment: grants.environment.clone(),
            credentials: BTreeMap::new(),
            folders: Folders {
                evidence: evidence.to_owned(),
                ..grants.folders.clone()
            },
        });
        self
    }

    /// The containments to try, strongest first: what a run tries by default.
    pub fn containments(&self) -> Vec<Containment> {
        let folder = &self.folder;
        let view = FileView {
            writable: vec![folder.workspace(), folder.agent_home(), folder.scratch()],
            readable: vec![folder.path().join("programs")],
            hidden: Vec::new(),
            temporary: folder.scratch().join("tmp"),
        };
        let namespaces = |files| Containment::Namespaces {
            files,
            network: true,
            hosts: None,
        };
        vec![
            namespaces(Some(view)),
            namespaces(None),
            Containment::SubReaper,
        ]
    }

    /// What the agent left in the folder that [`LEFT_IN`] names.
    pub fn left_by_agent(&self, name: &str) -> PathBuf {
        self.folder.scratch().join("tmp").join(name)
    }

    /// True once the agent has played the step [`marker`].
    pub fn agent_was_at_work(&self) -> bool {
        self.left_by_agent(MARKER).exists()
    }

    /// Waits until the agent has played the step [`marker`].
    ///
    /// # Errors
    ///
    /// If it does not come.
    pub async fn agent_is_at_work(&self) -> Result<(), Unproven> {
        let appears = async {
            while !self.agent_was_at_work() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(MARKER_LIMIT, appears)
            .await
            .map_err(|_| {
                super::case::failed(format!(
                    "the agent was not at work {} s after the task was submitted",
                    MARKER_LIMIT.as_secs()
                ))
            })
    }
}

/// The step of a scenario by which the agent says that it is at work.
pub fn marker() -> Value {
    json!({"write_file": {"path": MARKER, "into_env": LEFT_IN, "text": ""}})
}

/// An endpoint where nobody listens: the program is a recording and asks nobody.
fn runtime(descriptor: &AgentDescriptor) -> Option<RuntimeBinding> {
    if descriptor.runtime.need == Need::None {
        return None;
    }
    Some(RuntimeBinding {
        name: "akbench-suite".to_owned(),
        base_url: "http://127.0.0.1:9/v1".to_owned(),
        wire_api: descriptor.runtime.wire_apis.first()?.clone(),
        model: Some("suite-model".to_owned()),
        headers: Vec::new(),
        credential: Some(CREDENTIAL_NAME.to_owned()),
    })
}

/// As in a run: cleared, then this.
fn environment(descriptor: &AgentDescriptor, folder: &RunFolder) -> Vec<(OsString, OsString)> {
    let scratch = folder.scratch();
    vec![
        ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
        ("HOME".into(), scratch.join("home").into()),
        ("TMPDIR".into(), scratch.join("tmp").into()),
        ("LANG".into(), "C.UTF-8".into()),
        (
            OsString::from(&descriptor.home.environment),
            folder.agent_home().into(),
        ),
    ]
}
