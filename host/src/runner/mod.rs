//! One run of one agent on one task, from the plan to the result.
//!
//! [`plan`] checks everything before anything is spent; [`run`] drives the adapter;
//! [`result`] is what is written down.

pub mod check;
pub mod classify;
pub mod collect;
pub mod confine;
pub mod drive;
pub mod limits;
pub mod operate;
pub mod plan;
pub mod program_digest;
pub mod replay;
pub mod result;
pub mod run;
pub mod run_folder;
pub mod stop;
pub mod validity;
pub mod workspace;
