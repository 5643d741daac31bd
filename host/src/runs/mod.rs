//! Runs that were kept: finding them, reading what happened, checking that nothing changed
//! since, completing what a dead host left, and observing again what was recorded.

mod interpreter;
mod recover;
mod reparse;
mod still_alive;
mod stored;
mod timeline;
mod trail;
mod verify;

pub use interpreter::Tools;
pub use recover::{NotRecovered, Recovered, recover, remove_unfinished};
pub use reparse::{FieldChange, NotReparsed, Reparsed, reparse};
pub use stored::{FindError, RunState, StoredRun, find, list, select};
pub use timeline::{Moment, Timeline, timeline};
pub use verify::{Difference, Verification, verify};
