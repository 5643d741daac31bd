//! Where things are on this machine.

use super::CliError;
use crate::attestation::Attestations;
use crate::registry::{Extent, Registry, Source};
use crate::runner::run::Runner;
use crate::sandbox::cache::ComponentCache;
use crate::sandbox::component::{AdapterComponent, LoadError, Pin};
use crate::sandbox::engine::Sandbox;
use std::path::{Path, PathBuf};

/// The folder `share/akbench` of this installation: beside the folder of the program, so that
/// the whole can be moved anywhere. `None` if it isn't there.
pub fn share() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("AKBENCH_SHARE") {
        return Some(PathBuf::from(path));
    }
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    let share = program.parent()?.parent()?.join("share/akbench");
    share.is_dir().then_some(share)
}

/// The cache of this user; `None` without a home.
pub fn cache() -> Option<PathBuf> {
    xdg("XDG_CACHE_HOME", ".cache")
}

/// The data of this user; `None` without a home.
pub fn data() -> Option<PathBuf> {
    xdg("XDG_DATA_HOME", ".local/share")
}

/// What the contract suite found: as installed, then as this user found it.
pub fn attestations() -> Attestations {
    let folders = [share(), data()];
    Attestations::new(
        folders
            .into_iter()
            .flatten()
            .map(|folder| folder.join("attestations")),
    )
}

fn xdg(variable: &str, below_home: &str) -> Option<PathBuf> {
    // The specification says to ignore relative paths.
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let base = std::env::var_os(variable)
        .and_then(|path| absolute(PathBuf::from(path)))
        .or_else(|| {
            let home = std::env::var_os("HOME")?;
            absolute(PathBuf::from(home)).map(|home| home.join(below_home))
        })?;
    Some(base.join("akbench"))
}

/// Reads the descriptors of all [`sources`].
pub fn registry(named: &[PathBuf], extent: Extent) -> Result<Registry, CliError> {
    Ok(Registry::load_parts(&sources(named), extent)?)
}

/// Where descriptors come from: built-in, then the user's, then the folders that were named.
/// Later ones win.
pub fn sources(named: &[PathBuf]) -> Vec<Source> {
    let mut sources = Vec::new();
    let source = |name: &str, folder: PathBuf| Source {
        name: name.to_owned(),
        folder,
    };
    if let Some(share) = share() {
        sources.push(source("built-in", share));
    }
    if let Some(data) = data().filter(|data| data.is_dir()) {
        sources.push(source("user", data));
    }
    for folder in named {
        sources.push(source("--descriptors", folder.clone()));
    }
    sources
}

/// Loads an adapter, through the cache unless that is not wanted. A file that a catalog lists
/// must have the digest that the catalog names.
pub fn load_adapter(
    file: &Path,
    registry: &Registry,
    sandbox: &Sandbox,
    use_cache: bool,
) -> Result<AdapterComponent, LoadError> {
    let pin = registry.entry_of_file(file).and_then(|entry| {
        Some(Pin {
            sha256: entry.sha256?,
            catalog: entry.origin.clone(),
        })
    });
    let folder = cache().filter(|_| use_cache);
    let cache = ComponentCache::new(folder.map(|cache| cache.join("components")));
    let component = AdapterComponent::load_pinned(file, pin.as_ref(), sandbox, &cache)?;
    if let Some(problem) = &component.cache_problem {
        eprintln!("note: {problem}");
    }
    Ok(component)
}

/// What runs share.
pub fn runner(sandbox: Sandbox, use_cache: bool) -> Result<Runner, CliError> {
    let cache = cache().filter(|_| use_cache);
    Ok(Runner {
        sandbox,
        supervisor: own_program()?,
        program_memory: cache.map(|cache| cache.join("programs.json")),
        attestations: attestations(),
    })
}

/// Tells people where a later source replaced something of an earlier one.
pub fn report_overrides(registry: &Registry) {
    for replaced in registry.overrides() {
        eprintln!(
            "note: {} `{}` comes from {} ({}), not from {}",
            replaced.kind,
            replaced.name,
            replaced.source,
            replaced.winner.display(),
            replaced.loser.display()
        );
    }
}

/// A program's own file, for the hidden mode.
pub fn own_program() -> Result<PathBuf, CliError> {
    std::env::current_exe().map_err(|error| CliError::System {
        action: "find this program's own file",
        error,
    })
}

/// A file that a person named, or the component of that name in the catalog.
pub fn adapter_file(named: &Path, registry: &Registry) -> PathBuf {
    let is_bare = named.components().count() == 1 && !named.exists();
    let in_catalog = || {
        let name = named.to_str()?;
        registry
            .catalog()
            .iter()
            .find(|entry| entry.component == name)
    };
    match in_catalog() {
        Some(entry) if is_bare => entry.path.clone(),
        _ => named.to_owned(),
    }
}
