//! Evidence in memory, as an engine would have recorded it.

use akbench_adapter_sdk::evidence::{Entry, Evidence, EvidenceError};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

/// Files by path, relative to the evidence folder.
#[derive(Debug, Default)]
pub struct Recorded<'a> {
    files: BTreeMap<&'a str, &'a [u8]>,
}

impl<'a> Recorded<'a> {
    /// These files; of two with one path the later counts.
    pub fn new(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        Self {
            files: files.into_iter().collect(),
        }
    }
}

impl Evidence for Recorded<'_> {
    fn list(&self, folder: &str) -> Result<Vec<Entry>, EvidenceError> {
        let below = format!("{folder}/");
        let entries: BTreeSet<Entry> = self
            .files
            .keys()
            .filter_map(|path| path.strip_prefix(&below))
            .filter_map(|rest| {
                let (name, is_folder) = match rest.split_once('/') {
                    Some((name, _)) => (name, true),
                    None => (rest, false),
                };
                // A file system has no such names.
                let real = !matches!(name, "" | "." | "..");
                real.then(|| Entry {
                    name: name.to_owned(),
                    is_folder,
                })
            })
            .collect();
        Ok(entries.into_iter().collect())
    }

    fn open(&self, path: &str) -> Result<Option<Box<dyn Read + '_>>, EvidenceError> {
        let bytes = self.files.get(path);
        Ok(bytes.map(|bytes| Box::new(*bytes) as Box<dyn Read>))
    }
}
