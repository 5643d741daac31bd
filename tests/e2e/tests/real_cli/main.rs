//! The real CLI, hermetic: through `akbench run --json`, against a scripted model server.
//!
//! Where there is no real CLI, every test says so and does nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod daemons;
mod degraded;
mod endpoint;
mod host_home;
mod live;
mod sandbox;
mod stops;
mod task;
mod work;
mod workspace_settings;
