//! The reference adapter with one break, run through the whole suite in this process: starting
//! `akbench` a hundred times would cost more than the cases do.

use crate::edit;
use akbench::registry::AgentDescriptor;
use akbench::sandbox::cache::ComponentCache;
use akbench::sandbox::component::AdapterComponent;
use akbench::sandbox::engine::Sandbox;
use akbench::suite::lab::{Lab, Subject};
use akbench::suite::real_agent::{CliSuite, RealAgent, Role};
use akbench::suite::report::{CaseReport, Outcome};
use akbench::suite::run;
use akbench::suite::stub_folder::StubFolder;
use akbench_broken_adapter::breaks::Break;
use akbench_e2e::built;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// Suites at the same time: most of what they do is wait.
const AT_ONCE: usize = 3;

/// The adapter, loaded once.
pub struct Reference {
    sandbox: Sandbox,
    component: AdapterComponent,
    runtime: Runtime,
    folder: TempDir,
}

/// What the suite is run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant {
    /// What is broken.
    pub broken: Break,
    /// The agent takes a second task.
    pub continues: bool,
}

impl Default for Reference {
    fn default() -> Self {
        Self::new()
    }
}

impl Reference {
    /// Loads it.
    pub fn new() -> Self {
        let sandbox = Sandbox::new().expect("a wasm engine");
        let cache = ComponentCache::new(Some(crate::cache()));
        let path = built::adapter("broken.wasm");
        let component = AdapterComponent::load(&path, &sandbox, &cache);
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        Self {
            sandbox,
            component: component.expect("a component"),
            runtime: runtime.expect("a runtime"),
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    /// Runs all cases on each variant; the reports are in the order of the variants.
    pub fn run_all(&self, variants: &[Variant]) -> Vec<Vec<CaseReport>> {
        let next = AtomicUsize::new(0);
        let reports = Mutex::new(vec![Vec::new(); variants.len()]);
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE.min(variants.len()) {
                scope.spawn(|| {
                    let taken = std::iter::from_fn(|| {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        variants.get(index).map(|variant| (index, *variant))
                    });
                    for (index, variant) in taken {
                        let report = self.run(variant);
                        reports.lock().expect("no thread panicked")[index] = report;
                    }
                });
            }
        });
        reports.into_inner().expect("no thread panicked")
    }

    /// The cases of this name, with the stub as if it were the agent's own program.
    pub fn run_as_real(&self, variant: Variant, case: &str) -> Vec<CaseReport> {
        let program = self.folder.path().join("real").join("agent");
        let scenario = self.folder.path().join("real").join("agent.scenario");
        std::fs::create_dir_all(&scenario).expect("a folder");
        std::fs::copy(built::stub_cli(), &program).expect("a copy");
        for file in ["scenario.json", "stdout.jsonl"] {
            let from = guest().join("suite/completes").join(file);
            std::fs::copy(from, scenario.join(file)).expect("a copy");
        }
        // Never asked: the stub plays its recording.
        let script = self.folder.path().join("real").join("endpoint.json");
        std::fs::write(&script, json!({"replies": []}).to_string()).expect("written");
        let stub = self.recordings(variant, &self.descriptor(variant));
        let real = RealAgent {
            program,
            suite: CliSuite {
                model: None,
                parameters: stub.parameters.clone(),
                completes: Role {
                    script: Some(script),
                    expected: stub.completes.expected.clone(),
                    workspace: BTreeMap::new(),
                },
                provider_error: None,
                interrupted: None,
            },
            endpoint_program: Some(built::responses_server()),
            live: None,
        };
        self.run_cases(variant, Some(real), &[case.to_owned()])
    }

    fn run(&self, variant: Variant) -> Vec<CaseReport> {
        self.run_cases(variant, None, &[])
    }

    fn run_cases(
        &self,
        variant: Variant,
        real: Option<RealAgent>,
        only: &[String],
    ) -> Vec<CaseReport> {
        let descriptor = self.descriptor(variant);
        let stub = self.recordings(variant, &descriptor);
        let lab = Lab::new(Subject {
            sandbox: self.sandbox.clone(),
            component: self.component.clone(),
            descriptor,
            supervisor: built::akbench(),
            stub: Some(stub),
            stub_program: Some(built::stub_cli()),
            real,
        });
        let lab = lab.expect("a folder").quick();
        self.runtime.block_on(run::run(lab, only, |_| ())).reports
    }

    fn recordings(&self, variant: Variant, descriptor: &AgentDescriptor) -> StubFolder {
        let recordings = guest().join("suite");
        let mut stub = StubFolder::load(&recordings, descriptor).expect("recordings");
        let broken = json!(variant.broken);
        stub.parameters.insert("break".to_owned(), broken);
        let continues = json!(variant.continues);
        stub.parameters.insert("continues".to_owned(), continues);
        stub
    }

    fn descriptor(&self, variant: Variant) -> AgentDescriptor {
        let own = tempfile::tempdir_in(self.folder.path()).expect("a folder");
        let path = own.path().join("broken.json");
        std::fs::copy(guest().join("descriptor.json"), &path).expect("a copy");
        edit(&path, |descriptor| {
            if variant.continues {
                descriptor["capabilities"]["multi_turn"] = json!({"support": "supported"});
            }
            match variant.broken {
                Break::OpenSchema => {
                    descriptor["configuration_schema"]["additionalProperties"] = json!(true);
                }
                Break::PromisesTurns => {
                    descriptor["capabilities"]["turns"] = json!({"support": "supported"});
                }
                _ => {}
            }
        });
        AgentDescriptor::load(&path).expect("a descriptor")
    }
}

/// The cases that ended so.
pub fn ended(reports: &[CaseReport], outcome: Outcome) -> Vec<&CaseReport> {
    let ended = reports.iter().filter(|case| case.outcome == outcome);
    ended.collect()
}

fn guest() -> PathBuf {
    built::repository().join("tests/guests/broken")
}
