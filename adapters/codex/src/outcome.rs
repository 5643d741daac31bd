//! How the work ended.
//!
//! Completed is only what says so itself: `turn.completed` on stdout and exit 0. Everything
//! else is classified by structured facts, in this order: the program's typed error code,
//! its own message in an error field, its exit status.

use crate::error_class;
use crate::retry_notice;
use crate::rollout::Rollout;
use crate::startup;
use crate::stream::{Stream, Terminal};
use crate::turn::{Turn, TurnEnd};
use akbench_adapter_sdk::evidence::{ExitRecord, ExitStatus};
use akbench_adapter_sdk::failure::with_evidence;
use akbench_adapter_sdk::types::{Failure, FailureClass, Outcome};
use serde_json::{Map, Value, json};

/// The end of a process that worked on a task.
#[derive(Debug, Clone, Copy)]
pub struct End<'a> {
    /// The folder of its evidence.
    pub folder: &'a str,
    /// `None` if its end was not recorded.
    pub exit: Option<&'a ExitRecord>,
    /// What it printed.
    pub stream: &'a Stream,
    /// The first lines of its stderr.
    pub stderr: &'a [String],
    /// Its session file, with the turns of this task.
    pub rollout: Option<&'a Rollout>,
}

/// What can be shown about the end; `None` if the process may have outlived its engine.
pub fn outcome(end: &End<'_>) -> Option<Outcome> {
    let exit = end.exit?;
    let clean = exit.status == ExitStatus::Exited { code: 0 };
    match &end.stream.terminal {
        Some(Terminal::Completed) if clean => Some(Outcome::Completed),
        Some(Terminal::Completed) if was_stopped(exit) && !hung_after_its_end(exit) => {
            Some(Outcome::Cancelled)
        }
        Some(Terminal::Failed(_)) => Some(Outcome::Failed(turn_failure(end, exit))),
        None if turn_error(end).is_some() => Some(Outcome::Failed(turn_failure(end, exit))),
        None if was_stopped(exit) => Some(Outcome::Cancelled),
        _ => Some(Outcome::Failed(exit_failure(end, exit))),
    }
}

/// What the program was still struggling with when the evidence stops.
pub fn unresolved(end: &End<'_>) -> Option<Failure> {
    if end.stream.terminal.is_some() {
        return None;
    }
    let Some(pending) = &end.stream.pending_retry else {
        return unanswered(end);
    };
    let notice = retry_notice::parse(&pending.text)?;
    let class = notice
        .reason
        .and_then(error_class::of_message)
        .unwrap_or(FailureClass::Unknown);
    let evidence = json!({
        "message": pending.text,
        "source": format!("{}/stdout:{}", end.folder, pending.line),
    });
    let message = format!("the agent was still trying again: {}", pending.text);
    Some(Failure {
        retryable: true,
        ..with_evidence(class, message, &evidence)
    })
}

/// A model that never answered: a silent endpoint, a prompt that never ended and a model that
/// thinks look alike. Not for a program that ended by itself, which says why.
fn unanswered(end: &End<'_>) -> Option<Failure> {
    let answered = end.stream.answered
        || end.rollout.is_some_and(|rollout| {
            let mut turns = rollout.turns.iter();
            turns.any(|turn| turn.responses.any() || turn.recorded_responses() > 0)
        });
    if answered || end.exit.is_some_and(|exit| !was_stopped(exit)) {
        return None;
    }
    let evidence = json!({
        "turns_started": end.stream.turns,
        "source": format!("{}/stdout", end.folder),
    });
    let message =
        "the model had not answered when the work was stopped, which shows nobody's fault";
    Some(with_evidence(
        FailureClass::Unknown,
        message.to_owned(),
        &evidence,
    ))
}

/// Whether the engine told the program to stop. What it ended after the program's own end
/// does not count.
fn was_stopped(exit: &ExitRecord) -> bool {
    exit.signals.iter().any(|sent| sent.reason != "leftovers")
}

/// Whether the only signals are those by which the adapter ended a program that had printed
/// its last event and did not go; a cancelled one is interrupted first.
fn hung_after_its_end(exit: &ExitRecord) -> bool {
    let mut stops = exit
        .signals
        .iter()
        .filter(|sent| sent.reason != "leftovers");
    stops.all(|sent| sent.reason == "adapter" && sent.signal != "SIGINT")
}

fn last_turn<'a>(end: &End<'a>) -> Option<&'a Turn> {
    end.rollout?.turns.last()
}

fn turn_error<'a>(end: &End<'a>) -> Option<(&'a Value, u64)> {
    last_turn(end)?.error()
}

/// The failure of a turn that the program itself declared failed.
fn turn_failure(end: &End<'_>, exit: &ExitRecord) -> Failure {
    let mut facts = Map::new();
    facts.insert("exit".to_owned(), exit_fact(exit));
    let mut message = String::new();
    if let Some(Terminal::Failed(failed)) = &end.stream.terminal {
        message.clone_from(&failed.text);
        facts.insert(
            "source".to_owned(),
            json!(format!("{}/stdout:{}", end.folder, failed.line)),
        );
    }
    let mut class = None;
    if let (Some(rollout), Some((error, line))) = (end.rollout, turn_error(end)) {
        let code = error.get("codex_error_info").unwrap_or(&Value::Null);
        class = error_class::of_code(code);
        facts.insert("codex_error_info".to_owned(), code.clone());
        facts.insert(
            "typed_source".to_owned(),
            json!(format!("{}:{line}", rollout.path)),
        );
        if message.is_empty() {
            let text = error.get("message").and_then(Value::as_str);
            message = text.unwrap_or_default().to_owned();
        }
    }
    facts.insert("message".to_owned(), json!(message));
    let class = class
        .or_else(|| error_class::of_message(&message))
        .unwrap_or(FailureClass::Unknown);
    let retryable = error_class::is_retryable(&class);
    let text = if message.is_empty() {
        "the agent's turn failed".to_owned()
    } else {
        message
    };
    Failure {
        retryable,
        ..with_evidence(class, text, &Value::Object(facts))
    }
}

/// The failure of a process that ended without the ending that its protocol promises.
fn exit_failure(end: &End<'_>, exit: &ExitRecord) -> Failure {
    let completed = end.stream.terminal == Some(Terminal::Completed);
    let mut facts = json!({
        "exit": exit_fact(exit),
        "terminal_event": completed.then_some("turn.completed"),
    });
    let (class, message) = match exit.status {
        _ if completed && was_stopped(exit) => (
            FailureClass::AgentCrash,
            "the agent printed the end of its turn, did not exit, and had to be ended".to_owned(),
        ),
        ExitStatus::Signalled { signal } => of_signal(signal),
        ExitStatus::Exited { code } if end.stream.turns == 0 => {
            if let Some(first) = end.stderr.first() {
                facts["stderr"] = json!(first);
            }
            match startup::classify(end.stderr, code) {
                Some((class, line)) => {
                    facts["stderr"] = json!(line);
                    (class, format!("the agent refused to start: {line}"))
                }
                None => of_exit(code, false),
            }
        }
        ExitStatus::Exited { code } => match last_turn(end).and_then(|turn| turn.end.as_ref()) {
            Some(TurnEnd::Aborted { line, .. }) if !completed => {
                let path = end.rollout.map_or("", |rollout| rollout.path.as_str());
                facts["turn_aborted"] = json!(format!("{path}:{line}"));
                let message = "the agent's turn was interrupted, and not by the engine";
                (FailureClass::Unknown, message.to_owned())
            }
            _ => of_exit(code, true),
        },
    };
    with_evidence(class, message, &facts)
}

fn of_exit(code: i32, worked: bool) -> (FailureClass, String) {
    match code {
        101 => (
            FailureClass::AgentCrash,
            "the agent panicked (exit 101)".to_owned(),
        ),
        // A start that fails for a reason that is not known is nobody's fault yet.
        1.. if !worked => (
            FailureClass::Unknown,
            format!("the agent ended with exit {code} before it began"),
        ),
        _ => (
            FailureClass::AgentCrash,
            format!("the agent ended with exit {code} and without the event that ends a turn"),
        ),
    }
}

fn of_signal(signal: i32) -> (FailureClass, String) {
    // SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV and SIGSYS come from the program's own doing;
    // anyone may have sent the others.
    let class = match signal {
        4 | 6 | 7 | 8 | 11 | 31 => FailureClass::AgentCrash,
        _ => FailureClass::Unknown,
    };
    (
        class,
        format!("the agent was ended by signal {signal}, which the engine did not send"),
    )
}

fn exit_fact(exit: &ExitRecord) -> Value {
    match exit.status {
        ExitStatus::Exited { code } => json!({"exited": code}),
        ExitStatus::Signalled { signal } => json!({"signalled": signal}),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use crate::stream::Message;
    use akbench_adapter_sdk::evidence::SentSignal;

    fn exit(status: ExitStatus, signals: &[(&str, &str)]) -> ExitRecord {
        let sent = |(signal, reason): &(&str, &str)| SentSignal {
            signal: (*signal).to_owned(),
            reason: (*reason).to_owned(),
        };
        ExitRecord {
            status,
            signals: signals.iter().map(sent).collect(),
        }
    }

    fn exited(code: i32) -> ExitRecord {
        exit(ExitStatus::Exited { code }, &[])
    }

    fn stream(terminal: Option<Terminal>) -> Stream {
        Stream {
            turns: 1,
            terminal,
            ..Stream::default()
        }
    }

    fn failed(text: &str) -> Option<Terminal> {
        Some(Terminal::Failed(Message {
            text: text.to_owned(),
            line: 7,
        }))
    }

    fn end_of(stream: &Stream, exit: Option<&ExitRecord>, turn: Option<Turn>) -> Option<Outcome> {
        let rollout = turn.map(|turn| Rollout {
            path: "home/r".to_owned(),
            turns: vec![turn],
            ..Rollout::default()
        });
        let rollout = rollout.as_ref();
        outcome(&End {
            folder: "spawns/1-task",
            exit,
            stream,
            stderr: &[],
            rollout,
        })
    }

    fn class_of(outcome: Option<Outcome>) -> FailureClass {
        match outcome {
            Some(Outcome::Failed(failure)) => failure.class,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_both_signs_together_mean_completed() {
        let completed = stream(Some(Terminal::Completed));
        assert_eq!(
            end_of(&completed, Some(&exited(0)), None),
            Some(Outcome::Completed)
        );
        assert_eq!(
            class_of(end_of(&completed, Some(&exited(1)), None)),
            FailureClass::AgentCrash
        );
        assert_eq!(
            class_of(end_of(&stream(None), Some(&exited(0)), None)),
            FailureClass::AgentCrash
        );
        assert_eq!(end_of(&completed, None, None), None);
    }

    #[test]
    fn a_stop_by_the_engine_is_cancelled_unless_the_work_was_done() {
        let stops = [("SIGINT", "cancel"), ("SIGKILL", "time_limit")];
        for stop in stops {
            let status = ExitStatus::Signalled { signal: 9 };
            let exit = exit(status, &[stop]);
            assert_eq!(
                end_of(&stream(None), Some(&exit), None),
                Some(Outcome::Cancelled)
            );
        }
        let late = exit(ExitStatus::Exited { code: 0 }, &[("SIGINT", "cancel")]);
        let completed = stream(Some(Terminal::Completed));
        assert_eq!(
            end_of(&completed, Some(&late), None),
            Some(Outcome::Completed)
        );
        let leftovers = exit(ExitStatus::Exited { code: 0 }, &[("SIGKILL", "leftovers")]);
        assert_eq!(
            class_of(end_of(&stream(None), Some(&leftovers), None)),
            FailureClass::AgentCrash
        );
    }

    #[test]
    fn a_program_that_hangs_after_its_end_crashed() {
        let status = ExitStatus::Signalled { signal: 15 };
        let ended = exit(status, &[("SIGTERM", "adapter")]);
        let completed = stream(Some(Terminal::Completed));
        assert_eq!(
            class_of(end_of(&completed, Some(&ended), None)),
            FailureClass::AgentCrash
        );
    }

    #[test]
    fn a_typed_code_comes_before_the_message() {
        let error = json!({"message": "m", "codex_error_info": "usage_limit_exceeded"});
        let complete = TurnEnd::Complete {
            last_message: None,
            error: Some(error),
            line: 3,
        };
        let turn = Turn {
            end: Some(complete),
            ..Turn::default()
        };
        let stream = stream(failed("unexpected status 401 Unauthorized: x"));
        let outcome = end_of(&stream, Some(&exited(1)), Some(turn));
        let Some(Outcome::Failed(failure)) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(failure.class, FailureClass::QuotaExceeded);
        let evidence: Value = serde_json::from_str(&failure.evidence).unwrap();
        assert_eq!(evidence["codex_error_info"], "usage_limit_exceeded");
        assert_eq!(evidence["source"], "spawns/1-task/stdout:7");
        assert_eq!(evidence["typed_source"], "home/r:3");
        assert_eq!(evidence["exit"]["exited"], 1);
    }

    #[test]
    fn signals_of_the_programs_own_doing_are_crashes_and_others_unknown() {
        for (signal, expected) in [
            (11, FailureClass::AgentCrash),
            (6, FailureClass::AgentCrash),
            (9, FailureClass::Unknown),
            (15, FailureClass::Unknown),
        ] {
            let exit = exit(ExitStatus::Signalled { signal }, &[]);
            assert_eq!(
                class_of(end_of(&stream(None), Some(&exit), None)),
                expected,
                "{signal}"
            );
        }
    }

    #[test]
    fn an_interruption_by_someone_else_is_unknown() {
        let end = Some(TurnEnd::Aborted {
            line: 2,
            request_lost: false,
        });
        let turn = Turn {
            end,
            ..Turn::default()
        };
        let outcome = end_of(&stream(None), Some(&exited(1)), Some(turn));
        assert_eq!(class_of(outcome), FailureClass::Unknown);
    }

    #[test]
    fn endless_retries_are_unresolved_with_their_reason() {
        let text = "Reconnecting... waiting for network (Connection failed: x)".to_owned();
        let pending_retry = Some(Message { text, line: 4 });
        let stream = Stream {
            pending_retry,
            ..stream(None)
        };
        let end = End {
            folder: "f",
            exit: None,
            stream: &stream,
            stderr: &[],
            rollout: None,
        };
        let failure = unresolved(&end).unwrap();
        assert_eq!(
            (failure.class, failure.retryable),
            (FailureClass::Network, true)
        );
    }
}
