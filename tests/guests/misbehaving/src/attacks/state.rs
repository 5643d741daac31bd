//! The host's own records: events, logs, evidence.

use super::{Attack, Attempt};
use crate::attacks::files::{change_evidence, folder, forge_evidence};
use akbench_adapter_sdk::events::{self, CustomEvent, Event, Level};

/// What a reader of the event log would take for the engine's own.
const FORGED: &str = "x\"}\n{\"at\":\"2026-01-01T00:00:00Z\",\"event\":\"forged\"}\n";
/// Clears a terminal and sets its title.
const CONTROL: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\r\u{8}owned";

pub const ATTACKS: &[Attack] = &[
    ("change_evidence", change_evidence),
    ("forge_evidence", forge_evidence),
    ("forge_event", forge_event),
    ("forge_log", forge_log),
    ("control_terminal", control_terminal),
    ("link_as_artifact", link_as_artifact),
];

/// Whether it worked is seen in the log of events, by the test.
fn forge_event() -> Attempt {
    events::emit(&Event::Message(FORGED.to_owned()));
    events::emit(&Event::Warning(FORGED.to_owned()));
    for data in [FORGED, "{\"event\": \"forged\", \"at\": 0}", "[1]", ""] {
        events::emit(&Event::Other(CustomEvent {
            name: FORGED.to_owned(),
            data: data.to_owned(),
        }));
    }
    Err("the log shows".to_owned())
}

fn forge_log() -> Attempt {
    for level in [Level::Debug, Level::Info, Level::Warn, Level::Error] {
        events::log(level, FORGED);
    }
    Err("the log shows".to_owned())
}

fn control_terminal() -> Attempt {
    events::emit(&Event::Message(CONTROL.to_owned()));
    events::emit(&Event::Warning(CONTROL.to_owned()));
    events::log(Level::Warn, CONTROL);
    events::log(Level::Error, CONTROL);
    Err("the terminal shows".to_owned())
}

/// The engine lists and digests what lies in `/artifacts`; it must not follow this.
fn link_as_artifact() -> Attempt {
    let artifacts = folder("/artifacts")?;
    let made = artifacts.symlink_at("../../plan.json", "log.txt");
    Err(match made {
        Ok(()) => "the result shows".to_owned(),
        Err(code) => code.name().to_owned(),
    })
}
