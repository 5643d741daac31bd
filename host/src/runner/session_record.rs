//! `session.json`: what the engine itself saw of a session, written once the agent is proven
//! dead. With the evidence it is all that a result is derived from, now or years later.

use super::collect::Masks;
use super::drive::{Driven, RecordingFailed, StopCause};
use super::operate::AdapterFault;
use super::result::Phases;
use crate::contract::observed::{EnvironmentReport, Phase, ReportedFailure};
use crate::process::resources::watch::Findings;
use crate::process::tree::Census;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// The name and version of this format.
pub const SCHEMA: &str = "akbench.session/1";

/// What the engine saw of a session, without what an adapter observed in the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionRecord {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// What `validate-environment` found.
    pub report: EnvironmentReport,
    /// How long each phase took.
    pub phases: Phases,
    /// The work was submitted, so there is something to observe.
    pub submitted: bool,
    /// An operation that failed by the adapter's own word, and the phase.
    pub failed: Option<(Phase, ReportedFailure)>,
    /// The adapter broke.
    pub fault: Option<AdapterFault>,
    /// The engine ended the work.
    pub stopped: Option<StopCause>,
    /// Evidence that could not be written.
    pub recording_failure: Option<RecordingFailed>,
    /// Where the adapter broke the contract, observing apart.
    pub violations: Vec<String>,
    /// Programs started.
    pub spawned: u32,
    /// What was left of the tree; `None` if nobody could count.
    pub census: Option<Census>,
    /// What the tree used of each limited resource, and the first limit that it ran into.
    pub resources: Findings,
    /// Masks in the files copied from the agent's home.
    pub masks: Masks,
}

impl SessionRecord {
    /// Without observations, and without what went wrong in observing: that is derived anew.
    pub fn of(driven: &Driven) -> Self {
        let observing = |phase: Phase| matches!(phase, Phase::Collect | Phase::Close);
        Self {
            schema: SCHEMA.to_owned(),
            report: driven.report.clone(),
            phases: driven.phases.clone(),
            submitted: driven.submitted,
            failed: driven
                .failed
                .clone()
                .filter(|(phase, _)| !observing(*phase)),
            fault: driven
                .fault
                .clone()
                .filter(|fault| !observing(fault.operation.phase())),
            stopped: driven.stopped.clone(),
            recording_failure: driven.recording_failure.clone(),
            violations: driven.violations.clone(),
            spawned: driven.spawned,
            census: driven.census,
            resources: driven.resources.clone(),
            masks: driven.masks.clone(),
        }
    }

    /// Reads the record; `None` if the host died before it was written.
    ///
    /// # Errors
    ///
    /// If it can't be read, or is no such record.
    pub fn load(path: &Path) -> io::Result<Option<Self>> {
        let bytes = match std::fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read?,
        };
        let record: Self = serde_json::from_slice(&bytes)?;
        if record.schema != SCHEMA {
            let text = format!(
                "it has the schema `{}`; this akbench reads `{SCHEMA}`",
                record.schema
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(Some(record))
    }

    /// As the session was, with nothing observed yet.
    pub fn into_driven(self) -> Driven {
        Driven {
            report: self.report,
            phases: self.phases,
            failed: self.failed,
            fault: self.fault,
            stopped: self.stopped,
            submitted: self.submitted,
            observations: None,
            violations: self.violations,
            observed_violations: Vec::new(),
            recording_failure: self.recording_failure,
            spawned: self.spawned,
            census: self.census,
            resources: self.resources,
            masks: self.masks,
        }
    }
}

/// Durations as milliseconds.
pub(super) mod milliseconds {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::time::Duration;

    pub fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        u64::try_from(duration.as_millis())
            .unwrap_or(u64::MAX)
            .serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::contract::observed::FailureClass;
    use std::path::PathBuf;
    use std::time::Duration;

    #[test]
    fn a_session_is_read_as_it_was_written_without_what_was_observed() {
        let failure = ReportedFailure {
            class: FailureClass::Other("new_one".to_owned()),
            message: "m".to_owned(),
            evidence: serde_json::Map::new(),
            retryable: true,
        };
        let driven = Driven {
            stopped: Some(StopCause::TimeLimit(Duration::from_millis(1500))),
            submitted: true,
            failed: Some((Phase::Work, failure)),
            observed_violations: vec!["observed".to_owned()],
            violations: vec!["seen".to_owned()],
            census: Some(Census {
                ended: 2,
                survivors: 0,
            }),
            masks: [(PathBuf::from("evidence/home/a"), 3)].into(),
            ..Driven::default()
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.json");
        assert_eq!(SessionRecord::load(&path).unwrap(), None);
        let record = SessionRecord::of(&driven);
        std::fs::write(&path, serde_json::to_vec(&record).unwrap()).unwrap();
        assert_eq!(SessionRecord::load(&path).unwrap(), Some(record.clone()));
        let read = record.into_driven();
        assert_eq!(read.stopped, driven.stopped);
        assert_eq!(read.violations, ["seen"]);
        assert_eq!(read.observed_violations, [] as [String; 0]);
    }
}
