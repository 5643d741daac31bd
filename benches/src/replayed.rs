//! An instance that only reads evidence: no program, no agent.

use crate::error::{Doing, Unmeasured};
use akbench::contract::events::Silent;
use akbench::contract::grants::{Folders, Grants};
use akbench::contract::interrupt::{Interrupter, interruption};
use akbench::contract::observed::Observations;
use akbench::contract::session::SessionHost;
use akbench::contract::v0_1::{AgentConfig, Instance, InstanceOptions};
use akbench::journal::{Audit, Journal};
use akbench::process::redaction::Redactor;
use akbench::runner::limits::COMPUTING;
use akbench::sandbox::component::AdapterComponent;
use akbench::sandbox::engine::Sandbox;
use akbench::sandbox::limits::DEFAULT_MEMORY;
use serde_json::Map;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// What instances over the same evidence share.
pub struct Replays {
    sandbox: Sandbox,
    component: AdapterComponent,
    grants: Arc<Grants>,
    redactor: Redactor,
    journal: Arc<Journal>,
    audit: Arc<Audit>,
    config: AgentConfig,
    _folder: TempDir,
}

impl Replays {
    /// Prepares to read a folder of evidence; `None`: an empty one.
    ///
    /// # Errors
    ///
    /// If folders can't be made.
    pub fn new(
        sandbox: &Sandbox,
        component: &AdapterComponent,
        evidence: Option<&Path>,
    ) -> Result<Self, Unmeasured> {
        let place = tempfile::tempdir().doing("make a temporary folder")?;
        for name in ["workspace", "agent-home", "artifacts", "evidence"] {
            fs::create_dir(place.path().join(name)).doing("make the folders of a session")?;
        }
        let folder = |name: &str| place.path().join(name);
        let redactor = Redactor::new([]).doing("prepare the masking of secrets")?;
        let journal = Journal::create(&folder("events.jsonl"), redactor.clone(), Arc::new(Silent));
        let audit = Audit::create(&folder("audit.jsonl"), redactor.clone());
        Ok(Self {
            sandbox: sandbox.clone(),
            component: component.clone(),
            grants: Arc::new(Grants {
                programs: BTreeMap::new(),
                environment: Vec::new(),
                credentials: BTreeMap::new(),
                folders: Folders {
                    workspace: folder("workspace"),
                    agent_home: folder("agent-home"),
                    artifacts: folder("artifacts"),
                    evidence: evidence.map_or_else(|| folder("evidence"), Path::to_owned),
                },
            }),
            redactor,
            journal: Arc::new(journal.doing("make a journal")?),
            audit: Arc::new(audit.doing("make an audit log")?),
            config: AgentConfig {
                parameters: Map::new(),
                runtime: None,
                replay: true,
            },
            _folder: place,
        })
    }

    /// A fresh instance, no call made yet.
    ///
    /// # Errors
    ///
    /// If it traps at once.
    pub async fn instantiate(&self) -> Result<(Instance, Interrupter), Unmeasured> {
        let (interrupter, interrupt) = interruption();
        let host = SessionHost::new(
            Arc::clone(&self.grants),
            None,
            self.redactor.clone(),
            interrupt,
            Arc::clone(&self.journal),
            Arc::clone(&self.audit),
        );
        let options = InstanceOptions {
            host,
            memory_bytes: DEFAULT_MEMORY,
        };
        let instance = Instance::new(&self.sandbox, &self.component.component, options)
            .await
            .doing("instantiate the adapter")?;
        Ok((instance, interrupter))
    }

    /// The first call of an instance: a session that replays.
    ///
    /// # Errors
    ///
    /// If the adapter traps or refuses.
    pub async fn start(&self, instance: &mut Instance) -> Result<(), Unmeasured> {
        instance.begin_operation(COMPUTING);
        let started = instance.start_session(&self.config).await;
        instance.end_operation();
        started
            .doing("call start-session")?
            .map_err(|failure| Unmeasured(format!("start-session failed: {}", failure.message)))
    }

    /// Observes from the evidence; also says how many bytes of memory the adapter holds then.
    ///
    /// # Errors
    ///
    /// If the adapter traps or can't observe.
    pub async fn observe(&self) -> Result<(Observations, usize), Unmeasured> {
        let (mut instance, _interrupter) = self.instantiate().await?;
        self.start(&mut instance).await?;
        instance.begin_operation(COMPUTING);
        let collected = instance.collect_observations().await;
        instance.end_operation();
        let (observations, _violations) =
            collected
                .doing("call collect-observations")?
                .map_err(|failure| {
                    Unmeasured(format!("collect-observations failed: {}", failure.message))
                })?;
        Ok((observations, instance.memory_used()))
    }
}
