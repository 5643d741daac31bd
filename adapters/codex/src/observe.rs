//! From evidence to observations: the only place where both meet.

use crate::command_line::{Continuation, continuation, resumed_thread};
use crate::measure::{self, Measured};
use crate::outcome::{self, End};
use crate::rollout::Rollout;
use crate::session_files::{self, SessionFiles};
use crate::stream::{Stream, Terminal};
use crate::tool_calls::ToolCalls;
use crate::turn::{Turn, TurnEnd};
use crate::usage::Tokens;
use crate::version;
use akbench_adapter_sdk::evidence::{
    self, Evidence, EvidenceError, ExitStatus, SpawnEvidence, for_each_line,
};
use akbench_adapter_sdk::observations::none_observed;
use akbench_adapter_sdk::types::{
    AppliedSettings, ModelUsage, Observations, Origin, Provenance, ToolCall, ToolStatus,
};
use serde_json::{Map, json};
use std::io::Read;

/// The label of the process that works on a task.
pub const TASK: &str = "task";
/// The label of the process that is asked for its version.
pub const VERSION: &str = "version";

/// How much of stderr is looked at: enough for what the program says about its start.
const STDERR_HEAD: u64 = 16 << 10;
/// Characters of one line of stderr that may become evidence.
const STDERR_LINE: usize = 500;

/// Everything that the evidence says about the task submitted last. The same evidence gives
/// the same answer.
///
/// # Errors
///
/// If a file exists and can't be read. Lines that can't be understood are no errors: they
/// make the observations incomplete.
pub fn observe(evidence: &dyn Evidence) -> Result<Observations, EvidenceError> {
    let spawns = evidence::spawns(evidence)?;
    let probed = probed_version(evidence, &spawns)?;
    let mut tasks: Vec<_> = spawns.iter().filter(|spawn| spawn.label == TASK).collect();
    let Some(task) = tasks.pop() else {
        return Ok(Observations {
            agent_version: probed,
            ..none_observed()
        });
    };
    let run = Run::read(evidence, task, &tasks)?;
    Ok(run.observations(probed))
}

/// The version that the program reported when it was asked; `None` if it was not, or said
/// something else.
///
/// # Errors
///
/// If a file exists and can't be read.
pub fn probed_version(
    evidence: &dyn Evidence,
    spawns: &[SpawnEvidence],
) -> Result<Option<String>, EvidenceError> {
    let Some(probe) = spawns.iter().rfind(|spawn| spawn.label == VERSION) else {
        return Ok(None);
    };
    let path = format!("{}/stdout", probe.folder);
    let output = head(evidence, &path, STDERR_HEAD)?;
    Ok(version::reported(&output).map(str::to_owned))
}

/// One task's evidence, read.
struct Run<'a> {
    task: &'a SpawnEvidence,
    continuation: Continuation,
    stream: Stream,
    stderr: Vec<String>,
    files: SessionFiles,
}

impl<'a> Run<'a> {
    fn read(
        evidence: &dyn Evidence,
        task: &'a SpawnEvidence,
        earlier: &[&SpawnEvidence],
    ) -> Result<Self, EvidenceError> {
        let stream = read_stream(evidence, task)?;
        let continuation = continuation_of(task);
        let thread = stream.thread_id.as_deref();
        let earlier = earlier_turns(evidence, thread, earlier)?;
        let mut files = session_files::find(evidence, thread, continuation, stream.turns, earlier)?;
        if continuation == Continuation::Resumed && earlier.is_none() {
            files.give_up_if_cut(stream.usage);
        }
        let stderr = head(evidence, &format!("{}/stderr", task.folder), STDERR_HEAD)?;
        let lines = stderr.lines().filter(|line| !line.trim().is_empty());
        let stderr = lines
            .map(|line| line.chars().take(STDERR_LINE).collect())
            .collect();
        Ok(Self {
            task,
            continuation,
            stream,
            stderr,
            files,
        })
    }

    fn observations(&self, probed: Option<String>) -> Observations {
        let main = self.files.main.as_ref();
        let end = End {
            folder: &self.task.folder,
            exit: self.task.exit.as_ref(),
            stream: &self.stream,
            stderr: &self.stderr,
            rollout: main,
        };
        let died_by_signal = self
            .task
            .exit
            .as_ref()
            .is_none_or(|exit| matches!(exit.status, ExitStatus::Signalled { .. }));
        let measured =
            measure::measure(&self.files, &self.stream, self.continuation, died_by_signal);
        let mut provenance = vec![self.outcome_provenance()];
        let usage = measured.as_ref().map(|measured| {
            let (usage, derived_total) = measured.tokens.observed();
            provenance.extend(usage_provenance(measured, derived_total));
            usage
        });
        let tool_calls = main
            .filter(|main| !self.lacks_calls(main))
            .map(|main| self.tool_calls(main));
        if tool_calls.is_some() {
            provenance.push(self.calls_provenance());
        }
        let applied = self.applied();
        if applied.is_some() {
            provenance.push(reported("applied", "rollout:turn_context", true));
        }
        let (final_message, source) = self.final_message();
        if final_message.is_some() {
            provenance.push(reported("final_message", source, true));
        }
        Observations {
            outcome: outcome::outcome(&end),
            unresolved: outcome::unresolved(&end),
            agent_version: self.agent_version(probed),
            native_session_id: self.thread_id(),
            final_message,
            turns: self.turns(),
            model_requests: measured.as_ref().and_then(|measured| measured.requests),
            usage,
            usage_by_model: measured
                .and_then(|measured| measured.by_model)
                .map(|models| {
                    let share = |(model, tokens): (String, Tokens)| ModelUsage {
                        model,
                        usage: tokens.observed().0,
                    };
                    models.into_iter().map(share).collect()
                }),
            tool_calls,
            applied: applied.unwrap_or(none_observed().applied),
            warnings: self.warnings(),
            provenance,
            extra: self.extra(),
            ..none_observed()
        }
    }

    fn thread_id(&self) -> Option<String> {
        let main = self.files.main.as_ref();
        let recorded = || main.and_then(|main| main.meta.thread_id.clone());
        self.stream.thread_id.clone().or_else(recorded)
    }

    /// A session file names the version that began the conversation, which for a continued
    /// one may be another, unless the program began anew because it could not continue.
    fn agent_version(&self, probed: Option<String>) -> Option<String> {
        let main = self.files.main.as_ref();
        let began = || main.and_then(|main| main.meta.cli_version.clone());
        match self.continuation {
            Continuation::Resumed if !main.is_some_and(Rollout::is_new) => probed,
            _ => began().or(probed),
        }
    }

    fn turns(&self) -> Option<u32> {
        if self.stream.thread_id.is_some() || self.stream.turns > 0 {
            return Some(self.stream.turns);
        }
        let recorded = self.files.main.as_ref().map(|main| main.turns.len());
        recorded.and_then(|turns| u32::try_from(turns).ok())
    }

    fn final_message(&self) -> (Option<String>, &'static str) {
        if matches!(self.stream.terminal, Some(Terminal::Failed(_))) {
            return (None, "");
        }
        let last = self.files.main.as_ref().and_then(|main| main.turns.last());
        match last.and_then(|turn| turn.end.as_ref()) {
            Some(TurnEnd::Complete {
                last_message: Some(message),
                ..
            }) => (Some(message.clone()), "rollout:task_complete"),
            _ => (self.stream.final_message.clone(), "stdout:agent_message"),
        }
    }

    /// Whether the stream shows calls that the session file lacks: old versions do not write
    /// down the call under way when they are stopped. Then nobody knows how many there were.
    /// Nor does a file that lacks whole turns tell.
    fn lacks_calls(&self, main: &Rollout) -> bool {
        if main.turns.is_empty() || main.turns.len() < self.stream.turns as usize {
            return true;
        }
        let calls = || main.turns.iter().map(|turn| &turn.calls);
        let scripted = calls().any(ToolCalls::any_scripts);
        let found: usize = calls().map(ToolCalls::len).sum();
        !scripted && found < self.stream.tools_shown as usize
    }

    fn tool_calls(&self, main: &Rollout) -> Vec<ToolCall> {
        let own = main.turns.iter().flat_map(|turn| turn.calls.observed(None));
        let others = self.files.sub_agents.iter().flat_map(|agent| {
            let name = agent
                .meta
                .nickname
                .as_deref()
                .or(agent.meta.thread_id.as_deref());
            agent
                .turns
                .iter()
                .flat_map(move |turn| turn.calls.observed(name))
        });
        own.chain(others).collect()
    }

    fn applied(&self) -> Option<AppliedSettings> {
        let turns = &self.files.main.as_ref()?.turns;
        let settings = turns
            .iter()
            .rev()
            .find_map(|turn| turn.settings.as_ref())?
            .clone();
        Some(AppliedSettings {
            model: settings.model,
            sandbox: settings.sandbox,
            approval_policy: settings.approval_policy,
            reasoning_effort: settings.effort,
            network_access: settings.network_access,
        })
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = self.stream.warnings.clone();
        let asked = self
            .task
            .command
            .as_ref()
            .and_then(|command| resumed_thread(&command.args));
        // Some versions start anew if they don't know the conversation.
        if let (Some(asked), Some(thread)) = (asked, &self.stream.thread_id)
            && asked != thread
        {
            warnings.push(format!(
                "the agent was asked to continue conversation `{asked}` and worked on `{thread}`"
            ));
        }
        warnings
    }

    fn outcome_provenance(&self) -> Provenance {
        let recorded = self.task.exit.is_some();
        let readable = !self.stream.faults.any();
        let mut missing = Vec::new();
        if !recorded {
            missing.push("exit status".to_owned());
        }
        if !readable {
            missing.push("unreadable lines".to_owned());
        }
        Provenance {
            missing,
            ..reported("outcome", "stdout and exit status", recorded && readable)
        }
    }

    fn calls_provenance(&self) -> Provenance {
        let readable = !self.files.faults.any();
        let mut missing = Vec::new();
        if !readable {
            missing.push("unreadable lines".to_owned());
        }
        if self.files.sub_agents_unclear {
            missing.push("sub-agents".to_owned());
        }
        let mut files = self.files.main.iter().chain(&self.files.sub_agents);
        if files.any(|file| file.turns.last().is_some_and(Turn::is_cut_off)) {
            missing.push("end of the turn".to_owned());
        }
        let seen = |call: &ToolCall| call.status == Some(ToolStatus::Unfinished);
        let main = self.files.main.as_ref();
        let seen = main.is_some_and(|main| {
            main.turns
                .last()
                .is_some_and(|turn| turn.calls.any_aborted())
                || self.tool_calls(main).iter().any(seen)
        });
        if self.stream.has_running_tool() && self.stream.terminal.is_none() && !seen {
            missing.push("interrupted call".to_owned());
        }
        let complete = missing.is_empty();
        Provenance {
            missing,
            ..reported("tool_calls", "rollout:response_item", complete)
        }
    }

    fn extra(&self) -> String {
        let mut extra = Map::new();
        let agents = self.files.main.iter().chain(&self.files.sub_agents);
        let turns = agents.flat_map(|agent| &agent.turns);
        let within_scripts: u32 = turns.map(|turn| turn.calls.within_scripts).sum();
        if within_scripts > 0 {
            extra.insert("commands_within_scripts".to_owned(), json!(within_scripts));
        }
        let unreadable = self.files.faults.malformed + self.stream.faults.malformed;
        if unreadable > 0 {
            extra.insert("unreadable_lines".to_owned(), json!(unreadable));
        }
        serde_json::Value::Object(extra).to_string()
    }
}

/// The turns of the processes before this one in the same conversation; `None` if it began
/// before them.
fn earlier_turns(
    evidence: &dyn Evidence,
    thread: Option<&str>,
    earlier: &[&SpawnEvidence],
) -> Result<Option<u32>, EvidenceError> {
    let mut turns = None;
    for spawn in earlier {
        let stream = read_stream(evidence, spawn)?;
        if stream.thread_id.as_deref() != thread {
            continue;
        }
        if continuation_of(spawn) == Continuation::Fresh {
            turns = Some(0);
        }
        turns = turns.map(|turns: u32| turns.saturating_add(stream.turns));
    }
    Ok(turns)
}

fn continuation_of(spawn: &SpawnEvidence) -> Continuation {
    let command = spawn.command.as_ref();
    command.map_or(Continuation::Fresh, |command| continuation(&command.args))
}

fn read_stream(evidence: &dyn Evidence, spawn: &SpawnEvidence) -> Result<Stream, EvidenceError> {
    let mut stream = Stream::default();
    for_each_line(evidence, &format!("{}/stdout", spawn.folder), |line| {
        stream.push(line);
    })?;
    Ok(stream)
}

fn head(evidence: &dyn Evidence, path: &str, most: u64) -> Result<String, EvidenceError> {
    let Some(file) = evidence.open(path)? else {
        return Ok(String::new());
    };
    let mut bytes = Vec::new();
    file.take(most)
        .read_to_end(&mut bytes)
        .map_err(|error| EvidenceError {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn reported(observation: &str, source: &str, complete: bool) -> Provenance {
    Provenance {
        observation: observation.to_owned(),
        origin: Origin::Agent,
        source: source.to_owned(),
        complete,
        missing: Vec::new(),
    }
}

fn usage_provenance(measured: &Measured, derived_total: bool) -> Vec<Provenance> {
    let mut entries = vec![Provenance {
        origin: Origin::Provider,
        missing: measured
            .missing
            .iter()
            .map(|what| (*what).to_owned())
            .collect(),
        ..reported("usage", measured.source, measured.missing.is_empty())
    }];
    if derived_total {
        entries.push(Provenance {
            origin: Origin::Derived,
            missing: entries[0].missing.clone(),
            ..reported("usage.total", measured.source, measured.missing.is_empty())
        });
    }
    entries
}
