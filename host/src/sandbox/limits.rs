//! What one adapter may use of the host's memory.

use std::fmt;
use wasmtime::ResourceLimiter;

/// Memory of an adapter unless its descriptor asks for more.
pub const DEFAULT_MEMORY: u64 = 256 << 20;

/// Entries of all tables together.
const TABLE_ELEMENTS: usize = 200_000;

/// Bytes that one call may move from the guest to the host.
pub const HOSTCALL_FUEL: usize = 64 << 20;

/// Handles that a guest may hold at once.
pub const MAX_HANDLES: usize = 10_000;

/// An adapter ran into a limit: the trap that ends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitExceeded {
    /// Which limit, in plain words.
    pub limit: &'static str,
    /// Its value with its unit.
    pub value: String,
}

impl LimitExceeded {
    /// A limit and its value.
    pub fn new(limit: &'static str, value: impl fmt::Display) -> Self {
        Self {
            limit,
            value: value.to_string(),
        }
    }
}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the adapter exceeded its limit of {} ({})",
            self.limit, self.value
        )
    }
}

impl std::error::Error for LimitExceeded {}

/// Sums memory over the whole store; wasmtime's own limiter counts each memory alone.
pub struct MemoryLimiter {
    limit: usize,
    used: usize,
    table_elements: usize,
    /// Set when growth was refused: an allocation failure traps later, for an obscure reason.
    pub refused: bool,
}

impl MemoryLimiter {
    /// Allows this many bytes.
    pub fn new(bytes: u64) -> Self {
        Self {
            limit: usize::try_from(bytes).unwrap_or(usize::MAX),
            used: 0,
            table_elements: 0,
            refused: false,
        }
    }

    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.used
    }

    /// Bytes allowed.
    pub fn limit(&self) -> usize {
        self.limit
    }
}

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current);
        if self.used.saturating_add(more) > self.limit {
            self.refused = true;
            return Ok(false);
        }
        self.used += more;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current);
        if self.table_elements.saturating_add(more) > TABLE_ELEMENTS {
            return Ok(false);
        }
        self.table_elements += more;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn memory_is_summed_over_all_memories_of_a_store() {
        let mut limiter = MemoryLimiter::new(100);
        assert!(limiter.memory_growing(0, 60, None).unwrap());
        assert!(limiter.memory_growing(0, 40, None).unwrap());
        assert!(!limiter.memory_growing(40, 41, None).unwrap());
        assert!(limiter.refused);
    }
}
