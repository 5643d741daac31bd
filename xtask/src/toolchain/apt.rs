//! Installing the distribution's toolchain.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::Closed;
use crate::steps;

const APT_GET: &str = "/usr/bin/apt-get";
const PACKAGES: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];

/// What a person would type.
pub fn command_line() -> String {
    format!("apt-get install {}", PACKAGES.join(" "))
}

/// Installs the packages, if this is root on a system with apt.
pub fn install() -> Result<(), Closed> {
    if !Path::new(APT_GET).is_file() {
        return Err("the distribution's packages cannot be installed: there is no apt".to_owned());
    }
    if !is_root() {
        return Err("the distribution's packages can only be installed by root".to_owned());
    }
    eprintln!(
        "xtask: no WebAssembly compiler here: installing the Debian packages {} \
         (--no-install refuses)",
        PACKAGES.join(", ")
    );
    // Stale lists are the usual reason for a failing install; if the update fails, the lists
    // that are there may still do.
    if let Err(reason) = apt_get(&["update"]) {
        eprintln!("xtask: {reason}; going on with the package lists that are there");
    }
    let mut args = vec!["install", "--yes", "--no-install-recommends"];
    args.extend(PACKAGES);
    apt_get(&args)
}

fn apt_get(args: &[&str]) -> Result<(), Closed> {
    let mut command = Command::new(APT_GET);
    command
        .args(args)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null());
    eprintln!("xtask: {}", steps::shown(&command));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{}` ended with {status}", steps::shown(&command))),
        Err(error) => Err(format!("{APT_GET} cannot be started: {error}")),
    }
}

/// Does this process run as root? Its own entry in `/proc` belongs to its effective user.
fn is_root() -> bool {
    Path::new("/proc/self")
        .metadata()
        .is_ok_and(|metadata| metadata.uid() == 0)
}
