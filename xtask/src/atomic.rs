//! Files and folders that appear whole or not at all.

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::failure::{Explain, Failure, Outcome};

/// Writes a file under a temporary name and renames it.
///
/// # Errors
///
/// If the folder cannot be made or written.
pub fn write(path: &Path, bytes: &[u8]) -> Outcome {
    let doing = || format!("write {}", path.display());
    let folder = path.parent().ok_or_else(|| {
        Failure::new(format!("{} has no folder to be written to", path.display()))
    })?;
    fs::create_dir_all(folder).explain(doing)?;
    let mut file = tempfile::Builder::new()
        .prefix(".unfinished-")
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(folder)
        .explain(doing)?;
    file.write_all(bytes).explain(doing)?;
    file.as_file().sync_all().explain(doing)?;
    file.persist(path).explain(doing)?;
    Ok(())
}

/// Removes a file; it may be absent.
///
/// # Errors
///
/// If it is there and cannot be removed.
pub fn remove(path: &Path) -> Outcome {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).explain(|| format!("remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// Puts a finished folder where `path` is, replacing what is there.
///
/// # Errors
///
/// If a rename fails; the old folder is then put back.
pub fn replace_folder(path: &Path, finished: &Path) -> Outcome {
    let doing = || format!("move the finished folder to {}", path.display());
    let mut old = finished.as_os_str().to_owned();
    old.push("-old");
    let old = Path::new(&old);
    let had_one = path.exists();
    if had_one {
        fs::rename(path, old).explain(doing)?;
    }
    if let Err(error) = fs::rename(finished, path) {
        if had_one {
            fs::rename(old, path).explain(|| format!("put {} back", path.display()))?;
        }
        return Err(error).explain(doing);
    }
    if had_one {
        fs::remove_dir_all(old).explain(|| format!("remove the old {}", old.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_folder_replaces_the_one_before_and_leaves_nothing_else() {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().join("dist");
        for text in ["first", "second"] {
            let finished = outer.path().join("unfinished");
            write(&finished.join("file"), text.as_bytes()).unwrap();
            replace_folder(&path, &finished).unwrap();
            assert_eq!(fs::read_to_string(path.join("file")).unwrap(), text);
        }
        assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 1);
    }
}
