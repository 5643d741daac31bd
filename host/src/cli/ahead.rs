//! What can be done on another thread while the descriptors are read: the engine is set up,
//! an adapter that was named by its file is loaded, and a supervisor whose containment depends
//! on nothing of the run is started.

use super::{CliError, folders};
use crate::process::launch::{Containment, EarlyLaunch};
use crate::registry::{Extent, Registry};
use crate::sandbox::component::{AdapterComponent, LoadError};
use crate::sandbox::engine::{EngineError, Sandbox};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// An adapter that was loaded, or what is wrong with its file.
pub type Loaded = Result<AdapterComponent, LoadError>;

/// Work that goes on.
pub struct Ahead {
    thread: JoinHandle<Result<Done, EngineError>>,
    use_cache: bool,
}

/// What was done.
pub struct Prepared {
    /// The engine.
    pub sandbox: Sandbox,
    /// The adapter, or what is wrong with its file.
    pub adapter: Loaded,
    /// A supervisor, if its containment was known.
    pub supervisor: Option<EarlyLaunch>,
}

struct Done {
    sandbox: Sandbox,
    supervisor: Option<EarlyLaunch>,
    /// The file and what came of it; `None` if none was named, or if its catalog can't be
    /// read, which is reported by whoever reads all descriptors.
    adapter: Option<(PathBuf, Loaded)>,
}

impl Ahead {
    /// Begins. `named` is an adapter as a person named it, `descriptors` the folders that
    /// were given on the command line.
    pub fn start(
        named: Option<&Path>,
        descriptors: &[PathBuf],
        use_cache: bool,
        containment: Option<Containment>,
    ) -> Self {
        let named = named.map(Path::to_owned);
        let sources = folders::sources(descriptors);
        let thread = std::thread::spawn(move || {
            let supervisor = containment.and_then(|containment| {
                let program = folders::own_program().ok()?;
                Some(EarlyLaunch::start(&program, containment))
            });
            let sandbox = Sandbox::new()?;
            let adapter = named.and_then(|named| {
                // A catalog may pin the file's digest, and turns a bare name into a file.
                let catalog = Registry::load_parts(&sources, Extent::Catalog).ok()?;
                let file = folders::adapter_file(&named, &catalog);
                let loaded = folders::load_adapter(&file, &catalog, &sandbox, use_cache);
                Some((file, loaded))
            });
            Ok(Done {
                sandbox,
                supervisor,
                adapter,
            })
        });
        Self { thread, use_cache }
    }

    /// What was done, with this adapter: the one that was loaded ahead, or loaded now.
    ///
    /// # Errors
    ///
    /// If the engine can't be set up. What is wrong with the adapter's file is in what is
    /// returned, because it is reported with all that is wrong otherwise.
    pub fn finish(self, adapter: &Path, registry: &Registry) -> Result<Prepared, CliError> {
        let done = match self.thread.join() {
            Ok(done) => done?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let adapter = match done.adapter {
            Some((file, loaded)) if file == adapter => loaded,
            _ => folders::load_adapter(adapter, registry, &done.sandbox, self.use_cache),
        };
        Ok(Prepared {
            sandbox: done.sandbox,
            adapter,
            supervisor: done.supervisor,
        })
    }
}
