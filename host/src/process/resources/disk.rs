//! How much room the files take that a process tree can write.
//!
//! A walk over them is the only way that works for every user on every file system. It is
//! done at a low rate, and never takes more than a fixed share of one processor.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The least time between two walks.
pub const INTERVAL: Duration = Duration::from_secs(2);

/// After a walk follows a pause of at least this many times its length: 5 % of a processor.
const PAUSE_FACTOR: u32 = 19;

/// Folders whose growth is watched.
#[derive(Debug, Clone)]
pub struct Usage {
    roots: Vec<PathBuf>,
}

/// What a walk found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walked {
    /// Bytes in use by files, sparse ones by what they hold; a file with several names once.
    pub bytes: u64,
    /// How long to wait until the next walk.
    pub pause: Duration,
}

impl Usage {
    /// Of these folders. One inside another is counted once.
    pub fn of(mut roots: Vec<PathBuf>) -> Self {
        roots.sort();
        roots.dedup_by(|next, before| next.starts_with(before));
        Self { roots }
    }

    /// Walks over everything, or until more than `enough` was found. Mounted file systems and
    /// what can't be read are passed over: the tree changes under the walk.
    pub fn walk(&self, enough: u64) -> Walked {
        let started = Instant::now();
        let mut bytes = 0;
        let mut seen = HashSet::new();
        for root in &self.roots {
            bytes += walk(root, enough.saturating_sub(bytes), &mut seen);
        }
        Walked {
            bytes,
            pause: INTERVAL.max(started.elapsed() * PAUSE_FACTOR),
        }
    }
}

fn walk(root: &Path, enough: u64, seen: &mut HashSet<(u64, u64)>) -> u64 {
    let mut bytes = 0;
    let Ok(device) = fs::symlink_metadata(root).map(|root| root.dev()) else {
        return 0;
    };
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            // Of the entry itself: links are not followed.
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            if metadata.dev() != device {
                continue;
            }
            let is_dir = metadata.is_dir();
            if is_dir || metadata.nlink() < 2 || seen.insert((metadata.dev(), metadata.ino())) {
                bytes += metadata.blocks() * 512;
            }
            if is_dir {
                folders.push(entry.path());
            }
        }
        if bytes > enough {
            return bytes;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn bytes_on_disk_are_counted_once_and_holes_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let usage = Usage::of(vec![folder.path().join("a"), folder.path().to_owned()]);
        let before = usage.walk(u64::MAX).bytes;
        fs::write(folder.path().join("one"), vec![1; 1 << 20]).unwrap();
        fs::hard_link(folder.path().join("one"), folder.path().join("two")).unwrap();
        std::os::unix::fs::symlink("one", folder.path().join("link")).unwrap();
        let sparse = fs::File::create(folder.path().join("sparse")).unwrap();
        sparse.set_len(1 << 30).unwrap();
        let growth = usage.walk(u64::MAX).bytes - before;
        assert!((1 << 20..3 << 20).contains(&growth), "{growth}");
        assert!(usage.walk(1000).pause >= INTERVAL);
    }
}
