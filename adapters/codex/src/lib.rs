//! The adapter of the Codex CLI (`codex exec --json`).
//!
//! - Before the work: [`parameters`], [`version`], [`config_toml`], [`command_line`].
//! - After it, from evidence alone: [`observe`], which joins what the program printed
//!   ([`stream`]), what it wrote into its session files ([`rollout`]) and how it ended
//!   ([`outcome`]).
//! - The operations that need an engine exist only in the component: `adapter`, `session`.
//!
//! Everything but the last is pure and compiles natively, so that recordings can be read in
//! tests without a component. Readers decide line by line, by a line's own type and never by
//! the program's version: a new program that continues an old conversation goes on in the
//! old format.

// The component exports its operations by generated code.
#![cfg_attr(not(target_arch = "wasm32"), forbid(unsafe_code))]
#![warn(missing_docs)]

pub mod command_line;
pub mod completeness;
pub mod config_toml;
pub mod error_class;
mod event;
pub mod json_line;
pub mod measure;
pub mod observe;
pub mod outcome;
pub mod parameters;
mod relevant;
pub mod responses;
pub mod retry_notice;
pub mod rollout;
pub mod session_files;
pub mod startup;
pub mod stream;
pub mod tool_calls;
pub mod tool_output;
pub mod turn;
pub mod usage;
pub mod version;

#[cfg(target_arch = "wasm32")]
mod adapter;
#[cfg(target_arch = "wasm32")]
mod probe;
#[cfg(target_arch = "wasm32")]
mod progress;
#[cfg(target_arch = "wasm32")]
mod session;
