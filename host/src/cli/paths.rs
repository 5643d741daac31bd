//! `akbench paths`: where things are on this machine.

use super::table::Page;
use super::{CliError, folders, output};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Show the folders that akbench uses here.
#[derive(Debug, Args)]
pub struct PathsCommand {
    /// Print JSON
    #[arg(long)]
    json: bool,

    /// A folder with more descriptors; later ones win
    #[arg(long = "descriptors", value_name = "DIR")]
    descriptors: Vec<PathBuf>,

    /// The folder that runs are kept in
    #[arg(long, value_name = "DIR", default_value = "runs")]
    out: PathBuf,
}

impl PathsCommand {
    pub fn execute(self) -> Result<u8, CliError> {
        let program = folders::own_program()?;
        let runs = std::path::absolute(&self.out).map_err(|error| CliError::System {
            action: "find the current folder",
            error,
        })?;
        let (share, data, cache) = (folders::share(), folders::data(), folders::cache());
        let sources = folders::sources(&self.descriptors);
        if self.json {
            let sources: Vec<_> = sources
                .iter()
                .map(|source| {
                    let exists = source.folder.is_dir();
                    json!({"name": source.name, "folder": source.folder, "exists": exists})
                })
                .collect();
            output::json(&json!({
                "program": program,
                "share": share,
                "data": data,
                "cache": cache,
                "runs": runs,
                "descriptor_sources": sources,
            }))?;
            return Ok(0);
        }
        let mut page = Page::default();
        page.row("program", program.display().to_string());
        page.row(
            "share",
            or(share.as_deref(), "not found; set AKBENCH_SHARE to it"),
        );
        page.row(
            "data",
            or(
                data.as_deref(),
                "none: neither XDG_DATA_HOME nor HOME is set",
            ),
        );
        page.row(
            "cache",
            or(
                cache.as_deref(),
                "none: neither XDG_CACHE_HOME nor HOME is set",
            ),
        );
        page.row("runs", shown(&runs));
        page.section("descriptors and adapters come from, later ones win:");
        for source in &sources {
            page.row(&source.name, shown(&source.folder));
        }
        if sources.is_empty() {
            page.block("nowhere");
        }
        output::text(&page.finish())?;
        Ok(0)
    }
}

fn or(path: Option<&Path>, absent: &str) -> String {
    path.map_or_else(|| absent.to_owned(), shown)
}

fn shown(path: &Path) -> String {
    let missing = if path.exists() {
        ""
    } else {
        " (does not exist yet)"
    };
    format!("{}{missing}", path.display())
}
