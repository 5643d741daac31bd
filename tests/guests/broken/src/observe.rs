//! Observing: the fake adapter's way, the agent's sandbox besides, and then the break.

use crate::breaks::Break;
use crate::facts::Facts;
use crate::falsify::{Memory, falsify};
use crate::probes::{SANDBOX, sandbox_in};
use akbench_adapter_sdk::evidence::{
    self, Entry, Evidence, EvidenceError, GrantedEvidence, read_all,
};
use akbench_adapter_sdk::types::Observations;
use akbench_fake_adapter::observe::{TASK, observe};
use std::io::Read;

/// All that is observed, with this break. `memory` is `None` in a replay.
///
/// # Errors
///
/// If a file exists and can't be read.
pub fn observed(broken: Break, memory: Option<Memory>) -> Result<Observations, EvidenceError> {
    let evidence = &GrantedEvidence as &dyn Evidence;
    let mut seen = match broken {
        Break::FirstTaskObserved => observe(&FirstTask)?,
        _ => observe(evidence)?,
    };
    seen.applied.sandbox = sandbox(evidence)?;
    let facts = Facts::of(evidence)?;
    falsify(broken, &mut seen, facts.as_ref(), memory);
    Ok(seen)
}

fn sandbox(evidence: &dyn Evidence) -> Result<Option<String>, EvidenceError> {
    let spawns = evidence::spawns(evidence)?;
    let Some(probe) = spawns.iter().rfind(|spawn| spawn.label == SANDBOX) else {
        return Ok(None);
    };
    let printed = read_all(evidence, &format!("{}/stdout", probe.folder))?;
    Ok(printed.as_deref().and_then(sandbox_in))
}

/// The evidence, but for every task after the first.
struct FirstTask;

impl Evidence for FirstTask {
    fn list(&self, folder: &str) -> Result<Vec<Entry>, EvidenceError> {
        let mut entries = GrantedEvidence.list(folder)?;
        let is_task = |entry: &Entry| entry.name.ends_with(&format!("-{TASK}"));
        let mut tasks = 0;
        entries.retain(|entry| {
            tasks += u32::from(is_task(entry));
            !is_task(entry) || tasks == 1
        });
        Ok(entries)
    }

    fn open(&self, path: &str) -> Result<Option<Box<dyn Read + '_>>, EvidenceError> {
        GrantedEvidence.open(path)
    }
}
