//! Copying folders.

use std::fs;
use std::path::Path;

use crate::failure::{Explain, Failure, Outcome};

/// Copies a folder of regular files.
///
/// # Errors
///
/// If something cannot be read or written, or is neither a regular file nor a folder.
pub fn copy(from: &Path, to: &Path) -> Outcome {
    let doing = || format!("copy {} to {}", from.display(), to.display());
    fs::create_dir_all(to).explain(doing)?;
    for entry in fs::read_dir(from).explain(doing)? {
        let entry = entry.explain(doing)?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type().explain(doing)?;
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target).explain(doing)?;
        } else {
            // A link would point out of what is laid out.
            let path = entry.path();
            return Err(Failure::new(format!(
                "{} is neither a file nor a folder",
                path.display()
            )));
        }
    }
    Ok(())
}
