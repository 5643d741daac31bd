//! `akbench task`: what agents can be given to do.

use super::{CliError, folders};
use crate::dataset::prepare::{self, PrepareError};
use crate::registry::{Extent, Registry, TaskDescriptor};
use crate::runner::run::RunError;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Tasks: what agents can be given to do.
#[derive(Debug, Args)]
pub struct TaskCommand {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    List(ListTasks),
    Show(ShowTask),
    Prepare(PrepareTask),
}

#[derive(Debug, Args)]
struct Shared {
    /// Print JSON
    #[arg(long)]
    json: bool,

    /// A folder with more descriptors; later ones win
    #[arg(long = "descriptors", value_name = "DIR")]
    descriptors: Vec<PathBuf>,
}

/// List the tasks of the registry.
#[derive(Debug, Args)]
struct ListTasks {
    #[command(flatten)]
    shared: Shared,
}

/// Show one task: its instruction, its limits, its variants.
#[derive(Debug, Args)]
struct ShowTask {
    /// The task, as ID, ID@1 or ID@1.2.0
    task: String,

    #[command(flatten)]
    shared: Shared,
}

/// Make exactly what an agent would get: workspace, instruction and attachments.
#[derive(Debug, Args)]
struct PrepareTask {
    /// The task, as ID, ID@1 or ID@1.2.0
    task: String,

    /// Which variant
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Where to make it; must not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    #[command(flatten)]
    shared: Shared,
}

impl TaskCommand {
    pub fn execute(self) -> Result<u8, CliError> {
        match self.command {
            Subcommands::List(command) => command.execute(),
            Subcommands::Show(command) => command.execute(),
            Subcommands::Prepare(command) => command.execute(),
        }
    }
}

impl Shared {
    fn registry(&self) -> Result<Registry, CliError> {
        let registry = folders::registry(&self.descriptors, Extent::Everything)?;
        folders::report_overrides(&registry);
        Ok(registry)
    }
}

fn find<'a>(registry: &'a Registry, spec: &str) -> Result<&'a TaskDescriptor, CliError> {
    let found = registry.task(spec);
    found.map_err(|error| CliError::usage(error.to_string()))
}

impl ListTasks {
    fn execute(self) -> Result<u8, CliError> {
        let registry = self.shared.registry()?;
        if self.shared.json {
            let listed: Vec<Value> = registry.tasks().iter().map(describe).collect();
            println!("{:#}", Value::Array(listed));
            return Ok(0);
        }
        for task in registry.tasks() {
            println!(
                "{}@{}  {}  dataset {}  {} variant(s)",
                task.id,
                task.version,
                task.name,
                task.dataset,
                variants(task)
            );
        }
        Ok(0)
    }
}

impl ShowTask {
    fn execute(self) -> Result<u8, CliError> {
        let registry = self.shared.registry()?;
        let task = find(&registry, &self.task)?;
        let instruction = prepare::instruction(task).map_err(RunError::Task)?;
        if self.shared.json {
            let mut shown = describe(task);
            shown["instruction"] = instruction.into();
            shown["mutations"] = json!(task.mutations);
            println!("{shown:#}");
            return Ok(0);
        }
        println!("{}@{}  {}", task.id, task.version, task.name);
        println!("  dataset     {}", task.dataset);
        println!("  descriptor  {}", task.origin.display());
        let limit = task.time_limit.map_or_else(
            || "none".to_owned(),
            |limit| humantime::format_duration(limit).to_string(),
        );
        println!("  time limit  {limit}");
        let evaluator = task.evaluator.as_ref().map_or_else(
            || "none".to_owned(),
            |evaluator| evaluator.command.join(" "),
        );
        println!("  evaluator   {evaluator}");
        println!("  variants    {}", variants(task));
        for mutation in &task.mutations {
            println!("  mutation    {}", mutation.id);
            for alternative in &mutation.alternatives {
                println!("    {}", alternative.id);
                for operation in &alternative.operations {
                    println!("      {operation}");
                }
            }
        }
        println!("\n{}", instruction.trim_end());
        Ok(0)
    }
}

impl PrepareTask {
    fn execute(self) -> Result<u8, CliError> {
        let registry = self.shared.registry()?;
        let task = find(&registry, &self.task)?;
        if let Some(problem) = prepare::missing_program(task) {
            return Err(CliError::usage(problem));
        }
        let instruction = prepare::instruction(task).map_err(RunError::Task)?;
        fs::create_dir(&self.out).map_err(|error| {
            CliError::usage(format!(
                "the folder `{}` can't be made: {error}; `--out` expects a new one in an \
                 existing folder",
                self.out.display()
            ))
        })?;
        let prepared = prepare_into(task, self.seed, &instruction, &self.out);
        let (variant, attachments) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                // Half a workspace would be taken for a whole one.
                let _ = fs::remove_dir_all(&self.out);
                return Err(RunError::Task(error).into());
            }
        };
        if self.shared.json {
            let shown = json!({
                "id": task.id,
                "version": task.version,
                "seed": variant.seed,
                "mutations": variant.choices.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "operations": variant.choices,
                "workspace": self.out.join(WORKSPACE),
                "workspace_sha256": variant.digest(),
                "instruction": instruction,
                "instruction_sha256": crate::digest::Sha256::of(instruction.as_bytes()),
                "attachments": attachments,
                "time_limit_ms": task.time_limit.map(|limit| limit.as_millis() as u64),
                "git": task.git,
            });
            println!("{shown:#}");
            return Ok(0);
        }
        println!("{}@{} in {}", task.id, task.version, self.out.display());
        for choice in &variant.choices {
            println!("  {choice}");
            for operation in &choice.operations {
                println!("    {operation}");
            }
        }
        println!("  workspace sha256 {}", variant.digest());
        Ok(0)
    }
}

const WORKSPACE: &str = "workspace";

fn prepare_into(
    task: &TaskDescriptor,
    seed: u64,
    instruction: &str,
    out: &Path,
) -> Result<(prepare::Variant, Vec<String>), PrepareError> {
    let workspace = out.join(WORKSPACE);
    let variant = prepare::prepare_tree(task, seed, &workspace)?;
    prepare::finish_workspace(task, &workspace)?;
    let attachments = prepare::copy_attachments(task, &out.join("attachments"))?;
    fs::write(out.join("instruction.txt"), instruction).map_err(PrepareError::Files)?;
    Ok((variant, attachments))
}

fn describe(task: &TaskDescriptor) -> Value {
    json!({
        "id": task.id,
        "version": task.version,
        "name": task.name,
        "dataset": task.dataset,
        "requires": task.requires,
        "time_limit_ms": task.time_limit.map(|limit| limit.as_millis() as u64),
        "git": task.git,
        "attachments": task.attachments,
        "variants": variants(task),
        "evaluator": task.evaluator.as_ref().map(|evaluator| &evaluator.command),
        "descriptor": task.origin,
        "descriptor_sha256": task.digest,
    })
}

fn variants(task: &TaskDescriptor) -> u64 {
    let counts = task
        .mutations
        .iter()
        .map(|mutation| mutation.alternatives.len() as u64);
    counts.fold(1, u64::saturating_mul)
}
