//! The folder of one run.
//!
//! A folder gets its name once it is locked and has a plan: a run that can be seen can be told
//! to be alive or dead, and what it was about to do is known.
//!
//! ```text
//! <run-id>/  plan.json · session.json · result.json · events.jsonl · audit.jsonl
//!            artifacts/evidence/{spawns,home,task} · artifacts/adapter
//!            workspace.diff · agent-home (kept with --keep) · workspace
//!            .lock · scratch · pristine · evaluation (removed)
//! ```

use super::run_lock::{LOCK_FILE, RunLock};
use crate::files::create_private_folders;
use rustix::fs::{Access, access};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use ulid::Ulid;

/// Room that is set aside, so that the result can be written when the disk is full.
const RESERVE: u64 = 1 << 20;

/// The name of a folder that is still being made: `.<run-id>.new`.
const UNFINISHED: &str = ".new";

/// One run's folder.
#[derive(Debug, Clone)]
pub struct RunFolder {
    id: String,
    path: PathBuf,
    /// `None` for one that is only looked at.
    _lock: Option<Arc<RunLock>>,
}

impl RunFolder {
    /// Makes a new one below `runs`, locked. Ids are unique, so an existing run is never
    /// touched.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn create(runs: &Path) -> io::Result<Self> {
        Self::create_with(runs, |_, _| Ok(())).map(|(folder, ())| folder)
    }

    /// As [`RunFolder::create`]; `fill` puts into the folder what has to be there from the first
    /// moment that anybody can see it. It gets the folder with the paths that it will have,
    /// and the place where it is until then.
    ///
    /// # Errors
    ///
    /// What the system says, and what `fill` returns. Nothing is left then.
    pub fn create_with<T>(
        runs: &Path,
        fill: impl FnOnce(&Self, &Path) -> io::Result<T>,
    ) -> io::Result<(Self, T)> {
        publish(runs, |id, path, staged| {
            Self::furnish(id, path, staged, fill)
        })
    }

    /// A new folder that never was a run's: it has nothing but what `write` puts there, given the
    /// id and the place where the folder is until then.
    ///
    /// # Errors
    ///
    /// What the system says, and what `write` returns. Nothing is left then.
    pub fn keep_record<T>(
        runs: &Path,
        write: impl FnOnce(&str, &Path) -> io::Result<T>,
    ) -> io::Result<(Self, T)> {
        publish(runs, |id, path, staged| {
            fs::set_permissions(staged, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
            let written = write(&id, staged)?;
            Ok((Self::existing(&id, &path), written))
        })
    }

    fn furnish<T>(
        id: String,
        path: PathBuf,
        staged: &Path,
        fill: impl FnOnce(&Self, &Path) -> io::Result<T>,
    ) -> io::Result<(Self, T)> {
        let lock = RunLock::create(staged)?;
        let at = |path: PathBuf| Self {
            id: id.clone(),
            path,
            _lock: None,
        };
        let here = at(staged.to_owned());
        for path in [
            here.evidence().join("spawns"),
            here.evidence().join("home"),
            here.evidence().join("task"),
            here.adapter_artifacts(),
            here.agent_home(),
            here.scratch().join("home"),
            here.scratch().join("tmp"),
        ] {
            create_private_folders(&path)?;
        }
        // `create_dir` follows the umask; everything in here is the owner's alone.
        fs::set_permissions(staged, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
        set_aside(&here.reserve())?;
        let folder = Self {
            _lock: Some(Arc::new(lock)),
            ..at(path)
        };
        let filled = fill(&folder, staged)?;
        Ok((folder, filled))
    }

    /// The folder of an existing run.
    pub fn existing(id: &str, path: &Path) -> Self {
        Self {
            id: id.to_owned(),
            path: path.to_owned(),
            _lock: None,
        }
    }

    /// Set aside for the result; removed before it is written.
    pub fn reserve(&self) -> PathBuf {
        self.path.join(".reserve")
    }

    /// The run's id: sorts by time.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The folder itself, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was about to run.
    pub fn plan(&self) -> PathBuf {
        self.path.join("plan.json")
    }

    /// What the engine saw of the session.
    pub fn session(&self) -> PathBuf {
        self.path.join("session.json")
    }

    /// What came out.
    pub fn result(&self) -> PathBuf {
        self.path.join("result.json")
    }

    /// What happened when.
    pub fn events(&self) -> PathBuf {
        self.path.join("events.jsonl")
    }

    /// What was granted and denied.
    pub fn audit(&self) -> PathBuf {
        self.path.join("audit.jsonl")
    }

    /// Evidence and the adapter's files.
    pub fn artifacts(&self) -> PathBuf {
        self.path.join("artifacts")
    }

    /// `/evidence` of the adapter.
    pub fn evidence(&self) -> PathBuf {
        self.path.join("artifacts/evidence")
    }

    /// `/artifacts` of the adapter.
    pub fn adapter_artifacts(&self) -> PathBuf {
        self.path.join("artifacts/adapter")
    }

    /// The agent's private home.
    pub fn agent_home(&self) -> PathBuf {
        self.path.join("agent-home")
    }

    /// A copied workspace.
    pub fn workspace(&self) -> PathBuf {
        self.path.join("workspace")
    }

    /// The workspace as the agent found it, where nothing else keeps that.
    pub fn pristine(&self) -> PathBuf {
        self.path.join("pristine")
    }

    /// What the agent changed.
    pub fn diff(&self) -> PathBuf {
        self.path.join("workspace.diff")
    }

    /// Where an evaluator works.
    pub fn evaluation(&self) -> PathBuf {
        self.path.join("evaluation")
    }

    /// What an evaluator printed.
    pub fn evaluation_log(&self) -> PathBuf {
        self.path.join("artifacts/evaluation")
    }

    /// Attachments of the task.
    pub fn attachments(&self) -> PathBuf {
        self.path.join("artifacts/evidence/task")
    }

    /// The agent's `HOME` and `TMPDIR`. Beside the agent home, not above it: an agent may
    /// refuse to work in a home that lies in its temporary folder.
    pub fn scratch(&self) -> PathBuf {
        self.path.join("scratch")
    }

    /// Removes what nobody needs after the run.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn clean(&self, keep_home: bool) -> io::Result<()> {
        remove(&self.pristine())?;
        if !keep_home {
            remove(&self.agent_home())?;
        }
        self.clean_for_later()
    }

    /// As [`RunFolder::clean`], without what a later recovery still needs.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn clean_for_later(&self) -> io::Result<()> {
        remove(&self.scratch())?;
        remove(&self.evaluation())?;
        remove_file(&self.path.join(LOCK_FILE))
    }

    /// Removes what a host that died left of its own writing: room set aside, files that were
    /// to be renamed.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn remove_torn_files(&self) -> io::Result<()> {
        remove_file(&self.reserve())?;
        for torn in self.torn_files()? {
            if torn.is_dir() {
                remove(&torn)?;
            } else {
                remove_file(&torn)?;
            }
        }
        Ok(())
    }

    fn torn_files(&self) -> io::Result<Vec<PathBuf>> {
        let mut torn = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(".tmp") || name.ends_with(".tmp") {
                torn.push(entry.path());
            }
        }
        Ok(torn)
    }

    /// Whether there is something that only a host that died can have left, what a later
    /// recovery may still need apart. The lock goes last.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn has_leftovers(&self) -> io::Result<bool> {
        let temporary = [
            self.scratch(),
            self.evaluation(),
            self.reserve(),
            self.path.join(LOCK_FILE),
        ];
        Ok(temporary.iter().any(|path| path.exists()) || !self.torn_files()?.is_empty())
    }
}

/// Makes a new folder below `runs` under a name that nobody looks at, and gives it its own once
/// it is as it has to be.
fn publish<T>(
    runs: &Path,
    furnish: impl FnOnce(String, PathBuf, &Path) -> io::Result<(RunFolder, T)>,
) -> io::Result<(RunFolder, T)> {
    create_private_folders(runs)?;
    let runs = runs.canonicalize()?;
    let id = Ulid::generate().to_string().to_lowercase();
    let path = runs.join(&id);
    let staged = runs.join(format!(".{id}{UNFINISHED}"));
    fs::create_dir(&staged)?;
    let published = furnish(id, path, &staged).and_then(|made| {
        // Ids are unique; a folder of this name that is not empty makes this fail.
        fs::rename(&staged, &made.0.path)?;
        Ok(made)
    });
    if published.is_err() {
        // The error says what is wrong; a folder that stays holds nothing.
        let _ = fs::remove_dir_all(&staged);
    }
    published
}

/// Folders below `runs` that a host was making when it died: nothing had begun. Those of
/// living hosts are not among them.
///
/// # Errors
///
/// What the system says.
pub fn unfinished(runs: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(runs)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_unfinished = name.starts_with('.') && name.ends_with(UNFINISHED);
        // A folder without the file may be about to be locked.
        let lock = entry.path().join(LOCK_FILE);
        if is_unfinished && lock.exists() && RunLock::take(&entry.path())?.is_some() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

fn set_aside(path: &Path) -> io::Result<()> {
    let file = crate::process::recorder::create_private(path)?;
    let flags = rustix::fs::FallocateFlags::empty();
    match rustix::fs::fallocate(&file, flags, 0, RESERVE) {
        // A file system that can't set room aside is used without.
        Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Checks that a folder for runs exists, or can be made below what exists, and makes nothing.
///
/// # Errors
///
/// What the system says; something on the way that is no folder.
pub fn check_writable(runs: &Path) -> io::Result<()> {
    for folder in std::path::absolute(runs)?.ancestors() {
        match fs::metadata(folder) {
            Ok(metadata) if metadata.is_dir() => {
                let needed = Access::WRITE_OK | Access::EXEC_OK;
                return Ok(access(folder, needed)?);
            }
            Ok(_) => {
                let text = format!("`{}` is no folder", folder.display());
                return Err(io::Error::new(io::ErrorKind::NotADirectory, text));
            }
            // Below what is no folder: the next one up says so by name.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
