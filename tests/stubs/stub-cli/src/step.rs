//! The steps of a case, as they stand in `scenario.json`.

use crate::content::{FileContent, Flood, Write};
use crate::daemon::Daemon;
use crate::files::{Copy, Place, Symlink};
use crate::programs::Run;
use crate::signals::{Catchable, SignalName};
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Step {
    Stdout(Write),
    Stderr(Write),
    Flood(Flood),
    CloseStdout,
    CloseStderr,
    Copy(Copy),
    WriteFile(FileContent),
    AppendFile(FileContent),
    DeleteFile(Place),
    MakeFifo(Place),
    MakeSymlink(Symlink),
    ReadStdin(ReadStdin),
    IgnoreSignals(Vec<Catchable>),
    OnSignal(OnSignal),
    /// In milliseconds.
    SleepMs(u64),
    /// Until a signal was handled; one since the last `hang` counts.
    Hang,
    Daemon(Daemon),
    Run(Run),
    ReportEnv(ReportTo),
    ReportSelf(ReportTo),
    StopSelf,
    Exit(u8),
    KillSelf(SignalName),
}

/// Reads stdin to its end.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadStdin {
    /// A file, relative to the base; `None`: what was read is not kept.
    #[serde(default)]
    pub(crate) save_to: Option<PathBuf>,
    /// The base, as in [`Place`].
    #[serde(default)]
    pub(crate) into_env: Option<String>,
    /// What must have been read, exactly.
    #[serde(default)]
    pub(crate) require: Option<String>,
}

/// Steps to play when a signal comes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OnSignal {
    pub(crate) signal: Catchable,
    pub(crate) steps: Vec<Step>,
}

/// Where a report goes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReportTo {
    /// Relative to the base; `None`: a line on stdout.
    #[serde(default)]
    pub(crate) file: Option<PathBuf>,
    /// The base, as in [`Place`].
    #[serde(default)]
    pub(crate) into_env: Option<String>,
}
