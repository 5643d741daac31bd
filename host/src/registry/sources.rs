//! Where descriptors come from: a few folders that someone trusts.

use super::agent::AgentDescriptor;
use super::catalog::{self, CatalogEntry};
use super::error::{Problem, RegistryError};
use super::resolve::{Kind, Versioned, full_name};
use super::runtime::RuntimeDescriptor;
use super::task::TaskDescriptor;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A folder with `descriptors/agents/*.json`, `descriptors/runtimes/*.json`,
/// `descriptors/tasks/*/*/task.json` and `adapters/catalog.json`; each of them may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// For people, for example `built-in`.
    pub name: String,
    /// The folder. It has to exist.
    pub folder: PathBuf,
}

/// How much of the sources is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Everything,
    /// All but the tasks.
    WithoutTasks,
}

/// A descriptor or adapter of an earlier source that a later one replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Override {
    /// What was replaced.
    pub kind: Kind,
    /// `id@version`, or the adapter's id.
    pub name: String,
    /// The name of the source that won.
    pub source: String,
    /// The file that counts.
    pub winner: PathBuf,
    /// The file that doesn't.
    pub loser: PathBuf,
}

/// Everything in one source.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) agents: Vec<AgentDescriptor>,
    pub(super) runtimes: Vec<RuntimeDescriptor>,
    pub(super) tasks: Vec<TaskDescriptor>,
    pub(super) catalog: Vec<CatalogEntry>,
}

/// Reads a source.
///
/// # Errors
///
/// Everything that is wrong with any of its files, duplicates included.
pub(super) fn read(source: &Source, extent: Extent) -> Result<Contents, Vec<RegistryError>> {
    if !source.folder.is_dir() {
        return Err(vec![RegistryError {
            file: source.folder.clone(),
            problem: Problem::NoSuchFolder {
                source_name: source.name.clone(),
            },
        }]);
    }
    let mut errors = Vec::new();
    let descriptors = source.folder.join("descriptors");
    let agents = read_folder(
        &descriptors.join("agents"),
        AgentDescriptor::load,
        &mut errors,
    );
    let runtimes = read_folder(
        &descriptors.join("runtimes"),
        RuntimeDescriptor::load,
        &mut errors,
    );
    let tasks = match extent {
        Extent::WithoutTasks => Vec::new(),
        Extent::Everything => load_all(
            task_files(&descriptors.join("tasks")),
            &descriptors.join("tasks"),
            TaskDescriptor::load,
            &mut errors,
        ),
    };
    errors.extend(duplicates(
        Kind::Agent,
        agents.iter().map(|agent| (agent, &agent.origin)),
    ));
    errors.extend(duplicates(
        Kind::Runtime,
        runtimes.iter().map(|runtime| (runtime, &runtime.origin)),
    ));
    errors.extend(duplicates(
        Kind::Task,
        tasks.iter().map(|task| (task, &task.origin)),
    ));

    let catalog_file = source.folder.join("adapters").join("catalog.json");
    let catalog = match fs::symlink_metadata(&catalog_file) {
        Err(error) if is_absent(&error) => Vec::new(),
        _ => catalog::load(&catalog_file).unwrap_or_else(|problems| {
            errors.extend(problems);
            Vec::new()
        }),
    };
    if errors.is_empty() {
        Ok(Contents {
            agents,
            runtimes,
            tasks,
            catalog,
        })
    } else {
        Err(errors)
    }
}

/// Removes and returns the first element that fits.
pub(super) fn take_where<T>(items: &mut Vec<T>, fits: impl Fn(&T) -> bool) -> Option<T> {
    let at = items.iter().position(fits)?;
    Some(items.remove(at))
}

fn read_folder<T>(
    folder: &Path,
    load: impl Fn(&Path) -> Result<T, Vec<RegistryError>>,
    errors: &mut Vec<RegistryError>,
) -> Vec<T> {
    load_all(json_files(folder), folder, load, errors)
}

fn load_all<T>(
    files: io::Result<Vec<PathBuf>>,
    folder: &Path,
    load: impl Fn(&Path) -> Result<T, Vec<RegistryError>>,
    errors: &mut Vec<RegistryError>,
) -> Vec<T> {
    let files = files.unwrap_or_else(|error| {
        errors.push(RegistryError {
            file: folder.to_owned(),
            problem: Problem::Unreadable {
                reason: error.to_string(),
            },
        });
        Vec::new()
    });
    let mut loaded = Vec::new();
    for file in files {
        match load(&file) {
            Ok(item) => loaded.push(item),
            Err(problems) => errors.extend(problems),
        }
    }
    loaded
}

/// The JSON files of a folder, sorted, so that messages come in the same order everywhere.
/// Hidden ones are left out: editors put their copies there.
fn json_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let listing = match fs::read_dir(folder) {
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        listing => listing?,
    };
    let mut files = Vec::new();
    for entry in listing {
        let path = entry?.path();
        let hidden = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !hidden
            && path
                .extension()
                .is_some_and(|extension| extension == "json")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// `<dataset>/<task>/task.json`, sorted. A folder without the file is no task.
fn task_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for dataset in visible_folders(folder)? {
        for task in visible_folders(&dataset)? {
            let file = task.join("task.json");
            match fs::symlink_metadata(&file) {
                Err(error) if is_absent(&error) => {}
                _ => files.push(file),
            }
        }
    }
    Ok(files)
}

fn visible_folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let listing = match fs::read_dir(folder) {
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        listing => listing?,
    };
    let mut folders = Vec::new();
    for entry in listing {
        let entry = entry?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.path().is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}

fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

fn duplicates<'a, T: Versioned + 'a>(
    kind: Kind,
    items: impl Iterator<Item = (&'a T, &'a PathBuf)>,
) -> Vec<RegistryError> {
    let mut seen: BTreeMap<String, &PathBuf> = BTreeMap::new();
    let mut errors = Vec::new();
    for (item, origin) in items {
        let name = full_name(item);
        match seen.get(&name) {
            Some(first) => errors.push(RegistryError {
                file: origin.clone(),
                problem: Problem::Duplicate {
                    what: format!("{kind} `{name}`"),
                    first: first.to_path_buf(),
                },
            }),
            None => {
                seen.insert(name, origin);
            }
        }
    }
    errors
}
