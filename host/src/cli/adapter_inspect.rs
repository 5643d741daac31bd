//! `akbench adapter inspect`: what an adapter file is, and what it may do.

use super::table::{Page, table};
use super::wording::list;
use super::{CliError, folders, output};
use crate::attestation::{Attested, Standing};
use crate::registry::{AgentDescriptor, Extent, Registry};
use crate::sandbox::authority::{self, Authority};
use crate::sandbox::component::AdapterComponent;
use crate::sandbox::engine::Sandbox;
use crate::sandbox::limits::DEFAULT_MEMORY;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Show what an adapter file is and what it may do. Nothing of it is run.
#[derive(Debug, Args)]
pub struct InspectAdapter {
    /// The adapter, a WebAssembly component
    #[arg(value_name = "FILE")]
    adapter: PathBuf,

    /// The agent's descriptor [default: the registry's for an adapter of this file name]
    #[arg(long, value_name = "FILE")]
    descriptor: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// A folder with more descriptors; later ones win
    #[arg(long = "descriptors", value_name = "DIR")]
    descriptors: Vec<PathBuf>,
}

struct Inspection<'a> {
    component: AdapterComponent,
    imports: Vec<Authority>,
    /// As the catalog names it; `None` if no catalog lists the file.
    adapter_id: Option<String>,
    /// Whether the catalog names the digest.
    pinned: bool,
    /// Or why there is none.
    descriptor: Result<&'a AgentDescriptor, String>,
}

impl InspectAdapter {
    pub fn execute(self) -> Result<u8, CliError> {
        let registry = folders::registry(&self.descriptors, Extent::WithoutTasks)?;
        folders::report_overrides(&registry);
        let file = folders::adapter_file(&self.adapter, &registry);
        let component = folders::load_adapter(&file, &registry, &Sandbox::new()?, true)?;
        let named = match &self.descriptor {
            Some(path) => Some(AgentDescriptor::load(path)?),
            None => None,
        };
        let entry = registry.entry_of_file(&file);
        let inspection = Inspection {
            imports: authority::of(&component.imports),
            adapter_id: entry.map(|entry| entry.id.to_string()),
            pinned: entry.is_some_and(|entry| entry.sha256.is_some()),
            descriptor: match &named {
                Some(descriptor) => Ok(descriptor),
                None => descriptor_of(&component, &registry),
            },
            component,
        };
        if self.json {
            output::json(&inspection.document())?;
        } else {
            output::text(&inspection.page())?;
        }
        Ok(0)
    }
}

fn descriptor_of<'a>(
    component: &AdapterComponent,
    registry: &'a Registry,
) -> Result<&'a AgentDescriptor, String> {
    let name = component.path.file_name().unwrap_or_default();
    registry
        .agent_for_component(&name.to_string_lossy())
        .map_err(|error| error.to_string())
}

impl Inspection<'_> {
    /// What the contract suite found; `None` without a descriptor, or if it was not run.
    fn attested(&self) -> Option<Standing> {
        let standing = folders::attestations().standing(&Attested {
            component_sha256: self.component.sha256,
            descriptor_sha256: self.descriptor.as_ref().ok()?.digest,
            contract: self.component.contract_name(),
        });
        (standing != Standing::NotRun).then_some(standing)
    }

    fn document(&self) -> Value {
        let component = &self.component;
        json!({
            "schema": "akbench.adapter-inspection/1",
            "file": component.path,
            "bytes": component.bytes,
            "sha256": component.sha256,
            "contract": contract(component),
            "catalog": self.adapter_id.as_ref().map(|id| json!({"adapter": id, "pinned": self.pinned})),
            "imports": self.imports,
            "descriptor": self.descriptor.as_ref().ok().map(|descriptor| grants(descriptor)),
            "attestation": self.attested().map(attestation_word),
        })
    }

    fn page(&self) -> String {
        let component = &self.component;
        let mut page = Page::default();
        page.row("adapter", component.path.display().to_string());
        page.row("contract", contract(component));
        page.row("sha256", component.sha256.to_string());
        page.row("size", format!("{} bytes", component.bytes));
        page.row(
            "catalog",
            match &self.adapter_id {
                Some(id) if self.pinned => format!("{id}, with this sha256"),
                Some(id) => format!("{id}, with any sha256"),
                None => "not listed".to_owned(),
            },
        );
        page.row(
            "attestation",
            self.attested().map_or("none", attestation_word),
        );
        match &self.descriptor {
            Ok(descriptor) => descriptor_rows(&mut page, descriptor),
            Err(reason) => {
                page.section("without a descriptor this adapter can start nothing:");
                page.block(reason);
            }
        }
        page.section("what it imports:");
        let rows = self.imports.iter().map(|import| {
            let granted = if import.granted { "yes" } else { "no" };
            [
                granted.to_owned(),
                import.import.clone(),
                import.meaning.to_owned(),
            ]
        });
        page.block(&table(["gives", "import", "meaning"], rows));
        page.finish()
    }
}

fn contract(component: &AdapterComponent) -> String {
    format!("akbench:agent@{}", component.contract)
}

fn program_names(descriptor: &AgentDescriptor) -> Vec<&str> {
    let programs = descriptor.programs.iter();
    programs.map(|program| program.name.as_str()).collect()
}

fn memory(descriptor: &AgentDescriptor) -> u64 {
    descriptor
        .limits
        .adapter_memory_bytes
        .unwrap_or(DEFAULT_MEMORY)
}

fn grants(descriptor: &AgentDescriptor) -> Value {
    json!({
        "file": descriptor.origin,
        "sha256": descriptor.digest,
        "agent": descriptor.id,
        "version": descriptor.version,
        "programs": program_names(descriptor),
        "environment": descriptor.environment,
        "home_variable": descriptor.home.environment,
        "evidence": descriptor.evidence,
        "memory_bytes": memory(descriptor),
    })
}

fn descriptor_rows(page: &mut Page, descriptor: &AgentDescriptor) {
    let programs = program_names(descriptor);
    page.section(&format!(
        "this adapter acts with the authority of: {}",
        list(&programs, "no program")
    ));
    page.row(
        "descriptor",
        format!(
            "{}@{}, {}",
            descriptor.id,
            descriptor.version,
            descriptor.origin.display()
        ),
    );
    page.row("programs", list(&programs, "none"));
    page.row("variables", list(&descriptor.environment, "none"));
    page.row(
        "home",
        format!("a private one, in {}", descriptor.home.environment),
    );
    page.row(
        "evidence",
        list(&descriptor.evidence, "nothing of the home"),
    );
    page.row("memory", format!("{} MiB", memory(descriptor) >> 20));
}

fn attestation_word(standing: Standing) -> &'static str {
    match standing {
        Standing::Passed(rung) => rung.as_str(),
        Standing::Failed => "failed",
        Standing::NotRun => "not run",
    }
}
