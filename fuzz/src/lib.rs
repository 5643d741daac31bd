//! Hostile input for everything that reads what others wrote: an agent's output, descriptors,
//! tasks, components, records of earlier runs, the supervisor's socket.
//!
//! A [`Target`] takes bytes, feeds them to one reader and panics if something does not hold
//! that must hold for any input. `fuzz/run` mutates inputs with libFuzzer; the tests of this
//! crate play the seeds and the regression corpus, without a fuzzer.

#![forbid(unsafe_code)]
#![warn(missing_docs)]
// A fuzz target fails by panicking.
#![allow(clippy::expect_used, clippy::panic)]

pub mod recorded;
pub mod sections;
pub mod seeds;
pub mod targets;

use std::path::PathBuf;

/// One reader and what must hold for it.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, for people and for the folder of its regression corpus.
    pub name: &'static str,
    /// Feeds it an input.
    pub run: fn(&[u8]),
}

impl Target {
    /// The target of this name.
    pub fn named(name: &str) -> Option<Self> {
        targets::ALL.into_iter().find(|target| target.name == name)
    }

    /// Inputs that once broke something.
    pub fn regressions(&self) -> PathBuf {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/regressions")).join(self.name)
    }
}
