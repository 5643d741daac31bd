//! What a process tree may use of the machine: the limits, who enforces each, and what was
//! measured.

pub mod apply;
pub mod cgroup;
pub mod disk;
pub mod hierarchy;
pub mod limit;
pub mod watch;
