//! Tasks of a dataset: the variant that a seed chooses, the workspace that comes of it, and
//! what an agent made of that.
//!
//! - [`mutation`]: seeded changes of a pristine workspace.
//! - [`prepare`]: the workspace and the instruction as the agent gets them.
//! - [`diff`]: the agent's change, as a file that can be applied again.

pub mod diff;
mod git;
pub mod mutation;
pub mod prepare;
mod relative_path;

pub use git::GitError;
pub use relative_path::{InvalidPath, RelativePath};
