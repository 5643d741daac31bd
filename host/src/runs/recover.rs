//! Completing the record of a run whose host died, at whatever instant that was.
//!
//! Nothing that was observed is lost and nothing is made up: the evidence stays byte for byte,
//! what it shows is derived as in any other run, and what nobody saw is `null`.

use super::interpreter::{Interpreter, Tools};
use super::still_alive::wait_until_gone;
use super::stored::{RunState, StoredRun, read};
use super::timeline::{Timeline, timeline};
use super::trail::{Trail, trail};
use crate::contract::observed::Phase;
use crate::process::redaction::Redactor;
use crate::registry::{AgentDescriptor, Secret};
use crate::runner::assemble::assemble;
use crate::runner::changes::{self, Before};
use crate::runner::collect::{copy_home_evidence, files_below, list_artifacts};
use crate::runner::drive::{Driven, StopCause};
use crate::runner::masking::masked;
use crate::runner::plan::HostEnvironment;
use crate::runner::plan_record::PlanRecord;
use crate::runner::result::{HomeEvidence, Recovery, RunResult, WorkspaceRecord};
use crate::runner::run_folder::{RunFolder, unfinished};
use crate::runner::run_lock::RunLock;
use crate::runner::session_record::SessionRecord;
use crate::runner::validity;
use crate::runner::workspace::Snapshot;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where a workspace that is in use is kept as it was before the run.
const BEFORE: &str = "workspace-before";

/// What became of a run.
#[derive(Debug)]
pub enum Recovered {
    /// Its record was completed.
    Completed(Box<RunResult>),
    /// It had a result, and something that its host had not come to remove.
    Cleaned,
    /// There was nothing to do.
    Nothing,
    /// Its host is alive; it was not touched.
    Running,
}

/// Why a run could not be recovered, in words. What is there of it is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotRecovered(String);

impl From<io::Error> for NotRecovered {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

/// Removes what hosts left that died while they made a run's folder: nothing of it had begun.
///
/// # Errors
///
/// What the system says.
pub fn remove_unfinished(runs: &Path) -> io::Result<Vec<PathBuf>> {
    let folders = unfinished(runs)?;
    for folder in &folders {
        fs::remove_dir_all(folder)?;
    }
    Ok(folders)
}

/// Completes the record of a run if its host is dead. May be repeated; a run whose agent's home
/// could not be masked for want of the credential is completed once that is there.
///
/// # Errors
///
/// If its plan can't be read, if something of it is still alive, or if the system refuses.
pub async fn recover(
    run: &StoredRun,
    tools: &Tools<'_>,
    environment: &dyn HostEnvironment,
    keep_home: bool,
) -> Result<Recovered, NotRecovered> {
    let folder = RunFolder::existing(&run.id, &run.folder.canonicalize()?);
    let has_leftovers = folder.has_leftovers()?;
    if let RunState::Finished(result) = &run.state
        && !has_leftovers
        && !awaits_home(result, &folder)
        && !folder.pristine().exists()
    {
        // A finished run is not to be touched, not even to lock it.
        return Ok(Recovered::Nothing);
    }
    let Some(_lock) = RunLock::take(folder.path())? else {
        return Ok(Recovered::Running);
    };
    let runs = run.folder.parent().unwrap_or(Path::new("."));
    // As it is now that nobody else has it.
    let run = read(runs, run.id.clone());
    if let RunState::Unreadable(reason) = &run.state {
        return Err(NotRecovered(format!("its result can't be read: {reason}")));
    }
    let plan = match PlanRecord::load(&folder.plan()) {
        Ok(plan) => plan,
        Err(_) if matches!(run.state, RunState::Finished(_)) => {
            return clean_up(&folder, true, has_leftovers);
        }
        Err(error) => return Err(NotRecovered(error.to_string())),
    };
    let keep_home = keep_home || plan.keep_agent_home;
    let secret = Credential::find(&plan, environment);
    if let RunState::Finished(result) = &run.state
        && !(awaits_home(result, &folder) && secret.can_mask() && tools.recorded(&plan).is_ok())
    {
        if awaits_home(result, &folder) {
            folder.remove_torn_files()?;
            folder.clean_for_later()?;
            return Ok(cleaned(has_leftovers));
        }
        let has_leftovers = has_leftovers || folder.pristine().exists();
        return clean_up(&folder, keep_home, has_leftovers);
    }
    let alive = wait_until_gone(&folder.scratch().join("home"))?;
    if !alive.is_empty() {
        return Err(NotRecovered(format!(
            "its host is dead, but processes of it are still alive: {alive:?}; end them first"
        )));
    }
    Recovering::of(plan, folder, secret)?
        .complete(tools, keep_home)
        .await
        .map(|result| Recovered::Completed(Box::new(result)))
}

/// Of a run that has its result.
fn clean_up(
    folder: &RunFolder,
    keep_home: bool,
    has_leftovers: bool,
) -> Result<Recovered, NotRecovered> {
    folder.remove_torn_files()?;
    folder.clean(keep_home)?;
    Ok(cleaned(has_leftovers))
}

fn cleaned(had_leftovers: bool) -> Recovered {
    if had_leftovers {
        Recovered::Cleaned
    } else {
        Recovered::Nothing
    }
}

fn awaits_home(result: &RunResult, folder: &RunFolder) -> bool {
    let recovery = result.recovery.as_ref();
    recovery.is_some_and(|recovery| recovery.home_evidence == HomeEvidence::NotCollected)
        && folder.agent_home().is_dir()
}

/// The secret that may stand in what the dead host left.
enum Credential {
    /// The run had none.
    None,
    /// It is there.
    Known(Secret),
    /// The run had one, and it can't be had; why.
    Unknown(String),
}

impl Credential {
    fn find(plan: &PlanRecord, environment: &dyn HostEnvironment) -> Self {
        let Some(variable) = &plan.credential_variable else {
            return Self::None;
        };
        let text = environment.text(variable).filter(|text| !text.is_empty());
        let Some(text) = text else {
            return Self::Unknown(format!("the environment variable `{variable}` is not set"));
        };
        Secret::new(variable, text)
            .map_or_else(|error| Self::Unknown(error.to_string()), Self::Known)
    }

    fn can_mask(&self) -> bool {
        !matches!(self, Self::Unknown(_))
    }

    fn redactor(&self) -> Result<Redactor, NotRecovered> {
        let secret = match self {
            Self::Known(secret) => Some(secret.expose().as_bytes()),
            Self::None | Self::Unknown(_) => None,
        };
        Redactor::new(secret).map_err(|error| NotRecovered(error.to_string()))
    }
}

/// A dead run that this process has the lock of.
struct Recovering {
    plan: PlanRecord,
    folder: RunFolder,
    credential: Credential,
    redactor: Redactor,
    timeline: Timeline,
    trail: Trail,
    warnings: Vec<String>,
}

impl Recovering {
    fn of(
        plan: PlanRecord,
        folder: RunFolder,
        credential: Credential,
    ) -> Result<Self, NotRecovered> {
        Ok(Self {
            redactor: credential.redactor()?,
            timeline: timeline(folder.path())?,
            trail: trail(folder.path())?,
            plan,
            folder,
            credential,
            warnings: Vec::new(),
        })
    }

    async fn complete(
        mut self,
        tools: &Tools<'_>,
        keep_home: bool,
    ) -> Result<RunResult, NotRecovered> {
        self.folder.remove_torn_files()?;
        let session = SessionRecord::load(&self.folder.session()).unwrap_or_else(|error| {
            self.warn(format!("session.json can't be used: {error}"));
            None
        });
        let copied = session.is_some();
        let mut driven = match session {
            Some(session) => session.into_driven(),
            None => self.driven_until_death()?,
        };
        let interpreter = match tools.recorded(&self.plan) {
            Ok(interpreter) => Some(interpreter),
            Err(reason) => {
                self.warn(format!("nothing was observed again: {reason}"));
                None
            }
        };
        let home = if copied {
            HomeEvidence::Collected
        } else {
            let descriptor = interpreter.as_ref().map(|it| &it.descriptor);
            self.collect_home(descriptor, &mut driven)?
        };
        if home != HomeEvidence::NotCollected {
            // From here on it is observed again like any other run.
            let session = masked(&SessionRecord::of(&driven), &self.redactor)
                .map_err(|error| NotRecovered(error.to_string()))?;
            crate::files::write_json_durably(&self.folder.session(), &session)?;
        }
        if let Some(interpreter) = &interpreter {
            self.warnings.extend(interpreter.notes.iter().cloned());
            let artifacts = self.folder.adapter_artifacts();
            let (plan, folder) = (&self.plan, &self.folder);
            tools
                .observe(
                    interpreter,
                    plan,
                    folder,
                    &artifacts,
                    &self.redactor,
                    &mut driven,
                )
                .await?;
        }
        let result = self.result(tools, interpreter.as_ref(), &driven, home)?;
        crate::files::write_json_durably(&self.folder.result(), &result)?;
        let was_ready = self.trail.workspace_sha256.is_some();
        if self.plan.workspace.in_place && was_ready && self.folder.pristine().is_dir() {
            fs::rename(self.folder.pristine(), self.folder.path().join(BEFORE))?;
        }
        if home == HomeEvidence::NotCollected {
            self.folder.clean_for_later()?;
        } else {
            self.folder.clean(keep_home)?;
        }
        Ok(result)
    }

    fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// What the events tell of a session whose end nobody recorded.
    fn driven_until_death(&self) -> io::Result<Driven> {
        let phase = self.timeline.last_phase().unwrap_or(Phase::Plan);
        let spawns = self.folder.evidence().join("spawns");
        let commands = files_below(&spawns)?;
        let spawned = commands
            .iter()
            .filter(|file| file.file_name().is_some_and(|name| name == "command.json"));
        let mut driven = Driven {
            submitted: self.timeline.may_have_reached_work(),
            spawned: u32::try_from(spawned.count()).unwrap_or(u32::MAX),
            stopped: Some(StopCause::HostDied(phase)),
            ..Driven::default()
        };
        driven.report.agent_version = self.timeline.agent_version().map(str::to_owned);
        Ok(driven)
    }

    /// Copies the evidence of the agent's home anew: the dead host may have been copying.
    fn collect_home(
        &mut self,
        descriptor: Option<&AgentDescriptor>,
        driven: &mut Driven,
    ) -> io::Result<HomeEvidence> {
        let home = self.folder.agent_home();
        if !home.is_dir() {
            self.warn("the agent's home is gone, and its evidence with it".to_owned());
            return Ok(HomeEvidence::Missing);
        }
        if let Credential::Unknown(reason) = &self.credential {
            let warning = format!(
                "the evidence in the agent's home was not collected, because it could not be \
                 masked: {reason}; set it to the credential that the run had and recover it again; \
                 until then the home is kept as the agent left it, in `{}`",
                home.display()
            );
            self.warn(warning);
            return Ok(HomeEvidence::NotCollected);
        }
        let Some(descriptor) = descriptor else {
            let warning = format!(
                "the evidence in the agent's home was not collected, because without the adapter \
                 and the descriptor nobody knows what it is; the home is kept in `{}`",
                home.display()
            );
            self.warn(warning);
            return Ok(HomeEvidence::NotCollected);
        };
        let staged = self.folder.path().join("recovered.tmp");
        remove_folder(&staged)?;
        crate::files::create_private_folders(&staged.join("home"))?;
        let copied = copy_home_evidence(&home, &descriptor.evidence, &staged, &self.redactor);
        driven.masks = copied?;
        let kept = self.folder.evidence().join("home");
        remove_folder(&kept)?;
        fs::rename(staged.join("home"), &kept)?;
        remove_folder(&staged)?;
        Ok(HomeEvidence::Collected)
    }

    fn result(
        &mut self,
        tools: &Tools<'_>,
        interpreter: Option<&Interpreter>,
        driven: &Driven,
        home_evidence: HomeEvidence,
    ) -> Result<RunResult, NotRecovered> {
        let confinement = self.trail.confinement.clone().unwrap_or_default();
        let workspace = self.workspace()?;
        let mut result = assemble(&self.plan, driven, confinement, &self.warnings);
        result.workspace = workspace;
        let last = self.timeline.last_at.max(self.trail.last_at);
        result.recovery = Some(Recovery {
            recovered_at: crate::clock::now(),
            akbench: env!("CARGO_PKG_VERSION").to_owned(),
            last_recorded_at: last.map(|at| format!("{at:.3}")),
            component_sha256: interpreter.map(|it| it.component.sha256),
            home_evidence,
        });
        result.artifacts = list_artifacts(&self.folder.artifacts(), driven.masks.clone())?;
        match interpreter {
            Some(it) => {
                validity::judge(&mut result, driven, &it.descriptor, tools.standing(it));
            }
            None => {
                result.invalid_reasons =
                    vec!["host_died".to_owned(), "outcome_not_observed".to_owned()];
            }
        }
        masked(&result, &self.redactor).map_err(|error| NotRecovered(error.to_string()))
    }

    /// What the agent changed, where it is certain that nobody else did.
    fn workspace(&mut self) -> io::Result<WorkspaceRecord> {
        let planned = self.plan.workspace.clone();
        let record = WorkspaceRecord {
            path: planned.path.display().to_string(),
            before_sha256: self.trail.workspace_sha256,
            ..WorkspaceRecord::default()
        };
        let Some(before_sha256) = self.trail.workspace_sha256 else {
            return Ok(record);
        };
        if planned.in_place {
            self.warn(format!(
                "what the agent changed is not known: the folder is in use since its host died; \
                 as it was before the run it is in `{}`",
                self.folder.path().join(BEFORE).display()
            ));
            return Ok(record);
        }
        if !self.credential.can_mask() {
            self.warn("the run has no workspace.diff: it could not be masked".to_owned());
            return Ok(record);
        }
        let of_task = self.plan.variant.is_some();
        let pristine = if of_task {
            self.folder.pristine()
        } else {
            planned.source.clone()
        };
        let snapshot = match Snapshot::take(&pristine) {
            Ok(snapshot) if snapshot.digest() == before_sha256 => snapshot,
            Ok(_) | Err(_) => {
                self.warn(format!(
                    "what the agent changed is not known: `{}` is not any more what the agent \
                     found",
                    pristine.display()
                ));
                return Ok(record);
            }
        };
        // The dead host may have been writing them.
        remove_folder(&self.folder.scratch())?;
        crate::files::create_private_folders(&self.folder.scratch())?;
        match fs::remove_file(self.folder.diff()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let before = Before {
            workspace: planned.path,
            pristine,
            snapshot,
        };
        let after = changes::keep(&before, &self.folder, &self.redactor);
        self.warnings.extend(after.warnings);
        Ok(after.record)
    }
}

fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
