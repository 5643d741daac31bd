//! From what a person asked for to what is tried, and what the result says about it.

use super::plan::Plan;
use super::result::ConfinementRecord;
use super::run_folder::RunFolder;
use crate::contract::v0_1::RuntimeBinding;
use crate::process::confinement::{FileView, hidden_path_folders, package_root};
use crate::process::forward::Destination;
use crate::process::launch::Containment;
use crate::process::resources::limit::{Resource, ResourceLimits};
use crate::process::tree::ProcessTree;
use crate::registry::{AgentDescriptor, AgentLimits};
use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// How much confinement there has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Confine {
    /// All of it, or the run does not begin.
    Required,
    /// As much as the system allows; what was applied is in the result.
    BestEffort,
    /// The process tree is held together, files are not confined.
    Off,
}

/// What of the network the agent can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Network {
    /// Everything that the machine can.
    Full,
    /// The runtime's endpoint and nothing else.
    Endpoint,
    /// Nothing.
    None,
}

/// What a person asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfinementRequest {
    /// How much.
    pub confine: Confine,
    /// What of the network.
    pub network: Network,
    /// Files and folders shown read-only in addition.
    pub expose: Vec<PathBuf>,
    /// Limits that replace the descriptor's; `None` lifts one.
    pub limits: Vec<(Resource, Option<u64>)>,
}

/// What the agent's tree may use: as asked for, else as the descriptor says, else the default.
pub fn resource_limits(
    request: &ConfinementRequest,
    descriptor: &AgentDescriptor,
) -> ResourceLimits {
    let by_descriptor = Resource::ALL
        .into_iter()
        .filter_map(|resource| Some((resource, Some(described(&descriptor.limits, resource)?))));
    by_descriptor
        .chain(request.limits.iter().copied())
        .fold(ResourceLimits::by_default(), |limits, (resource, limit)| {
            limits.with(resource, limit)
        })
}

/// The containment that is tried first, if it depends on nothing of the run: then it can be
/// set up ahead.
pub fn known_ahead(request: &ConfinementRequest) -> Option<Containment> {
    let unconfined = request.confine == Confine::Off && request.network == Network::Full;
    unconfined.then_some(Containment::Namespaces {
        files: None,
        network: true,
        hosts: None,
    })
}

fn described(limits: &AgentLimits, resource: Resource) -> Option<u64> {
    match resource {
        Resource::CpuTime => limits.cpu_time_ms,
        Resource::Memory => limits.memory_bytes,
        Resource::Processes => limits.processes,
        Resource::OpenFiles => limits.open_files,
        Resource::Disk => limits.disk_bytes,
        Resource::Output => limits.output_bytes,
    }
}

/// The containments to try, strongest first.
pub fn attempts(
    request: &ConfinementRequest,
    plan: &Plan,
    folder: &RunFolder,
    workspace: &Path,
    hosts: Option<PathBuf>,
) -> Vec<Containment> {
    let view = file_view(request, plan, folder, workspace);
    let namespaces = |files: Option<FileView>, network: bool| Containment::Namespaces {
        files,
        network,
        hosts: hosts.clone().filter(|_| !network),
    };
    let network = request.network == Network::Full;
    match request.confine {
        Confine::Required => vec![namespaces(Some(view), network)],
        Confine::BestEffort => {
            let mut attempts = vec![namespaces(Some(view.clone()), network)];
            if !network {
                attempts.push(namespaces(Some(view), true));
            }
            attempts.extend([namespaces(None, true), Containment::SubReaper]);
            attempts
        }
        Confine::Off => {
            let mut attempts = vec![namespaces(None, network)];
            if !network {
                attempts.push(namespaces(None, true));
            }
            attempts.push(Containment::SubReaper);
            attempts
        }
    }
}

fn file_view(
    request: &ConfinementRequest,
    plan: &Plan,
    folder: &RunFolder,
    workspace: &Path,
) -> FileView {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let mut readable: Vec<PathBuf> = plan
        .programs
        .values()
        .map(|program| package_root(program, home.as_deref()))
        .collect();
    readable.extend(request.expose.iter().cloned());
    FileView {
        writable: vec![workspace.to_owned(), folder.agent_home(), folder.scratch()],
        readable,
        // Other runs, and this one's evidence.
        hidden: folder
            .path()
            .parent()
            .map(Path::to_owned)
            .into_iter()
            .chain(home)
            .collect(),
        temporary: folder.scratch().join("tmp"),
    }
}

/// What was applied.
pub fn record(tree: &ProcessTree, request: &ConfinementRequest) -> ConfinementRecord {
    let containment = tree.containment();
    let network = match request.network {
        Network::Endpoint if containment.hides_network() => "endpoint",
        Network::None if containment.hides_network() => "none",
        _ => "full",
    };
    let mut notes: Vec<String> = tree.degraded().map(str::to_owned).into_iter().collect();
    if let Containment::Namespaces {
        files: Some(view), ..
    } = containment
        && let Some(path) = std::env::var_os("PATH")
    {
        let hidden = hidden_path_folders(&path, view);
        if !hidden.is_empty() {
            let names: Vec<String> = hidden.iter().map(|p| p.display().to_string()).collect();
            notes.push(format!(
                "folders of PATH that the agent does not see: {}; show one with `--expose`",
                names.join(", ")
            ));
        }
    }
    ConfinementRecord {
        files: Some(containment.files().to_owned()),
        tree: Some(containment.tree().to_owned()),
        network: Some(network.to_owned()),
        limits: BTreeMap::new(),
        notes,
    }
}

/// How the agent reaches the runtime from inside its network namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    scheme: String,
    host: String,
    port: u16,
    path: String,
}

impl Passage {
    /// Takes a base URL apart; descriptors are checked for their form.
    ///
    /// # Errors
    ///
    /// If no connection can be carried for this URL: HTTPS to a bare address, whose
    /// certificate could not match any name that can be given inside.
    pub fn to(base_url: &str) -> Result<Self, String> {
        let passage = Self::parse(base_url)
            .ok_or_else(|| format!("`{base_url}` is no URL that a connection can be carried to"))?;
        if passage.scheme == "https" && passage.host.parse::<IpAddr>().is_ok() {
            return Err(format!(
                "`{base_url}` names a bare address over HTTPS, which can't be reached from inside \
                 a network namespace: use a host name, or `--network full`"
            ));
        }
        Ok(passage)
    }

    fn parse(base_url: &str) -> Option<Self> {
        let (scheme, rest) = base_url.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let (host, port) = split_authority(authority)?;
        let default = if scheme == "https" { 443 } else { 80 };
        Some(Self {
            host: host.to_owned(),
            port: port.unwrap_or(default),
            path: path.to_owned(),
            scheme,
        })
    }

    /// The line that makes the endpoint's name mean the way out; `None` for an address.
    pub fn hosts(&self) -> Option<String> {
        let is_name = self.host.parse::<IpAddr>().is_err() && self.host != "localhost";
        is_name.then(|| format!("127.0.0.1 localhost\n127.0.0.1 {}\n", self.host))
    }

    /// Opens the way out and returns the binding that the agent is to use.
    ///
    /// # Errors
    ///
    /// If the supervisor can't listen.
    pub async fn open(
        &self,
        tree: &ProcessTree,
        runtime: &RuntimeBinding,
    ) -> io::Result<RuntimeBinding> {
        let destination = Destination {
            host: self.host.clone(),
            port: self.port,
        };
        // Ports below 1024 need a privilege that the supervisor may not have.
        let wished = if self.port < 1024 { 0 } else { self.port };
        let port = tree.forward(wished, destination).await?;
        let host = match self.hosts() {
            Some(_) => self.host.as_str(),
            None => "127.0.0.1",
        };
        Ok(RuntimeBinding {
            base_url: format!("{}://{host}:{port}{}", self.scheme, self.path),
            ..runtime.clone()
        })
    }
}

/// Host and port of an endpoint; `None` if this is no URL.
pub fn address_of(base_url: &str) -> Option<(String, u16)> {
    Passage::parse(base_url).map(|passage| (passage.host, passage.port))
}

fn split_authority(authority: &str) -> Option<(&str, Option<u16>)> {
    if let Some(bracketed) = authority.strip_prefix('[') {
        let (host, after) = bracketed.split_once(']')?;
        let port = match after.strip_prefix(':') {
            Some(port) => Some(port.parse().ok()?),
            None => None,
        };
        return Some((host, port));
    }
    match authority.split_once(':') {
        Some((host, port)) => Some((host, Some(port.parse().ok()?))),
        None => Some((authority, None)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let passage = Passage::to("http://127.0.0.1:8080/v1").unwrap();
        assert_eq!(
            (passage.host.as_str(), passage.port, passage.path.as_str()),
            ("127.0.0.1", 8080, "/v1")
        );
        assert_eq!(passage.hosts(), None);
        let passage = Passage::to("https://router.example/v1").unwrap();
        assert_eq!(
            (passage.host.as_str(), passage.port),
            ("router.example", 443)
        );
        assert!(
            passage
                .hosts()
                .unwrap()
                .contains("127.0.0.1 router.example\n")
        );
        assert_eq!(Passage::to("http://[::1]:9/").unwrap().host, "::1");
        assert!(Passage::to("https://10.0.0.1/v1").is_err());
    }
}
