//! The arguments that say what the agent can see and reach.

use crate::runner::confine::{Confine, ConfinementRequest, Network};
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct ConfinementArgs {
    /// How much the agent's files and network have to be confined
    #[arg(long, value_enum, default_value_t = Confine::BestEffort)]
    confine: Confine,

    /// What of the network the agent can reach
    #[arg(long, value_enum, default_value_t = Network::Full)]
    network: Network,

    /// Show the agent this file or folder, read-only
    #[arg(long, value_name = "PATH")]
    expose: Vec<PathBuf>,
}

impl ConfinementArgs {
    /// What was asked for, with real paths.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, one sentence each.
    pub fn request(&self) -> Result<ConfinementRequest, Vec<String>> {
        Ok(ConfinementRequest {
            confine: self.confine,
            network: self.network,
            expose: exposed(&self.expose)?,
        })
    }
}

/// The real paths of what is to be shown.
fn exposed(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Vec<String>> {
    let mut real = Vec::new();
    let mut problems = Vec::new();
    for path in paths {
        match Path::canonicalize(path) {
            Ok(path) => real.push(path),
            Err(error) => problems.push(format!(
                "`--expose {}`: {error}; expected an existing file or folder",
                path.display()
            )),
        }
    }
    if problems.is_empty() {
        Ok(real)
    } else {
        Err(problems)
    }
}
