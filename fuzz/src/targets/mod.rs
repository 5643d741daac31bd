//! One file for each kind of reader.

mod component;
mod descriptors;
mod observations;
mod protocol;
mod redaction;
mod runs;
mod tasks;

use crate::Target;

/// All targets.
pub const ALL: [Target; 12] = [
    target("event_stream", observations::event_stream),
    target("rollout", observations::rollout),
    target("evidence", observations::evidence),
    target("fake_evidence", observations::fake_evidence),
    target("agent", descriptors::agent),
    target("runtime", descriptors::runtime),
    target("catalog", descriptors::catalog),
    target("task", tasks::task),
    target("component", component::component),
    target("run", runs::run),
    target("protocol", protocol::protocol),
    target("redaction", redaction::redaction),
];

const fn target(name: &'static str, run: fn(&[u8])) -> Target {
    Target { name, run }
}
