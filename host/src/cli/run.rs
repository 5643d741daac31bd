//! `akbench run`: an adapter file, named directly.

use super::run_args::RunArgs;
use super::{CliError, folders};
use crate::registry::{AgentDescriptor, Registry};
use clap::Args;
use std::path::{Path, PathBuf};

/// Run an agent through an adapter file.
#[derive(Debug, Args)]
pub struct RunCommand {
    /// The adapter, a WebAssembly component
    #[arg(long, value_name = "FILE")]
    adapter: PathBuf,

    /// The agent's descriptor [default: the registry's for an adapter of this file name]
    #[arg(long, value_name = "FILE")]
    descriptor: Option<PathBuf>,

    #[command(flatten)]
    run: RunArgs,
}

impl RunCommand {
    pub fn execute(self) -> Result<u8, CliError> {
        let registry = folders::registry(&self.run.descriptors, self.run.needs_registry())?;
        folders::report_overrides(&registry);
        let adapter = folders::adapter_file(&self.adapter, &registry);
        check_exists(&adapter)?;
        let descriptor = match &self.descriptor {
            Some(path) => AgentDescriptor::load(path)?,
            None => descriptor_of(&adapter, &registry)?,
        };
        self.run.execute(&registry, descriptor, &adapter)
    }
}

/// Said first: a missing file explains a missing descriptor.
pub(super) fn check_exists(adapter: &Path) -> Result<(), CliError> {
    match std::fs::metadata(adapter) {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Ok(_) => Err(CliError::usage(format!(
            "the adapter `{}` is no regular file: `--adapter` expects a WebAssembly component",
            adapter.display()
        ))),
        Err(error) => Err(CliError::usage(format!(
            "the adapter `{}` can't be read: {error}; `--adapter` expects a WebAssembly component",
            adapter.display()
        ))),
    }
}

pub(super) fn descriptor_of(
    adapter: &Path,
    registry: &Registry,
) -> Result<AgentDescriptor, CliError> {
    let name = adapter
        .file_name()
        .map(|name| name.to_string_lossy())
        .unwrap_or_default();
    let found = registry.agent_for_component(&name);
    found.cloned().map_err(|error| {
        CliError::usage(format!(
            "the adapter `{}` has no descriptor: {error}",
            adapter.display()
        ))
    })
}
