//! What a run costs, measured, kept and compared.
//!
//! Printed, not asserted: times depend on the machine and on what else it does. What does not
//! drift is asserted by tests instead (`benches/tests`, `benches/native/tests`).

mod compare;
mod file_system;
mod inside;
mod live;
mod machine;
mod micro;
mod overhead;
mod page;
mod peak;
mod report;
mod rig;
mod scenario;
mod section;
mod table;

use std::path::PathBuf;
use std::time::Instant;

pub use self::section::Section;

use self::machine::Machine;
use self::report::{Part, Report};
use self::rig::Rig;
use crate::failure::Outcome;
use crate::toolchain::Installing;
use crate::workspace::Workspace;
use crate::{guests, steps};

/// What is to be measured, and where it goes.
pub struct Plan {
    /// These; none means all.
    pub sections: Vec<Section>,
    /// How often the overhead is measured.
    pub runs: u32,
    /// The short and the long event stream, in 10^6 bytes.
    pub megabytes: [u32; 2],
    /// Sessions at each concurrency.
    pub sessions: u32,
    /// Measured runs are kept in a folder of this one.
    pub folder: PathBuf,
    /// Where the figures go as JSON; `None`: only the table is printed.
    pub json: Option<PathBuf>,
    /// An earlier report to compare with.
    pub compare: Option<PathBuf>,
    /// Write the figures into the documentation.
    pub write_docs: bool,
}

/// Builds the release, measures, prints.
///
/// # Errors
///
/// If something does not build, or a measured run does not end as it should.
pub fn run(workspace: &Workspace, installing: Installing, plan: &Plan) -> Outcome {
    // Read first: a wrong name should not cost minutes.
    let before = plan.compare.as_deref().map(Report::read).transpose()?;
    let sections = match plan.sections.as_slice() {
        [] => Section::ALL.to_vec(),
        some => Section::ALL
            .into_iter()
            .filter(|section| some.contains(section))
            .collect(),
    };
    build(workspace, installing)?;
    let rig = Rig::new(workspace, &plan.folder)?;
    let commit = commit(workspace);
    let machine = Machine::with_runs_in(rig.folder());
    let mut report = Report::new();
    for section in sections {
        let begin = Instant::now();
        let rows = section.measure(workspace, &rig, plan)?;
        eprintln!(
            "xtask: {} took {:.0} s",
            section.id(),
            begin.elapsed().as_secs_f64()
        );
        let part = Part::now(section, &machine, commit.as_deref(), rows);
        table::print(&part);
        report.put(part);
    }
    if let Some(path) = &plan.json {
        report.write(path)?;
    }
    if plan.write_docs {
        page::write(workspace, &report)?;
    }
    if let Some(before) = &before {
        compare::print(before, &report);
    }
    Ok(())
}

fn build(workspace: &Workspace, installing: Installing) -> Outcome {
    // Several builds: together, cargo could choose other features than for what is released.
    for (package, doing) in [
        ("akbench", "build the release"),
        ("stub-cli", "build the stub"),
        ("akbench-bench", "build what measures inside one process"),
    ] {
        let mut command = workspace.cargo("build");
        command.args(["--release", "--bins", "--package", package]);
        steps::run(&mut command, doing)?;
    }
    // As the component is built: the same optimisation, for another machine.
    let mut command = workspace.cargo("build");
    command.args(["--profile", "guest", "--package", "akbench-native-reader"]);
    steps::run(&mut command, "build the native reader")?;
    guests::build(workspace, installing).map(drop)
}

/// What is measured, `None` outside of a repository.
fn commit(workspace: &Workspace) -> Option<String> {
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.current_dir(&workspace.root).args(arguments);
        steps::probe(&mut command).map(|text| text.trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() {
        commit
    } else {
        format!("{commit}+")
    })
}
