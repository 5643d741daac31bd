//! How a run ended and whose fault it was, from what the engine knows and what the evidence
//! shows. An exit code alone never decides.

use super::drive::{Driven, StopCause};
use super::operate::Operation;
use super::result::{Failure, RunStatus};
use crate::contract::observed::{FailureClass, Fault, Outcome, Phase, ReportedFailure};
use crate::process::resources::limit::{Hit, Resource};
use serde_json::{Map, Value};

/// The verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// How it ended.
    pub status: RunStatus,
    /// What failed.
    pub failure: Option<Failure>,
}

/// Works it out.
pub fn classify(driven: &Driven) -> Verdict {
    let outcome = driven
        .observations
        .as_ref()
        .and_then(|o| o.outcome.as_ref());
    if let Some(failure) = &driven.recording_failure {
        let class = if failure.disk_full {
            FailureClass::DiskFull
        } else {
            FailureClass::Other("evidence_unreadable".to_owned())
        };
        let message = format!("evidence could not be recorded: {}", failure.message);
        return failed(
            reported(class, message),
            Phase::Work,
            Some(Fault::Infrastructure),
        );
    }
    if let Some(fault) = &driven.fault
        && !ended_before_fault(fault.operation, driven)
    {
        return failed((*fault.failure).clone(), fault.operation.phase(), None);
    }
    if let Some((phase, failure)) = &driven.failed
        && driven.stopped.is_none()
    {
        return failed(failure.clone(), *phase, None);
    }
    match (&driven.stopped, outcome) {
        // It was done before it could be stopped.
        (_, Some(Outcome::Completed)) => Verdict {
            status: RunStatus::Completed,
            failure: None,
        },
        (Some(cause), outcome) => stopped(cause, outcome, driven),
        // Seen only when the tree had ended: what the agent says of its end follows from it.
        (None, _) if driven.resources.hit.is_some() => driven
            .resources
            .hit
            .as_ref()
            .map_or_else(unexplained, resource_limit),
        (None, Some(Outcome::Failed(failure))) => failed(failure.clone(), Phase::Work, None),
        (None, Some(Outcome::Cancelled)) => {
            let message = "the agent stopped its work, and nobody had asked for it";
            failed(
                reported(FailureClass::Interrupted, message),
                Phase::Work,
                None,
            )
        }
        (None, None) => unexplained(),
    }
}

fn unexplained() -> Verdict {
    let message = "the evidence does not show how the work ended";
    failed(reported(FailureClass::Unknown, message), Phase::Work, None)
}

/// A limit on what the tree may use: whatever the agent was doing, this ended it.
fn resource_limit(hit: &Hit) -> Verdict {
    let class = match hit.resource {
        Resource::CpuTime | Resource::Processes | Resource::OpenFiles => FailureClass::AgentLimit,
        Resource::Memory => FailureClass::OutOfMemory,
        Resource::Disk => FailureClass::DiskFull,
        Resource::Output => FailureClass::OutputLimitExceeded,
    };
    let mut failure = reported(class, hit.describe());
    let evidence = serde_json::json!({
        "resource": hit.resource,
        "limit": hit.limit,
        "measured": hit.measured,
        "enforced_by": hit.enforced_by,
    });
    if let Value::Object(evidence) = evidence {
        failure.evidence = evidence;
    }
    failed(failure, Phase::Work, None)
}

/// A cancel that broke or an observation that had to be replayed does not hide how the work
/// itself ended.
fn ended_before_fault(operation: Operation, driven: &Driven) -> bool {
    match operation {
        Operation::Cancel => driven.stopped.is_some(),
        Operation::CollectObservations | Operation::Close => driven.observations.is_some(),
        Operation::ValidateEnvironment
        | Operation::StartSession
        | Operation::SubmitTask
        | Operation::WaitForCompletion
        | Operation::GetStatus => false,
    }
}

fn stopped(cause: &StopCause, outcome: Option<&Outcome>, driven: &Driven) -> Verdict {
    // What the agent reported before it was stopped is the better explanation of a limit.
    let known = match outcome {
        Some(Outcome::Failed(failure)) if is_telling(failure) => Some(failure.clone()),
        _ => driven
            .observations
            .as_ref()
            .and_then(|o| o.unresolved.clone()),
    };
    match cause {
        // Explained by the recording failure itself, which comes first.
        StopCause::RecordingFailed => {
            let message = "the run was ended because its evidence could not be recorded";
            failed(
                reported(FailureClass::Unknown, message),
                Phase::Work,
                Some(Fault::Infrastructure),
            )
        }
        StopCause::ResourceLimit(hit) => resource_limit(hit),
        StopCause::HostDied(phase) => {
            let told = known.filter(|_| matches!(outcome, Some(Outcome::Failed(_))));
            match told {
                Some(failure) => failed(failure, Phase::Work, None),
                None => {
                    let message = "the engine died before the run was over";
                    let interrupted = reported(FailureClass::Interrupted, message);
                    failed(interrupted, *phase, Some(Fault::Infrastructure))
                }
            }
        }
        StopCause::Cancelled => {
            let message = "the run was cancelled";
            verdict(
                RunStatus::Cancelled,
                reported(FailureClass::Cancelled, message),
                Phase::Work,
            )
        }
        StopCause::TimeLimit(limit) => {
            let mut failure = known.unwrap_or_else(|| {
                let message =
                    format!("the time limit of {limit:?} was over while the agent worked");
                reported(FailureClass::AgentTimeout, message)
            });
            failure
                .evidence
                .insert("time_limit_ms".to_owned(), milliseconds(*limit));
            verdict(RunStatus::TimedOut, failure, Phase::Work)
        }
        StopCause::IdleLimit(limit) => {
            let mut failure = known
                .filter(|f| f.class.fault() != Fault::Unknown)
                .unwrap_or_else(|| {
                    let message = format!("no output for {limit:?}, which shows nobody's fault");
                    reported(FailureClass::IdleTimeout, message)
                });
            failure
                .evidence
                .insert("idle_limit_ms".to_owned(), milliseconds(*limit));
            verdict(RunStatus::TimedOut, failure, Phase::Work)
        }
    }
}

/// A failure that only says that the program was stopped explains nothing.
fn is_telling(failure: &ReportedFailure) -> bool {
    !matches!(
        failure.class,
        FailureClass::Unknown
            | FailureClass::AgentCrash
            | FailureClass::Cancelled
            | FailureClass::Interrupted
    )
}

fn milliseconds(duration: std::time::Duration) -> Value {
    u64::try_from(duration.as_millis())
        .unwrap_or(u64::MAX)
        .into()
}

fn reported(class: FailureClass, message: impl Into<String>) -> ReportedFailure {
    ReportedFailure {
        class,
        message: message.into(),
        evidence: Map::new(),
        retryable: false,
    }
}

fn failed(failure: ReportedFailure, phase: Phase, fault: Option<Fault>) -> Verdict {
    let mut verdict = verdict(RunStatus::Failed, failure, phase);
    if let (Some(fault), Some(failure)) = (fault, &mut verdict.failure) {
        failure.fault = fault;
    }
    verdict
}

fn verdict(status: RunStatus, failure: ReportedFailure, phase: Phase) -> Verdict {
    Verdict {
        status,
        failure: Some(Failure {
            fault: failure.class.fault(),
            class: failure.class,
            phase,
            message: failure.message,
            retryable: failure.retryable,
            evidence: failure.evidence,
        }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::contract::observed::Observations;
    use crate::process::resources::limit::Enforcer;
    use std::time::Duration;

    fn driven(stopped: Option<StopCause>, outcome: Option<Outcome>) -> Driven {
        Driven {
            stopped,
            submitted: true,
            observations: Some(Observations {
                outcome,
                ..Observations::default()
            }),
            ..Driven::default()
        }
    }

    fn class_and_fault(verdict: &Verdict) -> (FailureClass, Fault) {
        let failure = verdict.failure.as_ref().unwrap();
        (failure.class.clone(), failure.fault)
    }

    #[test]
    fn an_agent_that_was_done_when_the_stop_came_has_completed() {
        let verdict = classify(&driven(
            Some(StopCause::Cancelled),
            Some(Outcome::Completed),
        ));
        assert_eq!(verdict.status, RunStatus::Completed);
    }

    #[test]
    fn a_time_limit_is_the_agents_unless_the_endpoint_was_to_blame() {
        let limit = StopCause::TimeLimit(Duration::from_secs(1));
        let mut run = driven(Some(limit), Some(Outcome::Cancelled));
        let verdict = classify(&run);
        assert_eq!(verdict.status, RunStatus::TimedOut);
        assert_eq!(
            class_and_fault(&verdict),
            (FailureClass::AgentTimeout, Fault::Agent)
        );

        run.observations.as_mut().unwrap().unresolved =
            Some(reported(FailureClass::Network, "retrying"));
        let verdict = classify(&run);
        assert_eq!(verdict.status, RunStatus::TimedOut);
        assert_eq!(
            class_and_fault(&verdict),
            (FailureClass::Network, Fault::Infrastructure)
        );
    }

    #[test]
    fn silence_is_nobodys_fault() {
        let limit = StopCause::IdleLimit(Duration::from_secs(1));
        let verdict = classify(&driven(Some(limit), None));
        assert_eq!(
            class_and_fault(&verdict),
            (FailureClass::IdleTimeout, Fault::Unknown)
        );
    }

    #[test]
    fn a_limit_of_the_tree_explains_a_crash_and_not_a_completion() {
        let hit = |resource| Hit {
            resource,
            limit: 7,
            measured: Some(8),
            enforced_by: Enforcer::CgroupV2,
        };
        for (resource, class) in [
            (Resource::Memory, FailureClass::OutOfMemory),
            (Resource::Disk, FailureClass::DiskFull),
            (Resource::Processes, FailureClass::AgentLimit),
            (Resource::CpuTime, FailureClass::AgentLimit),
            (Resource::Output, FailureClass::OutputLimitExceeded),
        ] {
            let crash = reported(FailureClass::AgentCrash, "ended by SIGKILL");
            let mut run = driven(None, Some(Outcome::Failed(crash)));
            run.resources.hit = Some(hit(resource));
            let verdict = classify(&run);
            assert_eq!(verdict.status, RunStatus::Failed);
            assert_eq!(class_and_fault(&verdict), (class.clone(), class.fault()));
            let evidence = &verdict.failure.unwrap().evidence;
            assert_eq!(evidence["resource"], resource.key());
            assert_eq!(evidence["limit"], 7);

            let mut run = driven(None, Some(Outcome::Completed));
            run.resources.hit = Some(hit(resource));
            assert_eq!(classify(&run).status, RunStatus::Completed);
        }
    }

    #[test]
    fn no_end_in_the_evidence_is_unknown() {
        let verdict = classify(&driven(None, None));
        assert_eq!(
            class_and_fault(&verdict),
            (FailureClass::Unknown, Fault::Unknown)
        );
    }
}
