//! `akbench` runs a coding agent on a task through a sandboxed WebAssembly adapter, and
//! writes down exactly what happened, and nothing that did not.
//!
//! - [`cli`]: the command line, one file per command.
//! - [`dataset`]: tasks, their variants, and what an agent changed.
//! - [`runner`]: one run, from plan to result.
//! - [`runs`]: runs that were kept, to list, read and verify.
//! - [`registry`]: descriptors and the catalog of adapters.
//! - [`contract`]: what adapters can do and what they report.
//! - [`suite`]: the contract suite, which adapters prove themselves in.
//! - [`attestation`]: what the suite found, kept for later runs.
//! - [`endpoint`]: asking an endpoint once whether it is there.
//! - [`sandbox`]: the wasm engine, its limits and its cache.
//! - [`process`]: programs in a supervised tree, recorded.
//! - [`supervisor`]: the process that holds a tree together.

// Allowed in one place, where it says why: `sandbox::cache`.
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod attestation;
pub mod cli;
pub mod clock;
pub mod contract;
pub mod dataset;
pub mod digest;
pub mod endpoint;
pub mod files;
pub mod journal;
pub mod process;
pub mod registry;
pub mod runner;
pub mod runs;
pub mod sandbox;
pub mod suite;
pub mod supervisor;
