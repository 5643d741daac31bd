//! Measuring the host from inside one process, through the same library that `akbench run`
//! uses.
//!
//! - [`components`]: compiling, loading, instantiating and calling adapters.
//! - [`streams`]: long event streams and session files, component against native.
//! - [`sessions`]: many sessions in one process, against a bare loop that starts programs.
//! - [`workspaces`]: copying and digesting a workspace, against `cp -a`.
//! - [`rig`]: one engine, one component, and as many sessions of them as wanted.
//! - [`replayed`]: an instance that only reads evidence.
//! - [`program`]: an agent's program that does next to nothing.

pub mod bare;
pub mod components;
pub mod error;
pub mod live;
pub mod program;
pub mod replayed;
pub mod rig;
pub mod sessions;
pub mod streams;
pub mod workspaces;
