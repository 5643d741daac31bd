//! Looking for a secret where it must not be.

use std::fs;
use std::path::{Path, PathBuf};

/// The files below a folder that contain this text in their bytes or their name. Symbolic
/// links are not followed.
///
/// # Panics
///
/// If a file can't be read: what was not looked at was not found clean.
pub fn files_with(text: &str, folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).expect("a readable folder");
        for entry in entries {
            let entry = entry.expect("a readable entry");
            let kind = entry.file_type().expect("a file type");
            let named = entry.file_name().to_string_lossy().contains(text);
            if kind.is_dir() {
                folders.push(entry.path());
            }
            let holds = || {
                let bytes = fs::read(entry.path()).expect("a readable file");
                contains(&bytes, text.as_bytes())
            };
            if named || (kind.is_file() && holds()) {
                found.push(entry.path());
            }
        }
    }
    found
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|part| part == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_in_the_middle_of_bytes_and_in_names() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let below = folder.path().join("a/b");
        fs::create_dir_all(&below).expect("a folder");
        fs::write(below.join("bytes"), b"\xff\x00secret\xff").expect("a file");
        fs::write(below.join("my-secret-name"), "").expect("a file");
        fs::write(below.join("clean"), "secre t").expect("a file");
        let mut found = files_with("secret", folder.path());
        found.sort();
        assert_eq!(found, [below.join("bytes"), below.join("my-secret-name")]);
    }
}
