//! Driving an adapter's component directly, with the host's own library: no program can be
//! started, only evidence read.

use crate::agent::Language;
use akbench::contract::events::Silent;
use akbench::contract::grants::{Folders, Grants};
use akbench::contract::interrupt::interruption;
use akbench::contract::observed::ReportedFailure;
use akbench::contract::session::SessionHost;
use akbench::contract::v0_1::{AgentConfig, Instance, InstanceOptions, Task};
use akbench::journal::{Audit, Journal};
use akbench::process::redaction::Redactor;
use akbench::runner::replay::{ReplaySetup, Replayed, replay};
use akbench::sandbox::cache::ComponentCache;
use akbench::sandbox::component::AdapterComponent;
use akbench::sandbox::engine::Sandbox;
use akbench::sandbox::limits::DEFAULT_MEMORY;
use serde_json::Map;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A loaded component, and a folder for what it may write.
pub struct Adapter {
    sandbox: Sandbox,
    component: AdapterComponent,
    folder: TempDir,
    runtime: Runtime,
}

impl Adapter {
    /// Loads the adapter of a language.
    pub fn load(language: Language) -> Self {
        // An engine needs a runtime around it for its timers.
        let runtime = Runtime::new().unwrap();
        let guard = runtime.enter();
        let sandbox = Sandbox::new().unwrap();
        let file = language.component();
        let cache = file
            .ancestors()
            .nth(2)
            .unwrap()
            .join("test-cache/akbench/components");
        let component = AdapterComponent::load(&file, &sandbox, &ComponentCache::new(Some(cache)));
        drop(guard);
        Self {
            sandbox,
            component: component.unwrap(),
            folder: tempfile::tempdir().unwrap(),
            runtime,
        }
    }

    /// Observes from a folder of evidence, in a fresh instance.
    pub fn observe(&self, evidence: &Path) -> Replayed {
        let setup = self.setup(evidence.to_owned());
        self.runtime.block_on(replay(&setup)).unwrap()
    }

    /// Submits a task to a session in replay mode and waits for it; returns how both failed.
    pub fn misuse(&self) -> (ReportedFailure, ReportedFailure) {
        let evidence = self.folder.path().join("evidence");
        fs::create_dir(&evidence).unwrap();
        let setup = self.setup(evidence);
        self.runtime.block_on(async {
            let (_interrupter, interrupt) = interruption();
            let host = SessionHost::new(
                Arc::clone(&setup.grants),
                None,
                setup.redactor.clone(),
                interrupt,
                Arc::clone(&setup.journal),
                Arc::clone(&setup.audit),
            );
            let options = InstanceOptions {
                host,
                memory_bytes: setup.memory_bytes,
            };
            let component = &self.component.component;
            let mut instance = Instance::new(&self.sandbox, component, options)
                .await
                .unwrap();
            instance.begin_operation(Duration::from_secs(60));
            instance
                .start_session(&setup.config)
                .await
                .unwrap()
                .unwrap();
            let task = Task {
                id: "t".to_owned(),
                instruction: "work".to_owned(),
                attachments: Vec::new(),
                time_limit: None,
            };
            let submitted = instance.submit_task(&task).await.unwrap().unwrap_err();
            let waited = instance.wait_for_completion(Duration::ZERO).await.unwrap();
            instance.close().await.unwrap().unwrap();
            (submitted, waited.unwrap_err())
        })
    }

    fn setup(&self, evidence: PathBuf) -> ReplaySetup {
        // Of its own each time: what one instance wrote must not reach the next.
        let place = tempfile::tempdir_in(self.folder.path()).unwrap().keep();
        let folder = |name: &str| {
            let path = place.join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let redactor = Redactor::new([]).unwrap();
        let journal = Journal::create(
            &place.join("events.jsonl"),
            redactor.clone(),
            Arc::new(Silent),
        );
        let audit = Audit::create(&place.join("audit.jsonl"), redactor.clone());
        ReplaySetup {
            sandbox: self.sandbox.clone(),
            component: self.component.clone(),
            memory_bytes: DEFAULT_MEMORY,
            grants: Arc::new(Grants {
                programs: BTreeMap::new(),
                environment: Vec::new(),
                credentials: BTreeMap::new(),
                folders: Folders {
                    workspace: folder("workspace"),
                    agent_home: folder("agent-home"),
                    artifacts: folder("artifacts"),
                    evidence,
                },
            }),
            redactor,
            journal: Arc::new(journal.unwrap()),
            audit: Arc::new(audit.unwrap()),
            config: AgentConfig {
                parameters: Map::new(),
                runtime: None,
                replay: true,
            },
        }
    }
}
