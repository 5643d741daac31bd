//! An adapter that breaks the contract in one way, chosen by the parameter `behaviour`. In
//! everything else it is the fake adapter. The parameter `attack` makes it attack its host.
//!
//! `tests/contract` has a test for each [`behaviour::Behaviour`] that expects the case of the
//! suite which catches it; a behaviour without one fails a test there.

// The component exports its operations by generated code.
#![cfg_attr(not(target_arch = "wasm32"), forbid(unsafe_code))]

pub mod behaviour;

#[cfg(target_arch = "wasm32")]
mod adapter;
#[cfg(target_arch = "wasm32")]
mod attacks;
#[cfg(target_arch = "wasm32")]
mod attempts;
#[cfg(target_arch = "wasm32")]
mod breaks;
#[cfg(target_arch = "wasm32")]
mod reports;
#[cfg(target_arch = "wasm32")]
mod session;
