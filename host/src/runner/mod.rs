//! One run of one agent on one task, from the plan to the result.
//!
//! [`plan`] checks everything before anything is spent; [`run`] drives the adapter;
//! [`result`] is what is written down.

pub(crate) mod assemble;
pub mod assignment;
mod blocking;
mod capabilities;
pub mod changes;
pub mod check;
pub mod classify;
pub mod collect;
pub mod confine;
pub mod drive;
pub mod evaluate;
mod judge;
mod lay_out;
pub mod limits;
pub(crate) mod masking;
pub mod operate;
pub mod plan;
pub mod plan_record;
pub mod program_digest;
pub mod refusal;
pub mod replay;
pub mod result;
pub mod run;
pub mod run_folder;
pub mod run_lock;
pub mod session_record;
pub mod stop;
pub mod validity;
pub mod workspace;
