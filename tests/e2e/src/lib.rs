//! What end-to-end tests share: where the built parts are, and a scene to run them in.
//!
//! Everything is built before the tests by `cargo xtask test`; a part that is missing is an
//! error that says so, never a skipped test.

#![forbid(unsafe_code)]
#![allow(clippy::expect_used, clippy::panic)]

pub mod built;
pub mod installed;
pub mod page;
pub mod processes;
pub mod real;
pub mod record;
pub mod running;
pub mod scene;
pub mod secrets;
pub mod shown;
pub mod stub_agent;
