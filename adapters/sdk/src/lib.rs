//! What a Rust adapter needs besides its own knowledge of one agent.
//!
//! - [`bindings`]: the contract, generated from `wit/`.
//! - [`lines`]: reading byte streams line by line, split on `\n` only.
//! - [`evidence`]: what the engine recorded, in an adapter (`/evidence`) or natively in a test.
//! - `files`: writing to `/agent-home` and `/artifacts` (adapters only).
//! - [`failure`]: building failures.
//! - [`observations`]: an empty set of observations to start from.

// The bindings are generated.
#![deny(unsafe_code)]

pub mod bindings;
pub mod evidence;
pub mod failure;
#[cfg(target_arch = "wasm32")]
pub mod files;
pub mod lines;
pub mod observations;

pub use bindings::akbench::agent::types;
#[cfg(target_arch = "wasm32")]
pub use bindings::akbench::agent::{events, process};
