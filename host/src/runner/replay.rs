//! Observing again from recorded evidence: nothing is started, the adapter only reads.
//!
//! A run whose adapter broke, a run that a dead host left behind and an old run under a newer
//! adapter all end here, in the same code.

use super::limits;
use super::operate::{AdapterFault, Operation, instantiation_fault, operate};
use crate::contract::grants::Grants;
use crate::contract::interrupt::interruption;
use crate::contract::observed::{Observations, ReportedFailure};
use crate::contract::session::SessionHost;
use crate::contract::v0_1::{AgentConfig, Instance, InstanceOptions};
use crate::journal::{Audit, Journal};
use crate::process::redaction::Redactor;
use crate::sandbox::component::AdapterComponent;
use crate::sandbox::engine::Sandbox;
use std::sync::Arc;

/// What a replay needs.
pub struct ReplaySetup {
    /// The wasm engine.
    pub sandbox: Sandbox,
    /// The adapter.
    pub component: AdapterComponent,
    /// Bytes of memory that it may use.
    pub memory_bytes: u64,
    /// Only the folders matter: no program can be started.
    pub grants: Arc<Grants>,
    /// Masks secrets.
    pub redactor: Redactor,
    /// Events.
    pub journal: Arc<Journal>,
    /// Grants and denials.
    pub audit: Arc<Audit>,
    /// The experiment's configuration.
    pub config: AgentConfig,
}

/// What a replay brought.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// What was observed.
    pub observations: Observations,
    /// Where the adapter broke the contract.
    pub violations: Vec<String>,
}

/// Why a replay brought nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayError {
    /// The adapter broke.
    Fault(AdapterFault),
    /// The adapter says that it can't.
    Failed(ReportedFailure),
}

impl From<AdapterFault> for ReplayError {
    fn from(fault: AdapterFault) -> Self {
        Self::Fault(fault)
    }
}

/// Observes from the evidence alone, in a fresh instance.
///
/// # Errors
///
/// If the adapter breaks, or reports that it can't observe.
pub async fn replay(setup: &ReplaySetup) -> Result<Replayed, ReplayError> {
    let (interrupter, interrupt) = interruption();
    let host = SessionHost::new(
        Arc::clone(&setup.grants),
        None,
        setup.redactor.clone(),
        interrupt,
        Arc::clone(&setup.journal),
        Arc::clone(&setup.audit),
    );
    let options = InstanceOptions {
        host,
        memory_bytes: setup.memory_bytes,
    };
    let component = &setup.component.component;
    let mut instance = Instance::new(&setup.sandbox, component, options)
        .await
        .map_err(|error| instantiation_fault(Operation::StartSession, &error))?;
    let mut config = setup.config.clone();
    config.replay = true;
    operate(
        &mut instance,
        &interrupter,
        Operation::StartSession,
        limits::PREPARE,
        async |i| i.start_session(&config).await,
    )
    .await?
    .map_err(ReplayError::Failed)?;
    let (observations, violations) = operate(
        &mut instance,
        &interrupter,
        Operation::CollectObservations,
        limits::COLLECT,
        async |i| i.collect_observations().await,
    )
    .await?
    .map_err(ReplayError::Failed)?;
    let mut violations: Vec<String> = violations.iter().map(ToString::to_string).collect();
    let closed = operate(
        &mut instance,
        &interrupter,
        Operation::Close,
        limits::CLOSE,
        async |i| i.close().await,
    )
    .await;
    match closed {
        Ok(Ok(())) => {}
        Ok(Err(failure)) => violations.push(format!("close failed: {}", failure.message)),
        Err(fault) => violations.push(fault.failure.message),
    }
    Ok(Replayed {
        observations,
        violations,
    })
}
