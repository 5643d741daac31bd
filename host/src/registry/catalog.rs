//! The catalog: which component file implements which adapter.

use super::error::{Problem, RegistryError};
use super::identifier::AdapterId;
use super::json_file::{self, FileKind};
use crate::digest::Sha256;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// An adapter and its component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CatalogEntry {
    /// Names the adapter.
    pub id: AdapterId,
    /// The component's file name.
    pub component: String,
    /// The component's file: beside the catalog that lists it. It may not exist.
    pub path: PathBuf,
    /// The digest that the component must have; `None` if it may be any.
    pub sha256: Option<Sha256>,
    /// The catalog that lists it.
    pub origin: PathBuf,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CatalogFile {
    #[serde(rename = "schema")]
    _schema: String,
    adapters: Vec<EntryFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryFile {
    id: AdapterId,
    component: String,
    #[serde(default)]
    sha256: Option<Sha256>,
}

/// Reads a catalog.
///
/// # Errors
///
/// Everything that is wrong with the file, an adapter that is listed twice included.
pub(super) fn load(path: &Path) -> Result<Vec<CatalogEntry>, Vec<RegistryError>> {
    let file: CatalogFile = json_file::read(path, FileKind::Catalog, |_| Vec::new())?.content;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut entries: Vec<CatalogEntry> = Vec::new();
    let mut errors = Vec::new();
    for entry in file.adapters {
        if entries.iter().any(|known| known.id == entry.id) {
            errors.push(RegistryError {
                file: path.to_owned(),
                problem: Problem::Duplicate {
                    what: format!("adapter `{}`", entry.id),
                    first: path.to_owned(),
                },
            });
            continue;
        }
        entries.push(CatalogEntry {
            path: folder.join(&entry.component),
            id: entry.id,
            component: entry.component,
            sha256: entry.sha256,
            origin: path.to_owned(),
        });
    }
    if errors.is_empty() {
        Ok(entries)
    } else {
        Err(errors)
    }
}
