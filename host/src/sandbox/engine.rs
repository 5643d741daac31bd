//! One wasm engine for the process, shared by all sessions.

use super::guest_time::Ticker;
use std::sync::Arc;
use wasmtime::{Config, Engine};

/// The engine and what keeps its time.
#[derive(Clone)]
pub struct Sandbox {
    engine: Engine,
    ticker: Arc<Ticker>,
}

/// The wasm engine refused its configuration: this machine can't run it.
#[derive(Debug, thiserror::Error)]
#[error("failed to set up the wasm engine: {0:#}")]
pub struct EngineError(pub wasmtime::Error);

/// Guest stack; deeper recursion is a trap.
const MAX_WASM_STACK: usize = 2 << 20;

/// The stack of a suspended call: the guest's and what host functions need on top.
const ASYNC_STACK: usize = MAX_WASM_STACK + (1 << 20);

impl Sandbox {
    /// Sets up the engine.
    ///
    /// # Errors
    ///
    /// If the engine does not support this machine.
    pub fn new() -> Result<Self, EngineError> {
        let mut config = Config::new();
        config
            .epoch_interruption(true)
            .concurrency_support(false)
            .max_wasm_stack(MAX_WASM_STACK)
            .async_stack_size(ASYNC_STACK)
            // Threads would let a guest run where no epoch reaches it.
            .wasm_threads(false)
            .shared_memory(false);
        let engine = Engine::new(&config).map_err(EngineError)?;
        let ticker = Arc::new(Ticker::start(engine.weak()));
        Ok(Self { engine, ticker })
    }

    /// The wasm engine itself.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// What makes epochs pass while a guest computes.
    pub fn ticker(&self) -> &Arc<Ticker> {
        &self.ticker
    }
}
