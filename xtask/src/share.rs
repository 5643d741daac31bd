//! The `share/akbench` of a source checkout, so that the built program finds what it needs
//! without being told: beside its own folder, as in an installation.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::failure::{Explain, Outcome};
use crate::guests::Built;
use crate::workspace::Workspace;

/// Lays out `share/akbench` in the target folder, of links: what is edited counts at once. What
/// the contract suite found is kept there by whoever runs it.
///
/// # Errors
///
/// If a folder or link can't be made.
pub fn lay_out(workspace: &Workspace, guests: &[Built]) -> Outcome {
    let share = workspace.target.join("share/akbench");
    let adapters = share.join("adapters");
    fs::create_dir_all(&adapters).explain(|| format!("create {}", adapters.display()))?;
    link(
        &workspace.root.join("descriptors"),
        &share.join("descriptors"),
    )?;
    link(
        &workspace.root.join("adapters/catalog.json"),
        &adapters.join("catalog.json"),
    )?;
    for guest in guests {
        link(&guest.path, &adapters.join(guest.component))?;
    }
    link(
        &workspace.debug_program("stub-cli"),
        &share.join("stub-cli"),
    )
}

/// A link that is already right is left alone: programs may be using it.
fn link(to: &Path, at: &Path) -> Outcome {
    if fs::read_link(at).is_ok_and(|found| found == to) {
        return Ok(());
    }
    let removed = match fs::remove_file(at) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    removed
        .and_then(|()| symlink(to, at))
        .explain(|| format!("link {} to {}", at.display(), to.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_link_is_made_changed_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("at");
        for to in ["/one", "/one", "/two"] {
            link(Path::new(to), &at).unwrap();
            assert_eq!(fs::read_link(&at).unwrap(), Path::new(to));
        }
        let folder = folder.path().join("folder");
        fs::create_dir(&folder).unwrap();
        assert!(link(Path::new("/one"), &folder).is_err());
    }
}
