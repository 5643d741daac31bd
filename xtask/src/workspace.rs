//! Where the sources lie and where what is built goes.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::cargo;
use crate::failure::{Explain, Failure, Outcome};
use crate::steps;

/// The folders of this workspace, as cargo sees them.
#[derive(Debug)]
pub struct Workspace {
    /// The folder of the workspace's `Cargo.toml`.
    pub root: PathBuf,
    /// Where cargo builds: `CARGO_TARGET_DIR`, a setting, or `target` in the root.
    pub target: PathBuf,
    /// The oldest Rust that may compile the workspace, for example `1.95`.
    pub rust_version: String,
    /// The libraries that rustdoc would test.
    pub libraries: Vec<Library>,
}

/// A library of the workspace.
#[derive(Debug)]
pub struct Library {
    /// Its package's name.
    pub package: String,
    /// The folder of its sources.
    pub sources: PathBuf,
}

impl Workspace {
    /// Asks cargo, so that every setting that moves the target folder is respected.
    ///
    /// # Errors
    ///
    /// If cargo cannot be run or does not understand the workspace.
    pub fn locate() -> Outcome<Self> {
        // At run time the variable is right even after the clone has been moved.
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let mut command = cargo::active();
        command
            .args([
                "metadata",
                "--no-deps",
                "--format-version",
                "1",
                "--manifest-path",
            ])
            .arg(manifest.join("Cargo.toml"));
        let text = steps::read(&mut command, "ask cargo about the workspace")?;
        let metadata: Value = serde_json::from_str(&text)
            .explain(|| "read the output of `cargo metadata` as JSON".to_owned())?;
        let folder = |key: &str| {
            metadata[key].as_str().map(PathBuf::from).ok_or_else(|| {
                Failure::new(format!(
                    "`cargo metadata` reports no `{key}`; is cargo too old?"
                ))
            })
        };
        let packages = || metadata["packages"].as_array().into_iter().flatten();
        Ok(Self {
            root: folder("workspace_root")?,
            target: folder("target_directory")?,
            rust_version: packages()
                .find_map(|package| package["rust_version"].as_str())
                .unwrap_or("0")
                .to_owned(),
            libraries: packages().filter_map(library).collect(),
        })
    }

    /// A program of the workspace, built with the `dev` profile.
    pub fn debug_program(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(name)
    }

    /// A program of the workspace, built with the `release` profile.
    pub fn release_program(&self, name: &str) -> PathBuf {
        self.target.join("release").join(name)
    }

    /// The folder of the adapter components.
    pub fn adapters(&self) -> PathBuf {
        self.target.join("adapters")
    }

    /// A cargo command that works on this workspace with the active toolchain.
    pub fn cargo(&self, subcommand: &str) -> Command {
        let mut command = cargo::active();
        command.current_dir(&self.root).arg(subcommand);
        command
    }

    /// `path` as a person sees it: relative to the workspace where it lies inside.
    pub fn shown<'a>(&self, path: &'a Path) -> std::path::Display<'a> {
        path.strip_prefix(&self.root).unwrap_or(path).display()
    }
}

/// The library of a package as `cargo metadata` describes it; `None` if it has none.
fn library(package: &Value) -> Option<Library> {
    let targets = package["targets"].as_array()?;
    let target = targets.iter().find(|target| target["doctest"] == true)?;
    Some(Library {
        package: package["name"].as_str()?.to_owned(),
        sources: Path::new(target["src_path"].as_str()?).parent()?.to_owned(),
    })
}
