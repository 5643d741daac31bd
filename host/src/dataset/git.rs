//! Running git, with nothing of this user's or this machine's configuration.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Git could not do something.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git.
    #[error("the program git is not installed")]
    Missing,
    /// It could not be run.
    #[error("failed to run git: {0}")]
    Io(#[from] io::Error),
    /// It failed.
    #[error("git {command} failed: {message}")]
    Failed {
        /// What it was to do.
        command: &'static str,
        /// What it said.
        message: String,
    },
    /// A file is not what it was when it was looked at.
    #[error("`{}` changed while its content was being kept", .0.display())]
    Changed(PathBuf),
}

/// Dates and names that make the same tree the same commit everywhere.
const IDENTITY: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "akbench"),
    ("GIT_AUTHOR_EMAIL", "akbench@localhost"),
    ("GIT_AUTHOR_DATE", "2024-01-01T00:00:00Z"),
    ("GIT_COMMITTER_NAME", "akbench"),
    ("GIT_COMMITTER_EMAIL", "akbench@localhost"),
    ("GIT_COMMITTER_DATE", "2024-01-01T00:00:00Z"),
];

/// Contents count as they are: whatever attributes the files themselves ask for, no line end
/// and no keyword is converted. Git gives this file precedence over all others.
const ATTRIBUTES: &str = "* -text -eol -ident -filter -working-tree-encoding !diff\n";

/// The program in a host's `PATH`; `None` if it isn't there.
pub fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("git"))
        .find(|file| file.is_file())
}

/// A command in `folder`, cleared of everything that comes from outside.
pub fn command(folder: &Path) -> Result<Command, GitError> {
    let mut command = Command::new(find().ok_or(GitError::Missing)?);
    command
        .current_dir(folder)
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .envs(IDENTITY)
        .env("LC_ALL", "C")
        .env("TZ", "UTC")
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0");
    for setting in [
        "core.autocrlf=false",
        "core.fsmonitor=false",
        // Names that only other systems mind are kept.
        "core.protectHFS=false",
        "core.protectNTFS=false",
        "gc.auto=0",
        "commit.gpgSign=false",
        "advice.defaultBranchName=false",
    ] {
        command.args(["-c", setting]);
    }
    command.stdin(Stdio::null());
    Ok(command)
}

/// Runs a command to its end.
pub fn run(command: &mut Command, name: &'static str) -> Result<Vec<u8>, GitError> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(failed(name, &output.stderr))
}

/// Waits for a command whose input was fed.
pub fn finish(child: Child, name: &'static str) -> Result<(), GitError> {
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(name, &output.stderr))
}

fn failed(command: &'static str, stderr: &[u8]) -> GitError {
    let text = String::from_utf8_lossy(stderr);
    GitError::Failed {
        command,
        message: text.trim().chars().take(1000).collect(),
    }
}

/// Makes a repository that no tree belongs to; it has no hooks.
pub fn init_bare(repository: &Path) -> Result<(), GitError> {
    let parent = repository.parent().unwrap_or(Path::new("/"));
    run(
        command(parent)?
            .args(["init", "--quiet", "--bare", "--template="])
            .args(["--initial-branch=main", "--"])
            .arg(repository),
        "init",
    )?;
    std::fs::create_dir_all(repository.join("info"))?;
    std::fs::write(repository.join("info/attributes"), ATTRIBUTES)?;
    Ok(())
}

/// Makes a workspace a repository with all its files in one commit, the same everywhere.
pub fn init_workspace(workspace: &Path) -> Result<(), GitError> {
    let git = |args: &[&str], name| {
        run(
            command(workspace)?
                .env("GIT_CEILING_DIRECTORIES", ceiling(workspace))
                .args(args),
            name,
        )
    };
    git(
        &["init", "--quiet", "--template=", "--initial-branch=main"],
        "init",
    )?;
    git(&["add", "--all"], "add")?;
    let message = "The workspace as it was given";
    git(
        &["commit", "--quiet", "--allow-empty", "--message", message],
        "commit",
    )?;
    Ok(())
}

/// Keeps git from finding a repository above a folder.
fn ceiling(folder: &Path) -> &OsStr {
    folder.parent().map_or(OsStr::new("/"), Path::as_os_str)
}
