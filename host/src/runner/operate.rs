//! Calling one operation of an adapter: with a deadline, and so that nothing it does can hold
//! the engine up.

use super::limits::{COMPUTING, RETURN_GRACE};
use crate::contract::interrupt::Interrupter;
use crate::contract::observed::{FailureClass, Phase, ReportedFailure};
use crate::contract::v0_1::Instance;
use crate::sandbox::limits::LimitExceeded;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// The eight operations, as they are named in records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// `validate-environment`
    ValidateEnvironment,
    /// `start-session`
    StartSession,
    /// `submit-task`
    SubmitTask,
    /// `wait-for-completion`
    WaitForCompletion,
    /// `get-status`
    GetStatus,
    /// `collect-observations`
    CollectObservations,
    /// `cancel`
    Cancel,
    /// `close`
    Close,
}

impl Operation {
    /// As the contract names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ValidateEnvironment => "validate-environment",
            Self::StartSession => "start-session",
            Self::SubmitTask => "submit-task",
            Self::WaitForCompletion => "wait-for-completion",
            Self::GetStatus => "get-status",
            Self::CollectObservations => "collect-observations",
            Self::Cancel => "cancel",
            Self::Close => "close",
        }
    }

    /// The phase of the run that it belongs to.
    pub fn phase(self) -> Phase {
        match self {
            Self::ValidateEnvironment => Phase::Validate,
            Self::StartSession => Phase::Start,
            Self::SubmitTask | Self::WaitForCompletion | Self::GetStatus => Phase::Work,
            Self::CollectObservations => Phase::Collect,
            Self::Cancel => Phase::Cancel,
            Self::Close => Phase::Close,
        }
    }
}

/// The adapter broke: its instance must not be used any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdapterFault {
    /// Where.
    pub operation: Operation,
    /// What, as a failure of the run.
    pub failure: Box<ReportedFailure>,
}

/// Calls an operation and waits for it at most until its deadline and a grace.
///
/// # Errors
///
/// If the adapter traps or does not return. What the adapter itself reports is no fault.
pub async fn operate<T>(
    instance: &mut Instance,
    interrupter: &Interrupter,
    operation: Operation,
    limit: Duration,
    call: impl AsyncFnOnce(&mut Instance) -> wasmtime::Result<T>,
) -> Result<T, AdapterFault> {
    interrupter.begin(Instant::now() + limit);
    instance.begin_operation(COMPUTING);
    let outcome = timeout(limit + RETURN_GRACE, call(instance)).await;
    instance.end_operation();
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(trap)) => Err(trapped(instance, operation, &trap)),
        Err(_) => Err(not_returned(operation, limit)),
    }
}

/// The fault of an adapter that did not come back.
pub fn not_returned(operation: Operation, limit: Duration) -> AdapterFault {
    let message = format!(
        "the adapter did not return from {} within {} s and a grace of {} s",
        operation.name(),
        limit.as_secs_f32(),
        RETURN_GRACE.as_secs()
    );
    fault(operation, FailureClass::AdapterTimeout, message, Map::new())
}

/// The fault of an adapter that trapped.
pub fn trapped(instance: &Instance, operation: Operation, trap: &wasmtime::Error) -> AdapterFault {
    let mut evidence = Map::new();
    evidence.insert("operation".to_owned(), operation.name().into());
    if let Some(limit) = trap.downcast_ref::<LimitExceeded>() {
        return limited(operation, limit, evidence);
    }
    if let Some(bytes) = instance.memory_limit_hit() {
        let limit = LimitExceeded::new("memory", format!("{bytes} bytes"));
        return limited(operation, &limit, evidence);
    }
    let detail = format!("{trap:#}");
    evidence.insert("trap".to_owned(), Value::String(detail.clone()));
    let printed = instance.printed();
    let mut message = format!(
        "the adapter trapped in {}: {}",
        operation.name(),
        root(trap)
    );
    if !printed.is_empty() {
        message.push_str("; it printed: ");
        message.push_str(printed.lines().next().unwrap_or(""));
        evidence.insert("printed".to_owned(), Value::String(printed));
    }
    fault(operation, FailureClass::AdapterTrap, message, evidence)
}

/// The fault of an adapter that trapped before it could do anything.
pub fn instantiation_fault(operation: Operation, error: &wasmtime::Error) -> AdapterFault {
    // Before any of it ran its folders are opened: what fails there is the machine's fault.
    let class = match error.root_cause().downcast_ref::<std::io::Error>() {
        Some(_) => FailureClass::EnvironmentInvalid,
        None => FailureClass::AdapterTrap,
    };
    let message = format!("the adapter could not be instantiated: {error:#}");
    fault(operation, class, message, Map::new())
}

fn limited(
    operation: Operation,
    limit: &LimitExceeded,
    mut evidence: Map<String, Value>,
) -> AdapterFault {
    evidence.insert("limit".to_owned(), limit.limit.into());
    evidence.insert("value".to_owned(), limit.value.clone().into());
    let message = format!("{limit} in {}", operation.name());
    fault(operation, FailureClass::AdapterLimit, message, evidence)
}

fn root(trap: &wasmtime::Error) -> String {
    trap.root_cause().to_string()
}

fn fault(
    operation: Operation,
    class: FailureClass,
    message: String,
    evidence: Map<String, Value>,
) -> AdapterFault {
    AdapterFault {
        operation,
        failure: Box::new(ReportedFailure {
            class,
            message,
            evidence,
            retryable: false,
        }),
    }
}
