//! Reading evidence natively, with the very code of the adapter that runs as a component
//! elsewhere: what the component is measured against.
//!
//! - [`baseline`]: counts that do not drift, compared with what was recorded.
//! - [`computing`]: how long this thread computed.
//! - [`recordings`]: lines of recorded sessions, to make long ones of.
//! - [`evidence`]: folders of evidence as the engine records them, with long streams.
//! - [`peak`]: the peak memory of this process.

pub mod baseline;
pub mod computing;
pub mod evidence;
pub mod peak;
pub mod recordings;

use akbench_adapter_sdk::evidence::{EvidenceError, FolderEvidence};
use akbench_adapter_sdk::types::Observations;
use std::path::Path;

/// Observes a folder of evidence, as the component does.
///
/// # Errors
///
/// If a file exists and can't be read.
pub fn observe(evidence: &Path) -> Result<Observations, EvidenceError> {
    akbench_codex_adapter::observe::observe(&FolderEvidence(evidence.to_owned()))
}
