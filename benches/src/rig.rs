//! One engine, one compiled component, one runner: what all sessions of a process share.

use crate::error::{Doing, Unmeasured};
use akbench::attestation::Attestations;
use akbench::contract::events::{Observer, Silent};
use akbench::process::resources::limit::Resource;
use akbench::registry::{Registry, Source};
use akbench::runner::assignment::Assignment;
use akbench::runner::confine::{Confine, ConfinementRequest, Network};
use akbench::runner::limits::RunLimits;
use akbench::runner::plan::{ProcessEnvironment, RunRequest, plan};
use akbench::runner::result::{RunResult, RunStatus};
use akbench::runner::run::{RunOptions, Runner};
use akbench::runner::stop::stop_pair;
use akbench::sandbox::cache::ComponentCache;
use akbench::sandbox::component::AdapterComponent;
use akbench::sandbox::engine::Sandbox;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Where the parts are that were built before.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The repository, for the descriptors.
    pub repository: PathBuf,
    /// The akbench binary, which becomes the supervisor of each tree.
    pub akbench: PathBuf,
    /// The folder of the built components.
    pub adapters: PathBuf,
}

/// Everything for many sessions of the adapter `fake`.
pub struct Rig {
    runner: Runner,
    component: AdapterComponent,
    registry: Registry,
    folder: TempDir,
}

impl Rig {
    /// Sets everything up, with a workspace of one file.
    ///
    /// # Errors
    ///
    /// If a part is missing or a folder can't be made.
    pub fn new(parts: &Parts) -> Result<Self, Unmeasured> {
        let folder = tempfile::Builder::new()
            .prefix("akbench-bench-")
            .tempdir()
            .doing("make a temporary folder")?;
        let workspace = folder.path().join("workspace");
        fs::create_dir(&workspace)
            .and_then(|()| fs::write(workspace.join("file.txt"), "one file\n"))
            .and_then(|()| fs::write(folder.path().join("task.txt"), "Do nothing.\n"))
            .doing("make a workspace and a task")?;
        let sandbox = Sandbox::new().doing("set up the engine")?;
        let cache = ComponentCache::new(Some(folder.path().join("components")));
        let component = AdapterComponent::load(&parts.adapters.join("fake.wasm"), &sandbox, &cache)
            .doing("load the adapter")?;
        let source = Source {
            name: "repository".to_owned(),
            folder: parts.repository.clone(),
        };
        let runner = Runner {
            sandbox,
            supervisor: parts.akbench.clone(),
            program_memory: Some(folder.path().join("programs.json")),
            attestations: Attestations::new([]),
        };
        Ok(Self {
            runner,
            component,
            registry: Registry::load(&[source]).map_err(|problems| {
                let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
                Unmeasured(format!(
                    "failed to read the descriptors: {}",
                    problems.join("; ")
                ))
            })?,
            folder,
        })
    }

    /// A folder for programs and whatever else a measurement needs.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where runs are kept.
    pub fn runs(&self) -> PathBuf {
        self.folder.path().join("runs")
    }

    /// One session, from its plan to its result on disk, exactly as `akbench run` does it.
    ///
    /// # Errors
    ///
    /// If it does not complete.
    pub async fn session(
        &self,
        program: &Path,
        observer: Option<Arc<dyn Observer>>,
    ) -> Result<RunResult, Unmeasured> {
        self.session_within(program, observer, Vec::new()).await
    }

    /// As [`Rig::session`], with these limits on what the program may use.
    ///
    /// # Errors
    ///
    /// If it does not complete.
    pub async fn session_within(
        &self,
        program: &Path,
        observer: Option<Arc<dyn Observer>>,
        limits: Vec<(Resource, Option<u64>)>,
    ) -> Result<RunResult, Unmeasured> {
        let request = RunRequest {
            descriptor: self.registry.agent("fake").doing("find the agent")?.clone(),
            assignment: Assignment::Files {
                workspace: self.folder.path().join("workspace"),
                in_place: false,
                task_file: self.folder.path().join("task.txt"),
            },
            required: Vec::new(),
            allow_unverified: false,
            parameters: Vec::new(),
            runtime: None,
            programs: vec![("agent".to_owned(), program.to_owned())],
            limits: RunLimits {
                time: None,
                idle: None,
            },
        };
        let plan = plan(request, &self.registry, &ProcessEnvironment).map_err(|refused| {
            Unmeasured(format!("failed to plan: {}", refused.problems.join("; ")))
        })?;
        let (_handle, stop) = stop_pair();
        let options = RunOptions {
            runs: self.runs(),
            keep_home: false,
            confinement: ConfinementRequest {
                confine: Confine::Off,
                network: Network::Full,
                expose: Vec::new(),
                limits,
            },
            observer: observer.unwrap_or_else(|| Arc::new(Silent)),
            stop,
        };
        let finished = self
            .runner
            .run(plan, self.component.clone(), options)
            .await
            .doing("run a session")?;
        if finished.result.status != RunStatus::Completed {
            return Err(Unmeasured(format!(
                "a session ended as {:?}: {:?}",
                finished.result.status, finished.result.failure
            )));
        }
        Ok(finished.result)
    }
}
