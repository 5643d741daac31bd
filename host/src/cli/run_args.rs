//! The arguments that `run` and `agent run` share, and what both do with them.

use super::ahead::{Ahead, Prepared};
use super::confinement_args::ConfinementArgs;
use super::progress::{Progress, Style};
use super::{CliError, folders, signals, summary, value};
use crate::contract::events::{Observer, Silent};
use crate::contract::observed::FailureClass;
use crate::registry::{AgentDescriptor, Capability, Extent, Registry};
use crate::runner::assignment::{Assignment, PlannedTask};
use crate::runner::confine::{ConfinementRequest, known_ahead};
use crate::runner::limits::RunLimits;
use crate::runner::plan::{Draft, Plan, ProcessEnvironment, Refused, RunRequest, plan};
use crate::runner::refusal;
use crate::runner::result::RunStatus;
use crate::runner::run::{FinishedRun, RunOptions, check_output};
use crate::runner::stop::stop_pair;
use crate::sandbox::component::{AdapterComponent, LoadError};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Threads beside the main one, which runs the session and its guest: one records. With more,
/// they wake each other up for every line, which takes longer than the recording.
const WORKERS: usize = 1;

#[derive(Debug, Args)]
pub struct RunArgs {
    /// The folder to work in; the agent gets a copy
    #[arg(
        long,
        value_name = "DIR",
        required_unless_present = "task",
        conflicts_with = "task"
    )]
    workspace: Option<PathBuf>,

    /// Let the agent work in the workspace itself
    #[arg(long, conflicts_with = "task")]
    in_place: bool,

    /// A text file that says what to do
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "task",
        conflicts_with = "task"
    )]
    task_file: Option<PathBuf>,

    /// A dataset's task instead of a workspace and a file, as ID, ID@1 or ID@1.2.0
    #[arg(long, value_name = "ID")]
    task: Option<String>,

    /// Which variant of the task [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Refuse agents without these capabilities, separated by commas
    #[arg(long = "require", value_name = "NAMES", value_delimiter = ',', value_parser = value::capability)]
    required: Vec<Capability>,

    /// Take capabilities that are unverified for present; the result says so
    #[arg(long)]
    allow_unverified: bool,

    /// A parameter of the agent; may be given for each of them
    #[arg(long = "param", value_name = "NAME=VALUE")]
    parameters: Vec<String>,

    /// The runtime, as ID, ID@1 or ID@1.2.0 [default: AKBENCH_RUNTIME, else the only one]
    #[arg(long, value_name = "ID")]
    runtime: Option<String>,

    /// End the work after this time, for example 30m
    #[arg(long, value_name = "DURATION", value_parser = value::duration, allow_hyphen_values = true)]
    time_limit: Option<Duration>,

    /// End the work after this long without any output
    #[arg(long, value_name = "DURATION", value_parser = value::duration, allow_hyphen_values = true)]
    idle_limit: Option<Duration>,

    /// The file of one of the agent's programs, instead of looking for it
    #[arg(long = "program", value_name = "NAME=FILE", value_parser = value::program)]
    programs: Vec<(String, PathBuf)>,

    #[command(flatten)]
    confinement: ConfinementArgs,

    /// The folder that runs are kept in
    #[arg(long, value_name = "DIR", default_value = "runs")]
    out: PathBuf,

    /// Keep the agent's private home
    #[arg(long)]
    keep: bool,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,

    /// Print no progress and no summary
    #[arg(long, short)]
    quiet: bool,

    /// Exit with 5 if the run completed but may not count
    #[arg(long)]
    strict: bool,

    /// A folder with more descriptors; later ones win
    #[arg(long = "descriptors", value_name = "DIR")]
    pub descriptors: Vec<PathBuf>,

    /// Compile the adapter anew
    #[arg(long)]
    no_cache: bool,
}

impl RunArgs {
    /// What of the registry this run is about.
    pub fn needs_registry(&self) -> Extent {
        match self.task {
            Some(_) => Extent::Everything,
            None => Extent::WithoutTasks,
        }
    }

    /// Begins what needs no descriptors; `named` is the adapter if its file was given.
    pub fn begin_ahead(&self, named: Option<&Path>) -> Ahead {
        let request = self.confinement.request();
        let containment = request.ok().as_ref().and_then(known_ahead);
        Ahead::start(named, &self.descriptors, !self.no_cache, containment)
    }

    /// Runs an agent through an adapter.
    pub fn execute(
        self,
        registry: &Registry,
        descriptor: AgentDescriptor,
        adapter: &Path,
        ahead: Ahead,
    ) -> Result<u8, CliError> {
        let request = RunRequest {
            descriptor,
            assignment: self.assignment(registry)?,
            required: self.required.clone(),
            allow_unverified: self.allow_unverified,
            parameters: self.parameters.clone(),
            runtime: self.runtime.clone(),
            programs: self.programs.clone(),
            limits: RunLimits {
                time: self.time_limit,
                idle: self.idle_limit,
            },
        };
        let planned = plan(request, registry, &ProcessEnvironment);
        let Prepared {
            sandbox,
            adapter: loaded,
            supervisor,
        } = ahead.finish(adapter, registry)?;
        let confinement = self.confinement.request();
        if let Err(error) = check_output(&self.out) {
            // There is no place to keep the refusal.
            let mut all = problems(&planned, &loaded, &confinement);
            all.push(error.to_string());
            return Err(CliError::Usage(all));
        }
        let (plan, component, confinement) = match (planned, loaded, confinement) {
            (Ok(plan), Ok(component), Ok(confinement)) => (plan, component, confinement),
            (planned, loaded, confinement) => {
                let problems = problems(&planned, &loaded, &confinement);
                let class = FailureClass::InvalidConfiguration;
                let draft = planned.map_or_else(|refused| refused.draft, Draft::from);
                let component = loaded.ok();
                let kept = refusal::keep(&self.out, &draft, component.as_ref(), class, &problems);
                return match kept {
                    Ok(kept) => self.report(&kept),
                    Err(error) => Err(CliError::Usage(
                        [problems, vec![error.to_string()]].concat(),
                    )),
                };
            }
        };
        let runner = folders::runner(sandbox, !self.no_cache)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .enable_all()
            .build()
            .map_err(|error| CliError::System {
                action: "start the asynchronous runtime",
                error,
            })?;
        let (handle, stop) = stop_pair();
        let style = Style::of_stderr(self.quiet);
        let progress = (style != Style::Quiet).then(|| Arc::new(Progress::new(style)));
        let observer: Arc<dyn Observer> = match &progress {
            Some(progress) => Arc::clone(progress) as Arc<dyn Observer>,
            None => Arc::new(Silent),
        };
        let options = RunOptions {
            runs: self.out.clone(),
            keep_home: self.keep,
            confinement,
            observer,
            stop,
        };
        let finished = runtime.block_on(async {
            signals::stop_on_signals(handle)?;
            Ok::<_, CliError>(
                runner
                    .run_with(plan, component, options, supervisor)
                    .await?,
            )
        });
        if let Some(progress) = &progress {
            progress.finish();
        }
        // All that this run began is over; a file system that does not answer may hold a thread
        // for ever, so nobody waits.
        runtime.shutdown_background();
        self.report(&finished?)
    }

    fn assignment(&self, registry: &Registry) -> Result<Assignment, CliError> {
        if let Some(spec) = &self.task {
            return Ok(match registry.task(spec) {
                Ok(descriptor) => Assignment::Task(Box::new(PlannedTask {
                    descriptor: descriptor.clone(),
                    seed: self.seed.unwrap_or(0),
                })),
                Err(error) => Assignment::Unknown {
                    spec: spec.clone(),
                    problem: error.to_string(),
                },
            });
        }
        // Clap's own `requires` is silent where another argument conflicts with the one required.
        if self.seed.is_some() {
            return Err(CliError::usage(
                "`--seed` chooses a variant of a dataset's task: name the task with `--task`, or \
                 leave the seed out",
            ));
        }
        match (&self.workspace, &self.task_file) {
            (Some(workspace), Some(task_file)) => Ok(Assignment::Files {
                workspace: workspace.clone(),
                in_place: self.in_place,
                task_file: task_file.clone(),
            }),
            // The command line does not get so far.
            _ => Err(CliError::usage(
                "pass `--task`, or `--workspace` and `--task-file`",
            )),
        }
    }

    fn report(&self, finished: &FinishedRun) -> Result<u8, CliError> {
        if self.json {
            let mut text = serde_json::to_string_pretty(&finished.result).map_err(|error| {
                CliError::System {
                    action: "print the result",
                    error: error.into(),
                }
            })?;
            text.push('\n');
            std::io::stdout()
                .write_all(text.as_bytes())
                .map_err(|error| CliError::System {
                    action: "print the result",
                    error,
                })?;
        }
        if finished.result.status == RunStatus::Refused {
            eprint!("{}", summary::of_refusal(finished));
        } else if !self.quiet {
            eprint!("{}", summary::of(finished));
        }
        Ok(finished.result.exit_code(self.strict))
    }
}

/// Everything that is wrong, at once: a person corrects it all before the next attempt.
fn problems(
    plan: &Result<Plan, Box<Refused>>,
    component: &Result<AdapterComponent, LoadError>,
    confinement: &Result<ConfinementRequest, Vec<String>>,
) -> Vec<String> {
    let mut problems = Vec::new();
    if let Err(refused) = plan {
        problems.extend(refused.problems.iter().cloned());
    }
    problems.extend(component.as_ref().err().map(ToString::to_string));
    if let Err(found) = confinement {
        problems.extend(found.iter().cloned());
    }
    problems
}
