//! A case: its name, what it proves, and how it is run.

use super::lab::Lab;
use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;

/// Why a case is not passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unproven {
    /// The adapter did something else: what was expected and what was found.
    Failed(String),
    /// The adapter declares that it does not do this, or the case needs what is not there.
    NotApplicable(String),
}

/// How a case ends.
pub type Proof = Result<(), Unproven>;

/// A case at work. It stays on one thread, like the adapter's instance in it.
pub type Running<'a> = Pin<Box<dyn Future<Output = Proof> + 'a>>;

type Body = Box<dyn for<'a> Fn(&'a Lab) -> Running<'a>>;

/// One case.
pub struct Case {
    /// `group.name`, both in snake case.
    pub name: String,
    /// What is shown if it passes, one sentence.
    pub proves: String,
    /// True if it computes much: beside others it would eat into their time limits.
    pub alone: bool,
    body: Body,
}

impl Case {
    /// A case.
    pub fn new(
        name: impl Into<String>,
        proves: impl Into<String>,
        body: impl for<'a> Fn(&'a Lab) -> Running<'a> + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            proves: proves.into(),
            alone: false,
            body: Box::new(body),
        }
    }

    /// The same case, for when no other runs.
    pub fn alone(self) -> Self {
        Self {
            alone: true,
            ..self
        }
    }

    /// The part of the name before the dot.
    pub fn group(&self) -> &str {
        self.name.split('.').next().unwrap_or(&self.name)
    }

    /// Runs it.
    pub fn run<'a>(&self, lab: &'a Lab) -> Running<'a> {
        (self.body)(lab)
    }
}

/// A failure of the adapter.
pub fn failed(what: impl Into<String>) -> Unproven {
    Unproven::Failed(what.into())
}

/// A case that does not apply.
pub fn not_applicable(reason: impl Into<String>) -> Unproven {
    Unproven::NotApplicable(reason.into())
}

/// Passes if `holds`; else it is a failure with this sentence.
///
/// # Errors
///
/// The failure.
pub fn require(holds: bool, what: impl FnOnce() -> String) -> Proof {
    if holds { Ok(()) } else { Err(failed(what())) }
}

/// For errors of the machine that the suite runs on: a case that could not be run proves
/// nothing, so it is failed, never passed.
pub fn could_not<E: Display>(doing: &'static str) -> impl Fn(E) -> Unproven {
    move |error| failed(format!("the suite failed to {doing}: {error}"))
}
