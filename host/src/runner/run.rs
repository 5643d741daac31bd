//! A whole run: folder, tree, session, evidence, result.

use super::assemble::assemble;
use super::blocking::while_others_go_on;
use super::changes::{self, Before};
use super::collect::list_artifacts;
use super::confine::{self, Confine, ConfinementRequest, Network, Passage};
use super::drive::{Driven, SessionSetup, drive};
use super::judge::{Judging, judge};
use super::lay_out::lay_out;
use super::masking::masked;
use super::plan::{CREDENTIAL_NAME, Plan};
use super::plan_record::{PlanRecord, Planned, PlannedProgram};
use super::program_digest::program_digest;
use super::refusal;
use super::result::{ConfinementRecord, RunResult};
use super::run_folder::{RunFolder, check_writable};
use super::session_record::SessionRecord;
use super::stop::StopSignal;
use super::validity;
use crate::attestation::{Attestations, Attested};
use crate::contract::events::Observer;
use crate::contract::grants::{Folders, Grants};
use crate::contract::observed::FailureClass;
use crate::contract::v0_1::{AgentConfig, RuntimeBinding, Task};
use crate::dataset::prepare::{PrepareError, Variant};
use crate::journal::{Audit, Journal};
use crate::process::launch::EarlyLaunch;
use crate::process::redaction::{Redactor, RedactorError};
use crate::process::tree::{ProcessTree, TreeError, TreeOptions};
use crate::sandbox::component::AdapterComponent;
use crate::sandbox::engine::Sandbox;
use crate::sandbox::limits::DEFAULT_MEMORY;
use serde_json::json;
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

impl RunError {
    /// What stands in the way of a run that could otherwise begin; `None` if its refusal can't be
    /// kept, or something broke.
    fn refusal(&self) -> Option<FailureClass> {
        match self {
            Self::Workspace(_) | Self::Task(_) => Some(FailureClass::InvalidConfiguration),
            Self::Confinement(_) => Some(FailureClass::SandboxUnavailable),
            Self::OutputFolder { .. }
            | Self::OutputInWorkspace { .. }
            | Self::Tree(_)
            | Self::Redactor(_)
            | Self::Write { .. } => None,
        }
    }
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
    /// As it was written down.
    pub(super) record: PlanRecord,
}

impl Runner {
    /// Runs a plan to its result. What only shows once it is prepared, a task or a confinement
    /// that can't be had here, is a refusal like those of the planner.
    ///
    /// Not to be polled in a `LocalSet`: what waits for the disk gives its thread back, which
    /// tokio allows nowhere there.
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
        self.run_with(plan, component, options, None).await
    }

    /// As [`Runner::run`], with a supervisor that was started ahead, see
    /// [`confine::known_ahead`].
    ///
    /// # Errors
    ///
    /// As for [`Runner::run`].
    pub async fn run_with(
        &self,
        plan: Plan,
        component: AdapterComponent,
        options: RunOptions,
        early: Option<EarlyLaunch>,
    ) -> Result<FinishedRun, RunError> {
        match self.run_to_end(&plan, &component, &options, early).await {
            Err(error) => match error.refusal() {
                None => Err(error),
                Some(class) => {
                    let problems = [error.to_string()];
                    let draft = plan.into();
                    while_others_go_on(|| {
                        refusal::keep(&options.runs, &draft, Some(&component), class, &problems)
                    })
                }
            },
            finished => finished,
        }
    }

    async fn run_to_end(
        &self,
        plan: &Plan,
        component: &AdapterComponent,
        options: &RunOptions,
        early: Option<EarlyLaunch>,
    ) -> Result<FinishedRun, RunError> {
        let started = Instant::now();
        let prepared = while_others_go_on(|| self.prepare(plan, component, options))?;
        let write = |path: PathBuf| move |error| RunError::Write { path, error };
        let Contained {
            tree,
            runtime,
            record: confinement,
        } = match self
            .contain(plan, &prepared, &options.confinement, early)
            .await
        {
            Ok(contained) => contained,
            Err(error) => {
                // Nothing has begun, and the error says why.
                let _ = while_others_go_on(|| std::fs::remove_dir_all(prepared.folder.path()));
                return Err(error);
            }
        };
        let setup = self.setup(plan, component, &prepared, &tree, runtime, options)?;
        setup.audit.prepared(&prepared.before.snapshot.digest());
        setup.audit.contained(&confinement);
        let driven = drive(&setup).await;
        let lost_lines = setup.journal.lost() + setup.audit.lost();
        drop(setup);
        let mut ending = Some(tokio::spawn(async move { tree.shut_down().await }));
        if driven.census.is_none_or(|census| census.survivors > 0) {
            wait_for_end(&mut ending).await;
        }
        // Otherwise only the supervisor is left, which touches no file and may end meanwhile.
        let after = while_others_go_on(|| {
            self.keep_session(&prepared, &driven);
            changes::keep(&prepared.before, &prepared.folder, &prepared.redactor)
        });
        if plan.task.is_some() {
            // An evaluator finds nothing of the agent, not even what held it together.
            wait_for_end(&mut ending).await;
        }
        let judged = judge(Judging {
            plan,
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
        let mut result = assemble(&prepared.record, &driven, confinement, &prepared.warnings);
        let masks = driven.masks.clone();
        result.artifacts =
            while_others_go_on(|| list_artifacts(&prepared.folder.artifacts(), masks))
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
        result.finished_at = Some(crate::clock::now());
        result.duration_ms = u64::try_from(started.elapsed().as_millis()).ok();
        // What an adapter reports comes from masked evidence; this catches what it learned
        // otherwise.
        if let Ok(masked) = masked(&result, &prepared.redactor) {
            result = masked;
        }
        while_others_go_on(|| {
            // Gone already if the disk was full.
            let _ = std::fs::remove_file(prepared.folder.reserve());
            crate::files::write_json_durably(&prepared.folder.result(), &result)
        })
        .map_err(write(prepared.folder.result()))?;
        wait_for_end(&mut ending).await;
        // What can't be removed costs room, not truth.
        if let Err(error) = while_others_go_on(|| prepared.folder.clean(options.keep_home)) {
            tracing::warn!(%error, "failed to remove temporary folders of the run");
        }
        Ok(FinishedRun {
            folder: prepared.folder.path().to_owned(),
            result,
        })
    }

    /// Without it a result can't be derived again; the run itself does not need it.
    fn keep_session(&self, prepared: &Preparation, driven: &Driven) {
        let kept = masked(&SessionRecord::of(driven), &prepared.redactor)
            .map_err(std::io::Error::from)
            .and_then(|record| Ok(serde_json::to_vec_pretty(&record)?))
            .and_then(|bytes| crate::files::write_whole(&prepared.folder.session(), &bytes));
        if let Err(error) = kept {
            tracing::warn!(%error, "failed to write session.json of the run");
        }
    }

    /// Starts the tree, and opens the way to the runtime where the network is hidden.
    pub(super) async fn contain(
        &self,
        plan: &Plan,
        prepared: &Preparation,
        request: &ConfinementRequest,
        early: Option<EarlyLaunch>,
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
            limits: confine::resource_limits(&request, &plan.descriptor),
        };
        let tree = ProcessTree::start_with(&options, early)
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
        component: &AdapterComponent,
        options: &RunOptions,
    ) -> Result<Preparation, RunError> {
        check_apart(&options.runs, &plan.workspace)?;
        let redactor = Redactor::new(plan.secret.iter().map(|secret| secret.expose().as_bytes()))?;
        let programs: Vec<PlannedProgram> = plan
            .programs
            .iter()
            .map(|(name, path)| {
                let sha256 = program_digest(path, self.program_memory.as_deref()).ok();
                (name.clone(), path.clone(), sha256)
            })
            .collect();
        let write_plan = |folder: &RunFolder, staged: &Path| {
            let resources = confine::resource_limits(&options.confinement, &plan.descriptor);
            let planned = Planned {
                plan,
                component,
                programs: &programs,
                resources,
                keep_agent_home: options.keep_home,
            };
            let record = PlanRecord::new(&planned, folder, &redactor)?;
            // Not made to survive a power failure, as nothing is that the run records before
            // its result: it would cost every run more than all its other files.
            crate::files::write_json(&staged.join("plan.json"), &record)?;
            Ok(record)
        };
        let made = RunFolder::create_with(&options.runs, write_plan);
        let (folder, record) = made.map_err(|error| RunError::OutputFolder {
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
        Ok(Preparation {
            folder,
            before: laid_out.before,
            variant: laid_out.variant,
            attachments: laid_out.attachments,
            warnings: laid_out.warnings,
            redactor,
            record,
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
            written: vec![
                prepared.before.workspace.clone(),
                folder.agent_home(),
                folder.scratch(),
            ],
            reserve: folder.reserve(),
        })
    }
}

/// A panic while waiting is no reason to lose the run's result.
async fn wait_for_end(ending: &mut Option<tokio::task::JoinHandle<()>>) {
    if let Some(ending) = ending.take()
        && let Err(error) = ending.await
    {
        tracing::warn!(%error, "failed to wait for the end of the process tree");
    }
}

/// A run inside the workspace would be copied into itself, for ever.
pub(super) fn check_apart(runs: &Path, workspace: &Path) -> Result<(), RunError> {
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
