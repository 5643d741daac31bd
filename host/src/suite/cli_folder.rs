//! The part of the suite's folder that is about the agent's own program: scripts for its
//! endpoint, and what must come of them.

use super::expectation::{Expectation, Named};
use super::real_agent::{CliSuite, Role};
use super::stub_folder::StubError;
use crate::registry::{AgentDescriptor, Capability, Need, Support};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// `cli` in `suite.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CliSection {
    model: Option<String>,
    #[serde(default)]
    parameters: Map<String, Value>,
    completes: String,
    provider_error: Option<String>,
    interrupted: Option<String>,
}

/// Reads the folders that the section names.
///
/// # Errors
///
/// Everything that is missing or wrong, at once.
pub fn load(
    section: CliSection,
    folder: &Path,
    descriptor: &AgentDescriptor,
) -> Result<CliSuite, Vec<StubError>> {
    let asks = descriptor.runtime.need != Need::None;
    let mut problems = check_needed(&section, &folder.join("suite.json"), descriptor);
    let mut read = |name: &str, named| {
        let role = role(&folder.join(name), named, asks);
        role.map_err(|found| problems.extend(found)).ok()
    };
    let completes = read(&section.completes, Named::OfRealWork);
    let mut optional = |name: Option<&str>| read(name?, Named::Outcome);
    let provider_error = optional(section.provider_error.as_deref());
    let interrupted = optional(section.interrupted.as_deref());
    match completes {
        Some(completes) if problems.is_empty() => Ok(CliSuite {
            model: section.model,
            parameters: section.parameters,
            completes,
            provider_error,
            interrupted,
        }),
        _ => Err(problems),
    }
}

fn check_needed(section: &CliSection, path: &Path, descriptor: &AgentDescriptor) -> Vec<StubError> {
    let cancels = descriptor.capabilities.support(Capability::Cancellation);
    let needed = [
        (
            "provider_error",
            section.provider_error.is_none() && descriptor.runtime.need == Need::Required,
            "the agent needs a runtime: add a folder whose endpoint answers with errors",
        ),
        (
            "interrupted",
            section.interrupted.is_none() && cancels == Support::Supported,
            "the descriptor calls `cancellation` supported: add a folder whose endpoint lets the \
             agent write `akbench-suite-working` and then wait in a tool call",
        ),
    ];
    let missing = needed.iter().filter(|(_, missing, _)| *missing);
    missing
        .map(|(role, _, why)| {
            StubError::new(path, format!("names no `{role}` under `cli`, but {why}"))
        })
        .collect()
}

fn role(folder: &Path, named: Named, asks: bool) -> Result<Role, Vec<StubError>> {
    let mut problems = Vec::new();
    let script = folder.join("endpoint.json");
    if asks && let Err(problem) = check_script(&script) {
        problems.push(problem);
    }
    let expected = Expectation::load(&folder.join("expect.json"), named);
    let expected = expected.map_err(|problem| problems.push(problem)).ok();
    let workspace = folder.join("workspace");
    let workspace = files_below(&workspace)
        .map_err(|error| {
            problems.push(StubError::new(
                &workspace,
                format!("can't be read: {error}"),
            ))
        })
        .ok();
    match (expected, workspace) {
        (Some(expected), Some(workspace)) if problems.is_empty() => Ok(Role {
            script: asks.then_some(script),
            expected,
            workspace,
        }),
        _ => Err(problems),
    }
}

/// What is in it is the endpoint's business.
fn check_script(path: &Path) -> Result<(), StubError> {
    let wrong = |problem: String| StubError::new(path, problem);
    let bytes = fs::read(path).map_err(|error| {
        wrong(format!(
            "can't be read: {error}; put the script there that the endpoint is to play"
        ))
    })?;
    serde_json::from_slice::<Value>(&bytes)
        .map(drop)
        .map_err(|error| wrong(format!("is no JSON: {error}")))
}

/// By name relative to the folder; nothing if there is no such folder.
fn files_below(folder: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(current) = folders.pop() {
        let entries = match fs::read_dir(&current) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && current == folder => break,
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap_or(&path);
                found.insert(name.to_string_lossy().into_owned(), fs::read(&path)?);
            }
        }
    }
    Ok(found)
}
