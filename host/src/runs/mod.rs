//! Runs that were kept: finding them, reading what happened, checking that nothing changed
//! since.

mod stored;
mod timeline;
mod verify;

pub use stored::{FindError, RunState, StoredRun, find, list};
pub use timeline::{Moment, Timeline, timeline};
pub use verify::{Difference, Verification, verify};
