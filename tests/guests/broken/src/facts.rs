//! What the evidence of the last task looks like from outside, for the breaks that depend on it.

use akbench_adapter_sdk::evidence::{
    self, Evidence, EvidenceError, ExitRecord, ExitStatus, for_each_line, read_all,
};
use akbench_fake_adapter::line::Line;
use akbench_fake_adapter::observe::TASK;

/// Of the task submitted last.
#[derive(Debug, Default)]
pub struct Facts {
    /// Lines on stdout.
    pub lines: u64,
    /// Bytes of the longest one.
    pub longest: usize,
    /// True if one of them is no text.
    pub has_no_text: bool,
    /// True if the agent said that it is done.
    pub said_done: bool,
    /// True if the agent said that it used a tool.
    pub used_tools: bool,
    /// Bytes on stderr.
    pub stderr_bytes: usize,
    /// Its end, if that was recorded.
    pub exit: Option<ExitRecord>,
}

impl Facts {
    /// Reads them; `None` if no task was recorded.
    ///
    /// # Errors
    ///
    /// If a file exists and can't be read.
    pub fn of(evidence: &dyn Evidence) -> Result<Option<Self>, EvidenceError> {
        let spawns = evidence::spawns(evidence)?;
        let Some(task) = spawns.into_iter().rfind(|spawn| spawn.label == TASK) else {
            return Ok(None);
        };
        let mut facts = Self {
            exit: task.exit,
            ..Self::default()
        };
        for_each_line(evidence, &format!("{}/stdout", task.folder), |line| {
            facts.lines += 1;
            facts.longest = facts.longest.max(line.bytes.len());
            facts.has_no_text |= std::str::from_utf8(line.bytes).is_err();
            let said = Line::parse(line.bytes);
            facts.said_done |= said == Some(Line::Done);
            facts.used_tools |= matches!(said, Some(Line::Tool { .. }));
        })?;
        let stderr = read_all(evidence, &format!("{}/stderr", task.folder))?;
        facts.stderr_bytes = stderr.map_or(0, |bytes| bytes.len());
        Ok(Some(facts))
    }

    /// The engine sent a signal for this reason.
    pub fn stopped_for(&self, reason: &str) -> bool {
        let mut signals = self.exit.iter().flat_map(|exit| &exit.signals);
        signals.any(|sent| sent.reason == reason)
    }

    /// The engine had to use SIGKILL.
    pub fn was_killed(&self) -> bool {
        let mut signals = self.exit.iter().flat_map(|exit| &exit.signals);
        signals.any(|sent| sent.signal == "SIGKILL" && sent.reason != "leftovers")
    }

    /// It ended with exit code 0.
    pub fn exited_well(&self) -> bool {
        let status = self.exit.as_ref().map(|exit| exit.status);
        status == Some(ExitStatus::Exited { code: 0 })
    }

    /// The signal that ended it, if the engine sent none.
    pub fn crashed_by(&self) -> Option<i32> {
        match self.exit.as_ref()? {
            ExitRecord {
                status: ExitStatus::Signalled { signal },
                signals,
            } if signals.is_empty() => Some(*signal),
            _ => None,
        }
    }
}
