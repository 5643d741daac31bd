//! The breaks of what is observed.

use crate::breaks::Break;
use crate::facts::Facts;
use akbench_adapter_sdk::failure::failure;
use akbench_adapter_sdk::observations::UNKNOWN_USAGE;
use akbench_adapter_sdk::types::{FailureClass, Observations, Outcome, TokenUsage};

/// More lines, longer lines and more on stderr than any recording has, and less than a flood.
const MANY_LINES: u64 = 500;
const LONG_LINE: usize = 32 << 10;
const MUCH_STDERR: usize = 16 << 10;
/// A time limit in which nobody completes anything, in milliseconds.
const NO_TIME: u32 = 100;

/// What the session remembers, which is nothing in a replay.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// How often it was asked.
    pub asked: u32,
    /// It was cancelled when the work was over.
    pub late_cancel: bool,
    /// The task's.
    pub time_limit: Option<u32>,
}

/// Changes what was observed, if this break does. `memory` is `None` in a replay.
pub fn falsify(
    broken: Break,
    seen: &mut Observations,
    facts: Option<&Facts>,
    memory: Option<Memory>,
) {
    if let Some(outcome) = false_outcome(broken, seen, facts, memory) {
        seen.outcome = outcome;
    }
    if forgets_message(broken, seen, facts, memory) {
        seen.final_message = None;
    }
    let says_nothing = facts.is_some_and(|facts| facts.lines == 0);
    let uses_tools = facts.is_some_and(|facts| facts.used_tools);
    let crashed = facts.is_some_and(|facts| facts.crashed_by().is_some());
    let replays = memory.is_none();
    match broken {
        Break::ToolExitLost => {
            for call in seen.tool_calls.iter_mut().flatten() {
                call.exit_code = call.exit_code.filter(|code| *code == 0);
            }
        }
        Break::AnswersDiffer => {
            if let Some(memory) = memory.filter(|memory| memory.asked > 1) {
                seen.final_message = Some(format!("answer {}", memory.asked));
            }
        }
        Break::UsageUnsourced => seen.provenance.clear(),
        Break::NothingIsZero if says_nothing => seen.usage = Some(tokens(0)),
        Break::UsageGuessed if uses_tools && seen.usage.is_none() => {
            seen.usage = Some(tokens(1_000));
        }
        Break::CrashCosts if crashed => seen.cost_usd = Some(0.25),
        Break::NothingIsSomething if facts.is_none() => seen.final_message = Some(String::new()),
        Break::ReplayForgetsFailed if replays && failed(seen) => seen.native_session_id = None,
        Break::ReplayForgetsCancelled if replays && seen.outcome == Some(Outcome::Cancelled) => {
            seen.usage = None;
        }
        _ => {}
    }
}

/// Another outcome than the evidence shows, if this break has one.
fn false_outcome(
    broken: Break,
    seen: &Observations,
    facts: Option<&Facts>,
    memory: Option<Memory>,
) -> Option<Option<Outcome>> {
    let facts = facts?;
    let completed = Some(Some(Outcome::Completed));
    let no_end = !facts.said_done && !failed_by_itself(seen);
    match broken {
        Break::CompletedUnsaid if seen.outcome == Some(Outcome::Completed) => Some(None),
        Break::FailureReclassified if failed_by_itself(seen) => {
            let crash = failure(FailureClass::AgentCrash, "the agent gave up");
            Some(Some(Outcome::Failed(crash)))
        }
        Break::StayingEndUnknown if facts.said_done && !facts.exited_well() => Some(None),
        // From memory, so that cut evidence does not show it as well.
        Break::ExitCodeDecides if no_end && facts.exited_well() => {
            completed.filter(|_| memory.is_some() && facts.lines > 0)
        }
        Break::SilenceIsSuccess if facts.exited_well() => {
            completed.filter(|_| memory.is_some() && facts.lines == 0)
        }
        Break::ShortLimitIsDone => {
            let limit = memory.and_then(|memory| memory.time_limit);
            completed.filter(|_| limit.is_some_and(|limit| limit <= NO_TIME))
        }
        Break::KilledIsDone if facts.was_killed() => completed,
        Break::IdleIsDone if facts.stopped_for("idle_limit") => completed,
        Break::LateCancelCounts if memory.is_some_and(|memory| memory.late_cancel) => {
            Some(Some(Outcome::Cancelled))
        }
        _ => {
            let signal = broken.taken_for_cancel()?;
            (facts.crashed_by() == Some(signal)).then_some(Some(Outcome::Cancelled))
        }
    }
}

fn forgets_message(
    broken: Break,
    seen: &Observations,
    facts: Option<&Facts>,
    memory: Option<Memory>,
) -> bool {
    let Some(facts) = facts else { return false };
    match broken {
        Break::ManyLinesDrown => facts.lines > MANY_LINES,
        Break::StderrDrowns => facts.stderr_bytes > MUCH_STDERR,
        Break::LongLineDrowns => facts.longest > LONG_LINE,
        Break::OnlyText => facts.has_no_text,
        Break::ReplayForgetsCompleted => {
            memory.is_none() && seen.outcome == Some(Outcome::Completed)
        }
        _ => false,
    }
}

fn failed(seen: &Observations) -> bool {
    matches!(seen.outcome, Some(Outcome::Failed(_)))
}

fn failed_by_itself(seen: &Observations) -> bool {
    match &seen.outcome {
        Some(Outcome::Failed(failure)) => failure.class == FailureClass::AgentError,
        _ => false,
    }
}

fn tokens(count: u64) -> TokenUsage {
    TokenUsage {
        input: Some(count),
        output: Some(count),
        ..UNKNOWN_USAGE
    }
}
