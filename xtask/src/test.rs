//! Running all tests.

mod doc_tests;

use std::process::{Command, ExitCode};

use crate::agent::real_cli::{self, Search};
use crate::failure::{Explain, Outcome};
use crate::toolchain::Installing;
use crate::workspace::Workspace;
use crate::{build, languages, steps};

/// Builds what the tests drive, then runs them; `args` go to the test runner.
///
/// # Errors
///
/// If something does not build or a runner cannot be started; failing tests are an exit code.
pub fn run(workspace: &Workspace, installing: Installing, args: &[String]) -> Outcome<ExitCode> {
    build::everything(workspace, installing)?;
    languages::build(workspace)?;
    let real_cli = real_cli::find()?;
    match &real_cli {
        Search::Found(program) => {
            eprintln!("xtask: real CLI tests use {}", program.display());
        }
        Search::Absent(reason) => eprintln!(
            "xtask: skipped: real CLI tests need the Codex CLI and {reason}; \
             `npm install -g @openai/codex@0.171.0`, or name its program in {}",
            real_cli::VARIABLE
        ),
    }
    let with_real_cli = |command: &mut Command| {
        match &real_cli {
            Search::Found(program) => command.env(real_cli::VARIABLE, program),
            // Tests take the variable's absence for "skip".
            Search::Absent(_) => command.env_remove(real_cli::VARIABLE),
        };
    };

    // Doc tests first, so that the summary of all other tests is the last thing to be read.
    let mut documented = Vec::new();
    for library in &workspace.libraries {
        if doc_tests::exist_in(&library.sources)? {
            documented.push(library.package.as_str());
        }
    }
    if !documented.is_empty() {
        let mut command = workspace.cargo("test");
        command.args(["--quiet", "--doc"]);
        command.args(documented.iter().flat_map(|package| ["--package", package]));
        with_real_cli(&mut command);
        steps::run(&mut command, "pass the doc tests")?;
    }
    let mut command = if has_nextest(workspace) {
        let mut command = workspace.cargo("nextest");
        command.args(["run", "--workspace"]);
        command
    } else {
        eprintln!("xtask: cargo-nextest is not installed; using cargo test");
        let mut command = workspace.cargo("test");
        // Doc tests have been dealt with.
        command.args(["--workspace", "--bins", "--lib", "--tests"]);
        command
    };
    command.args(args);
    with_real_cli(&mut command);
    eprintln!("xtask: {}", steps::shown(&command));
    let status = command
        .status()
        .explain(|| format!("start `{}`", steps::shown(&command)))?;
    Ok(status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from))
}

fn has_nextest(workspace: &Workspace) -> bool {
    steps::probe(workspace.cargo("nextest").arg("--version")).is_some()
}
