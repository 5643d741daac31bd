//! Programs: starting them in a supervised tree and recording what they write.

pub mod exit;
pub mod launch;
pub mod recorder;
pub mod redaction;
pub mod tree;
