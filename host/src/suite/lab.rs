//! What all cases share: the adapter, its descriptor, the recordings, and a folder to work in.

use super::case::{Unproven, could_not, failed, not_applicable};
use super::cases::operations::Walk;
use super::hand::Hand;
use super::place::{Binding, Place, Player};
use super::real_agent::{RealAgent, Role, Staged};
use super::scenario::Scenario;
use super::stub_folder::StubFolder;
use crate::contract::observed::Observations;
use crate::contract::v0_1::Task;
use crate::process::launch::Containment;
use crate::process::resources::limit::ResourceLimits;
use crate::process::tree::{ProcessTree, TreeOptions};
use crate::registry::{AgentDescriptor, Capability, Support};
use crate::runner::drive::{Driven, SessionSetup, drive, validate};
use crate::runner::limits::RunLimits;
use crate::runner::replay::{ReplayError, ReplaySetup, Replayed, replay};
use crate::runner::stop::{StopSignal, stop_pair};
use crate::sandbox::component::AdapterComponent;
use crate::sandbox::engine::Sandbox;
use crate::sandbox::limits::DEFAULT_MEMORY;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::sync::OnceCell;

/// The instruction of cases that are not about instructions.
pub const INSTRUCTION: &str = "Write hi to out.txt.\n";

/// More than any buffer, and with a quarter more of it than the longest line that adapters keep.
const FLOOD_BYTES: u64 = 16 << 20;

/// More than any recording has.
const QUICK_FLOOD_BYTES: u64 = 64 << 10;

/// No limit: the recording ends by itself.
pub const NO_LIMITS: RunLimits = RunLimits {
    time: None,
    idle: None,
};

tokio::task_local! {
    /// The name of the case at work.
    pub static CASE: String;
}

/// What is tested, and with what.
pub struct Subject {
    /// The wasm engine.
    pub sandbox: Sandbox,
    /// The adapter.
    pub component: AdapterComponent,
    /// The agent that it is for.
    pub descriptor: AgentDescriptor,
    /// The akbench binary, which becomes the supervisor of each process tree.
    pub supervisor: PathBuf,
    /// The recordings; `None` if none were supplied.
    pub stub: Option<StubFolder>,
    /// The stub's own file; needed for recordings.
    pub stub_program: Option<PathBuf>,
    /// The agent's own program, and how it is tested; `None` if only recordings are played.
    pub real: Option<RealAgent>,
}

/// A session in which the agent completed its task, and nothing was varied.
pub struct Completed {
    /// Where.
    pub place: Place,
    /// What was observed.
    pub observed: Observations,
}

/// A subject, and room to work.
pub struct Lab {
    subject: Subject,
    folder: TempDir,
    /// The stub beside the places, so that it can be hard-linked into them.
    stub_program: Option<PathBuf>,
    /// Everything that was observed, by case.
    seen: RefCell<Vec<(String, Observations)>>,
    walk: OnceCell<Walk>,
    completed: OnceCell<Result<Completed, Unproven>>,
    flood_bytes: u64,
    uses_namespaces: bool,
}

impl Lab {
    /// Makes room in the folder for temporary files.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn new(subject: Subject) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("akbench-suite-")
            .tempdir()?;
        // Copied once and before any process is forked: a program that some process still
        // has open for writing can't be started.
        let stub_program = match &subject.stub_program {
            Some(program) => {
                let copy = folder.path().join("stub");
                fs::copy(program, &copy)?;
                Some(copy)
            }
            None => None,
        };
        Ok(Self {
            subject,
            folder,
            stub_program,
            seen: RefCell::default(),
            walk: OnceCell::new(),
            completed: OnceCell::new(),
            flood_bytes: FLOOD_BYTES,
            uses_namespaces: true,
        })
    }

    /// With smaller floods and without namespaces, for a test of the suite itself, which runs
    /// it a hundred times. Nothing that this shows of an adapter is worth an attestation.
    pub fn quick(mut self) -> Self {
        self.flood_bytes = QUICK_FLOOD_BYTES;
        self.uses_namespaces = false;
        self
    }

    /// About how much a flood is, in bytes.
    pub fn flood_bytes(&self) -> u64 {
        self.flood_bytes
    }

    /// What is tested.
    pub fn descriptor(&self) -> &AgentDescriptor {
        &self.subject.descriptor
    }

    /// The descriptor's claim.
    pub fn supports(&self, capability: Capability) -> bool {
        self.descriptor().capabilities.support(capability) == Support::Supported
    }

    /// The recordings.
    ///
    /// # Errors
    ///
    /// Not applicable if there are none.
    pub fn recordings(&self) -> Result<&StubFolder, Unproven> {
        if self.descriptor().programs.is_empty() {
            return Err(not_applicable("the descriptor grants no program"));
        }
        self.subject.stub.as_ref().ok_or_else(|| {
            not_applicable("there are no recordings of the agent's program: pass `--stub FOLDER`")
        })
    }

    /// True if the rest can't be tested for lack of recordings.
    pub fn lacks_recordings(&self) -> bool {
        !self.descriptor().programs.is_empty() && self.subject.stub.is_none()
    }

    /// A place whose agent plays this scenario.
    ///
    /// # Errors
    ///
    /// If it can't be made.
    pub fn stage(&self, scenario: &Scenario) -> Result<Place, Unproven> {
        let stub = self
            .stub_program
            .as_deref()
            .ok_or_else(|| failed("the suite was given recordings, but no stub to play them"))?;
        self.make_place(&Player::Stub(stub, scenario), self.recorded_parameters())
    }

    /// A place in which the agent completes its task: recorded, or simulated where the
    /// descriptor grants no program.
    ///
    /// # Errors
    ///
    /// Not applicable if a recording is needed and there is none.
    pub fn completing(&self) -> Result<Place, Unproven> {
        if self.descriptor().programs.is_empty() {
            return self.empty();
        }
        self.stage(&self.recordings()?.completes.scenario)
    }

    /// A place without a program.
    ///
    /// # Errors
    ///
    /// If it can't be made.
    pub fn empty(&self) -> Result<Place, Unproven> {
        self.make_place(&Player::Nobody, self.recorded_parameters())
    }

    fn recorded_parameters(&self) -> Map<String, Value> {
        let stub = self.subject.stub.as_ref();
        stub.map(|stub| stub.parameters.clone()).unwrap_or_default()
    }

    /// The agent's own program.
    ///
    /// # Errors
    ///
    /// Not applicable if it was not given.
    pub fn real(&self) -> Result<&RealAgent, Unproven> {
        self.subject.real.as_ref().ok_or_else(|| {
            not_applicable("the agent's own program is not tested: pass `--cli FILE`")
        })
    }

    /// A place for the agent's own program, whose endpoint plays the script of this role.
    ///
    /// # Errors
    ///
    /// If it can't be made, or the endpoint does not start.
    pub async fn stage_real(&self, role: &Role) -> Result<Staged, Unproven> {
        let real = self.real()?;
        let endpoint = real.start_endpoint(role, self.folder.path()).await?;
        let model = real.suite.model.clone();
        let binding = match &endpoint {
            Some(endpoint) => {
                Binding::with_canary(self.descriptor(), endpoint.base_url.clone(), model)?
            }
            None => None,
        };
        let player = Player::Real(&real.program, binding.as_ref());
        let place = self.make_place(&player, real.suite.parameters.clone())?;
        Ok(Staged { place, endpoint })
    }

    /// A place for the agent's own program at the endpoint that a person named.
    ///
    /// # Errors
    ///
    /// Not applicable if none was named.
    pub fn stage_live(&self) -> Result<Place, Unproven> {
        let real = self.real()?;
        let live = real.live.as_ref().ok_or_else(|| {
            not_applicable("no real endpoint is asked: pass `--live` and `--runtime NAME`")
        })?;
        let player = Player::Real(&real.program, Some(live));
        self.make_place(&player, real.suite.parameters.clone())
    }

    fn make_place(
        &self,
        player: &Player<'_>,
        parameters: Map<String, Value>,
    ) -> Result<Place, Unproven> {
        let runs = self.folder.path().join("runs");
        Place::new(&runs, self.descriptor(), &parameters, player)
    }

    fn memory_bytes(&self) -> u64 {
        let asked = self.descriptor().limits.adapter_memory_bytes;
        asked.unwrap_or(DEFAULT_MEMORY)
    }

    /// Starts a process tree, confined as in a run.
    ///
    /// # Errors
    ///
    /// If none can be started.
    async fn tree(&self, place: &Place) -> Result<Arc<ProcessTree>, Unproven> {
        let options = TreeOptions {
            supervisor: self.subject.supervisor.clone(),
            attempts: match self.uses_namespaces {
                true => place.containments(),
                false => vec![Containment::SubReaper],
            },
            limits: ResourceLimits::NONE,
        };
        let tree = ProcessTree::start(&options).await;
        tree.map(Arc::new)
            .map_err(could_not("start a process tree"))
    }

    /// Drives a whole session as a run does.
    ///
    /// # Errors
    ///
    /// If it can't be begun. What the adapter does wrong is in the outcome.
    pub async fn drive(
        &self,
        place: &Place,
        instruction: &str,
        limits: RunLimits,
        stop: StopSignal,
    ) -> Result<Driven, Unproven> {
        let setup = self.setup(place, instruction, limits, stop).await?;
        let driven = drive(&setup).await;
        if let Some(observations) = &driven.observations {
            self.remember(observations);
        }
        Ok(driven)
    }

    /// Validates the environment as a run does, and does nothing else.
    ///
    /// # Errors
    ///
    /// If it can't be begun. What the adapter does wrong is in the outcome.
    pub async fn validate(&self, place: &Place) -> Result<Driven, Unproven> {
        let (_handle, stop) = stop_pair();
        let setup = self.setup(place, INSTRUCTION, NO_LIMITS, stop).await?;
        Ok(validate(&setup).await)
    }

    async fn setup(
        &self,
        place: &Place,
        instruction: &str,
        limits: RunLimits,
        stop: StopSignal,
    ) -> Result<SessionSetup, Unproven> {
        Ok(SessionSetup {
            sandbox: self.subject.sandbox.clone(),
            component: self.subject.component.clone(),
            memory_bytes: self.memory_bytes(),
            grants: Arc::clone(&place.grants),
            home_evidence: self.descriptor().evidence.clone(),
            tree: self.tree(place).await?,
            redactor: place.redactor.clone(),
            journal: Arc::clone(&place.journal),
            audit: Arc::clone(&place.audit),
            config: place.config.clone(),
            task: task(instruction, limits),
            limits,
            stop,
            written: Vec::new(),
            reserve: place.folder.reserve(),
        })
    }

    /// As [`Lab::drive`], without limits, and it has to go without a fault.
    ///
    /// # Errors
    ///
    /// If the adapter breaks, or an operation fails.
    pub async fn drive_well(&self, place: &Place) -> Result<(Driven, Observations), Unproven> {
        let (_handle, stop) = stop_pair();
        let driven = self.drive(place, INSTRUCTION, NO_LIMITS, stop).await?;
        let observations = whole(&driven)?;
        Ok((driven, observations))
    }

    /// The operations one by one.
    ///
    /// # Errors
    ///
    /// If the adapter can't be instantiated.
    pub async fn hand(&self, place: &Place) -> Result<Hand, Unproven> {
        let tree = self.tree(place).await?;
        let subject = &self.subject;
        let memory_bytes = self.memory_bytes();
        let evidence = &self.descriptor().evidence;
        let component = &subject.component.component;
        Hand::new(
            &subject.sandbox,
            component,
            memory_bytes,
            place,
            tree,
            evidence,
        )
        .await
    }

    /// Observes evidence in a fresh instance that has nothing else.
    ///
    /// # Errors
    ///
    /// If the adapter breaks or can't observe.
    pub async fn replay(&self, evidence: &Path) -> Result<Replayed, Unproven> {
        let place = self.empty()?.with_evidence(evidence);
        let setup = ReplaySetup {
            sandbox: self.subject.sandbox.clone(),
            component: self.subject.component.clone(),
            memory_bytes: self.memory_bytes(),
            grants: Arc::clone(&place.grants),
            redactor: place.redactor.clone(),
            journal: Arc::clone(&place.journal),
            audit: Arc::clone(&place.audit),
            config: place.config.clone(),
        };
        let replayed = replay(&setup).await.map_err(|error| match error {
            ReplayError::Fault(fault) => failed(format!("in replay {}", fault.failure.message)),
            ReplayError::Failed(failure) => failed(format!("replay failed: {}", failure.message)),
        })?;
        self.remember(&replayed.observations);
        Ok(replayed)
    }

    /// A folder for a case's own files.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn scratch(&self) -> Result<TempDir, Unproven> {
        tempfile::tempdir_in(self.folder.path()).map_err(could_not("make a folder"))
    }

    /// Keeps what was observed, for the case that looks at all of it.
    pub fn remember(&self, observations: &Observations) {
        let case = CASE.try_with(Clone::clone).unwrap_or_default();
        self.seen.borrow_mut().push((case, observations.clone()));
    }

    /// Everything that was observed so far, by case.
    pub fn seen(&self) -> Vec<(String, Observations)> {
        self.seen.borrow().clone()
    }

    /// The completed work, done once for all cases that change nothing about it.
    ///
    /// # Errors
    ///
    /// If the adapter breaks, or an operation fails.
    pub async fn completed(&self) -> Result<&Completed, Unproven> {
        let observing = self.completed.get_or_init(|| async {
            let place = self.completing()?;
            let (_, observed) = self.drive_well(&place).await?;
            Ok(Completed { place, observed })
        });
        observing.await.as_ref().map_err(Clone::clone)
    }

    /// The eight operations in their order, once.
    pub async fn walk(&self) -> &Walk {
        self.walk.get_or_init(|| Walk::through(self)).await
    }
}

/// The task of a case.
pub fn task(instruction: &str, limits: RunLimits) -> Task {
    Task {
        id: "akbench-suite".to_owned(),
        instruction: instruction.to_owned(),
        attachments: Vec::new(),
        time_limit: limits.time,
    }
}

/// The observations of a session in which nothing broke.
///
/// # Errors
///
/// If something did.
pub fn whole(driven: &Driven) -> Result<Observations, Unproven> {
    no_fault(driven)?;
    if let Some((phase, failure)) = &driven.failed {
        let (class, message) = (&failure.class, &failure.message);
        return Err(failed(format!("{phase:?} failed ({class:?}): {message}")));
    }
    driven
        .observations
        .clone()
        .ok_or_else(|| failed("nothing was observed"))
}

/// Nothing broke, and nothing is left.
///
/// # Errors
///
/// If something did, or is.
pub fn no_fault(driven: &Driven) -> Result<(), Unproven> {
    if let Some(fault) = &driven.fault {
        return Err(failed(fault.failure.message.clone()));
    }
    let mut violations = driven.violations.iter().chain(&driven.observed_violations);
    if let Some(violation) = violations.next() {
        return Err(failed(format!("the contract was broken: {violation}")));
    }
    if let Some(failure) = &driven.recording_failure {
        return Err(failed(format!("evidence was lost: {}", failure.message)));
    }
    match driven.census {
        Some(census) if census.survivors > 0 => {
            Err(failed(format!("{} processes survived", census.survivors)))
        }
        _ => Ok(()),
    }
}
