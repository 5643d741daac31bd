//! Can an agent run here? The first operation of a run, for real, and nothing after it.

use super::blocking::while_others_go_on;
use super::classify::classify;
use super::confine::ConfinementRequest;
use super::drive::{Driven, validate};
use super::limits::RunLimits;
use super::plan::{
    HostEnvironment, Plan, check_execution, find_programs, passed_through, resolve_runtime,
};
use super::result::{AgentRecord, ConfinementRecord, Failure, RuntimeRecord};
use super::run::{Contained, RunError, RunOptions, Runner};
use super::stop::StopSignal;
use crate::contract::events::Silent;
use crate::contract::observed::Fault;
use crate::registry::{AgentDescriptor, Registry, Standing, parameters};
use crate::sandbox::component::AdapterComponent;
use serde::Serialize;
use serde_json::Map;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The name and version of this format.
pub const SCHEMA: &str = "akbench.agent-check/1";

/// What a person wants checked.
#[derive(Debug, Clone)]
pub struct CheckRequest {
    /// The agent.
    pub descriptor: AgentDescriptor,
    /// `name=value`.
    pub parameters: Vec<String>,
    /// The runtime, if one was named.
    pub runtime: Option<String>,
    /// Programs whose file the person named: name and path.
    pub programs: Vec<(String, PathBuf)>,
    /// What the probes can see and reach: as in the run that they are for.
    pub confinement: ConfinementRequest,
}

/// Whether an agent can run here.
#[derive(Debug, Clone, Serialize)]
pub struct CheckReport {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// Whether a run would get as far as its work.
    pub ready: bool,
    /// What a run would be refused for, one sentence each. If there is any, nothing was started.
    pub problems: Vec<String>,
    /// What the adapter found wrong; `None` if nothing, or if it was not asked.
    pub failure: Option<Failure>,
    /// The agent, with the program that was found; `None` if there are problems.
    pub agent: Option<AgentRecord>,
    /// What the descriptor says of the program's version; `None` if that is not known.
    pub standing: Option<Standing>,
    /// The endpoint; it was not contacted.
    pub runtime: Option<RuntimeRecord>,
    /// What contained the probes; `None` if there are problems.
    pub confinement: Option<ConfinementRecord>,
    /// What a person should know.
    pub notes: Vec<String>,
    /// How long it took.
    pub duration_ms: u64,
}

impl CheckReport {
    /// The exit code that tells a script whether the agent can run here.
    pub fn exit_code(&self) -> u8 {
        match &self.failure {
            _ if self.ready => 0,
            Some(failure) if failure.fault == Fault::Adapter => 4,
            Some(failure) if failure.fault == Fault::Operator => 130,
            _ => 3,
        }
    }

    /// A report of what would be refused.
    fn refused(problems: Vec<String>) -> Self {
        Self {
            schema: SCHEMA,
            ready: false,
            problems,
            failure: None,
            agent: None,
            standing: None,
            runtime: None,
            confinement: None,
            notes: Vec::new(),
            duration_ms: 0,
        }
    }
}

impl Runner {
    /// Validates the environment through the adapter, in folders that are removed afterwards.
    ///
    /// # Errors
    ///
    /// If the check can't begin. That the agent can't run is no error: the report says so.
    pub async fn check(
        &self,
        request: CheckRequest,
        component: &AdapterComponent,
        registry: &Registry,
        environment: &dyn HostEnvironment,
        stop: StopSignal,
    ) -> Result<CheckReport, RunError> {
        let started = Instant::now();
        let scratch = scratch_folder()?;
        let workspace = scratch.path().join("workspace");
        crate::files::create_private_folders(&workspace).map_err(RunError::Workspace)?;
        let confinement = request.confinement.clone();
        let plan = match plan_check(request, &workspace, registry, environment) {
            Ok(plan) => plan,
            Err(problems) => return Ok(CheckReport::refused(problems)),
        };
        let options = RunOptions {
            runs: scratch.path().join("runs"),
            keep_home: false,
            confinement,
            observer: Arc::new(Silent),
            stop,
        };
        let prepared = while_others_go_on(|| self.prepare(&plan, component, &options))?;
        let Contained {
            tree,
            runtime,
            record: mut confinement,
        } = self
            .contain(&plan, &prepared, &options.confinement, None)
            .await?;
        let setup = self.setup(&plan, component, &prepared, &tree, runtime, &options)?;
        let driven = validate(&setup).await;
        drop(setup);
        tree.shut_down().await;

        let mut agent = prepared.record.agent.clone();
        if let Some(program) = &mut agent.program {
            program.version.clone_from(&driven.report.agent_version);
        }
        let failure = failure_of(&driven);
        confinement.limits.clone_from(&driven.resources.records);
        let mut notes = driven.report.notes;
        notes.extend(confinement.notes.iter().cloned());
        Ok(CheckReport {
            schema: SCHEMA,
            ready: failure.is_none(),
            problems: Vec::new(),
            failure,
            standing: standing(&plan.descriptor, &agent),
            agent: Some(agent),
            runtime: prepared.record.runtime.clone(),
            confinement: Some(confinement),
            notes,
            duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }
}

fn scratch_folder() -> Result<tempfile::TempDir, RunError> {
    let folder = std::env::temp_dir();
    let failed = |error: io::Error| RunError::Write {
        path: folder.clone(),
        error,
    };
    tempfile::Builder::new()
        .prefix("akbench-check-")
        .tempdir_in(&folder)
        .map_err(failed)
}

/// As the plan of a run, without a task.
fn plan_check(
    request: CheckRequest,
    workspace: &Path,
    registry: &Registry,
    environment: &dyn HostEnvironment,
) -> Result<Plan, Vec<String>> {
    let mut problems = Vec::new();
    let descriptor = request.descriptor;
    check_execution(&descriptor, &mut problems);
    let parameters = parameters::parse(&descriptor, &request.parameters).unwrap_or_else(|found| {
        problems.extend(found.iter().map(ToString::to_string));
        Map::new()
    });
    let named = request.runtime.as_deref();
    let (runtime, secret) = match resolve_runtime(&descriptor, named, registry, environment) {
        Ok(resolved) => resolved.unzip(),
        Err(found) => {
            problems.extend(found);
            (None, None)
        }
    };
    let programs = find_programs(&descriptor, &request.programs, environment, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Plan {
        passed_through: passed_through(&descriptor, environment),
        descriptor,
        workspace: workspace.to_owned(),
        in_place: true,
        task_id: "check".to_owned(),
        instruction: String::new(),
        task: None,
        notes: Vec::new(),
        parameters,
        runtime,
        secret: secret.flatten(),
        programs,
        limits: RunLimits {
            time: None,
            idle: None,
        },
    })
}

/// What stood in the way; work that was not asked for is not missed.
fn failure_of(driven: &Driven) -> Option<Failure> {
    let went_wrong = driven.fault.is_some()
        || driven.failed.is_some()
        || driven.stopped.is_some()
        || driven.recording_failure.is_some();
    went_wrong.then(|| classify(driven).failure).flatten()
}

fn standing(descriptor: &AgentDescriptor, agent: &AgentRecord) -> Option<Standing> {
    let program = agent.program.as_ref()?;
    let version = semver::Version::parse(program.version.as_deref()?).ok()?;
    let policy = &descriptor.program(&program.name)?.versions;
    Some(policy.standing(&version))
}
