//! The arguments that say what the agent can see and reach.

use super::value;
use crate::process::resources::limit::Resource;
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

    /// What the agent's processes may use, for example memory=4GiB or disk=none: cpu_time,
    /// memory, processes, open_files, disk, output
    #[arg(long = "limit", value_name = "NAME=VALUE", value_parser = value::resource_limit)]
    limits: Vec<(Resource, Option<u64>)>,
}

impl ConfinementArgs {
    /// What was asked for, with real paths.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, one sentence each.
    pub fn request(&self) -> Result<ConfinementRequest, Vec<String>> {
        let mut problems = twice(&self.limits);
        match exposed(&self.expose) {
            Ok(expose) if problems.is_empty() => Ok(ConfinementRequest {
                confine: self.confine,
                network: self.network,
                expose,
                limits: self.limits.clone(),
            }),
            Ok(_) => Err(problems),
            Err(found) => {
                problems.extend(found);
                Err(problems)
            }
        }
    }
}

/// Limits that are given more than once: nobody can know which is meant.
fn twice(limits: &[(Resource, Option<u64>)]) -> Vec<String> {
    let times = |resource| {
        limits
            .iter()
            .filter(|(other, _)| *other == resource)
            .count()
    };
    Resource::ALL
        .into_iter()
        .filter(|resource| times(*resource) > 1)
        .map(|resource| {
            let name = resource.name();
            format!("`--limit {name}=…` is given more than once; expected one limit for each name")
        })
        .collect()
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
