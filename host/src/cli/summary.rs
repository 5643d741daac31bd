//! The page that a person reads when a run is over.

use super::wording::{name_of, one_line, seconds};
use crate::contract::observed::TokenUsage;
use crate::runner::evaluate::Evaluation;
use crate::runner::result::{RunResult, RunStatus};
use crate::runner::run::FinishedRun;
use serde_json::Value;
use std::fmt::Write;

/// What stands in the way of a run, one line each, and where that is kept.
pub fn of_refusal(finished: &FinishedRun) -> String {
    let failure = finished.result.failure.as_ref();
    let problems = failure.and_then(|failure| failure.evidence.get("problems")?.as_array());
    let mut page = String::new();
    for problem in problems.into_iter().flatten().filter_map(Value::as_str) {
        for line in problem.lines() {
            let _ = writeln!(page, "error: {line}");
        }
    }
    let result = finished.folder.join("result.json");
    let _ = writeln!(page, "refused: nothing was started; `{}`", result.display());
    page
}

/// The summary, ending with a newline.
pub fn of(finished: &FinishedRun) -> String {
    let result = &finished.result;
    let mut page = String::new();
    // Writing to a string can't fail.
    let mut row = |name: &str, value: String| {
        let _ = writeln!(page, "  {name:<10} {value}");
    };
    row("agent", agent(result));
    if let Some(runtime) = &result.runtime {
        row(
            "runtime",
            format!("{} at {}", runtime.name, runtime.base_url),
        );
    }
    row("applied", applied(result));
    row("work", work(result));
    row("tokens", tokens(result));
    row("workspace", workspace(result));
    if let Some(evaluation) = &result.evaluation {
        row("evaluation", evaluated(evaluation));
    }
    if let Some(failure) = &result.failure {
        row(
            "failure",
            format!(
                "{} (fault: {}): {}",
                name_of(&failure.class),
                name_of(&failure.fault),
                one_line(&failure.message)
            ),
        );
    }
    if let Some(message) = &result.final_message {
        row("message", one_line(message));
    }
    let valid = if result.valid {
        "yes".to_owned()
    } else {
        format!("no: {}", result.invalid_reasons.join(", "))
    };
    row("valid", valid);
    row(
        "result",
        finished.folder.join("result.json").display().to_string(),
    );
    format!(
        "\n{}{} · run {}\n{page}",
        status(result.status),
        after(result),
        result.run_id
    )
}

/// ` after 1.2 s`, if anybody saw the end.
pub(super) fn after(result: &RunResult) -> String {
    result
        .duration_ms
        .map_or_else(String::new, |ms| format!(" after {}", seconds(ms)))
}

pub(super) fn status(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Completed => "completed",
        RunStatus::Failed => "failed",
        RunStatus::TimedOut => "timed out",
        RunStatus::Cancelled => "cancelled",
        RunStatus::Refused => "refused",
    }
}

fn agent(result: &RunResult) -> String {
    let agent = &result.agent;
    let version = agent
        .program
        .as_ref()
        .and_then(|program| program.version.as_deref());
    format!(
        "{} {} (program version {})",
        agent.id,
        agent.version,
        version.unwrap_or("unknown")
    )
}

fn applied(result: &RunResult) -> String {
    let applied = &result.applied;
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    format!(
        "model {}, sandbox {}, approval policy {}",
        known(&applied.model),
        known(&applied.sandbox),
        known(&applied.approval_policy)
    )
}

pub(super) fn work(result: &RunResult) -> String {
    let count =
        |value: Option<usize>| value.map_or_else(|| "unknown".to_owned(), |n| n.to_string());
    format!(
        "turns {}, model requests {}, tool calls {}",
        count(result.turns.map(|n| n as usize)),
        count(result.model_requests.map(|n| n as usize)),
        count(result.tool_calls.as_ref().map(Vec::len))
    )
}

pub(super) fn tokens(result: &RunResult) -> String {
    let Some(usage) = &result.usage else {
        return "unknown".to_owned();
    };
    let TokenUsage {
        input_tokens,
        cached_input_tokens,
        cache_write_input_tokens: _,
        output_tokens,
        reasoning_output_tokens,
        total_tokens,
    } = usage;
    let known = |value: &Option<u64>| value.map_or_else(|| "unknown".to_owned(), |n| n.to_string());
    let incomplete = match result.provenance.get("usage") {
        Some(usage) if !usage.complete => " — incomplete",
        _ => "",
    };
    format!(
        "{} in ({} cached), {} out ({} reasoning), {} total{incomplete}",
        known(input_tokens),
        known(cached_input_tokens),
        known(output_tokens),
        known(reasoning_output_tokens),
        known(total_tokens)
    )
}

pub(super) fn workspace(result: &RunResult) -> String {
    let changed = match result.workspace.files_changed {
        Some(1) => "1 file changed".to_owned(),
        Some(count) => format!("{count} files changed"),
        None => "changes unknown".to_owned(),
    };
    format!("{changed} in {}", result.workspace.path)
}

fn evaluated(evaluation: &Evaluation) -> String {
    let verdict = if evaluation.passed {
        "passed"
    } else {
        "not passed"
    };
    match evaluation.score {
        Some(score) => format!("{verdict}, score {score}"),
        None => verdict.to_owned(),
    }
}
