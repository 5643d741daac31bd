//! Judging what the agent made of a task: in a fresh copy, once the agent is gone.
//!
//! The evaluator's own files come in last, into a folder beside the workspace, so the agent
//! never saw them and can't have replaced them. It runs in a process tree of its own with a
//! time limit and a cleared environment. Whatever goes wrong with it is its own failure,
//! never the agent's.

use super::blocking::while_others_go_on;
use super::stop::{StopSignal, Urgency};
use super::workspace::copy_tree;
use crate::dataset::prepare::Variant;
use crate::process::confinement::hidden_path_folders;
use crate::process::exit::{ExitRecord, ExitStatus, SignalReason, signal_name};
use crate::process::launch::Containment;
use crate::process::recorder::{Activity, IoLog, RecordedStream, StreamName};
use crate::process::redaction::Redactor;
use crate::process::tree::{ProcessTree, TreeOptions};
use crate::registry::{EVALUATE, Evaluator, TaskDescriptor};
use crate::supervisor::protocol::{OsText, SpawnCommand, SpawnId};
use rustix::pipe::{PipeFlags, pipe_with};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The exit code of an evaluator that was satisfied.
pub const PASSED: i32 = 0;
/// The exit code of one that was not. Not 1, with which interpreters end when the evaluator
/// itself is broken.
pub const NOT_PASSED: i32 = 10;

/// What its tree gets between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(500);
/// How long its streams may stay open once its tree has ended.
const STREAM_END: Duration = Duration::from_secs(1);
/// The only program of its tree.
const SPAWN: SpawnId = SpawnId(1);
/// A score is one number.
const MAX_SCORE_FILE: u64 = 4096;

/// What an evaluator found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluation {
    /// Whether the task was done.
    pub passed: bool,
    /// From 0 to 1; `None` if the evaluator gives none.
    pub score: Option<f64>,
    /// How long it took.
    pub duration_ms: u64,
    /// What it printed: a file, relative to the run's folder. What it complained is beside it,
    /// in `stderr`, and how it ended in `exit.json`.
    pub log: String,
}

/// What an evaluation needs.
pub struct EvaluationSetup<'a> {
    /// What was to be done.
    pub task: &'a TaskDescriptor,
    /// Who judges.
    pub evaluator: &'a Evaluator,
    /// Which variant the agent had.
    pub variant: &'a Variant,
    /// The tree as the agent found it.
    pub prepared: &'a Path,
    /// A fresh copy of the tree as the agent left it. The evaluator may change it.
    pub workspace: &'a Path,
    /// A folder that does not exist yet, for the evaluator's files and its home.
    pub folder: &'a Path,
    /// A folder that does not exist yet, for the log.
    pub log: &'a Path,
    /// How its process tree is held together.
    pub tree: &'a TreeOptions,
    /// Masks secrets in the log.
    pub redactor: &'a Redactor,
    /// Whoever may stop it.
    pub stop: StopSignal,
}

/// An evaluator that came to no verdict.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    /// Its program isn't there.
    #[error("the evaluator's program `{program}` is missing: {reason}")]
    Program {
        /// As the task names it.
        program: String,
        /// Why it can't be used.
        reason: String,
    },
    /// Files could not be laid out, or the log not be written.
    #[error("the evaluator could not be set up: {0}")]
    Setup(String),
    /// It took too long.
    #[error("the evaluator did not end within its limit of {}", humantime::format_duration(*.0))]
    TimeLimit(Duration),
    /// It ended with a code that means nothing.
    #[error(
        "the evaluator ended with exit code {0}, which is no verdict: 0 is passed, 10 is not passed"
    )]
    ExitCode(i32),
    /// A signal ended it.
    #[error("the evaluator was ended by {}", signal_name(*.0))]
    Signal(i32),
    /// Its supervisor is gone.
    #[error("the evaluator's end was not seen: its supervisor is gone")]
    Lost,
    /// What it wrote as score is none.
    #[error("the evaluator's score can't be used: {0}")]
    Score(String),
    /// Somebody stopped the run.
    #[error("the run was stopped before the evaluator came to a verdict")]
    Stopped,
}

/// Runs an evaluator.
///
/// # Errors
///
/// If it came to no verdict.
pub async fn evaluate(mut setup: EvaluationSetup<'_>) -> Result<Evaluation, EvaluationError> {
    let layout = while_others_go_on(|| lay_out(&setup))
        .map_err(|error| EvaluationError::Setup(error.to_string()))?;
    let tree = ProcessTree::start(setup.tree)
        .await
        .map_err(|error| EvaluationError::Setup(error.to_string()))?;
    let unseen = unseen_folders(tree.containment());
    let program = find_program(&setup.evaluator.command, &layout.files, &unseen)?;
    let started = Instant::now();
    let running = start(&setup, &layout, program, &tree).await?;
    let mut life = running.life.clone();
    let limit = setup.evaluator.time_limit;
    let ended = tokio::select! {
        ended = life.wait_for(|life| life.raw_status.is_some() || life.lost) => match ended {
            Ok(life) => life.raw_status.ok_or(EvaluationError::Lost),
            Err(_) => Err(EvaluationError::Lost),
        },
        () = tokio::time::sleep(limit) => Err(EvaluationError::TimeLimit(limit)),
        () = setup.stop.reached(Urgency::Cancel) => Err(EvaluationError::Stopped),
    };
    let duration = started.elapsed();
    let reason = match ended {
        Err(EvaluationError::TimeLimit(_)) => SignalReason::TimeLimit,
        Err(EvaluationError::Stopped) => SignalReason::Cancel,
        _ => SignalReason::Leftovers,
    };
    // Nothing of it may go on; what it left behind does not change its verdict.
    let census = tree.end_all(GRACE, reason).await.unwrap_or_default();
    let both = async { (running.stdout.ended().await, running.stderr.ended().await) };
    let (stdout, stderr) = match tokio::time::timeout(STREAM_END, both).await {
        Ok(states) => states,
        Err(_) => (running.stdout.state(), running.stderr.state()),
    };
    let raw_status = running.life.borrow().raw_status;
    if let Some(raw_status) = raw_status {
        let record = ExitRecord {
            status: ExitStatus::from_raw(raw_status),
            raw_status,
            finished_at: crate::clock::now(),
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            signals: tree.signals(SPAWN),
            ended: census.ended,
            survivors: census.survivors,
            stdout_bytes: stdout.written,
            stderr_bytes: stderr.written,
            stdout_masks: stdout.masks,
            stderr_masks: stderr.masks,
        };
        let file = setup.log.join("exit.json");
        while_others_go_on(|| crate::files::write_json_durably(&file, &record))
            .map_err(|error| EvaluationError::Setup(error.to_string()))?;
    }
    if let Some(failure) = stdout.failure.or(stderr.failure) {
        return Err(EvaluationError::Setup(failure.reason));
    }
    let passed = verdict(ended?)?;
    Ok(Evaluation {
        passed,
        score: read_score(&layout.score)?,
        duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        log: LOG.to_owned(),
    })
}

/// Where the log is in a run's folder.
pub const LOG: &str = "artifacts/evaluation/stdout";

fn verdict(raw_status: i32) -> Result<bool, EvaluationError> {
    match ExitStatus::from_raw(raw_status) {
        ExitStatus::Exited { code: PASSED } => Ok(true),
        ExitStatus::Exited { code: NOT_PASSED } => Ok(false),
        ExitStatus::Exited { code } => Err(EvaluationError::ExitCode(code)),
        ExitStatus::Signalled { signal } => Err(EvaluationError::Signal(signal)),
    }
}

struct Layout {
    /// The evaluator's own files; it starts here.
    files: PathBuf,
    home: PathBuf,
    temporary: PathBuf,
    /// Which variant it is, for the evaluator.
    variant: PathBuf,
    /// Where the evaluator may write a score.
    score: PathBuf,
}

fn lay_out(setup: &EvaluationSetup<'_>) -> io::Result<Layout> {
    let at = |name: &str| setup.folder.join(name);
    let layout = Layout {
        files: at("evaluate"),
        home: at("home"),
        temporary: at("tmp"),
        variant: at("variant.json"),
        score: at("score"),
    };
    for folder in [setup.folder, setup.log, &layout.home, &layout.temporary] {
        crate::files::create_private_folders(folder)?;
    }
    let choices: serde_json::Map<String, serde_json::Value> = setup
        .variant
        .choices
        .iter()
        .map(|choice| (choice.mutation.clone(), choice.alternative.clone().into()))
        .collect();
    let variant = json!({
        "task": setup.task.id, "version": setup.task.version,
        "seed": setup.variant.seed, "mutations": choices,
    });
    fs::write(&layout.variant, format!("{variant:#}\n"))?;
    copy_tree(&setup.task.folder().join(EVALUATE), &layout.files)?;
    Ok(layout)
}

/// A name with a `/` is a file of the evaluator's, any other is looked for in `PATH`.
fn find_program(
    command: &[String],
    files: &Path,
    unseen: &BTreeSet<PathBuf>,
) -> Result<PathBuf, EvaluationError> {
    let program = command.first().map(String::as_str).unwrap_or_default();
    let missing = |reason: &str| EvaluationError::Program {
        program: program.to_owned(),
        reason: reason.to_owned(),
    };
    let is_executable = |path: &PathBuf| {
        fs::metadata(path)
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return Some(files.join(program))
            .filter(is_executable)
            .ok_or_else(|| missing("expected an executable file in the folder `evaluate`"));
    }
    let path = host_path();
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute() && !unseen.contains(folder))
        .map(|folder| folder.join(program))
        .find(is_executable)
        .ok_or_else(|| {
            missing("it is not in any folder of PATH that an evaluator can see; install it")
        })
}

/// Folders of `PATH` that a confined evaluator does not see: a home's, say.
fn unseen_folders(containment: &Containment) -> BTreeSet<PathBuf> {
    match containment {
        Containment::Namespaces {
            files: Some(view), ..
        } => hidden_path_folders(&host_path(), view),
        Containment::Namespaces { files: None, .. } | Containment::SubReaper => BTreeSet::new(),
    }
}

fn host_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin"))
}

struct Running {
    life: tokio::sync::watch::Receiver<crate::process::tree::Life>,
    stdout: RecordedStream,
    stderr: RecordedStream,
}

async fn start(
    setup: &EvaluationSetup<'_>,
    layout: &Layout,
    program: PathBuf,
    tree: &ProcessTree,
) -> Result<Running, EvaluationError> {
    let failed = |error: io::Error| EvaluationError::Setup(error.to_string());
    let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(|error| failed(error.into()));
    // Its input is at its end from the start.
    let (stdin, _) = pipe()?;
    let (stdout_read, stdout_write) = pipe()?;
    let (stderr_read, stderr_write) = pipe()?;
    let io_log = Arc::new(IoLog::create(&setup.log.join("io.jsonl")).map_err(failed)?);
    let record = |pipe, name, file: &str| {
        let (io_log, activity) = (Arc::clone(&io_log), Activity::new());
        let path = setup.log.join(file);
        RecordedStream::start(pipe, name, &path, io_log, setup.redactor, activity).map_err(failed)
    };
    let stdout = record(stdout_read, StreamName::Stdout, "stdout")?;
    let stderr = record(stderr_read, StreamName::Stderr, "stderr")?;
    let args = setup.evaluator.command.iter().skip(1);
    let command = SpawnCommand {
        program,
        args: args.map(|arg| OsText(OsString::from(arg))).collect(),
        env: environment(setup, layout)
            .into_iter()
            .map(|(name, value)| (OsText(OsString::from(name)), OsText(value)))
            .collect(),
        cwd: layout.files.clone(),
    };
    let started = tree
        .spawn(SPAWN, command, [stdin, stdout_write, stderr_write])
        .await
        .map_err(|error| EvaluationError::Program {
            program: setup.evaluator.command.join(" "),
            reason: error.to_string(),
        })?;
    Ok(Running {
        life: started.life,
        stdout,
        stderr,
    })
}

fn environment(setup: &EvaluationSetup<'_>, layout: &Layout) -> Vec<(&'static str, OsString)> {
    let seed = setup.variant.seed;
    vec![
        ("PATH", host_path()),
        ("HOME", layout.home.clone().into()),
        ("TMPDIR", layout.temporary.clone().into()),
        ("LANG", "C.UTF-8".into()),
        ("AKBENCH_WORKSPACE", setup.workspace.into()),
        ("AKBENCH_PREPARED", setup.prepared.into()),
        ("AKBENCH_VARIANT", layout.variant.clone().into()),
        ("AKBENCH_SCORE", layout.score.clone().into()),
        (
            "AKBENCH_SEED",
            seed.map(|seed| seed.to_string()).unwrap_or_default().into(),
        ),
    ]
}

fn read_score(path: &Path) -> Result<Option<f64>, EvaluationError> {
    let unusable = |reason: String| EvaluationError::Score(reason);
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(error.to_string())),
    };
    if !metadata.is_file() || metadata.len() > MAX_SCORE_FILE {
        return Err(unusable("expected a file with one number".to_owned()));
    }
    let text = fs::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
    match text.trim().parse::<f64>() {
        Ok(score) if (0.0..=1.0).contains(&score) => Ok(Some(score)),
        _ => Err(unusable(format!(
            "expected a number from 0 to 1, found `{}`",
            text.trim()
        ))),
    }
}
