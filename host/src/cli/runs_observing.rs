//! What `runs recover` and `runs reparse` share: an adapter that observes again.

use super::{CliError, folders};
use crate::registry::{Extent, Registry};
use crate::runs::Tools;
use crate::sandbox::engine::Sandbox;
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct Observing {
    /// The adapter to observe with, a WebAssembly component
    #[arg(long, value_name = "FILE")]
    adapter: Option<PathBuf>,

    /// A folder with more descriptors; later ones win
    #[arg(long = "descriptors", value_name = "DIR")]
    descriptors: Vec<PathBuf>,

    /// Compile the adapter anew
    #[arg(long)]
    no_cache: bool,
}

impl Observing {
    pub fn registry(&self) -> Result<Registry, CliError> {
        let registry = folders::registry(&self.descriptors, Extent::WithoutTasks)?;
        folders::report_overrides(&registry);
        Ok(registry)
    }

    pub fn with_tools<T>(
        &self,
        registry: &Registry,
        work: impl FnOnce(&Tools<'_>) -> T,
    ) -> Result<T, CliError> {
        let sandbox = Sandbox::new()?;
        let attestations = folders::attestations();
        let load = |file: &Path| {
            folders::load_adapter(file, registry, &sandbox, !self.no_cache)
                .map_err(|error| error.to_string())
        };
        let adapter = self
            .adapter
            .as_ref()
            .map(|named| folders::adapter_file(named, registry));
        if let Some(adapter) = &adapter {
            super::run::check_exists(adapter)?;
        }
        let tools = Tools {
            sandbox: sandbox.clone(),
            registry,
            attestations: &attestations,
            adapter,
            load: &load,
        };
        Ok(work(&tools))
    }
}

/// Observing needs timers and nothing else.
pub fn block_on<F: Future>(work: F) -> Result<F::Output, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| CliError::System {
            action: "start the asynchronous runtime",
            error,
        })?;
    let output = runtime.block_on(work);
    // A FIFO that an adapter opened may hold a thread for ever; nobody waits for it.
    runtime.shutdown_timeout(std::time::Duration::from_millis(100));
    Ok(output)
}
