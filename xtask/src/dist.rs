//! Laying out what gets installed.

mod attestations;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::failure::{Explain, Failure, Outcome};
use crate::guests::{self, Built};
use crate::toolchain::Installing;
use crate::workspace::Workspace;
use crate::{atomic, folder, steps};

/// The programs beside the runner that the contract suite needs: one plays recordings, one the
/// scripts of an endpoint.
const PLAYERS: [&str; 2] = ["stub-cli", "responses-server"];

/// Which programs are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// Those to be shipped.
    Release,
    /// Those that the tests use.
    Debug,
}

impl Build {
    fn run(self, workspace: &Workspace) -> Outcome {
        let mut command = workspace.cargo("build");
        match self {
            Self::Release => command.args([
                "--release",
                "--package",
                "akbench",
                "--package",
                "stub-cli",
                "--package",
                "akbench-responses-server",
                "--bins",
            ]),
            // As for the tests, so that nothing is compiled twice.
            Self::Debug => command.args(["--workspace", "--bins"]),
        };
        steps::run(&mut command, "build the programs")
    }

    fn program(self, workspace: &Workspace, name: &str) -> PathBuf {
        match self {
            Self::Release => workspace.release_program(name),
            Self::Debug => workspace.debug_program(name),
        }
    }
}

/// Builds the programs and lays them out as `dist/{bin,share}` in the target folder.
///
/// # Errors
///
/// If something does not build or cannot be written, the catalog names a component that
/// nothing here builds, or an adapter does not pass the contract suite.
pub fn run(workspace: &Workspace, installing: Installing, build: Build) -> Outcome {
    build.run(workspace)?;
    let guests = guests::build(workspace, installing)?;

    let path = workspace.target.join("dist");
    // In the target folder, so that the final rename stays within one file system.
    let unfinished = tempfile::Builder::new()
        .prefix("dist-unfinished-")
        .tempdir_in(&workspace.target)
        .explain(|| format!("create a folder in {}", workspace.target.display()))?;
    let layout = unfinished.path().join("dist");
    lay_out(workspace, build, &guests, &layout)?;
    attestations::make(workspace, &layout)?;
    atomic::replace_folder(&path, &layout)?;

    println!("laid out {}:", workspace.shown(&path));
    println!("  bin/akbench");
    println!("  share/akbench/adapters     {}", names(&guests));
    println!("  share/akbench/descriptors");
    println!("  share/akbench/attestations of the contract suite, for each of them");
    println!(
        "  share/akbench/{{{}}}  for `akbench adapter test`",
        PLAYERS.join(",")
    );
    println!("the folder can be moved anywhere; bin and share must stay side by side");
    Ok(())
}

fn lay_out(workspace: &Workspace, build: Build, guests: &[Built], layout: &Path) -> Outcome {
    let copy = |from: &Path, to: &Path| {
        fs::copy(from, to)
            .map(drop)
            .explain(|| format!("copy {} to {}", from.display(), to.display()))
    };
    let (bin, share) = (layout.join("bin"), layout.join("share/akbench"));
    let adapters = share.join("adapters");
    for folder in [&bin, &adapters] {
        fs::create_dir_all(folder).explain(|| format!("create {}", folder.display()))?;
    }
    copy(&build.program(workspace, "akbench"), &bin.join("akbench"))?;
    for player in PLAYERS {
        copy(&build.program(workspace, player), &share.join(player))?;
    }
    for guest in guests {
        copy(&guest.path, &adapters.join(guest.component))?;
    }
    folder::copy(
        &workspace.root.join("descriptors"),
        &share.join("descriptors"),
    )?;

    let source = workspace.root.join("adapters/catalog.json");
    let doing = || format!("read {}", source.display());
    let mut catalog: Value =
        serde_json::from_slice(&fs::read(&source).explain(doing)?).explain(doing)?;
    pin(&mut catalog, guests)?;
    atomic::write(
        &adapters.join("catalog.json"),
        format!("{catalog:#}\n").as_bytes(),
    )
}

/// Writes the digest of each component into its line of the catalog, so that an installed
/// runner notices a component that was exchanged.
fn pin(catalog: &mut Value, guests: &[Built]) -> Outcome {
    let lines = catalog["adapters"]
        .as_array_mut()
        .ok_or_else(|| Failure::new("adapters/catalog.json has no array `adapters`"))?;
    for line in lines {
        let component = line["component"].as_str().unwrap_or_default().to_owned();
        let guest = guests.iter().find(|guest| guest.component == component).ok_or_else(|| {
            Failure::new(format!(
                "adapters/catalog.json names the component `{component}`, but xtask builds only: {}",
                names(guests)
            ))
        })?;
        line["sha256"] = Value::from(guest.sha256.as_str());
    }
    Ok(())
}

fn names(guests: &[Built]) -> String {
    guests
        .iter()
        .map(|guest| guest.component)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn the_catalog_gets_the_digests_and_an_unknown_component_is_an_error() {
        let guests = [Built {
            component: "a.wasm",
            path: "a.wasm".into(),
            sha256: "0123".to_owned(),
        }];
        let mut catalog = json!({"adapters": [{"id": "a", "component": "a.wasm", "sha256": null}]});
        pin(&mut catalog, &guests).unwrap();
        assert_eq!(catalog["adapters"][0]["sha256"], "0123");
        let mut catalog = json!({"adapters": [{"id": "b", "component": "b.wasm"}]});
        assert!(
            pin(&mut catalog, &guests)
                .unwrap_err()
                .to_string()
                .contains("b.wasm")
        );
    }
}
