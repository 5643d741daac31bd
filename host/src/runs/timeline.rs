//! What happened when, from a run's `events.jsonl`.

use crate::contract::events::RunEvent;
use crate::contract::observed::Phase;
use jiff::Timestamp;
use serde::Deserialize;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// A longer line is not read: only a damaged file has one.
const MAX_LINE: u64 = 16 << 20;

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// Milliseconds since the first event.
    pub at_ms: u64,
    /// What.
    pub event: RunEvent,
}

/// A run's events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeline {
    /// In the order in which they were recorded.
    pub moments: Vec<Moment>,
    /// Lines that could not be read: torn by a crash, or of a kind that is not known here.
    pub unreadable: usize,
    /// When the last of them was recorded; `None` without any.
    pub last_at: Option<Timestamp>,
}

impl Timeline {
    /// The phase that the engine entered last; `None` if it entered none.
    pub fn last_phase(&self) -> Option<Phase> {
        self.moments
            .iter()
            .rev()
            .find_map(|moment| match moment.event {
                RunEvent::Phase { phase } => Some(phase),
                _ => None,
            })
    }

    /// Whether the engine entered this phase.
    pub fn reached(&self, wanted: Phase) -> bool {
        self.moments
            .iter()
            .any(|moment| matches!(moment.event, RunEvent::Phase { phase } if phase == wanted))
    }

    /// Whether the work may have been submitted. The line that says so comes right after the
    /// start, and a crash can have torn it or taken it away: then the evidence is to tell.
    pub fn may_have_reached_work(&self) -> bool {
        self.reached(Phase::Start) || self.reached(Phase::Work)
    }

    /// What the agent's program reported as its version.
    pub fn agent_version(&self) -> Option<&str> {
        self.moments.iter().find_map(|moment| match &moment.event {
            RunEvent::AgentVersion { version } => Some(version.as_str()),
            _ => None,
        })
    }
}

#[derive(Deserialize)]
struct Line {
    at: String,
    #[serde(flatten)]
    event: RunEvent,
}

/// Reads the events of the run in this folder; none if it recorded none.
///
/// # Errors
///
/// What the system says.
pub fn timeline(folder: &Path) -> io::Result<Timeline> {
    let file = match File::open(folder.join("events.jsonl")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Timeline::default()),
        file => file?,
    };
    let mut reader = BufReader::new(file);
    let mut timeline = Timeline::default();
    let mut first = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader
            .by_ref()
            .take(MAX_LINE)
            .read_until(b'\n', &mut line)?
            == 0
        {
            return Ok(timeline);
        }
        let Some((at, event)) = read_line(&line) else {
            timeline.unreadable += 1;
            continue;
        };
        timeline.last_at = Some(at);
        let first = *first.get_or_insert(at);
        let since = at.as_millisecond().saturating_sub(first.as_millisecond());
        timeline.moments.push(Moment {
            // A clock that was set back makes nothing happen before the beginning.
            at_ms: u64::try_from(since).unwrap_or(0),
            event,
        });
    }
}

fn read_line(line: &[u8]) -> Option<(Timestamp, RunEvent)> {
    let Line { at, event } = serde_json::from_slice(line).ok()?;
    Some((at.parse().ok()?, event))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_torn_last_line_loses_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let lines = concat!(
            "{\"at\":\"2026-01-02T03:04:05.000Z\",\"event\":\"phase\",\"phase\":\"validate\"}\n",
            "{\"at\":\"2026-01-02T03:04:06.500Z\",\"event\":\"warning\",\"text\":\"w\"}\n",
            "{\"at\":\"2026-01-02T03:04:07.000Z\",\"eve"
        );
        std::fs::write(folder.path().join("events.jsonl"), lines).unwrap();
        let timeline = timeline(folder.path()).unwrap();
        assert_eq!(timeline.unreadable, 1);
        assert!(!timeline.may_have_reached_work());
        let validate = RunEvent::Phase {
            phase: Phase::Validate,
        };
        let warning = RunEvent::Warning {
            text: "w".to_owned(),
        };
        let moments =
            [(0, validate), (1500, warning)].map(|(at_ms, event)| Moment { at_ms, event });
        assert_eq!(timeline.moments, moments);
    }

    #[test]
    fn whatever_came_after_the_start_may_have_been_the_beginning_of_the_work() {
        let begins = |phase: &str, rest: &str| {
            let folder = tempfile::tempdir().unwrap();
            let lines = format!(
                "{{\"at\":\"2026-01-02T03:04:05.000Z\",\"event\":\"phase\",\"phase\":\"{phase}\"}}\n{rest}"
            );
            std::fs::write(folder.path().join("events.jsonl"), lines).unwrap();
            timeline(folder.path()).unwrap().may_have_reached_work()
        };
        let torn = "{\"at\":\"2026-01-02T03:0";
        assert!(begins("start", torn) && begins("start", "") && begins("work", ""));
        assert!(!begins("validate", torn) && !begins("validate", ""));
    }
}
