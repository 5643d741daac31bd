//! Running code that nobody reviewed: the wasm engine, its limits and its cache.

pub mod authority;
pub mod cache;
pub mod component;
pub mod engine;
pub mod guest_time;
pub mod limits;
pub mod open_file;
