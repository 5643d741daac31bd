//! The reference adapter with one deliberate break, which exactly one case of the contract
//! suite has to catch: that is how the suite itself is tested.
//!
//! The reference is the fake adapter, and what the fake adapter can do without: it needs a
//! runtime with a credential, asks for the agent's own sandbox, and may take a second task.
//! So no case of the suite is not applicable to it.
//!
//! The parameter `break` chooses the [`breaks::Break`], and `continues` whether there may be a
//! second task. Neither is declared in the descriptor: the suite would try them.
//! `tests/contract` has the table of breaks and cases.

pub mod breaks;

#[cfg(target_arch = "wasm32")]
mod adapter;
#[cfg(target_arch = "wasm32")]
mod configuration;
#[cfg(target_arch = "wasm32")]
mod facts;
#[cfg(target_arch = "wasm32")]
mod falsify;
#[cfg(target_arch = "wasm32")]
mod instruction;
#[cfg(target_arch = "wasm32")]
mod leak;
#[cfg(target_arch = "wasm32")]
mod observe;
#[cfg(target_arch = "wasm32")]
mod probes;
#[cfg(target_arch = "wasm32")]
mod session;
