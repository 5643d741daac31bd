//! The folder of one run.
//!
//! ```text
//! <run-id>/  plan.json · result.json · events.jsonl · audit.jsonl
//!            artifacts/evidence/{spawns,home,task} · artifacts/adapter
//!            agent-home (kept with --keep) · workspace · scratch (removed)
//! ```

use crate::files::create_private_folders;
use rustix::fs::{Access, access};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use ulid::Ulid;

/// Room that is set aside, so that the result can be written when the disk is full.
const RESERVE: u64 = 1 << 20;

/// One run's folder.
#[derive(Debug, Clone)]
pub struct RunFolder {
    id: String,
    path: PathBuf,
}

impl RunFolder {
    /// Makes a new one below `runs`. Ids are unique, so an existing run is never touched.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn create(runs: &Path) -> io::Result<Self> {
        create_private_folders(runs)?;
        let runs = runs.canonicalize()?;
        let id = Ulid::generate().to_string().to_lowercase();
        let path = runs.join(&id);
        fs::create_dir(&path)?;
        let folder = Self { id, path };
        for path in [
            folder.evidence().join("spawns"),
            folder.evidence().join("home"),
            folder.evidence().join("task"),
            folder.adapter_artifacts(),
            folder.agent_home(),
            folder.scratch().join("home"),
            folder.scratch().join("tmp"),
        ] {
            create_private_folders(&path)?;
        }
        // `create_dir` follows the umask; everything in here is the owner's alone.
        fs::set_permissions(
            &folder.path,
            std::os::unix::fs::PermissionsExt::from_mode(0o700),
        )?;
        set_aside(&folder.reserve())?;
        Ok(folder)
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
        remove(&self.scratch())?;
        if !keep_home {
            remove(&self.agent_home())?;
        }
        Ok(())
    }
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

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
