//! What the contract suite found about an adapter, kept for later runs.
//!
//! An attestation belongs to one component, one descriptor, one contract and one version of
//! the suite, all by digest or version: change a byte of any, and it does not count.
//! Installed ones are read first (`share/akbench/attestations`), then the user's own.

use crate::digest::Sha256;
use crate::suite;
use crate::suite::report::{Outcome, SuiteReport};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The name and version of the format.
pub const SCHEMA: &str = "akbench.attestation/1";

/// How far an adapter has come. Each says what was shown and no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// It exists, and its operations can be called.
    Implemented,
    /// It passed the suite on recordings of its agent.
    FixtureConformant,
    /// It also passed with the agent's real program and a scripted endpoint.
    CliConformant,
    /// It also worked with a real endpoint.
    LiveQualified,
}

impl Rung {
    /// As people write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Implemented => "implemented",
            Self::FixtureConformant => "fixture-conformant",
            Self::CliConformant => "cli-conformant",
            Self::LiveQualified => "live-qualified",
        }
    }
}

/// The agent's own program, as it was tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramTested {
    /// As the descriptor names it.
    pub name: String,
    /// As it reported; `None` if it did not.
    pub version: Option<String>,
    /// Of its file.
    pub sha256: Sha256,
}

/// One run of the suite, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attestation {
    /// [`SCHEMA`].
    pub schema: String,
    /// Of the component's file.
    pub component_sha256: Sha256,
    /// Of the descriptor's file.
    pub descriptor_sha256: Sha256,
    /// The contract, with its version.
    pub contract: String,
    /// The version of the cases.
    pub suite_version: String,
    /// The host that ran them.
    pub akbench: String,
    /// When, RFC 3339.
    pub created_at: String,
    /// How far it came; `None`: a case failed.
    pub rung: Option<Rung>,
    /// The agent's own program; `None` if only recordings were played.
    pub program: Option<ProgramTested>,
    /// The runtime whose real endpoint was asked; `None` if none was.
    pub live_runtime: Option<String>,
    /// Cases passed.
    pub passed: usize,
    /// Cases that did not apply.
    pub not_applicable: usize,
    /// Cases that failed, by name.
    pub failed: Vec<String>,
}

impl Attestation {
    /// What a report attests.
    pub fn of(report: &SuiteReport) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            component_sha256: report.component_sha256,
            descriptor_sha256: report.descriptor_sha256,
            contract: report.contract.clone(),
            suite_version: report.suite_version.to_owned(),
            akbench: env!("CARGO_PKG_VERSION").to_owned(),
            created_at: crate::clock::now(),
            rung: report.rung,
            program: report.program.clone(),
            live_runtime: report.live_runtime.clone(),
            passed: report.count(Outcome::Passed),
            not_applicable: report.count(Outcome::NotApplicable),
            failed: report.failed(),
        }
    }

    fn standing(&self) -> Standing {
        match self.rung {
            Some(rung) if self.failed.is_empty() => Standing::Passed(rung),
            _ => Standing::Failed,
        }
    }

    fn is_about(&self, subject: &Attested) -> bool {
        self.schema == SCHEMA
            && self.component_sha256 == subject.component_sha256
            && self.descriptor_sha256 == subject.descriptor_sha256
            && self.contract == subject.contract
            && self.suite_version == suite::VERSION
    }
}

/// What an attestation is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attested {
    /// Of the component's file.
    pub component_sha256: Sha256,
    /// Of the descriptor's file.
    pub descriptor_sha256: Sha256,
    /// The contract, with its version.
    pub contract: String,
}

impl Attested {
    fn file_name(&self) -> String {
        format!("{}-{}.json", self.component_sha256, self.descriptor_sha256)
    }
}

/// What is known about an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The suite was not run on exactly this.
    NotRun,
    /// It was, and a case failed.
    Failed,
    /// It passed, up to this rung.
    Passed(Rung),
}

impl Standing {
    /// Why a run may not count; `None` if nothing speaks against it.
    pub fn invalid_reason(self) -> Option<&'static str> {
        match self {
            Self::Passed(rung) if rung >= Rung::FixtureConformant => None,
            Self::Failed => Some("contract_suite_failed"),
            Self::NotRun | Self::Passed(_) => Some("contract_suite_not_run"),
        }
    }

    /// The rung: an adapter that is there is at least implemented.
    pub fn rung(self) -> Rung {
        match self {
            Self::Passed(rung) => rung,
            Self::NotRun | Self::Failed => Rung::Implemented,
        }
    }
}

/// The folders with attestations, in the order in which they are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attestations {
    folders: Vec<PathBuf>,
}

impl Attestations {
    /// Reads these folders; they need not exist.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            folders: folders.into_iter().collect(),
        }
    }

    /// What is known about an adapter: the first folder that knows something decides. A file
    /// that can't be read or is about something else counts as absent.
    pub fn standing(&self, subject: &Attested) -> Standing {
        let mut folders = self.folders.iter();
        let known = folders.find_map(|folder| read(folder, subject));
        known.map_or(Standing::NotRun, |known| known.standing())
    }
}

fn read(folder: &Path, subject: &Attested) -> Option<Attestation> {
    let bytes = fs::read(folder.join(subject.file_name())).ok()?;
    let found: Attestation = serde_json::from_slice(&bytes).ok()?;
    found.is_about(subject).then_some(found)
}

/// What became of an attestation that was to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// It was written there.
    Written(PathBuf),
    /// One of a higher rung for the same subject is there, and stays: less was tested this time,
    /// and nothing of it failed.
    Higher(PathBuf, Rung),
}

/// Keeps an attestation in a folder; one for the same subject is replaced, unless it says more
/// and this one does not contradict it.
///
/// # Errors
///
/// What the system says.
pub fn store(folder: &Path, attestation: &Attestation) -> io::Result<Kept> {
    crate::files::create_private_folders(folder)?;
    let subject = Attested {
        component_sha256: attestation.component_sha256,
        descriptor_sha256: attestation.descriptor_sha256,
        contract: attestation.contract.clone(),
    };
    let path = folder.join(subject.file_name());
    let there = read(folder, &subject).map(|there| there.standing());
    if let (Some(Standing::Passed(there)), Standing::Passed(new)) = (there, attestation.standing())
        && there > new
    {
        return Ok(Kept::Higher(path, there));
    }
    crate::files::write_json_durably(&path, attestation)?;
    Ok(Kept::Written(path))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    fn attestation(rung: Option<Rung>) -> Attestation {
        Attestation {
            schema: SCHEMA.to_owned(),
            component_sha256: Sha256::of(b"component"),
            descriptor_sha256: Sha256::of(b"descriptor"),
            contract: "akbench:agent@0.1.0".to_owned(),
            suite_version: suite::VERSION.to_owned(),
            akbench: "0.1.0".to_owned(),
            created_at: "2026-01-01T00:00:00Z".to_owned(),
            rung,
            program: None,
            live_runtime: None,
            passed: 1,
            not_applicable: 0,
            failed: rung.map_or_else(|| vec!["a.b".to_owned()], |_| Vec::new()),
        }
    }

    fn subject() -> Attested {
        Attested {
            component_sha256: Sha256::of(b"component"),
            descriptor_sha256: Sha256::of(b"descriptor"),
            contract: "akbench:agent@0.1.0".to_owned(),
        }
    }

    #[test]
    fn only_what_was_tested_is_attested() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Attestations::new([folder.path().to_owned()]);
        assert_eq!(kept.standing(&subject()), Standing::NotRun);
        store(folder.path(), &attestation(Some(Rung::FixtureConformant))).unwrap();
        let passed = Standing::Passed(Rung::FixtureConformant);
        assert_eq!(kept.standing(&subject()), passed);
        let mut other = subject();
        other.descriptor_sha256 = Sha256::of(b"another");
        assert_eq!(kept.standing(&other), Standing::NotRun);
        other = subject();
        other.contract = "akbench:agent@0.2.0".to_owned();
        assert_eq!(kept.standing(&other), Standing::NotRun);
    }

    #[test]
    fn an_older_suite_no_longer_counts() {
        let folder = tempfile::tempdir().unwrap();
        let mut old = attestation(Some(Rung::FixtureConformant));
        old.suite_version = "0".to_owned();
        store(folder.path(), &old).unwrap();
        let kept = Attestations::new([folder.path().to_owned()]);
        assert_eq!(kept.standing(&subject()), Standing::NotRun);
    }

    #[test]
    fn a_failed_suite_is_another_reason_than_none() {
        let folder = tempfile::tempdir().unwrap();
        store(folder.path(), &attestation(None)).unwrap();
        let kept = Attestations::new([folder.path().to_owned()]);
        let standing = kept.standing(&subject());
        assert_eq!(standing.invalid_reason(), Some("contract_suite_failed"));
        assert_eq!(
            Standing::Passed(Rung::Implemented).invalid_reason(),
            Some("contract_suite_not_run")
        );
        let passed = Standing::Passed(Rung::FixtureConformant);
        assert_eq!(passed.invalid_reason(), None);
    }

    #[test]
    fn what_showed_more_stays_until_something_fails() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Attestations::new([folder.path().to_owned()]);
        let written = store(folder.path(), &attestation(Some(Rung::CliConformant))).unwrap();
        let Kept::Written(path) = written else {
            panic!("{written:?}");
        };
        let less = store(folder.path(), &attestation(Some(Rung::FixtureConformant))).unwrap();
        assert_eq!(less, Kept::Higher(path, Rung::CliConformant));
        assert_eq!(
            kept.standing(&subject()),
            Standing::Passed(Rung::CliConformant)
        );
        store(folder.path(), &attestation(None)).unwrap();
        assert_eq!(kept.standing(&subject()), Standing::Failed);
    }

    #[test]
    fn an_installed_attestation_is_read_before_the_users() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        store(first.path(), &attestation(Some(Rung::CliConformant))).unwrap();
        store(second.path(), &attestation(None)).unwrap();
        let kept = Attestations::new([first.path().to_owned(), second.path().to_owned()]);
        let standing = kept.standing(&subject());
        assert_eq!(standing, Standing::Passed(Rung::CliConformant));
    }
}
