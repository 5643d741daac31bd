//! A toolchain that the distribution installed beside the active one.
//!
//! Debian's `rustc-web` has no compiled standard library for the target, but `rust-web-src`
//! brings its sources, so cargo builds it, once per target folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Closed, Compiler, TARGET, active};
use crate::steps;

const CARGO: &str = "/usr/bin/cargo";
const RUSTC: &str = "/usr/bin/rustc";

/// The distribution's toolchain, if it can build for the target and is new enough.
pub fn find(oldest: &str) -> Result<Compiler, Closed> {
    for program in [CARGO, RUSTC] {
        if !Path::new(program).is_file() {
            return Err(format!(
                "no distribution toolchain: {program} does not exist"
            ));
        }
    }
    // A clean environment: rustup's variables would bend what the proxies answer.
    let ask = |args: &[&str]| {
        steps::probe(Command::new(RUSTC).args(args).env_remove("LD_LIBRARY_PATH"))
            .ok_or_else(|| format!("`{RUSTC} {}` failed", args.join(" ")))
    };
    let identity = ask(&["-vV"])?;
    let release = identity
        .lines()
        .find_map(|line| line.strip_prefix("release: "))
        .ok_or_else(|| format!("`{RUSTC} -vV` names no release"))?;
    if version(release) < version(oldest) {
        return Err(format!(
            "the distribution toolchain {RUSTC} is {release}, older than the {oldest} that is needed"
        ));
    }
    let compiled = ask(&["--print", "target-libdir", "--target", TARGET])?;
    let build_std = !active::has_std(Path::new(compiled.trim()));
    let sysroot = PathBuf::from(ask(&["--print", "sysroot"])?.trim());
    if build_std
        && !sysroot
            .join("lib/rustlib/src/rust/library/std/Cargo.toml")
            .is_file()
    {
        return Err(format!(
            "the distribution toolchain {RUSTC} has neither {TARGET} nor the sources of the \
             standard library (Debian: rust-web-src)"
        ));
    }
    let linker = active::rust_lld()
        .or_else(|| on_path("wasm-ld"))
        .or_else(|| on_path("rust-lld"));
    if linker.is_none() {
        return Err(format!(
            "no linker for {TARGET}: neither rust-lld nor wasm-ld was found"
        ));
    }
    Ok(Compiler {
        name: format!("the distribution toolchain ({RUSTC} {release})"),
        identity,
        cargo: PathBuf::from(CARGO),
        rustc: Some(PathBuf::from(RUSTC)),
        linker,
        build_std,
    })
}

/// The numbers of `1.96.0-nightly` or `1.95`, for comparing; missing ones count as 0.
fn version(text: &str) -> [u32; 3] {
    let mut numbers = [0; 3];
    let plain = text.split(['-', '+', ' ']).next().unwrap_or_default();
    for (number, part) in numbers.iter_mut().zip(plain.split('.')) {
        *number = part.parse().unwrap_or(0);
    }
    numbers
}

fn on_path(program: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        assert!(version("1.96.0") >= version("1.95"));
        assert!(version("1.100.0-nightly") > version("1.95.1"));
        assert!(version("1.85.0") < version("1.95"));
    }
}
