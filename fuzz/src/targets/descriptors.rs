//! Descriptors and the catalog: refused with a reason, or usable.

use akbench::registry::{AgentDescriptor, Registry, RegistryError, Source, parameters};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// What people type for any parameter there may be.
const VALUES: [&str; 6] = ["", "1", "true", "[]", "{\"a\": null}", "x\u{fffd}y"];

/// The input is an agent's descriptor.
pub fn agent(input: &[u8]) {
    let folder = place("descriptors/agents", "x.json", input);
    let file = folder.path().join("descriptors/agents/x.json");
    let registry = said(Registry::load(&[source(folder.path())]));
    let alone = said(AgentDescriptor::load(&file));
    assert_eq!(registry.is_some(), alone.is_some(), "one of both loads it");
    let Some(agent) = alone else { return };
    for controllable in &agent.controllable {
        for value in VALUES {
            let given = [format!("{controllable}={value}")];
            if let Err(problems) = parameters::parse(&agent, &given) {
                assert!(!problems.is_empty());
                for problem in problems {
                    assert!(!problem.to_string().is_empty());
                }
            }
        }
    }
}

/// The input is a runtime's descriptor.
pub fn runtime(input: &[u8]) {
    let folder = place("descriptors/runtimes", "x.json", input);
    said(Registry::load(&[source(folder.path())]));
}

/// The input is a catalog.
pub fn catalog(input: &[u8]) {
    let folder = place("adapters", "catalog.json", input);
    let Some(registry) = said(Registry::load(&[source(folder.path())])) else {
        return;
    };
    for entry in registry.catalog() {
        let name = &entry.component;
        let plain = !name.contains(['/', '\0']) && !matches!(name.as_str(), "" | "." | "..");
        assert!(plain, "`{name}` leads elsewhere");
    }
}

fn source(folder: &Path) -> Source {
    Source {
        name: "fuzzed".to_owned(),
        folder: folder.to_owned(),
    }
}

fn place(below: &str, name: &str, input: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let below = folder.path().join(below);
    fs::create_dir_all(&below).expect("a folder");
    fs::write(below.join(name), input).expect("a file");
    folder
}

/// A refusal has reasons that can be read.
fn said<T>(loaded: Result<T, Vec<RegistryError>>) -> Option<T> {
    match loaded {
        Ok(loaded) => Some(loaded),
        Err(errors) => {
            assert!(!errors.is_empty(), "refused without a reason");
            for error in errors {
                assert!(!error.to_string().is_empty());
            }
            None
        }
    }
}
