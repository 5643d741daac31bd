//! Steps that change files.

use crate::content::FileContent;
use crate::failure::Failure;
use rustix::fs::{CWD, Mode};
use serde::Deserialize;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where a step puts something.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    /// Relative to the base; an absolute path is taken as it is.
    pub(crate) path: PathBuf,
    /// The base: the folder that this environment variable names. `None`: the current folder.
    #[serde(default)]
    pub(crate) into_env: Option<String>,
    /// Go on, after a line on stderr, if the step fails.
    #[serde(default)]
    pub(crate) may_fail: bool,
}

/// A copy of a file or folder of the scenario folder.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Copy {
    /// Relative to the scenario folder.
    pub(crate) from: PathBuf,
    /// The base, as in [`Place`].
    #[serde(default)]
    pub(crate) into_env: Option<String>,
    /// A folder's content goes into this folder, a file becomes this file. Default: the base
    /// itself for a folder, the file's own name in the base for a file.
    #[serde(default)]
    pub(crate) path: Option<PathBuf>,
}

/// A symbolic link.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Symlink {
    pub(crate) path: PathBuf,
    #[serde(default)]
    pub(crate) into_env: Option<String>,
    /// Written into the link as it is.
    pub(crate) target: PathBuf,
}

impl Place {
    fn resolve(&self) -> Result<PathBuf, Failure> {
        Ok(base(self.into_env.as_deref())?.join(&self.path))
    }

    /// Does something with the path; a failure names it.
    fn with(
        &self,
        verb: &str,
        action: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let path = self.resolve()?;
        match action(&path) {
            Ok(()) => Ok(()),
            Err(error) => {
                let failure =
                    Failure::step(format!("failed to {verb} {}: {error}", path.display()));
                if self.may_fail {
                    failure.tell();
                    Ok(())
                } else {
                    Err(failure)
                }
            }
        }
    }
}

/// The folder that the variable names; `None`: the current one.
pub(crate) fn base(variable: Option<&str>) -> Result<PathBuf, Failure> {
    match variable {
        None => Ok(PathBuf::new()),
        Some(name) => std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
            .ok_or_else(|| Failure::step(format!("the environment variable {name} is not set: it must name the folder to write to"))),
    }
}

fn make_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => fs::create_dir_all(parent),
        _ => Ok(()),
    }
}

pub(crate) fn write(step: &FileContent, folder: &Path) -> Result<(), Failure> {
    let bytes = step.content.load(folder)?;
    step.place.with("write", |path| {
        make_parent(path)?;
        fs::write(path, &bytes)
    })
}

pub(crate) fn append(step: &FileContent, folder: &Path) -> Result<(), Failure> {
    let bytes = step.content.load(folder)?;
    step.place.with("append to", |path| {
        make_parent(path)?;
        File::options()
            .create(true)
            .append(true)
            .open(path)?
            .write_all(&bytes)
    })
}

pub(crate) fn delete(place: &Place) -> Result<(), Failure> {
    place.with("delete", |path| {
        if fs::symlink_metadata(path)?.is_dir() {
            fs::remove_dir_all(path)
        } else {
            fs::remove_file(path)
        }
    })
}

pub(crate) fn make_fifo(place: &Place) -> Result<(), Failure> {
    place.with("make the fifo", |path| {
        make_parent(path)?;
        Ok(rustix::fs::mkfifoat(CWD, path, Mode::from_raw_mode(0o600))?)
    })
}

pub(crate) fn symlink(step: &Symlink) -> Result<(), Failure> {
    let place = Place {
        path: step.path.clone(),
        into_env: step.into_env.clone(),
        may_fail: false,
    };
    place.with("make the link", |path| {
        make_parent(path)?;
        std::os::unix::fs::symlink(&step.target, path)
    })
}

pub(crate) fn copy(step: &Copy, folder: &Path) -> Result<(), Failure> {
    let from = folder.join(&step.from);
    let metadata = fs::metadata(&from).map_err(|error| {
        Failure::scenario(format!("failed to find {}: {error}", from.display()))
    })?;
    let default = || {
        if metadata.is_dir() {
            PathBuf::new()
        } else {
            step.from.file_name().map(PathBuf::from).unwrap_or_default()
        }
    };
    let path = step.path.clone().unwrap_or_else(default);
    let to = Place {
        path,
        into_env: step.into_env.clone(),
        may_fail: false,
    };
    to.with("copy to", |to| copy_tree(&from, to))
}

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    if !fs::metadata(from)?.is_dir() {
        make_parent(to)?;
        fs::copy(from, to)?;
        return Ok(());
    }
    if !to.as_os_str().is_empty() {
        fs::create_dir_all(to)?;
    }
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        copy_tree(&from.join(&name), &to.join(&name))?;
    }
    Ok(())
}
