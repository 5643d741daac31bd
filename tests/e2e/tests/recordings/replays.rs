//! Replaying evidence through the built component with the host's own library, up to the
//! verdict.

use crate::evidence::lay_out;
use crate::expectation::{Replayed, fixtures};
use akbench::contract::events::Silent;
use akbench::contract::grants::{Folders, Grants};
use akbench::contract::observed::Observations;
use akbench::contract::v0_1::AgentConfig;
use akbench::journal::{Audit, Journal};
use akbench::process::redaction::Redactor;
use akbench::runner::classify::{Verdict, classify};
use akbench::runner::drive::{Driven, StopCause};
use akbench::runner::replay::{ReplaySetup, replay};
use akbench::sandbox::cache::ComponentCache;
use akbench::sandbox::component::AdapterComponent;
use akbench::sandbox::engine::Sandbox;
use akbench::sandbox::limits::DEFAULT_MEMORY;
use akbench_e2e::built;
use serde_json::Map;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The production adapter, compiled once.
pub struct Adapter {
    sandbox: Sandbox,
    component: AdapterComponent,
}

/// What came out.
pub struct Outcome {
    /// What the adapter observed.
    pub observed: Observations,
    /// What the engine made of it.
    pub verdict: Verdict,
    /// Where the adapter broke the contract.
    pub violations: Vec<String>,
}

impl Adapter {
    /// Loads it.
    pub fn load() -> Self {
        let sandbox = Sandbox::new().unwrap();
        let file = built::adapter("codex.wasm");
        let component =
            AdapterComponent::load(&file, &sandbox, &ComponentCache::new(None)).unwrap();
        Self { sandbox, component }
    }

    /// Replays a recording; an error says what the adapter did instead.
    pub async fn replay(&self, name: &str, recording: &Replayed) -> Result<Outcome, String> {
        let run = tempfile::tempdir().unwrap();
        let setup = self.setup(run.path());
        let evidence = &setup.grants.folders.evidence;
        lay_out(&fixtures().join(name), &recording.signals, evidence);
        let replayed = replay(&setup).await.map_err(|error| format!("{error:?}"))?;
        let driven = Driven {
            submitted: true,
            stopped: stopped(recording.cause.as_deref()),
            observations: Some(replayed.observations.clone()),
            violations: replayed.violations.clone(),
            ..Driven::default()
        };
        Ok(Outcome {
            observed: replayed.observations,
            verdict: classify(&driven),
            violations: replayed.violations,
        })
    }

    fn setup(&self, run: &Path) -> ReplaySetup {
        let folder = |name: &str| {
            let path = run.join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let redactor = Redactor::new([]).unwrap();
        let journal = Journal::create(
            &run.join("events.jsonl"),
            redactor.clone(),
            Arc::new(Silent),
        );
        let audit = Audit::create(&run.join("audit.jsonl"), redactor.clone());
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
                    evidence: folder("evidence"),
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

fn stopped(cause: Option<&str>) -> Option<StopCause> {
    match cause? {
        "cancel" => Some(StopCause::Cancelled),
        "time_limit" => Some(StopCause::TimeLimit(Duration::from_secs(60))),
        other => panic!("unknown cause `{other}`"),
    }
}
