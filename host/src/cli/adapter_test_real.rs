//! `akbench adapter test` with the agent's own program.

use super::CliError;
use super::adapter_test::{find_player, system};
use crate::attestation::ProgramTested;
use crate::digest::Sha256;
use crate::registry::{AgentDescriptor, Need, Registry};
use crate::runner::confine::address_of;
use crate::runner::plan::{ProcessEnvironment, executable, resolve_runtime};
use crate::suite::place::Binding;
use crate::suite::real_agent::RealAgent;
use crate::suite::stub_folder::StubFolder;
use clap::Args;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};

/// The agent's own program, and the endpoints that it asks.
#[derive(Debug, Args)]
pub struct RealArgs {
    /// The agent's own program: also test with it, and with a scripted endpoint
    #[arg(long, value_name = "FILE", requires = "stub")]
    cli: Option<PathBuf>,

    /// The program that plays the scripts of the endpoint [default: one beside this program,
    /// named after the wire API, as `responses-server`]
    #[arg(long, value_name = "FILE", requires = "cli")]
    endpoint_program: Option<PathBuf>,

    /// Also do a small task with a real endpoint, which costs real tokens
    #[arg(long, requires = "cli", requires = "runtime")]
    live: bool,

    /// The runtime whose endpoint `--live` asks
    #[arg(long, value_name = "NAME", requires = "live")]
    runtime: Option<String>,
}

/// What a report says about the agent's own program.
pub struct Tested {
    /// Its file; the version is known later.
    pub program: ProgramTested,
    /// The runtime of `--live`.
    pub live_runtime: Option<String>,
}

impl RealArgs {
    /// Checks everything before a case is run; `None` if only recordings are wanted.
    ///
    /// # Errors
    ///
    /// What is wrong with the program, the suite's folder or the endpoint.
    pub fn resolve(
        &self,
        descriptor: &AgentDescriptor,
        stub: Option<(&Path, &StubFolder)>,
        registry: &Registry,
    ) -> Result<Option<(RealAgent, Tested)>, CliError> {
        // `--cli` requires `--stub`.
        let (Some(cli), Some((folder, stub))) = (&self.cli, stub) else {
            return Ok(None);
        };
        let program = executable(cli).map_err(|reason| {
            CliError::usage(format!(
                "`--cli {}`: {reason}; expected the agent's program",
                cli.display()
            ))
        })?;
        let Some(first) = descriptor.programs.first() else {
            return Err(CliError::usage(format!(
                "`--cli`: agent `{}` has no program: leave it out",
                descriptor.id
            )));
        };
        let Some(suite) = stub.cli.clone() else {
            return Err(CliError::usage(format!(
                "`{}` has no `cli`, which `--cli` needs: name there the folders with the scripts \
                 of the agent's endpoint",
                folder.join("suite.json").display()
            )));
        };
        let live = match &self.runtime {
            Some(runtime) => Some(live_binding(descriptor, runtime, registry)?),
            None => None,
        };
        let tested = Tested {
            program: ProgramTested {
                name: first.name.clone(),
                version: None,
                sha256: Sha256::of_file(&program)
                    .map_err(system("read the program"))?
                    .0,
            },
            live_runtime: live.as_ref().map(|live| live.runtime.name.clone()),
        };
        let real = RealAgent {
            program,
            suite,
            endpoint_program: self.endpoint_program(descriptor)?,
            live,
        };
        Ok(Some((real, tested)))
    }

    fn endpoint_program(&self, descriptor: &AgentDescriptor) -> Result<Option<PathBuf>, CliError> {
        let wire_api = descriptor.runtime.wire_apis.first();
        let Some(wire_api) = wire_api.filter(|_| descriptor.runtime.need != Need::None) else {
            return Ok(None);
        };
        let name = format!("{wire_api}-server");
        find_player(
            &name,
            self.endpoint_program.as_deref(),
            "--endpoint-program",
        )
        .map(Some)
    }
}

fn live_binding(
    descriptor: &AgentDescriptor,
    name: &str,
    registry: &Registry,
) -> Result<Binding, CliError> {
    let resolved = resolve_runtime(descriptor, Some(name), registry, &ProcessEnvironment);
    let Some((runtime, secret)) = resolved.map_err(CliError::Usage)? else {
        return Err(CliError::usage(format!(
            "`--live`: agent `{}` uses no runtime: leave it out",
            descriptor.id
        )));
    };
    if is_this_machine(&runtime.base_url) {
        return Err(CliError::usage(format!(
            "`--live`: runtime `{name}` is at `{}`, on this machine, where scripted endpoints \
             listen: nothing would tell it from one; use the network name of a real endpoint",
            runtime.base_url
        )));
    }
    Ok(Binding { runtime, secret })
}

/// Does this address lead to the loopback interface? A name that nobody knows does not.
fn is_this_machine(base_url: &str) -> bool {
    let Some((host, port)) = address_of(base_url) else {
        return false;
    };
    match host.parse::<IpAddr>() {
        Ok(address) => leads_here(address),
        Err(_) => (host.as_str(), port)
            .to_socket_addrs()
            .is_ok_and(|mut found| found.any(|address| leads_here(address.ip()))),
    }
}

fn leads_here(address: IpAddr) -> bool {
    let address = address.to_canonical();
    address.is_loopback() || address.is_unspecified()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_is_recognised_however_it_is_written() {
        for here in [
            "http://127.0.0.1:8080/v1",
            "https://127.0.0.1/v1",
            "http://127.9.9.9/v1",
            "http://localhost:1/v1",
            "http://[::1]:9/",
            "http://[::ffff:127.0.0.1]:9/",
            "http://0.0.0.0:9/",
        ] {
            assert!(is_this_machine(here), "{here}");
        }
        for elsewhere in [
            "http://192.0.2.1:8080/v1",
            "https://192.0.2.1/v1",
            "http://[2001:db8::1]/",
        ] {
            assert!(!is_this_machine(elsewhere), "{elsewhere}");
        }
    }
}
