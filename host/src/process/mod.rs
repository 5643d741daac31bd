//! Programs: starting them in a supervised tree and recording what they write.

pub mod confinement;
pub mod exit;
pub mod forward;
pub mod launch;
pub mod link;
pub mod recorder;
pub mod redaction;
pub mod resources;
pub mod tree;
