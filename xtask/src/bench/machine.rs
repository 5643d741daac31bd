//! What was measured on, without anything that names the machine itself.

use std::fs;
use std::path::Path;
use std::thread;

use serde::{Deserialize, Serialize};

use super::file_system;

/// A machine, as far as it explains figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The processor's model; `None` if the system does not say.
    pub processor: Option<String>,
    /// Cores that may be used.
    pub cores: usize,
    /// The kernel's release; `None` if the system does not say.
    pub kernel: Option<String>,
    /// Memory in MiB; `None` if the system does not say.
    pub memory_mib: Option<u64>,
    /// Where measured runs are kept, as `ext4 with a journal`; `None` if the system does not say.
    pub file_system: Option<String>,
}

impl Machine {
    /// This one, with measured runs kept in this folder.
    pub fn with_runs_in(folder: &Path) -> Self {
        let read = |path: &str| fs::read_to_string(path).ok();
        let field = |text: &str, name: &str| {
            let line = text.lines().find(|line| line.starts_with(name))?;
            let (_, value) = line.split_once(':')?;
            Some(value.trim().to_owned())
        };
        Self {
            processor: read("/proc/cpuinfo").and_then(|text| field(&text, "model name")),
            cores: thread::available_parallelism().map_or(1, std::num::NonZero::get),
            kernel: read("/proc/sys/kernel/osrelease").map(|text| text.trim().to_owned()),
            memory_mib: read("/proc/meminfo")
                .and_then(|text| field(&text, "MemTotal"))
                .and_then(|value| value.split(' ').next()?.parse::<u64>().ok())
                .map(|kibibytes| kibibytes / 1024),
            file_system: file_system::of(folder),
        }
    }

    /// In one line.
    pub fn describe(&self) -> String {
        let unknown = || "unknown".to_owned();
        format!(
            "{} cores ({}), {} memory, Linux {}, runs kept in {}",
            self.cores,
            self.processor.clone().unwrap_or_else(unknown),
            self.memory_mib
                .map_or_else(unknown, |mib| format!("{} GiB", mib.div_ceil(1024))),
            self.kernel.clone().unwrap_or_else(unknown),
            self.file_system.clone().unwrap_or_else(unknown),
        )
    }
}
