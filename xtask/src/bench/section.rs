//! What can be measured on its own.

use super::rig::Rig;
use super::{Plan, inside, live, micro, overhead};
use crate::failure::Outcome;
use crate::workspace::Workspace;
use akbench_recorded::row::Row;

/// A part of the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Section {
    /// One run of a program that does nothing, as a process
    Overhead,
    /// Compiling, loading, instantiating and calling adapters
    Components,
    /// Event streams, read by the component and natively
    Stream,
    /// Session files, read by the component and natively
    Rollout,
    /// A flood of events through a whole run
    Live,
    /// Many sessions in one process
    Sessions,
    /// Copying and digesting workspaces
    Workspaces,
    /// Single functions, by criterion
    Micro,
}

impl Section {
    /// In the order in which they are measured and shown.
    pub const ALL: [Self; 8] = [
        Self::Overhead,
        Self::Components,
        Self::Stream,
        Self::Rollout,
        Self::Live,
        Self::Sessions,
        Self::Workspaces,
        Self::Micro,
    ];

    /// As on the command line.
    pub fn id(self) -> &'static str {
        match self {
            Self::Overhead => "overhead",
            Self::Components => "components",
            Self::Stream => "stream",
            Self::Rollout => "rollout",
            Self::Live => "live",
            Self::Sessions => "sessions",
            Self::Workspaces => "workspaces",
            Self::Micro => "micro",
        }
    }

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Overhead => "One run of a program that does nothing",
            Self::Components => "Adapters: from the file to an answer",
            Self::Stream => "An event stream, read by the Codex component and natively",
            Self::Rollout => "A session file, read by the Codex component and natively",
            Self::Live => "A flood of events through a whole run",
            Self::Sessions => "Many sessions in one process",
            Self::Workspaces => "Preparing a workspace",
            Self::Micro => "Single functions",
        }
    }

    /// Measures it.
    pub fn measure(self, workspace: &Workspace, rig: &Rig, plan: &Plan) -> Outcome<Vec<Row>> {
        let bench = inside::Bench::new(workspace, rig);
        match self {
            Self::Overhead => overhead::measure(rig, plan.runs),
            Self::Components => bench.components(),
            Self::Stream => bench.long("stream", plan.megabytes),
            Self::Rollout => bench.long("rollout", plan.megabytes),
            Self::Live => live::measure(rig, plan.megabytes),
            Self::Sessions => bench.sessions(plan.sessions),
            Self::Workspaces => bench.workspaces(),
            Self::Micro => micro::measure(workspace),
        }
    }
}
