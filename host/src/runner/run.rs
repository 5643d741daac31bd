//! A whole run: folder, tree, session, evidence, result.

use super::changes::{self, Before};
use super::classify::classify;
use super::collect::list_artifacts;
use super::confine::{self, Confine, ConfinementRequest, Network, Passage};
use super::drive::{Driven, SessionSetup, drive};
use super::judge::{Judging, judge};
use super::lay_out::lay_out;
use super::plan::{CREDENTIAL_NAME, Plan};
use super::program_digest::program_digest;
use super::result::{
    AgentRecord, ConfinementRecord, ProcessRecord, ProgramRecord, RunResult, RuntimeRecord, SCHEMA,
    TaskRecord, Unresolved, WorkspaceRecord,
};
use super::run_folder::{RunFolder, check_writable};
use super::stop::StopSignal;
use super::validity;
use crate::attestation::{Attestations, Attested};
use crate::contract::events::Observer;
use crate::contract::grants::{Folders, Grants};
use crate::contract::observed::Observations;
use crate::contract::v0_1::{AgentConfig, RuntimeBinding, Task};
use crate::dataset::prepare::{PrepareError, Variant};
use crate::digest::Sha256;
use crate::journal::{Audit, Journal};
use crate::process::redaction::{Redactor, RedactorError};
use crate::process::tree::{ProcessTree, TreeError, TreeOptions};
use crate::sandbox::component::AdapterComponent;
use crate::sandbox::engine::Sandbox;
use crate::sandbox::limits::DEFAULT_MEMORY;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// What every run of this process shares.
#[derive(Clone)]
pub struct Runner {
    /// The wasm engine.
    pub sandbox: Sandbox,
    /// The akbench binary, which becomes the supervisor of each process tree.
    pub supervisor: PathBuf,
    /// Where digests of programs are remembered.
    pub program_memory: Option<PathBuf>,
    /// What the contract suite found about adapters.
    pub attestations: Attestations,
}

/// What one run needs beside its plan.
pub struct RunOptions {
    /// Where runs are kept.
    pub runs: PathBuf,
    /// Keep the agent's home.
    pub keep_home: bool,
    /// What the agent can see and reach.
    pub confinement: ConfinementRequest,
    /// Whoever watches.
    pub observer: Arc<dyn Observer>,
    /// Whoever may stop it.
    pub stop: StopSignal,
}

/// A run that could not begin or whose result could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The folder of the runs can't be used.
    #[error("the output folder `{}` can't be written to: {error}; choose another with `--out`", path.display())]
    OutputFolder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The workspace can't be copied or read.
    #[error("failed to prepare the workspace: {0}")]
    Workspace(io::Error),
    /// A dataset's task is broken.
    #[error("failed to prepare the task: {0}")]
    Task(#[from] PrepareError),
    /// The confinement that was required can't be had.
    #[error(
        "the confinement asked for can't be had here: {0}; `--confine best-effort` runs with \
         what there is and records it"
    )]
    Confinement(String),
    /// The runs would lie in the folder that the agent gets.
    #[error(
        "the output folder `{}` lies inside the workspace `{}`: the agent would see and copy its \
         own run; choose another with `--out`",
        runs.display(),
        workspace.display()
    )]
    OutputInWorkspace {
        /// Where runs are kept.
        runs: PathBuf,
        /// The folder to work in.
        workspace: PathBuf,
    },
    /// No supervisor.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The secrets can't be masked.
    #[error(transparent)]
    Redactor(#[from] RedactorError),
    /// A file of the run can't be written.
    #[error("failed to write `{}`: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// Checks that runs can be kept in a folder, and makes nothing.
///
/// # Errors
///
/// If it can't be written to, or can't be made.
pub fn check_output(runs: &Path) -> Result<(), RunError> {
    check_writable(runs).map_err(|error| RunError::OutputFolder {
        path: runs.to_owned(),
        error,
    })
}

/// A finished run.
pub struct FinishedRun {
    /// Where everything is.
    pub folder: PathBuf,
    /// What came out.
    pub result: RunResult,
}

pub(super) struct Contained {
    pub(super) tree: Arc<ProcessTree>,
    pub(super) runtime: Option<RuntimeBinding>,
    pub(super) record: ConfinementRecord,
}

pub(super) struct Preparation {
    folder: RunFolder,
    before: Before,
    /// Of a dataset's task.
    variant: Option<Variant>,
    attachments: Vec<String>,
    warnings: Vec<String>,
    redactor: Redactor,
    programs: Vec<(String, PathBuf, Option<Sha256>)>,
}

impl Runner {
    /// Runs a plan to its result.
    ///
    /// # Errors
    ///
    /// If the run can't begin, or its result can't be written. Everything else that goes
    /// wrong is in the result.
    pub async fn run(
        &self,
        plan: Plan,
        component: AdapterComponent,
        options: RunOptions,
    ) -> Result<FinishedRun, RunError> {
        let started_at = crate::clock::now();
        let started = Instant::now();
        let prepared = self.prepare(&plan, &options)?;
        let write = |path: PathBuf| move |error| RunError::Write { path, error };
        let mut record = plan_record(&plan, &component, &prepared, &started_at);
        mask_texts(&mut record, &prepared.redactor);
        crate::files::write_json_durably(&prepared.folder.plan(), &record)
            .map_err(write(prepared.folder.plan()))?;

        let Contained {
            tree,
            runtime,
            record: confinement,
        } = self.contain(&plan, &prepared, &options.confinement).await?;
        let setup = self.setup(&plan, &component, &prepared, &tree, runtime, &options)?;
        let driven = drive(&setup).await;
        let lost_lines = setup.journal.lost() + setup.audit.lost();
        drop(setup);
        tree.shut_down().await;

        let after = changes::keep(&prepared.before, &prepared.folder, &prepared.redactor);
        let judged = judge(Judging {
            plan: &plan,
            variant: prepared.variant.as_ref(),
            folder: &prepared.folder,
            before: &prepared.before,
            after: &after,
            driven: &driven,
            supervisor: &self.supervisor,
            request: &options.confinement,
            redactor: &prepared.redactor,
            stop: options.stop.clone(),
        })
        .await;
        let mut result = assemble(&plan, &component, &prepared, &driven, confinement);
        let masks = driven.masks.clone();
        result.artifacts = list_artifacts(&prepared.folder.artifacts(), masks)
            .map_err(write(prepared.folder.artifacts()))?;
        result.workspace = after.record;
        result.warnings.extend(after.warnings);
        let standing = self.attestations.standing(&Attested {
            component_sha256: component.sha256,
            descriptor_sha256: plan.descriptor.digest,
            contract: component.contract_name(),
        });
        validity::judge(&mut result, &driven, &plan.descriptor, standing);
        match judged {
            Ok(evaluation) => result.evaluation = evaluation,
            Err(error) => {
                result.warnings.push(format!("not evaluated: {error}"));
                result.invalid_reasons.push("evaluation_failed".to_owned());
                result.valid = false;
            }
        }
        if lost_lines > 0 {
            let text =
                format!("{lost_lines} lines of events.jsonl or audit.jsonl were not written");
            result.warnings.push(text);
            result.invalid_reasons.push("log_incomplete".to_owned());
            result.valid = false;
        }
        result.started_at = started_at;
        result.finished_at = crate::clock::now();
        result.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        mask_result(&mut result, &prepared.redactor);
        // Gone already if the disk was full.
        let _ = std::fs::remove_file(prepared.folder.reserve());
        crate::files::write_json_durably(&prepared.folder.result(), &result)
            .map_err(write(prepared.folder.result()))?;
        // What can't be removed costs room, not truth.
        if let Err(error) = prepared.folder.clean(options.keep_home) {
            tracing::warn!(%error, "failed to remove temporary folders of the run");
        }
        Ok(FinishedRun {
            folder: prepared.folder.path().to_owned(),
            result,
        })
    }

    /// Starts the tree, and opens the way to the runtime where the network is hidden.
    pub(super) async fn contain(
        &self,
        plan: &Plan,
        prepared: &Preparation,
        request: &ConfinementRequest,
    ) -> Result<Contained, RunError> {
        let folder = &prepared.folder;
        let (request, passage, note) = way_out(plan, request)?;
        let hosts = match passage.as_ref().and_then(Passage::hosts) {
            None => None,
            Some(text) => {
                let path = folder.scratch().join("hosts");
                std::fs::write(&path, text).map_err(|error| RunError::Write {
                    path: path.clone(),
                    error,
                })?;
                Some(path)
            }
        };
        let attempts = confine::attempts(&request, plan, folder, &prepared.before.workspace, hosts);
        let options = TreeOptions {
            supervisor: self.supervisor.clone(),
            attempts,
        };
        let tree = ProcessTree::start(&options)
            .await
            .map_err(|error| match request.confine {
                Confine::Required => RunError::Confinement(error.to_string()),
                Confine::BestEffort | Confine::Off => RunError::Tree(error),
            })?;
        let mut runtime = plan.runtime.clone();
        if let (Some(passage), Some(binding)) = (&passage, &plan.runtime)
            && tree.containment().hides_network()
        {
            let opened = passage.open(&tree, binding).await;
            runtime = Some(opened.map_err(|error| {
                RunError::Confinement(format!("no way out of the network namespace: {error}"))
            })?);
        }
        let mut record = confine::record(&tree, &request);
        record.notes.extend(note);
        Ok(Contained {
            tree: Arc::new(tree),
            runtime,
            record,
        })
    }

    pub(super) fn prepare(
        &self,
        plan: &Plan,
        options: &RunOptions,
    ) -> Result<Preparation, RunError> {
        check_apart(&options.runs, &plan.workspace)?;
        let folder = RunFolder::create(&options.runs).map_err(|error| RunError::OutputFolder {
            path: options.runs.clone(),
            error,
        })?;
        let laid_out = match lay_out(plan, &folder) {
            Ok(laid_out) => laid_out,
            Err(error) => {
                // Nothing ran, so there is nothing to keep; the error says what is wrong.
                let _ = std::fs::remove_dir_all(folder.path());
                return Err(error);
            }
        };
        let redactor = Redactor::new(plan.secret.iter().map(|secret| secret.expose().as_bytes()))?;
        let programs = plan
            .programs
            .iter()
            .map(|(name, path)| {
                let sha256 = program_digest(path, self.program_memory.as_deref()).ok();
                (name.clone(), path.clone(), sha256)
            })
            .collect();
        Ok(Preparation {
            folder,
            before: laid_out.before,
            variant: laid_out.variant,
            attachments: laid_out.attachments,
            warnings: laid_out.warnings,
            redactor,
            programs,
        })
    }

    pub(super) fn setup(
        &self,
        plan: &Plan,
        component: &AdapterComponent,
        prepared: &Preparation,
        tree: &Arc<ProcessTree>,
        runtime: Option<RuntimeBinding>,
        options: &RunOptions,
    ) -> Result<SessionSetup, RunError> {
        let folder = &prepared.folder;
        let write = |path: PathBuf| move |error| RunError::Write { path, error };
        let redactor = prepared.redactor.clone();
        let observer = Arc::clone(&options.observer);
        let journal = Journal::create(&folder.events(), redactor.clone(), observer)
            .map_err(write(folder.events()))?;
        let audit =
            Audit::create(&folder.audit(), redactor.clone()).map_err(write(folder.audit()))?;
        for (name, path) in &plan.programs {
            audit.granted("program", json!({"name": name, "path": path}));
        }
        let mut credentials = BTreeMap::new();
        if let Some(secret) = &plan.secret {
            credentials.insert(CREDENTIAL_NAME.to_owned(), Arc::clone(secret));
            audit.granted("credential", json!({"name": CREDENTIAL_NAME}));
        }
        let folders = Folders {
            workspace: prepared.before.workspace.clone(),
            agent_home: folder.agent_home(),
            artifacts: folder.adapter_artifacts(),
            evidence: folder.evidence(),
        };
        let grants = Grants {
            programs: plan.programs.clone(),
            environment: base_environment(plan, folder),
            credentials,
            folders,
        };
        let memory_bytes = plan
            .descriptor
            .limits
            .adapter_memory_bytes
            .unwrap_or(DEFAULT_MEMORY);
        Ok(SessionSetup {
            sandbox: self.sandbox.clone(),
            component: component.clone(),
            memory_bytes,
            grants: Arc::new(grants),
            home_evidence: plan.descriptor.evidence.clone(),
            tree: Arc::clone(tree),
            redactor,
            journal: Arc::new(journal),
            audit: Arc::new(audit),
            config: AgentConfig {
                parameters: plan.parameters.clone(),
                runtime,
                replay: false,
            },
            task: Task {
                id: plan.task_id.clone(),
                instruction: plan.instruction.clone(),
                attachments: prepared.attachments.clone(),
                time_limit: plan.limits.time,
            },
            limits: plan.limits,
            stop: options.stop.clone(),
            reserve: folder.reserve(),
        })
    }
}

/// A run inside the workspace would be copied into itself, for ever.
fn check_apart(runs: &Path, workspace: &Path) -> Result<(), RunError> {
    // The folder may not exist yet: what exists of its path decides.
    let absolute = std::path::absolute(runs).unwrap_or_else(|_| runs.to_owned());
    let existing = absolute
        .ancestors()
        .find_map(|path| path.canonicalize().ok());
    match existing {
        Some(real) if real.starts_with(workspace) => Err(RunError::OutputInWorkspace {
            runs: runs.to_owned(),
            workspace: workspace.to_owned(),
        }),
        _ => Ok(()),
    }
}

/// How the agent is to reach its runtime. Where no way out can be made, `--confine required`
/// refuses and the others leave the network open and say so.
fn way_out(
    plan: &Plan,
    request: &ConfinementRequest,
) -> Result<(ConfinementRequest, Option<Passage>, Option<String>), RunError> {
    let mut request = request.clone();
    if request.network != Network::Endpoint {
        return Ok((request, None, None));
    }
    let Some(runtime) = &plan.runtime else {
        // Without a runtime there is no endpoint: nothing can be reached.
        request.network = Network::None;
        return Ok((request, None, None));
    };
    match Passage::to(&runtime.base_url) {
        Ok(passage) => Ok((request, Some(passage), None)),
        Err(problem) if request.confine == Confine::Required => Err(RunError::Confinement(problem)),
        Err(problem) => {
            request.network = Network::Full;
            Ok((request, None, Some(problem)))
        }
    }
}

/// The environment of every program: cleared, then this.
fn base_environment(plan: &Plan, folder: &RunFolder) -> Vec<(OsString, OsString)> {
    let path =
        std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin"));
    let scratch = folder.scratch();
    let mut environment = vec![
        (OsString::from("PATH"), path),
        (
            OsString::from("HOME"),
            scratch.join("home").into_os_string(),
        ),
        (
            OsString::from("TMPDIR"),
            scratch.join("tmp").into_os_string(),
        ),
    ];
    environment.extend(plan.passed_through.iter().cloned());
    if !environment.iter().any(|(name, _)| name == "LANG") {
        environment.push((OsString::from("LANG"), OsString::from("C.UTF-8")));
    }
    let home_variable = OsString::from(&plan.descriptor.home.environment);
    environment.push((home_variable, folder.agent_home().into_os_string()));
    environment
}

fn plan_record(
    plan: &Plan,
    component: &AdapterComponent,
    prepared: &Preparation,
    started_at: &str,
) -> serde_json::Value {
    json!({
        "schema": "akbench.plan/1",
        "run_id": prepared.folder.id(),
        "created_at": started_at,
        "akbench": env!("CARGO_PKG_VERSION"),
        "agent": agent_record(plan, component, prepared, None),
        "descriptor_file": plan.descriptor.origin,
        "component_file": component.path,
        "task": task_record(plan, prepared),
        "variant": prepared.variant.as_ref().map(|variant| &variant.choices),
        "notes": plan.notes,
        "workspace": {"source": plan.workspace, "path": prepared.before.workspace, "in_place": plan.in_place},
        "runtime": runtime_record(plan),
        "parameters": plan.parameters,
        "limits": {
            "time_ms": plan.limits.time.map(|limit| limit.as_millis() as u64),
            "idle_ms": plan.limits.idle.map(|limit| limit.as_millis() as u64),
        },
    })
}

pub(super) fn agent_record(
    plan: &Plan,
    component: &AdapterComponent,
    prepared: &Preparation,
    version: Option<String>,
) -> AgentRecord {
    let program = prepared
        .programs
        .first()
        .map(|(name, path, sha256)| ProgramRecord {
            name: name.clone(),
            path: path.display().to_string(),
            version,
            sha256: *sha256,
        });
    AgentRecord {
        id: plan.descriptor.id.to_string(),
        version: plan.descriptor.version.to_string(),
        adapter: plan.descriptor.agent.adapter.to_string(),
        execution: "process".to_owned(),
        contract: component.contract_name(),
        component_sha256: component.sha256,
        descriptor_sha256: plan.descriptor.digest,
        program,
    }
}

fn task_record(plan: &Plan, prepared: &Preparation) -> TaskRecord {
    let task = plan.task.as_ref();
    let mutated = prepared
        .variant
        .as_ref()
        .filter(|variant| variant.seed.is_some());
    TaskRecord {
        id: Some(plan.task_id.clone()),
        version: task.map(|task| task.descriptor.version.to_string()),
        seed: mutated.and_then(|variant| variant.seed),
        mutations: mutated.map(|variant| variant.choices.iter().map(ToString::to_string).collect()),
        instruction_sha256: plan.instruction_sha256(),
        time_limit_ms: plan
            .limits
            .time
            .map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
    }
}

pub(super) fn runtime_record(plan: &Plan) -> Option<RuntimeRecord> {
    plan.runtime.as_ref().map(|runtime| RuntimeRecord {
        name: runtime.name.clone(),
        base_url: runtime.base_url.clone(),
        wire_api: runtime.wire_api.clone(),
        model: runtime.model.clone(),
    })
}

fn assemble(
    plan: &Plan,
    component: &AdapterComponent,
    prepared: &Preparation,
    driven: &Driven,
    confinement: ConfinementRecord,
) -> RunResult {
    let verdict = classify(driven);
    let observed = driven.observations.clone().unwrap_or_default();
    let version = driven
        .report
        .agent_version
        .clone()
        .or(observed.agent_version.clone());
    let (provenance, unresolved) = (provenance(&observed), unresolved(&observed));
    let mut warnings = plan.notes.clone();
    warnings.extend(prepared.warnings.iter().cloned());
    warnings.extend(driven.report.notes.iter().cloned());
    warnings.extend(observed.warnings);
    RunResult {
        schema: SCHEMA.to_owned(),
        run_id: prepared.folder.id().to_owned(),
        status: verdict.status,
        valid: false,
        invalid_reasons: Vec::new(),
        violations: driven.violations.clone(),
        failure: verdict.failure,
        agent: agent_record(plan, component, prepared, version),
        task: task_record(plan, prepared),
        workspace: WorkspaceRecord::default(),
        runtime: runtime_record(plan),
        parameters: plan.parameters.clone(),
        applied: observed.applied,
        native_session_id: observed.native_session_id,
        final_message: observed.final_message,
        turns: observed.turns,
        model_requests: observed.model_requests,
        usage: observed.usage,
        usage_by_model: observed.usage_by_model,
        cost_usd: observed.cost_usd,
        tool_calls: observed.tool_calls,
        provenance,
        unresolved,
        warnings,
        native_logs: observed.native_logs,
        extra: observed.extra,
        started_at: String::new(),
        finished_at: String::new(),
        duration_ms: 0,
        phases: driven.phases.clone(),
        processes: ProcessRecord {
            spawned: driven.spawned,
            killed: driven.census.map_or(0, |census| census.ended),
            survivors: driven.census.map(|census| census.survivors),
        },
        confinement,
        evaluation: None,
        artifacts: Vec::new(),
    }
}

fn provenance(observed: &Observations) -> BTreeMap<String, crate::contract::observed::Provenance> {
    observed.provenance.iter().cloned().collect()
}

fn unresolved(observed: &Observations) -> Option<Unresolved> {
    observed.unresolved.as_ref().map(|failure| Unresolved {
        fault: failure.class.fault(),
        class: failure.class.clone(),
        message: failure.message.clone(),
        evidence: failure.evidence.clone(),
    })
}

/// What an adapter reports comes from masked evidence; this catches what it learned otherwise.
/// Text by text: masks across the whole document could break it, and then nothing is masked.
fn mask_result(result: &mut RunResult, redactor: &Redactor) {
    let Ok(mut document) = serde_json::to_value(&*result) else {
        return;
    };
    mask_texts(&mut document, redactor);
    if let Ok(masked) = serde_json::from_value(document) {
        *result = masked;
    }
}

fn mask_texts(value: &mut Value, redactor: &Redactor) {
    match value {
        Value::String(text) => *text = redactor.mask_text(text),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_texts(item, redactor)),
        Value::Object(members) => {
            *members = std::mem::take(members)
                .into_iter()
                .map(|(name, mut member)| {
                    mask_texts(&mut member, redactor);
                    (redactor.mask_text(&name), member)
                })
                .collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
