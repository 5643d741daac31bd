//! The same suite on the same recordings, for an adapter in each language besides Rust.
#![allow(clippy::expect_used, clippy::panic)]

use akbench_contract::Bench;
use akbench_e2e::built;
use serde_json::json;
use std::path::PathBuf;

/// Must all languages be there? Then a missing one is an error.
const REQUIRED: &str = "AKBENCH_REQUIRE_LANGUAGES";

/// The built adapter; `None`, after saying so, if it is not there.
fn component(language: &str, test: &str) -> Option<PathBuf> {
    let name = format!("echo-{language}.wasm");
    let folder = built::adapter("fake.wasm");
    let component = folder.with_file_name(&name);
    if component.exists() {
        return Some(component);
    }
    assert!(
        std::env::var_os(REQUIRED).is_none(),
        "{name} is missing and {REQUIRED} is set: run .ci/languages"
    );
    eprintln!("{test}: skipped: needs {name}, which .ci/languages builds");
    None
}

fn passes_every_case(language: &str, test: &str) {
    let Some(component) = component(language, test) else {
        return;
    };
    let repository = built::repository();
    let descriptor = repository.join(format!("adapters/{language}/adapter/descriptor.json"));
    let suite = repository.join("templates/suite");
    let name = component
        .file_name()
        .expect("a file name")
        .to_string_lossy();
    let verdict = Bench::new().test(
        &name,
        &[
            "--descriptor",
            &descriptor.display().to_string(),
            "--stub",
            &suite.display().to_string(),
        ],
    );
    assert_eq!(
        (verdict.code, verdict.failed()),
        (0, Vec::new()),
        "{}",
        verdict.stderr
    );
    assert_eq!(verdict.report["rung"], json!("fixture_conformant"));
    assert!(verdict.cases("passed").len() > 75, "{}", verdict.stderr);
}

#[test]
fn the_adapter_in_python_passes_every_case() {
    passes_every_case("python", "the_adapter_in_python_passes_every_case");
}

#[test]
fn the_adapter_in_javascript_passes_every_case() {
    passes_every_case("javascript", "the_adapter_in_javascript_passes_every_case");
}

#[test]
fn the_adapter_in_c_passes_every_case() {
    passes_every_case("c", "the_adapter_in_c_passes_every_case");
}
