//! The change of a workspace as a git patch: text and binary files, renames, modes, symbolic
//! links and deletions, byte for byte.
//!
//! Only what changed is fed to git, into a repository of our own, so nothing that the agent
//! left in the workspace (a `.git` folder, attributes) has a say.

use super::git::{self, GitError};
use crate::digest::Hasher;
use crate::runner::workspace::{Node, Snapshot};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Stdio;

/// A tree on disk and what it held when it was looked at.
#[derive(Clone, Copy)]
pub struct TreeAt<'a> {
    /// Where it is.
    pub root: &'a Path,
    /// What was there.
    pub snapshot: &'a Snapshot,
}

/// Writes the patch that turns `before` into `after` to the file `patch`; an empty file if
/// nothing changed. `scratch` must not exist: a repository is made there.
///
/// # Errors
///
/// If git is missing or fails, or if a file is no longer what its snapshot says.
pub fn write(
    before: TreeAt<'_>,
    after: TreeAt<'_>,
    scratch: &Path,
    patch: &Path,
) -> Result<(), GitError> {
    let output = File::create_new(patch)?;
    if before.snapshot.changed_paths(after.snapshot).is_empty() {
        return Ok(());
    }
    git::init_bare(scratch)?;
    let mut import = git::command(scratch)?
        .args(["fast-import", "--quiet", "--done"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let fed = match import.stdin.take() {
        Some(stdin) => feed(before, after, stdin),
        None => Ok(()),
    };
    let imported = git::finish(import, "fast-import");
    match fed {
        // Git's own words explain a broken pipe.
        Err(error @ GitError::Io(_)) => return Err(imported.err().unwrap_or(error)),
        Err(error) => return Err(error),
        Ok(()) => imported?,
    }
    let mut diff = git::command(scratch)?
        .args(["diff-tree", "-r", "-p", "--binary", "--full-index", "-M"])
        .args(["--no-ext-diff", "--no-textconv", "--no-color"])
        .args(["--src-prefix=a/", "--dst-prefix=b/"])
        .args(["refs/heads/before", "refs/heads/after"])
        .stdout(output)
        .stderr(Stdio::piped())
        .spawn()?;
    // Nobody else reads its words; they are short.
    diff.stdin.take();
    git::finish(diff, "diff-tree")
}

/// Applies a patch of [`write()`] to the tree at `root`. `scratch` must not exist.
///
/// # Errors
///
/// If git is missing, or the patch does not fit.
pub fn apply(patch: &Path, root: &Path, scratch: &Path) -> Result<(), GitError> {
    if std::fs::metadata(patch)?.len() == 0 {
        return Ok(());
    }
    git::init_bare(scratch)?;
    git::run(
        git::command(root)?
            .env("GIT_DIR", scratch)
            .env("GIT_WORK_TREE", root)
            .args(["-c", "core.bare=false"])
            .args(["apply", "--binary", "--whitespace=nowarn"])
            .arg("--")
            .arg(patch),
        "apply",
    )?;
    Ok(())
}

fn feed(before: TreeAt<'_>, after: TreeAt<'_>, stdin: impl Write) -> Result<(), GitError> {
    let mut stream = BufWriter::with_capacity(256 << 10, stdin);
    let changed = before.snapshot.changed_paths(after.snapshot);
    for (name, tree) in [("before", before), ("after", after)] {
        write!(
            stream,
            "commit refs/heads/{name}\ncommitter akbench <akbench@localhost> 0 +0000\ndata 0\n"
        )?;
        for path in &changed {
            if let Some(node) = tree.snapshot.node(path) {
                feed_node(tree.root, path, node, &mut stream)?;
            }
        }
        stream.write_all(b"\n")?;
    }
    stream.write_all(b"done\n")?;
    stream.flush()?;
    Ok(())
}

fn feed_node(
    root: &Path,
    path: &Path,
    node: &Node,
    stream: &mut impl Write,
) -> Result<(), GitError> {
    let mode = match node {
        Node::File {
            executable: true, ..
        } => "100755",
        Node::File { .. } => "100644",
        Node::Link { .. } => "120000",
    };
    write!(stream, "M {mode} inline ")?;
    stream.write_all(&quoted(path))?;
    match node {
        Node::Link { target } => {
            let target = target.as_os_str().as_bytes();
            write!(stream, "\ndata {}\n", target.len())?;
            stream.write_all(target)?;
        }
        Node::File { sha256, .. } => {
            let mut file = File::open(root.join(path))?;
            let length = file.metadata()?.len();
            write!(stream, "\ndata {length}\n")?;
            let mut hasher = Hasher::default();
            let copied = copy(&mut file, length, &mut hasher, stream)?;
            if copied != length || hasher.finish() != *sha256 {
                return Err(GitError::Changed(path.to_owned()));
            }
        }
    }
    stream.write_all(b"\n")?;
    Ok(())
}

fn copy(
    file: &mut File,
    length: u64,
    hasher: &mut Hasher,
    stream: &mut impl Write,
) -> io::Result<u64> {
    let mut file = file.take(length);
    let mut chunk = vec![0; 128 << 10];
    let mut copied = 0;
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            return Ok(copied);
        }
        hasher.update(&chunk[..read]);
        stream.write_all(&chunk[..read])?;
        copied += read as u64;
    }
}

/// A path as git's import format quotes it.
fn quoted(path: &Path) -> Vec<u8> {
    let mut quoted = vec![b'"'];
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', byte]),
            0..b' ' | 0x7f.. => quoted.extend(format!("\\{byte:03o}").bytes()),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'"');
    quoted
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
