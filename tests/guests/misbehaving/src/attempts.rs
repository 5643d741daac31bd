//! Reaching for what is not granted. Each attempt has to be denied; what came of it is told
//! in a failure, which the tests read.

use crate::behaviour::Behaviour;
use akbench_adapter_sdk::failure::failure;
use akbench_adapter_sdk::process::{
    self, Child, Command, Directory, EnvPart, SpawnError, StdinMode,
};
use akbench_adapter_sdk::types::{Failure, FailureClass};
use wasip2::cli::environment;
use wasip2::filesystem::preopens;
use wasip2::filesystem::types::{Descriptor, DescriptorFlags, OpenFlags, PathFlags};
use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::network::{IpAddressFamily, IpSocketAddress, Ipv4SocketAddress};
use wasip2::sockets::tcp_create_socket::create_tcp_socket;

/// Makes the attempt of this behaviour, if it is one.
pub fn attempt(behaviour: Behaviour) -> Result<(), Failure> {
    let outcome = match behaviour {
        Behaviour::ParentFolder => parent_folder(),
        Behaviour::Symlink => symlink(),
        Behaviour::Socket => socket(),
        Behaviour::HostEnvironment => host_environment(),
        Behaviour::ProgramNotGranted => program_not_granted(),
        Behaviour::ForbiddenVariable => forbidden_variable(),
        Behaviour::WritesEvidence => writes_evidence(),
        Behaviour::LeakedChildren => leaked_children(),
        _ => return Ok(()),
    };
    let message = match outcome {
        Err(why) => format!("denied: {why}"),
        Ok(what) => format!("ESCAPED: {what}"),
    };
    Err(failure(FailureClass::Unknown, message))
}

/// What was reached, or why it was not.
type Attempt = Result<String, String>;

fn folder(name: &str) -> Result<Descriptor, String> {
    let mut folders = preopens::get_directories().into_iter();
    let found = folders.find(|(_, path)| path == name);
    found.map(|(folder, _)| folder).ok_or(format!("no {name}"))
}

fn open(folder: &Descriptor, path: &str, how: OpenFlags, flags: DescriptorFlags) -> Attempt {
    folder
        .open_at(PathFlags::SYMLINK_FOLLOW, path, how, flags)
        .map(|_| format!("opened {path}"))
        .map_err(|code| format!("{path}: {}", code.name()))
}

fn parent_folder() -> Attempt {
    let home = folder("/agent-home")?;
    let mut why = String::new();
    for path in [
        "..",
        "../..",
        "x/../../workspace",
        "/etc/passwd",
        "../artifacts/evidence",
    ] {
        match open(&home, path, OpenFlags::empty(), DescriptorFlags::READ) {
            Ok(reached) => return Ok(reached),
            Err(reason) => why.push_str(&format!("{reason}; ")),
        }
    }
    Err(why)
}

fn symlink() -> Attempt {
    let home = folder("/agent-home")?;
    let mut why = String::new();
    for (name, target) in [
        ("absolute", "/etc/passwd"),
        ("relative", "../../../../etc/passwd"),
    ] {
        match home.symlink_at(target, name) {
            Err(code) => why.push_str(&format!("{target}: {}; ", code.name())),
            Ok(()) => match open(&home, name, OpenFlags::empty(), DescriptorFlags::READ) {
                Ok(reached) => return Ok(reached),
                Err(reason) => why.push_str(&format!("{reason}; ")),
            },
        }
    }
    Err(why)
}

fn socket() -> Attempt {
    let socket = create_tcp_socket(IpAddressFamily::Ipv4).map_err(|code| code.name().to_owned())?;
    let address = Ipv4SocketAddress {
        port: 9,
        address: (127, 0, 0, 1),
    };
    socket
        .start_connect(&instance_network(), IpSocketAddress::Ipv4(address))
        .map(|()| "a connection was begun".to_owned())
        .map_err(|code| code.name().to_owned())
}

fn host_environment() -> Attempt {
    let variables = environment::get_environment();
    let arguments = environment::get_arguments();
    if variables.is_empty() && arguments.is_empty() {
        return Err("there is none".to_owned());
    }
    Ok(format!(
        "{} variables, {} arguments",
        variables.len(),
        arguments.len()
    ))
}

fn command(program: &str) -> Command {
    Command {
        program: program.to_owned(),
        label: "attempt".to_owned(),
        args: vec!["--version".to_owned()],
        env: Vec::new(),
        cwd: Directory::Workspace,
        stdin: StdinMode::Closed,
    }
}

fn program_not_granted() -> Attempt {
    let mut why = String::new();
    for program in ["sh", "/bin/sh", "../agent", ""] {
        match process::spawn(&command(program)) {
            Ok(_) => return Ok(format!("started {program}")),
            Err(SpawnError::NotGranted(what)) => why.push_str(&format!("{what}; ")),
            Err(other) => return Ok(format!("{program} was looked for: {other:?}")),
        }
    }
    Err(why)
}

fn forbidden_variable() -> Attempt {
    let mut why = String::new();
    for name in ["LD_PRELOAD", "PATH", "HOME"] {
        let mut command = command("agent");
        command.env = vec![(name.to_owned(), vec![EnvPart::Text("/tmp/x".to_owned())])];
        match process::spawn(&command) {
            Ok(_) => return Ok(format!("set {name}")),
            Err(SpawnError::NotGranted(what)) => why.push_str(&format!("{what}; ")),
            Err(other) => return Ok(format!("{name} was passed on: {other:?}")),
        }
    }
    Err(why)
}

fn writes_evidence() -> Attempt {
    let evidence = folder("/evidence")?;
    open(
        &evidence,
        "forged",
        OpenFlags::CREATE,
        DescriptorFlags::WRITE,
    )
}

fn leaked_children() -> Attempt {
    let mut kept: Vec<Child> = Vec::new();
    loop {
        match process::spawn(&command("agent")) {
            Ok(child) => kept.push(child),
            Err(SpawnError::Limit(what)) => {
                let count = kept.len();
                std::mem::forget(kept);
                return Err(format!("after {count}: {what}"));
            }
            Err(other) => return Ok(format!("{other:?}")),
        }
        if kept.len() > 1000 {
            return Ok("started a thousand programs".to_owned());
        }
    }
}
