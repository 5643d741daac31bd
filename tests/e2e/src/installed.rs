//! An installation as `cargo xtask dist` lays it out, inside a scene.

use crate::built;
use crate::scene::Scene;
use akbench::digest::Sha256;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The share folder of an installation; programs are looked for in the scene's `programs`.
pub struct Installed<'a> {
    scene: &'a Scene,
    share: PathBuf,
}

impl<'a> Installed<'a> {
    /// Lays out the built adapter, with its digest in the catalog, and the descriptors.
    pub fn new(scene: &'a Scene) -> Self {
        let share = scene.path("share/akbench");
        let adapters = share.join("adapters");
        fs::create_dir_all(&adapters).expect("a folder");
        copy_folder(
            &built::repository().join("descriptors"),
            &share.join("descriptors"),
        );
        let component = adapters.join("codex.wasm");
        fs::copy(built::adapter("codex.wasm"), &component).expect("a copy of the adapter");
        let installed = Self { scene, share };
        let (sha256, _) = Sha256::of_file(&component).expect("a readable adapter");
        installed.pin(&json!(sha256.to_string()));
        installed
    }

    /// The digest that the catalog names for the adapter.
    pub fn pin(&self, sha256: &Value) {
        let catalog = json!({
            "schema": "akbench.catalog/1",
            "adapters": [{"id": "codex_cli", "component": "codex.wasm", "sha256": sha256}],
        });
        fs::write(self.path("adapters/catalog.json"), catalog.to_string()).expect("a catalog");
    }

    /// A path in the share folder.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.share.join(relative)
    }

    /// `akbench` of this installation.
    pub fn akbench<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.scene.akbench(args);
        let programs = self.scene.path("programs");
        command.env("AKBENCH_SHARE", &self.share).env(
            "PATH",
            format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display()),
        );
        command
    }
}

/// The stub's scenario of the demo: a recorded session that writes `out.txt`.
pub fn recorded_session(scene: &Scene) -> PathBuf {
    let from = built::repository().join("xtask/demo-stub");
    let text = fs::read_to_string(from.join("scenario.json")).expect("the demo's scenario");
    let scenario = serde_json::from_str(&text).expect("JSON");
    let program = scene.stub("codex", &scenario);
    copy_folder(&from, &scene.path("programs/codex.scenario"));
    program
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a readable folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a kind").is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}
