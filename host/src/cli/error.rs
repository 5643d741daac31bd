//! Errors of commands, for people: what happened and what to do.

use crate::process::redaction::RedactorError;
use crate::registry::RegistryError;
use crate::runner::run::RunError;
use crate::runs::FindError;
use crate::sandbox::component::LoadError;
use crate::sandbox::engine::EngineError;
use std::io;

/// A command that could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// What was asked for is wrong, in one or more ways.
    #[error("{}", .0.join("\n"))]
    Usage(Vec<String>),
    /// Descriptors that can't be used.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Registry(Vec<RegistryError>),
    /// A file that is no adapter.
    #[error(transparent)]
    Adapter(#[from] LoadError),
    /// The wasm engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Masking.
    #[error(transparent)]
    Redactor(#[from] RedactorError),
    /// The run could not begin, or not be written down.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A kept run that can't be found.
    #[error(transparent)]
    Find(#[from] FindError),
    /// Something of the system's.
    #[error("failed to {action}: {error}")]
    System {
        /// What was tried.
        action: &'static str,
        /// What the system said.
        error: io::Error,
    },
}

impl CliError {
    /// One thing that is wrong with what was asked for.
    pub fn usage(problem: impl Into<String>) -> Self {
        Self::Usage(vec![problem.into()])
    }

    /// The program's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Registry(_) | Self::Adapter(_) | Self::Find(_) => 2,
            Self::Run(
                RunError::OutputFolder { .. }
                | RunError::OutputInWorkspace { .. }
                | RunError::Workspace(_)
                | RunError::Confinement(_),
            ) => 2,
            Self::Engine(_) | Self::Redactor(_) | Self::Run(_) | Self::System { .. } => 3,
        }
    }

    /// Prints it for people, one line for each problem.
    pub fn print(&self) {
        for line in self.to_string().lines() {
            eprintln!("error: {line}");
        }
    }
}

impl From<Vec<RegistryError>> for CliError {
    fn from(errors: Vec<RegistryError>) -> Self {
        Self::Registry(errors)
    }
}
