//! The contract with adapters, whatever its version.
//!
//! [`session`] is what an adapter may do to the world, [`observed`] what it reports; the
//! modules named after versions translate between these and the generated bindings.

pub mod child;
pub mod events;
pub mod grants;
pub mod interrupt;
pub mod observed;
pub mod session;
mod stdin_record;
pub mod v0_1;
