//! Preparing a workspace, against `cp -a`.

use crate::error::{Doing, Unmeasured};
use akbench::runner::workspace::{Snapshot, copy_tree};
use akbench_recorded::row::{Better, Row};
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Folders of the workspace with many files.
const FOLDERS: usize = 200;

/// Bytes of each of its files.
const SMALL: usize = 1_000;

/// Bytes of each file of the workspace with large files.
const LARGE: usize = 8 << 20;

/// How many large files there are.
const LARGE_FILES: usize = 32;

/// Measures a workspace of `files` small files and one of a few large ones.
///
/// # Errors
///
/// If a workspace can't be made, copied or removed.
pub fn measure(files: usize, turns: usize) -> Result<Vec<Row>, Unmeasured> {
    let folder = tempfile::Builder::new()
        .prefix("akbench-workspace-")
        .tempdir()
        .doing("make a temporary folder")?;
    let small = folder.path().join("small");
    many(&small, files).doing("make a workspace of many files")?;
    #[allow(clippy::cast_precision_loss)] // Far below 2^52.
    let count = files as f64;
    let mut rows = compare(
        &small,
        turns,
        "many",
        &format!("{files} files"),
        "files/s",
        count,
    )?;
    fs::remove_dir_all(&small).doing("remove a workspace")?;
    let large = folder.path().join("large");
    few(&large).doing("make a workspace of large files")?;
    #[allow(clippy::cast_precision_loss)] // Far below 2^52.
    let megabytes = (LARGE * LARGE_FILES) as f64 / 1e6;
    let what = format!("{LARGE_FILES} files of {} MiB", LARGE >> 20);
    rows.extend(compare(&large, turns, "large", &what, "MB/s", megabytes)?);
    Ok(rows)
}

fn compare(
    workspace: &Path,
    turns: usize,
    id: &str,
    what: &str,
    unit: &'static str,
    amount: f64,
) -> Result<Vec<Row>, Unmeasured> {
    let (mut cp, mut copy, mut prepare, mut ratios) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..turns {
        let target = workspace.with_extension("copy");
        let begin = Instant::now();
        let copied = Command::new("cp")
            .arg("-a")
            .args([workspace, &target])
            .status()
            .doing("start cp")?;
        let by_cp = amount / begin.elapsed().as_secs_f64();
        if !copied.success() {
            return Err(Unmeasured(format!("cp ended with {copied}")));
        }
        fs::remove_dir_all(&target).doing("remove a copy")?;
        let begin = Instant::now();
        copy_tree(workspace, &target).doing("copy a workspace")?;
        let by_copy = amount / begin.elapsed().as_secs_f64();
        Snapshot::take(&target).doing("digest a workspace")?;
        let by_both = amount / begin.elapsed().as_secs_f64();
        fs::remove_dir_all(&target).doing("remove a copy")?;
        cp.push(by_cp);
        copy.push(by_copy);
        prepare.push(by_both);
        ratios.push(by_copy / by_cp);
    }
    let row = |end: &str, words: &str, unit, samples: &[f64]| {
        let id = format!("workspace.{id}.{end}");
        Row::of(
            id,
            format!("{what}: {words}"),
            unit,
            Better::Higher,
            samples,
        )
    };
    let rows = [
        row("cp", "cp -a", unit, &cp),
        row("copy", "copied by the host", unit, &copy),
        row("ratio", "copied by the host / cp -a", "", &ratios),
        row("prepared", "copied and digested", unit, &prepare),
    ];
    Ok(rows.into_iter().flatten().collect())
}

fn many(root: &Path, files: usize) -> io::Result<()> {
    let content = vec![b'x'; SMALL];
    for folder in 0..FOLDERS {
        let path = root.join(format!("folder-{folder}"));
        fs::create_dir_all(&path)?;
        for file in (folder..files).step_by(FOLDERS) {
            fs::write(path.join(format!("file-{file}.txt")), &content)?;
        }
    }
    Ok(())
}

fn few(root: &Path) -> io::Result<()> {
    let content = vec![b'x'; LARGE];
    fs::create_dir_all(root)?;
    for file in 0..LARGE_FILES {
        fs::write(root.join(format!("file-{file}.bin")), &content)?;
    }
    Ok(())
}
