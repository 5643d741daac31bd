//! Where the parts are that `cargo xtask test` builds.

use std::path::{Path, PathBuf};

/// The repository.
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors()
        .nth(2)
        .expect("the crate lies two folders below the repository")
        .to_owned()
}

/// The folder with the built programs: two above the test itself.
fn programs() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own file");
    test.ancestors()
        .nth(2)
        .expect("tests lie in `deps` below the programs")
        .to_owned()
}

fn existing(path: PathBuf) -> PathBuf {
    assert!(
        path.exists(),
        "{} is missing: run `cargo xtask test`",
        path.display()
    );
    path
}

/// The host.
pub fn akbench() -> PathBuf {
    existing(programs().join("akbench"))
}

/// The stub that plays any command-line program.
pub fn stub_cli() -> PathBuf {
    existing(programs().join("stub-cli"))
}

/// The scripted endpoint.
pub fn responses_server() -> PathBuf {
    existing(programs().join("responses-server"))
}

/// A built adapter component, by file name.
pub fn adapter(name: &str) -> PathBuf {
    let target = programs()
        .parent()
        .expect("programs lie in the target folder")
        .to_owned();
    existing(target.join("adapters").join(name))
}

/// The folder in which the built host finds descriptors and adapters by itself.
pub fn share() -> PathBuf {
    let programs = programs();
    let target = programs
        .parent()
        .expect("programs lie in the target folder");
    existing(target.join("share/akbench"))
}

/// The real CLI's native program, or a visible note that the test is skipped.
pub fn real_cli(test: &str) -> Option<PathBuf> {
    match std::env::var_os("AKBENCH_TEST_CODEX").filter(|path| !path.is_empty()) {
        Some(path) => Some(existing(PathBuf::from(path))),
        None => {
            eprintln!("{test}: skipped: needs the real CLI in AKBENCH_TEST_CODEX");
            None
        }
    }
}
