//! Where one session happens: folders of its own, and the agent's program in them.

use super::case::{Unproven, could_not};
use super::scenario::Scenario;
use crate::contract::events::Silent;
use crate::contract::grants::{Folders, Grants};
use crate::contract::v0_1::{AgentConfig, RuntimeBinding};
use crate::journal::{Audit, Journal};
use crate::process::confinement::{FileView, package_root};
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

/// The same for the agent's own program, which asks a model first.
const REAL_MARKER_LIMIT: Duration = Duration::from_secs(100);

/// Who plays the agent in a place.
pub enum Player<'a> {
    /// Nobody: no program is granted.
    Nobody,
    /// A stub that plays a scenario.
    Stub(&'a Path, &'a Scenario),
    /// The agent's own program, with an endpoint if it needs one.
    Real(&'a Path, Option<&'a Binding>),
}

/// An endpoint, and what opens it.
#[derive(Clone)]
pub struct Binding {
    /// Where it is.
    pub runtime: RuntimeBinding,
    /// Its secret; `None` if it needs none.
    pub secret: Option<Arc<Secret>>,
}

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
    /// What the agent sees besides its own folders.
    readable: Vec<PathBuf>,
    /// What it must not see.
    hidden: Vec<PathBuf>,
}

impl Place {
    /// Makes one below `runs`, in which the first program of the descriptor is played so.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn new(
        runs: &Path,
        descriptor: &AgentDescriptor,
        parameters: &Map<String, Value>,
        player: &Player<'_>,
    ) -> Result<Self, Unproven> {
        let prepare = "prepare the folders of a session";
        let folder = RunFolder::create(runs).map_err(could_not(prepare))?;
        fs::create_dir(folder.workspace()).map_err(could_not(prepare))?;
        let own = folder.path().join("programs");
        fs::create_dir(&own).map_err(could_not(prepare))?;
        let name = descriptor.programs.first().map(|first| first.name.clone());
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let (mut program, mut readable, mut hidden) = (None, vec![own.clone()], Vec::new());
        let mut binding = nobody_listens(descriptor)?;
        match (player, &name) {
            (Player::Stub(stub, scenario), Some(name)) => {
                let path = own.join(name);
                let installed = scenario.install(stub, &path);
                installed.map_err(could_not("put the stub in place"))?;
                program = Some(path);
            }
            (Player::Real(path, endpoint), _) => {
                program = Some(path.to_path_buf());
                readable.push(package_root(path, home.as_deref()));
                // As in a run: other sessions, and the person who tests.
                hidden.push(runs.to_owned());
                hidden.extend(home);
                binding = endpoint.cloned();
            }
            (Player::Nobody | Player::Stub(..), _) => {}
        }
        let programs = name.into_iter().zip(program).collect();
        let secret = binding.as_ref().and_then(|b| b.secret.clone());
        let masked = secret.as_ref().map_or(CANARY, |secret| secret.expose());
        let redactor = Redactor::new([masked.as_bytes()]).map_err(could_not("mask"))?;
        let credential = |secret| (CREDENTIAL_NAME.to_owned(), secret);
        let credentials = secret.map(credential).into_iter().collect();
        let runtime = binding.map(|binding| binding.runtime);
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
            readable,
            hidden,
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
            readable: self.readable.clone(),
            hidden: self.hidden.clone(),
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

    /// A file of the workspace.
    pub fn in_workspace(&self, name: &str) -> PathBuf {
        self.folder.workspace().join(name)
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
        appears_within(MARKER_LIMIT, || self.agent_was_at_work()).await
    }

    /// Has the agent's own program written its marker into the workspace?
    pub fn has_marker(&self) -> bool {
        self.in_workspace(MARKER).exists()
    }

    /// Waits for [`Place::has_marker`]; such a program is validated first and takes its time.
    ///
    /// # Errors
    ///
    /// If it does not come.
    pub async fn real_agent_is_at_work(&self) -> Result<(), Unproven> {
        appears_within(REAL_MARKER_LIMIT, || self.has_marker()).await
    }
}

async fn appears_within(limit: Duration, is_there: impl Fn() -> bool) -> Result<(), Unproven> {
    let appears = async {
        while !is_there() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(limit, appears).await.map_err(|_| {
        super::case::failed(format!(
            "the agent was not at work after {} s",
            limit.as_secs()
        ))
    })
}

/// The step of a scenario by which the agent says that it is at work.
pub fn marker() -> Value {
    json!({"write_file": {"path": MARKER, "into_env": LEFT_IN, "text": ""}})
}

/// An endpoint where nobody listens: the program is a recording and asks nobody. `None` if the
/// agent uses none.
fn nobody_listens(descriptor: &AgentDescriptor) -> Result<Option<Binding>, Unproven> {
    let url = "http://127.0.0.1:9/v1".to_owned();
    Binding::with_canary(descriptor, url, Some("suite-model".to_owned()))
}

impl Binding {
    /// An endpoint of the suite's own, whose secret is [`CANARY`]; `None` if the agent uses no
    /// endpoint.
    ///
    /// # Errors
    ///
    /// If the secret can't be made.
    pub fn with_canary(
        descriptor: &AgentDescriptor,
        base_url: String,
        model: Option<String>,
    ) -> Result<Option<Self>, Unproven> {
        let wire_api = descriptor.runtime.wire_apis.first();
        let Some(wire_api) = wire_api.filter(|_| descriptor.runtime.need != Need::None) else {
            return Ok(None);
        };
        let secret = Secret::new("AKBENCH_SUITE_CREDENTIAL", CANARY.to_owned());
        let secret = secret.map_err(could_not("make a credential"))?;
        Ok(Some(Self {
            runtime: RuntimeBinding {
                name: "akbench-suite".to_owned(),
                base_url,
                wire_api: wire_api.clone(),
                model,
                headers: Vec::new(),
                credential: Some(CREDENTIAL_NAME.to_owned()),
            },
            secret: Some(Arc::new(secret)),
        }))
    }
}

/// As in a run: cleared, then this, then what the descriptor lets through.
fn environment(descriptor: &AgentDescriptor, folder: &RunFolder) -> Vec<(OsString, OsString)> {
    let scratch = folder.scratch();
    let mut environment: Vec<(OsString, OsString)> = vec![
        ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
        ("HOME".into(), scratch.join("home").into()),
        ("TMPDIR".into(), scratch.join("tmp").into()),
        ("LANG".into(), "C.UTF-8".into()),
    ];
    let let_through = descriptor.environment.iter().filter(|name| *name != "LANG");
    environment.extend(
        let_through.filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?))),
    );
    environment.push((
        OsString::from(&descriptor.home.environment),
        folder.agent_home().into(),
    ));
    environment
}
