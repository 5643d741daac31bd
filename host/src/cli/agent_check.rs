//! `akbench agent check`: can an agent run here?

use super::confinement_args::ConfinementArgs;
use super::table::Page;
use super::wording::{confined, known, name_of, one_line, seconds};
use super::{CliError, folders, output, signals, value};
use crate::registry::Extent;
use crate::runner::check::{CheckReport, CheckRequest};
use crate::runner::plan::ProcessEnvironment;
use crate::runner::stop::stop_pair;
use crate::sandbox::engine::Sandbox;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Check that an agent can run here: its program, its version, its own sandbox.
///
/// Starts the adapter and short probes, no work; the endpoint is not contacted.
/// Exit codes: 0 it can · 3 it can't · 2 usage · 4 adapter.
#[derive(Debug, Args)]
pub struct CheckAgent {
    /// The agent, as ID, ID@1 or ID@1.2.0
    agent: String,

    /// A parameter of the agent; may be given for each of them
    #[arg(long = "param", value_name = "NAME=VALUE")]
    parameters: Vec<String>,

    /// The runtime, as ID, ID@1 or ID@1.2.0 [default: AKBENCH_RUNTIME, else the only one]
    #[arg(long, value_name = "ID")]
    runtime: Option<String>,

    /// The file of one of the agent's programs, instead of looking for it
    #[arg(long = "program", value_name = "NAME=FILE", value_parser = value::program)]
    programs: Vec<(String, PathBuf)>,

    #[command(flatten)]
    confinement: ConfinementArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// A folder with more descriptors; later ones win
    #[arg(long = "descriptors", value_name = "DIR")]
    descriptors: Vec<PathBuf>,
}

impl CheckAgent {
    pub fn execute(self) -> Result<u8, CliError> {
        let registry = folders::registry(&self.descriptors, Extent::WithoutTasks)?;
        folders::report_overrides(&registry);
        let unknown = |error: crate::registry::ResolveError| CliError::usage(error.to_string());
        let descriptor = registry.agent(&self.agent).map_err(unknown)?.clone();
        let file = registry
            .component_for(&descriptor.agent.adapter)
            .map_err(unknown)?
            .path
            .clone();
        let name = format!("{}@{}", descriptor.id, descriptor.version);
        let sandbox = Sandbox::new()?;
        let component = folders::load_adapter(&file, &registry, &sandbox, true)?;
        let runner = folders::runner(sandbox, true)?;
        let request = CheckRequest {
            descriptor,
            parameters: self.parameters,
            runtime: self.runtime,
            programs: self.programs,
            confinement: self.confinement.request().map_err(CliError::Usage)?,
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| CliError::System {
                action: "start the asynchronous runtime",
                error,
            })?;
        let (handle, stop) = stop_pair();
        let checked = runtime.block_on(async {
            signals::stop_on_signals(handle)?;
            let environment = &ProcessEnvironment;
            let checking = runner.check(request, &component, &registry, environment, stop);
            Ok::<_, CliError>(checking.await?)
        });
        // A file system that does not answer may hold a thread for ever; nobody waits for it.
        runtime.shutdown_timeout(Duration::from_millis(100));
        let report = checked?;
        if self.json {
            output::json(&report)?;
        } else {
            output::text(&page(&name, &report))?;
        }
        Ok(report.exit_code())
    }
}

fn page(name: &str, report: &CheckReport) -> String {
    let mut page = Page::default();
    let verdict = if report.ready {
        "can run here"
    } else {
        "can't run here"
    };
    page.line(&format!("{name} {verdict}"));
    for problem in &report.problems {
        page.row("problem", one_line(problem));
    }
    if let Some(failure) = &report.failure {
        page.row(
            "failure",
            format!(
                "{} (fault: {}): {}",
                name_of(&failure.class),
                name_of(&failure.fault),
                one_line(&failure.message)
            ),
        );
    }
    if let Some(program) = report
        .agent
        .as_ref()
        .and_then(|agent| agent.program.as_ref())
    {
        let standing = report.standing.as_ref().map(name_of);
        page.row("program", format!("{}, {}", program.name, program.path));
        page.row(
            "version",
            match standing {
                Some(standing) => format!("{} ({standing})", known(program.version.as_deref())),
                None => known(program.version.as_deref()),
            },
        );
    }
    if let Some(runtime) = &report.runtime {
        page.row(
            "runtime",
            format!("{} at {} (not contacted)", runtime.name, runtime.base_url),
        );
    }
    if let Some(confinement) = &report.confinement {
        page.row("confinement", confined(confinement));
        page.row("took", seconds(report.duration_ms));
    }
    for note in &report.notes {
        page.row("note", one_line(note));
    }
    page.finish()
}
