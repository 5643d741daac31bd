//! Checking everything before anything is spent, all problems at once.

use super::assignment::{Assignment, PlannedTask};
use super::capabilities;
use super::limits::RunLimits;
use crate::contract::v0_1::RuntimeBinding;
use crate::digest::Sha256;
use crate::registry::{
    AgentDescriptor, Capability, Execution, Need, Registry, RuntimeDescriptor, Secret, parameters,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The name by which adapters refer to the runtime's secret.
pub const CREDENTIAL_NAME: &str = "runtime";

/// The longest instruction that is read, whatever the agent allows.
const MAX_TASK_FILE: u64 = 64 << 20;

/// What a person asked for.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// The agent.
    pub descriptor: AgentDescriptor,
    /// What to do, and where.
    pub assignment: Assignment,
    /// Capabilities that the agent has to have, beside those that the task requires.
    pub required: Vec<Capability>,
    /// Take capabilities that nobody has shown for present.
    pub allow_unverified: bool,
    /// `name=value`.
    pub parameters: Vec<String>,
    /// The runtime, if one was named.
    pub runtime: Option<String>,
    /// Programs whose file the person named: name and path.
    pub programs: Vec<(String, PathBuf)>,
    /// Limits.
    pub limits: RunLimits,
}

/// The host's environment as far as a plan needs it.
pub trait HostEnvironment {
    /// A variable's value.
    fn variable(&self, name: &str) -> Option<OsString>;

    /// As text; a value that isn't UTF-8 counts as unset.
    fn text(&self, name: &str) -> Option<String> {
        self.variable(name)
            .and_then(|value| value.into_string().ok())
    }
}

/// The environment of this process.
pub struct ProcessEnvironment;

impl HostEnvironment for ProcessEnvironment {
    fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }
}

/// Everything checked and resolved.
pub struct Plan {
    /// The agent.
    pub descriptor: AgentDescriptor,
    /// The folder to work in, absolute.
    pub workspace: PathBuf,
    /// Work in that folder itself.
    pub in_place: bool,
    /// A name for the task: its file's, without the ending.
    pub task_id: String,
    /// What to do.
    pub instruction: String,
    /// The dataset's task; `None` for a task file.
    pub task: Option<PlannedTask>,
    /// What the result has to tell of the plan.
    pub notes: Vec<String>,
    /// As asked for.
    pub parameters: Map<String, Value>,
    /// The endpoint.
    pub runtime: Option<RuntimeBinding>,
    /// Its secret.
    pub secret: Option<Arc<Secret>>,
    /// Absolute files by name.
    pub programs: BTreeMap<String, PathBuf>,
    /// Host variables that the descriptor lets through.
    pub passed_through: Vec<(OsString, OsString)>,
    /// Limits.
    pub limits: RunLimits,
}

impl Plan {
    /// The digest of the instruction.
    pub fn instruction_sha256(&self) -> Sha256 {
        Sha256::of(self.instruction.as_bytes())
    }
}

/// What was asked for, as far as it could be made out. It can be written down, not run.
pub struct Draft(pub(super) Plan);

impl From<Plan> for Draft {
    fn from(plan: Plan) -> Self {
        Self(plan)
    }
}

/// A request that can't be run.
pub struct Refused {
    /// Everything that is wrong with it, one sentence each.
    pub problems: Vec<String>,
    /// What could be made out of it.
    pub draft: Draft,
}

/// Checks a request.
///
/// # Errors
///
/// Everything that is wrong with it, at once.
pub fn plan(
    request: RunRequest,
    registry: &Registry,
    environment: &dyn HostEnvironment,
) -> Result<Plan, Box<Refused>> {
    let mut problems = Vec::new();
    let descriptor = request.descriptor;
    check_execution(&descriptor, &mut problems);
    let resolved = request.assignment.resolve(&descriptor, &mut problems);
    let mut required = request.required;
    if let Some(task) = &resolved.task {
        required.extend(&task.descriptor.requires);
    }
    let notes = capabilities::check(
        &descriptor,
        &required,
        request.allow_unverified,
        &mut problems,
    );
    let parameters = match parameters::parse(&descriptor, &request.parameters) {
        Ok(parameters) => parameters,
        Err(found) => {
            problems.extend(found.iter().map(ToString::to_string));
            Map::new()
        }
    };
    let (runtime, secret) = match resolve_runtime(
        &descriptor,
        request.runtime.as_deref(),
        registry,
        environment,
    ) {
        Ok(Some((runtime, secret))) => (Some(runtime), secret),
        Ok(None) => (None, None),
        Err(problem) => {
            problems.extend(problem);
            (None, None)
        }
    };
    let programs = find_programs(&descriptor, &request.programs, environment, &mut problems);
    let passed_through = passed_through(&descriptor, environment);
    let limits = RunLimits {
        time: shorter(request.limits.time, resolved.time_limit),
        ..request.limits
    };
    let plan = Plan {
        descriptor,
        workspace: resolved.workspace,
        in_place: resolved.in_place,
        task_id: resolved.task_id,
        instruction: resolved.instruction,
        task: resolved.task,
        notes,
        parameters,
        runtime,
        secret,
        programs,
        passed_through,
        limits,
    };
    if problems.is_empty() {
        return Ok(plan);
    }
    Err(Box::new(Refused {
        problems,
        draft: plan.into(),
    }))
}

/// A run may shorten the task's time, not lengthen it.
fn shorter(asked: Option<Duration>, task: Option<Duration>) -> Option<Duration> {
    match (asked, task) {
        (Some(asked), Some(task)) => Some(asked.min(task)),
        (asked, task) => asked.or(task),
    }
}

/// The host's variables that the descriptor lets through, as far as they are set.
pub(super) fn passed_through(
    descriptor: &AgentDescriptor,
    environment: &dyn HostEnvironment,
) -> Vec<(OsString, OsString)> {
    descriptor
        .environment
        .iter()
        .filter_map(|name| Some((OsString::from(name), environment.variable(name)?)))
        .collect()
}

pub(super) fn check_execution(descriptor: &AgentDescriptor, problems: &mut Vec<String>) {
    match descriptor.agent.execution {
        Execution::Process => {}
        other => problems.push(format!(
            "agent `{}` has the execution type {other:?}, which this akbench can't run yet; it \
             runs agents of the type `process`",
            descriptor.id
        )),
    }
}

pub(super) fn check_workspace(path: &Path, problems: &mut Vec<String>) -> PathBuf {
    match fs::canonicalize(path) {
        Ok(real) if real.is_dir() => return real,
        Ok(_) => problems.push(format!(
            "the workspace `{}` is no folder: `--workspace` expects the folder that the agent is \
             to work in",
            path.display()
        )),
        Err(error) => problems.push(format!(
            "the workspace `{}` can't be used: {error}; `--workspace` expects an existing folder",
            path.display()
        )),
    }
    PathBuf::new()
}

pub(super) fn read_instruction(
    path: &Path,
    descriptor: &AgentDescriptor,
    problems: &mut Vec<String>,
) -> String {
    match try_read_instruction(path, descriptor) {
        Ok(instruction) => instruction,
        Err(problem) => {
            problems.push(format!("the task file `{}` {problem}", path.display()));
            String::new()
        }
    }
}

fn try_read_instruction(path: &Path, descriptor: &AgentDescriptor) -> Result<String, String> {
    let metadata = fs::metadata(path)
        .map_err(|error| format!("can't be read: {error}; `--task-file` expects a text file"))?;
    if !metadata.is_file() {
        return Err("is no regular file: `--task-file` expects a text file".to_owned());
    }
    if metadata.len() > MAX_TASK_FILE {
        return Err(format!(
            "has {} bytes; at most {MAX_TASK_FILE} are read: put parts of it into files of the \
             workspace",
            metadata.len()
        ));
    }
    let bytes = fs::read(path).map_err(|error| format!("can't be read: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        format!(
            "is not UTF-8: the first bad byte is at offset {}; save it as UTF-8",
            error.utf8_error().valid_up_to()
        )
    })?;
    if text.trim().is_empty() {
        return Err("is empty: it must say what the agent is to do".to_owned());
    }
    check_length(&text, descriptor)?;
    Ok(text)
}

/// Completes "the task file `…`" or the like.
pub(super) fn check_length(text: &str, descriptor: &AgentDescriptor) -> Result<(), String> {
    if let Some(most) = descriptor.limits.instruction_max_characters {
        let characters = text.chars().count() as u64;
        if characters > most {
            return Err(format!(
                "has {characters} characters; agent `{}` takes at most {most}: shorten it, or \
                 put parts of it into files of the workspace",
                descriptor.id
            ));
        }
    }
    Ok(())
}

/// An endpoint with what opens it; `None` for an agent that uses none.
pub type Resolved = Option<(RuntimeBinding, Option<Arc<Secret>>)>;

/// Finds the endpoint: the one that was named, or the only one.
///
/// # Errors
///
/// Everything that is wrong with it, one sentence each.
pub fn resolve_runtime(
    descriptor: &AgentDescriptor,
    named: Option<&str>,
    registry: &Registry,
    environment: &dyn HostEnvironment,
) -> Result<Resolved, Vec<String>> {
    let wanted = named
        .map(str::to_owned)
        .or_else(|| environment.text("AKBENCH_RUNTIME"));
    let runtime = match (descriptor.runtime.need, wanted) {
        (Need::None, None) => return Ok(None),
        (Need::None, Some(name)) => {
            return Err(vec![format!(
                "agent `{}` uses no runtime, so `{name}` can't be used: leave it out",
                descriptor.id
            )]);
        }
        (Need::Required | Need::Optional, Some(name)) => {
            // A name that nobody typed: say where it stands.
            let from = if named.is_some() {
                ""
            } else {
                "AKBENCH_RUNTIME: "
            };
            let unknown = |error| vec![format!("{from}{error}")];
            registry.runtime(&name).map_err(unknown)?
        }
        (need, None) => match only_runtime(registry) {
            Some(runtime) => runtime,
            None if need == Need::Optional => return Ok(None),
            None => return Err(vec![no_runtime(descriptor, registry)]),
        },
    };
    let mut problems = Vec::new();
    let wire_apis = &descriptor.runtime.wire_apis;
    if !wire_apis.is_empty() && !wire_apis.contains(&runtime.wire_api) {
        problems.push(format!(
            "runtime `{}` speaks `{}`, agent `{}` needs {}; choose another with `--runtime`",
            runtime.id,
            runtime.wire_api,
            descriptor.id,
            quoted(wire_apis)
        ));
    }
    let lookup = |name: &str| environment.text(name);
    let resolved = runtime
        .resolve(lookup)
        .map_err(|error| problems.push(error.to_string()))
        .ok();
    let secret = match runtime.credential(lookup) {
        Ok(secret) => secret.map(Arc::new),
        Err(missing) => {
            problems.push(format!("runtime `{}`: {missing}", runtime.id));
            None
        }
    };
    match resolved {
        Some(resolved) if problems.is_empty() => {
            let binding = RuntimeBinding {
                name: resolved.name,
                base_url: resolved.base_url,
                wire_api: resolved.wire_api,
                model: resolved.model,
                headers: resolved.headers,
                credential: secret.as_ref().map(|_| CREDENTIAL_NAME.to_owned()),
            };
            Ok(Some((binding, secret)))
        }
        _ => Err(problems),
    }
}

/// The newest version of the only runtime there is.
pub(crate) fn only_runtime(registry: &Registry) -> Option<&RuntimeDescriptor> {
    let newest = registry.runtimes().last()?;
    registry
        .runtimes()
        .iter()
        .all(|runtime| runtime.id == newest.id)
        .then_some(newest)
}

fn no_runtime(descriptor: &AgentDescriptor, registry: &Registry) -> String {
    let mut names: Vec<String> = registry
        .runtimes()
        .iter()
        .map(|r| r.id.to_string())
        .collect();
    names.dedup();
    let existing = if names.is_empty() {
        "none is configured".to_owned()
    } else {
        format!("those configured are {}", quoted(&names))
    };
    format!(
        "agent `{}` needs a runtime: name one with `--runtime NAME` or the variable \
         AKBENCH_RUNTIME; {existing}",
        descriptor.id
    )
}

fn quoted(names: &[String]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

pub(super) fn find_programs(
    descriptor: &AgentDescriptor,
    named: &[(String, PathBuf)],
    environment: &dyn HostEnvironment,
    problems: &mut Vec<String>,
) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    for (name, path) in named {
        if descriptor.program(name).is_none() {
            let known: Vec<String> = descriptor.programs.iter().map(|p| p.name.clone()).collect();
            problems.push(format!(
                "`--program {name}=…`: agent `{}` has no such program; it has {}",
                descriptor.id,
                quoted(&known)
            ));
            continue;
        }
        match executable(path) {
            Ok(path) => {
                found.insert(name.clone(), path);
            }
            Err(reason) => problems.push(format!(
                "`--program {name}={}`: {reason}; expected an executable file",
                path.display()
            )),
        }
    }
    let path = environment.variable("PATH");
    for program in &descriptor.programs {
        if named.iter().any(|(name, _)| *name == program.name) {
            continue;
        }
        match program.find(path.as_deref().map(OsStr::new)) {
            Ok(file) => {
                found.insert(program.name.clone(), file.path);
            }
            Err(error) => problems.push(format!(
                "{error}; or name its file with `--program {}=FILE`",
                program.name
            )),
        }
    }
    found
}

/// The real path of a program's file.
///
/// # Errors
///
/// Why it can't be run.
pub fn executable(path: &Path) -> Result<PathBuf, String> {
    let real = fs::canonicalize(path).map_err(|error| error.to_string())?;
    let metadata = fs::metadata(&real).map_err(|error| error.to_string())?;
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        return Err("it is not an executable file".to_owned());
    }
    Ok(real)
}
