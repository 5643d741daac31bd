//! Who reads kept evidence: an adapter and the descriptor that it belongs to.

use crate::attestation::{Attestations, Attested, Standing};
use crate::contract::grants::{Folders, Grants};
use crate::digest::Sha256;
use crate::journal::{Audit, Journal};
use crate::process::redaction::Redactor;
use crate::registry::{AgentDescriptor, Registry};
use crate::runner::drive::Driven;
use crate::runner::plan_record::PlanRecord;
use crate::runner::replay::{ReplaySetup, replay};
use crate::runner::run_folder::RunFolder;
use crate::sandbox::component::AdapterComponent;
use crate::sandbox::engine::Sandbox;
use crate::sandbox::limits::DEFAULT_MEMORY;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// With what kept evidence is observed again.
pub struct Tools<'a> {
    /// The wasm engine.
    pub sandbox: Sandbox,
    /// Descriptors and the catalog.
    pub registry: &'a Registry,
    /// What the contract suite found about adapters.
    pub attestations: &'a Attestations,
    /// The adapter to use, if a person named one.
    pub adapter: Option<PathBuf>,
    /// Loads an adapter; the error in words.
    pub load: &'a dyn Fn(&Path) -> Result<AdapterComponent, String>,
}

/// An adapter and its descriptor.
pub(super) struct Interpreter {
    pub(super) component: AdapterComponent,
    pub(super) descriptor: AgentDescriptor,
    /// How they differ from those of the run.
    pub(super) notes: Vec<String>,
}

impl Tools<'_> {
    /// The adapter and descriptor that the run itself used, by their digests, or the adapter
    /// that a person named.
    ///
    /// # Errors
    ///
    /// In words: which of them is not there.
    pub(super) fn recorded(&self, plan: &PlanRecord) -> Result<Interpreter, String> {
        let mut notes = Vec::new();
        let component = match &self.adapter {
            Some(named) => self.named(named, plan, &mut notes)?,
            None => {
                let catalog = self.registry.catalog().iter().map(|entry| &entry.path);
                let wanted = plan.agent.component_sha256;
                let file = std::iter::once(&plan.component_file)
                    .chain(catalog)
                    .find(|file| {
                        let found = Sha256::of_file(file).ok();
                        found.is_some() && found.map(|(sha256, _)| sha256) == wanted
                    });
                let file = file.ok_or_else(|| {
                    let digest = wanted.map_or_else(String::new, |sha256| format!(" {sha256}"));
                    format!(
                        "neither `{}` nor a component of the catalog has the digest{digest} of \
                         the adapter that the run used: name one with `--adapter FILE`",
                        plan.component_file.display()
                    )
                })?;
                (self.load)(file)?
            }
        };
        let descriptor = self.descriptor(plan, &mut notes)?;
        Ok(Interpreter {
            component,
            descriptor,
            notes,
        })
    }

    /// Today's adapter of the run's agent, or the one that a person named.
    ///
    /// # Errors
    ///
    /// In words: which of them is not there.
    pub(super) fn of_today(&self, plan: &PlanRecord) -> Result<Interpreter, String> {
        let mut notes = Vec::new();
        let component = match &self.adapter {
            Some(named) => self.named(named, plan, &mut notes)?,
            None => {
                let mut catalog = self.registry.catalog().iter();
                let entry = catalog.rfind(|entry| entry.id.as_str() == plan.agent.adapter);
                let entry = entry.ok_or_else(|| {
                    format!(
                        "no catalog lists the adapter `{}`: name a component with `--adapter FILE`",
                        plan.agent.adapter
                    )
                })?;
                (self.load)(&entry.path)?
            }
        };
        let spec = format!("{}@{}", plan.agent.id, plan.agent.version);
        let descriptor = match self.registry.agent(&spec) {
            Ok(descriptor) => descriptor.clone(),
            Err(_) => self.descriptor(plan, &mut notes)?,
        };
        Ok(Interpreter {
            component,
            descriptor,
            notes,
        })
    }

    fn named(
        &self,
        file: &Path,
        plan: &PlanRecord,
        notes: &mut Vec<String>,
    ) -> Result<AdapterComponent, String> {
        let component = (self.load)(file)?;
        if Some(component.sha256) != plan.agent.component_sha256 {
            notes.push(format!(
                "observed with another component than the run used, {}",
                component.sha256
            ));
        }
        Ok(component)
    }

    fn descriptor(
        &self,
        plan: &PlanRecord,
        notes: &mut Vec<String>,
    ) -> Result<AgentDescriptor, String> {
        let recorded = plan.agent.descriptor_sha256;
        let same = self.registry.agents().iter();
        if let Some(same) = same.clone().find(|agent| agent.digest == recorded) {
            return Ok(same.clone());
        }
        if let Ok(same) = AgentDescriptor::load(&plan.descriptor_file)
            && same.digest == recorded
        {
            return Ok(same);
        }
        let other = self.registry.agent(&plan.agent.id).map_err(|_| {
            format!(
                "there is no descriptor of the agent `{}` any more: add its folder with \
                 `--descriptors DIR`",
                plan.agent.id
            )
        })?;
        notes.push(format!(
            "the descriptor that the run used is not there any more; read with {}@{} from `{}`",
            other.id,
            other.version,
            other.origin.display()
        ));
        Ok(other.clone())
    }

    /// What the contract suite says about the two.
    pub(super) fn standing(&self, interpreter: &Interpreter) -> Standing {
        self.attestations.standing(&Attested {
            component_sha256: interpreter.component.sha256,
            descriptor_sha256: interpreter.descriptor.digest,
            contract: interpreter.component.contract_name(),
        })
    }

    /// Observes from the evidence alone; nothing is started. `artifacts` is where the adapter
    /// may leave files.
    ///
    /// # Errors
    ///
    /// What the system says. That the adapter can't observe is no error: `driven` says so.
    pub(super) async fn observe(
        &self,
        interpreter: &Interpreter,
        plan: &PlanRecord,
        folder: &RunFolder,
        artifacts: &Path,
        redactor: &Redactor,
        driven: &mut Driven,
    ) -> io::Result<()> {
        if !driven.submitted {
            return Ok(());
        }
        // The agent's home is the agent's: what counts of it is in the evidence.
        let empty = tempfile::tempdir()?;
        let grants = Grants {
            programs: BTreeMap::new(),
            environment: Vec::new(),
            credentials: BTreeMap::new(),
            folders: Folders {
                workspace: plan.workspace.path.clone(),
                agent_home: empty.path().to_owned(),
                artifacts: artifacts.to_owned(),
                evidence: folder.evidence(),
            },
        };
        let setup = ReplaySetup {
            sandbox: self.sandbox.clone(),
            component: interpreter.component.clone(),
            memory_bytes: interpreter
                .descriptor
                .limits
                .adapter_memory_bytes
                .unwrap_or(DEFAULT_MEMORY),
            grants: Arc::new(grants),
            redactor: redactor.clone(),
            journal: Arc::new(Journal::silent(redactor.clone())?),
            audit: Arc::new(Audit::silent(redactor.clone())?),
            config: plan.replay_config(),
        };
        driven.take_replayed(replay(&setup).await);
        Ok(())
    }
}
