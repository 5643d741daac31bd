//! Time limits of a run, and the times that operations get.

use std::time::Duration;

/// Limits that the experiment sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// For the agent's work; `None` is no limit.
    pub time: Option<Duration>,
    /// Silence on every recorded stream; `None` is no limit.
    pub idle: Option<Duration>,
}

/// For `validate-environment` and `start-session`: short probes only.
pub const PREPARE: Duration = Duration::from_secs(60);

/// For `submit-task`.
pub const SUBMIT: Duration = Duration::from_secs(30);

/// One call of `wait-for-completion`; the engine calls it again and again.
pub const WAIT_SLICE: Duration = Duration::from_secs(300);

/// For `collect-observations`: a rollout may have gigabytes.
pub const COLLECT: Duration = Duration::from_secs(300);

/// For `close`.
pub const CLOSE: Duration = Duration::from_secs(10);

/// What an agent gets to end as its protocol asks before its tree is ended.
pub const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// What an adapter gets to return after it was interrupted or its time was over.
pub const RETURN_GRACE: Duration = Duration::from_secs(5);

/// What a tree gets between SIGTERM and SIGKILL when the session ends.
pub const TREE_GRACE: Duration = Duration::from_millis(500);

/// Computing time of one operation, waiting not counted.
pub const COMPUTING: Duration = Duration::from_secs(120);
