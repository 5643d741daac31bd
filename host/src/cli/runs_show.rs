//! `akbench runs show`: the page that a person reads about one run.

use super::table::{Page, table};
use super::wording::{confined, known, list, name_of, one_line, plain, seconds, short_line};
use super::{CliError, output, summary};
use crate::contract::events::{Level, RunEvent};
use crate::contract::observed::ToolCall;
use crate::runner::result::{HomeEvidence, Recovery, RunResult};
use crate::runs::{self, Moment, RunState, StoredRun, Timeline};
use clap::Args;
use std::path::PathBuf;

/// Lines of the timeline that are shown; `events.jsonl` has the rest.
const MAX_MOMENTS: usize = 200;

/// Tool calls that are listed.
const MAX_TOOL_CALLS: usize = 100;

/// Characters of a message that are shown.
const MAX_TEXT: usize = 100;

/// Show what was asked for in a run, what was applied, and what happened.
#[derive(Debug, Args)]
pub struct ShowRun {
    /// The run, by id or its beginning [default: the newest]
    #[arg(value_name = "RUN")]
    run: Option<String>,

    /// The folder that runs are kept in
    #[arg(long, value_name = "DIR", default_value = "runs")]
    out: PathBuf,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl ShowRun {
    pub fn execute(self) -> Result<u8, CliError> {
        let run = runs::find(&self.out, self.run.as_deref())?;
        let result = match &run.state {
            RunState::Finished(result) => result,
            RunState::Running => {
                return Err(CliError::usage(format!(
                    "the run `{}` has no result yet: it still runs; what was recorded so far is \
                     in `{}`",
                    run.id,
                    run.folder.display()
                )));
            }
            RunState::Dead => {
                return Err(CliError::usage(format!(
                    "the run `{}` has no result: its host died; `akbench runs recover {}` \
                     completes the record; what was recorded is in `{}`",
                    run.id,
                    run.id,
                    run.folder.display()
                )));
            }
            RunState::Unreadable(reason) => {
                return Err(CliError::usage(format!(
                    "the result of the run `{}` can't be read: {reason}; the file is `{}`",
                    run.id,
                    run.folder.join("result.json").display()
                )));
            }
        };
        if self.json {
            output::json(result)?;
            return Ok(0);
        }
        let timeline = runs::timeline(&run.folder).map_err(|error| CliError::System {
            action: "read the run's events",
            error,
        })?;
        output::text(&page(&run, result, &timeline))?;
        Ok(0)
    }
}

fn page(run: &StoredRun, result: &RunResult, timeline: &Timeline) -> String {
    let mut page = Page::default();
    page.line(&format!(
        "run {}: {}{}, {}",
        result.run_id,
        summary::status(result.status),
        summary::after(result),
        result.started_at
    ));
    if let Some(recovery) = &result.recovery {
        recovered(&mut page, recovery);
    }
    asked(&mut page, result);
    applied(&mut page, result);
    happened(&mut page, timeline);
    outcome(&mut page, result);
    tool_calls(&mut page, result.tool_calls.as_deref());
    page.section("files");
    page.row("folder", run.folder.display().to_string());
    page.row("workspace", summary::workspace(result));
    page.row(
        "evidence",
        format!("{} files in artifacts/", result.artifacts.len()),
    );
    page.finish()
}

fn recovered(page: &mut Page, recovery: &Recovery) {
    page.section("recovered: the host died before it could write the result");
    page.row(
        "recovered",
        format!("{} by akbench {}", recovery.recovered_at, recovery.akbench),
    );
    page.row("last record", known(recovery.last_recorded_at.as_deref()));
    page.row(
        "agent home",
        match recovery.home_evidence {
            HomeEvidence::Collected => "its evidence was collected",
            HomeEvidence::NotCollected => "its evidence was not collected, see the warnings",
            HomeEvidence::Missing => "gone",
        },
    );
}

fn asked(page: &mut Page, result: &RunResult) {
    page.section("asked for");
    let agent = &result.agent;
    page.row(
        "agent",
        format!(
            "{} {} through {} ({})",
            agent.id,
            agent.version,
            agent.adapter,
            known(agent.contract.as_deref())
        ),
    );
    page.row(
        "task",
        format!(
            "{}, instruction sha256 {}",
            known(result.task.id.as_deref()),
            known(result.task.instruction_sha256)
        ),
    );
    page.row(
        "time limit",
        result
            .task
            .time_limit_ms
            .map_or_else(|| "none".to_owned(), seconds),
    );
    if let Some(runtime) = &result.runtime {
        page.row(
            "runtime",
            format!(
                "{} at {} ({}), model {}",
                runtime.name,
                runtime.base_url,
                runtime.wire_api,
                known(runtime.model.as_deref())
            ),
        );
    }
    let parameters: Vec<String> = result
        .parameters
        .iter()
        .map(|(name, value)| format!("{name}={}", plain(value)))
        .collect();
    page.row("parameters", list(&parameters, "none"));
}

fn applied(page: &mut Page, result: &RunResult) {
    page.section("applied, as the agent says");
    match &result.agent.program {
        Some(program) => page.row(
            "program",
            format!(
                "{} {}, {}",
                program.name,
                known(program.version.as_deref()),
                program.path
            ),
        ),
        None => page.row("program", "none"),
    }
    let applied = &result.applied;
    page.row("model", known(applied.model.as_deref().map(one_line)));
    page.row("sandbox", known(applied.sandbox.as_deref().map(one_line)));
    page.row(
        "approvals",
        known(applied.approval_policy.as_deref().map(one_line)),
    );
    page.row(
        "reasoning",
        known(applied.reasoning_effort.as_deref().map(one_line)),
    );
    page.row("network", known(applied.network_access));
    let confinement = &result.confinement;
    page.row("confinement", confined(confinement));
    for note in &confinement.notes {
        page.row("", one_line(note));
    }
}

fn happened(page: &mut Page, timeline: &Timeline) {
    page.section("what happened when");
    let told: Vec<(u64, String)> = timeline
        .moments
        .iter()
        .filter_map(|Moment { at_ms, event }| Some((*at_ms, tell(event)?)))
        .collect();
    for (at, line) in told.iter().take(MAX_MOMENTS) {
        page.row(&seconds(*at), line);
    }
    if told.len() > MAX_MOMENTS {
        page.row(
            "…",
            format!("{} more in events.jsonl", told.len() - MAX_MOMENTS),
        );
    }
    if timeline.unreadable > 0 {
        page.row(
            "",
            format!(
                "{} lines of events.jsonl can't be read",
                timeline.unreadable
            ),
        );
    }
    if told.is_empty() {
        page.block("nothing was recorded");
    }
}

/// `None` for what would only make the page longer.
fn tell(event: &RunEvent) -> Option<String> {
    let text = |text: &str| short_line(text, MAX_TEXT);
    match event {
        RunEvent::Phase { phase } => Some(name_of(phase)),
        RunEvent::AgentVersion { version } => Some(format!("agent version {}", text(version))),
        RunEvent::TurnStarted => Some("turn began".to_owned()),
        RunEvent::TurnFinished { .. } => Some("turn ended".to_owned()),
        RunEvent::Message { text: message } => Some(format!("message: {}", text(message))),
        RunEvent::ToolStarted { call } => Some(format!("tool {} began", text(&call.name))),
        RunEvent::ToolFinished { call } => {
            let status = call
                .status
                .as_ref()
                .map_or_else(|| "ended".to_owned(), name_of);
            Some(format!("tool {} {status}", text(&call.name)))
        }
        RunEvent::Warning { text: warning } => Some(format!("warning: {}", text(warning))),
        RunEvent::Stopping { reason } => Some(format!("stopping: {}", text(reason))),
        RunEvent::Log { level, text: line } if *level >= Level::Warn => {
            Some(format!("adapter: {}", text(line)))
        }
        RunEvent::Log { .. } | RunEvent::Usage { .. } | RunEvent::Other { .. } => None,
    }
}

fn outcome(page: &mut Page, result: &RunResult) {
    page.section("outcome");
    if let Some(failure) = &result.failure {
        page.row(
            "failure",
            format!(
                "{} in phase {}, fault: {}{}",
                name_of(&failure.class),
                name_of(&failure.phase),
                name_of(&failure.fault),
                if failure.retryable {
                    ", may well succeed later"
                } else {
                    ""
                }
            ),
        );
        page.row("", one_line(&failure.message));
        for (name, value) in &failure.evidence {
            page.row("", format!("{name}: {}", short_line(&plain(value), 200)));
        }
    }
    if let Some(unresolved) = &result.unresolved {
        page.row(
            "unresolved",
            format!(
                "{}: {}",
                name_of(&unresolved.class),
                one_line(&unresolved.message)
            ),
        );
    }
    page.row("work", summary::work(result));
    page.row("tokens", summary::tokens(result));
    if let Some(usage) = result.provenance.get("usage") {
        page.row(
            "",
            format!(
                "from {} ({})",
                one_line(&usage.source),
                name_of(&usage.origin)
            ),
        );
        if !usage.missing.is_empty() {
            page.row("", format!("without {}", list(&usage.missing, "anything")));
        }
    }
    page.row(
        "cost",
        result
            .cost_usd
            .map_or_else(|| known(None::<f64>), |cost| format!("{cost} USD")),
    );
    let processes = &result.processes;
    page.row(
        "processes",
        format!(
            "{} started, {} ended by the engine, {} survived",
            processes.spawned,
            known(processes.killed),
            known(processes.survivors)
        ),
    );
    if let Some(message) = &result.final_message {
        page.row("message", one_line(message));
    }
    for warning in &result.warnings {
        page.row("warning", one_line(warning));
    }
    for violation in &result.violations {
        page.row("violation", one_line(violation));
    }
    page.row(
        "valid",
        if result.valid {
            "yes".to_owned()
        } else {
            format!("no: {}", list(&result.invalid_reasons, "no reason given"))
        },
    );
}

fn tool_calls(page: &mut Page, calls: Option<&[ToolCall]>) {
    let Some(calls) = calls.filter(|calls| !calls.is_empty()) else {
        return;
    };
    page.section("tool calls");
    let rows = calls.iter().take(MAX_TOOL_CALLS).map(|call| {
        [
            short_line(&call.id, 24),
            short_line(&call.name, 40),
            call.status
                .as_ref()
                .map_or_else(|| known(None::<&str>), name_of),
            call.exit_code
                .map_or_else(|| "-".to_owned(), |code| code.to_string()),
            call.duration_ms
                .map_or_else(|| "-".to_owned(), |ms| seconds(ms.into())),
            call.sub_agent
                .as_deref()
                .map_or_else(|| "-".to_owned(), |agent| short_line(agent, 24)),
        ]
    });
    page.block(&table(
        ["id", "tool", "status", "exit", "time", "sub-agent"],
        rows,
    ));
    if calls.len() > MAX_TOOL_CALLS {
        page.row(
            "…",
            format!("{} more in result.json", calls.len() - MAX_TOOL_CALLS),
        );
    }
}
