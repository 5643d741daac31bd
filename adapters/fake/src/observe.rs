//! From evidence to observations. The same evidence gives the same answer, so nothing here
//! asks what the adapter remembers.

use crate::line::Line;
use akbench_adapter_sdk::evidence::{
    self, Evidence, EvidenceError, ExitRecord, ExitStatus, SpawnEvidence, for_each_line, read_all,
};
use akbench_adapter_sdk::failure::with_evidence;
use akbench_adapter_sdk::observations::{UNKNOWN_USAGE, none_observed};
use akbench_adapter_sdk::types::{
    FailureClass, Observations, Origin, Outcome, Provenance, TokenUsage, ToolCall, ToolStatus,
};
use serde_json::json;

/// The label of the process that works on a task.
pub const TASK: &str = "task";
/// The label of the process that is asked for its version.
pub const VERSION: &str = "version";
/// Where a simulated agent writes its lines, relative to the agent's home.
pub const SIMULATED: &str = "session.jsonl";

/// Everything that the evidence says about the task submitted last.
///
/// # Errors
///
/// If a file exists and can't be read. A torn or unknown line is no error.
pub fn observe(evidence: &dyn Evidence) -> Result<Observations, EvidenceError> {
    let spawns = evidence::spawns(evidence)?;
    let mut observed = none_observed();
    observed.agent_version = probed_version(evidence, &spawns)?;
    let (path, end) = match spawns.iter().rfind(|spawn| spawn.label == TASK) {
        Some(task) => {
            let end = task.exit.as_ref().map_or(End::Unknown, End::Process);
            (format!("{}/stdout", task.folder), end)
        }
        None => (format!("home/{SIMULATED}"), End::Simulated),
    };
    let mut last = None;
    let mut calls = Vec::new();
    let found = for_each_line(evidence, &path, |line| {
        // A last line without its newline may be torn in the middle of a number.
        let Some(said) = Line::parse(line.bytes).filter(|_| line.terminated) else {
            return;
        };
        let source = format!("{path}:{}", line.number);
        match said {
            Line::Session { id, model } => {
                observed.native_session_id = Some(id);
                observed.applied.model = model;
            }
            Line::Message { text } => observed.final_message = Some(text),
            Line::Tool {
                id,
                name,
                exit_code,
            } => calls.push(tool_call(id, name, exit_code)),
            Line::Usage { input, output } => {
                observed.usage = Some(usage(input, output));
                observed.provenance = vec![provider(source)];
            }
            Line::Done | Line::Failed { .. } => last = Some((said, source)),
        }
    })?;
    if found {
        observed.tool_calls = Some(calls);
        observed.outcome = outcome(end, last);
    }
    Ok(observed)
}

/// What is known about the agent's end, besides what it said.
#[derive(Clone, Copy)]
enum End<'a> {
    /// A process that ended so.
    Process(&'a ExitRecord),
    /// A process whose end was not recorded: it may have outlived its engine.
    Unknown,
    /// There was no process.
    Simulated,
}

/// Completed is only what says so itself and also ended well. An exit code alone proves
/// nothing: agents exit with 0 when they were killed, and with 1 when all went well.
fn outcome(end: End<'_>, last: Option<(Line, String)>) -> Option<Outcome> {
    let exit = match end {
        End::Process(exit) => Some(exit),
        End::Simulated => None,
        End::Unknown => return None,
    };
    let stopped = exit.is_some_and(|exit| exit.signals.iter().any(|s| s.reason != "leftovers"));
    let clean = exit.is_none_or(|exit| exit.status == ExitStatus::Exited { code: 0 });
    match last {
        Some((Line::Failed { message }, source)) => {
            let facts = json!({"message": message, "source": source});
            let failed = with_evidence(FailureClass::AgentError, message, &facts);
            Some(Outcome::Failed(failed))
        }
        Some(_) if clean => Some(Outcome::Completed),
        _ if stopped => Some(Outcome::Cancelled),
        _ => exit.map(|exit| Outcome::Failed(crashed(exit))),
    }
}

fn crashed(exit: &ExitRecord) -> akbench_adapter_sdk::types::Failure {
    let (fact, message) = match exit.status {
        ExitStatus::Exited { code } => (
            json!({"exited": code}),
            format!("the agent ended with exit {code} and without its last line"),
        ),
        ExitStatus::Signalled { signal } => (
            json!({"signalled": signal}),
            format!("the agent was ended by signal {signal}, which the engine did not send"),
        ),
    };
    with_evidence(FailureClass::AgentCrash, message, &json!({"exit": fact}))
}

fn tool_call(id: String, name: String, exit_code: Option<i32>) -> ToolCall {
    let status = exit_code.map(|code| match code {
        0 => ToolStatus::Completed,
        _ => ToolStatus::Failed,
    });
    ToolCall {
        id,
        name,
        sub_agent: None,
        status,
        exit_code,
        duration: None,
    }
}

fn usage(input: Option<u64>, output: Option<u64>) -> TokenUsage {
    TokenUsage {
        input,
        output,
        // The agent reports no total; a sum is only known if both parts are.
        total: input.zip(output).map(|(input, output)| input + output),
        ..UNKNOWN_USAGE
    }
}

fn provider(source: String) -> Provenance {
    Provenance {
        observation: "usage".to_owned(),
        origin: Origin::Provider,
        source,
        complete: true,
        missing: Vec::new(),
    }
}

/// The version that the program reported: `NAME VERSION` on its first line.
///
/// # Errors
///
/// If the file exists and can't be read.
pub fn probed_version(
    evidence: &dyn Evidence,
    spawns: &[SpawnEvidence],
) -> Result<Option<String>, EvidenceError> {
    let Some(probe) = spawns.iter().rfind(|spawn| spawn.label == VERSION) else {
        return Ok(None);
    };
    let printed = read_all(evidence, &format!("{}/stdout", probe.folder))?;
    Ok(printed.as_deref().and_then(version_in))
}

/// The version in what the program printed; `None` if that is something else.
pub fn version_in(printed: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(printed).ok()?.lines().next()?;
    let version = line.strip_prefix("fake-agent ")?.trim();
    (!version.is_empty()).then(|| version.to_owned())
}
