//! The resources that can be limited, and their limits.

use serde::{Deserialize, Serialize};

/// Something that a process tree uses up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Resource {
    /// Computing time of the whole tree, milliseconds.
    #[serde(rename = "cpu_time_ms")]
    CpuTime,
    /// Memory of the whole tree, bytes.
    #[serde(rename = "memory_bytes")]
    Memory,
    /// Processes and threads that exist at once.
    #[serde(rename = "processes")]
    Processes,
    /// File descriptors of each process.
    #[serde(rename = "open_files")]
    OpenFiles,
    /// Bytes by which everything that the tree can write to has grown.
    #[serde(rename = "disk_bytes")]
    Disk,
    /// Bytes recorded of what the session's programs print.
    #[serde(rename = "output_bytes")]
    Output,
}

/// What a number of a resource counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Milliseconds,
    /// Bytes.
    Bytes,
    /// Things.
    Count,
}

impl Resource {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 6] = [
        Self::CpuTime,
        Self::Memory,
        Self::Processes,
        Self::OpenFiles,
        Self::Disk,
        Self::Output,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::CpuTime => "cpu_time",
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::OpenFiles => "open_files",
            Self::Disk => "disk",
            Self::Output => "output",
        }
    }

    /// The key in descriptors and results: the name with its unit.
    pub fn key(self) -> &'static str {
        match self {
            Self::CpuTime => "cpu_time_ms",
            Self::Memory => "memory_bytes",
            Self::Processes => "processes",
            Self::OpenFiles => "open_files",
            Self::Disk => "disk_bytes",
            Self::Output => "output_bytes",
        }
    }

    /// What its numbers count.
    pub fn unit(self) -> Unit {
        match self {
            Self::CpuTime => Unit::Milliseconds,
            Self::Memory | Self::Disk | Self::Output => Unit::Bytes,
            Self::Processes | Self::OpenFiles => Unit::Count,
        }
    }

    /// The least that a limit may be: below it no program starts.
    pub fn least(self) -> u64 {
        match self {
            Self::CpuTime => 1,
            Self::Memory => 1 << 20,
            Self::Processes => 1,
            Self::OpenFiles => 64,
            Self::Disk | Self::Output => 1,
        }
    }

    /// The limit where neither the descriptor nor a person says anything; `None` is none.
    pub fn default_limit(self) -> Option<u64> {
        match self {
            Self::CpuTime | Self::Memory | Self::OpenFiles => None,
            // An eighth of the ids that a small machine has.
            Self::Processes => Some(4096),
            Self::Disk => Some(16 << 30),
            Self::Output => Some(4 << 30),
        }
    }
}

/// A limit for each resource; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceLimits([Option<u64>; Resource::ALL.len()]);

impl ResourceLimits {
    /// No limit at all.
    pub const NONE: Self = Self([None; Resource::ALL.len()]);

    /// What holds if nobody says anything.
    pub fn by_default() -> Self {
        Self(Resource::ALL.map(Resource::default_limit))
    }

    /// The limit of a resource, in its unit.
    pub fn of(&self, resource: Resource) -> Option<u64> {
        self.0[resource as usize]
    }

    /// The same with another limit for one resource.
    #[must_use]
    pub fn with(mut self, resource: Resource, limit: Option<u64>) -> Self {
        self.0[resource as usize] = limit;
        self
    }
}

/// Who keeps a tree within a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Enforcer {
    /// A control group of version 1.
    #[serde(rename = "cgroup-v1")]
    CgroupV1,
    /// A control group of version 2.
    #[serde(rename = "cgroup-v2")]
    CgroupV2,
    /// The supervisor looks at every process, twice a second.
    #[serde(rename = "census")]
    Census,
    /// The system, process by process.
    #[serde(rename = "rlimit")]
    Rlimit,
    /// The engine looks at every file, at a low rate.
    #[serde(rename = "walk")]
    Walk,
    /// The engine counts what it records.
    #[serde(rename = "recorder")]
    Recorder,
}

/// A limit in the result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitRecord {
    /// In the unit that the name says; `None` is no limit.
    pub limit: Option<u64>,
    /// Who enforces it; `None` if there is no limit or it could not be applied.
    pub enforced_by: Option<Enforcer>,
    /// Why it was not applied, or not in the strongest way.
    pub note: Option<String>,
    /// What the tree used of it, or the most that was seen; `None` if nobody measured.
    pub measured: Option<u64>,
    /// Whether the tree ran into it; `None` if nobody could see that.
    pub hit: Option<bool>,
}

/// A limit that a tree ran into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hit {
    /// Of what.
    pub resource: Resource,
    /// The limit.
    pub limit: u64,
    /// What was measured; at or below the limit where the system refuses more.
    pub measured: Option<u64>,
    /// Who enforced it.
    pub enforced_by: Enforcer,
}

impl Hit {
    /// True if every moment more harms the machine, because nothing but the end of the tree
    /// keeps it from taking more. Else there is time to end it as the agent's protocol asks.
    pub fn is_urgent(&self) -> bool {
        match self.resource {
            Resource::Memory | Resource::Processes => self.enforced_by == Enforcer::Census,
            Resource::Disk => true,
            Resource::CpuTime | Resource::OpenFiles | Resource::Output => false,
        }
    }

    /// A sentence for people.
    pub fn describe(&self) -> String {
        let what = match self.resource {
            Resource::CpuTime => "computing time",
            Resource::Memory => "memory",
            Resource::Processes => "number of processes",
            Resource::OpenFiles => "number of open files",
            Resource::Disk => "growth of the files",
            Resource::Output => "output",
        };
        let limit = match self.resource.unit() {
            Unit::Milliseconds => format!("{} ms", self.limit),
            Unit::Bytes => format!("{} bytes", self.limit),
            Unit::Count => self.limit.to_string(),
        };
        format!("the {what} of the agent's process tree reached the limit of {limit}")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn keys_are_what_serde_writes_and_limits_are_told_apart() {
        let mut limits = ResourceLimits::NONE;
        for (number, resource) in Resource::ALL.into_iter().enumerate() {
            assert_eq!(serde_json::to_value(resource).unwrap(), resource.key());
            assert!(resource.key().starts_with(resource.name()));
            limits = limits.with(resource, Some(number as u64));
        }
        for (number, resource) in Resource::ALL.into_iter().enumerate() {
            assert_eq!(limits.of(resource), Some(number as u64));
        }
    }
}
