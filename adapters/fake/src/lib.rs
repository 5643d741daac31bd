//! The smallest whole adapter. Read it first if you are about to write one.
//!
//! It knows no real agent. Its agent is any program that reads its task from stdin and prints
//! one JSON object a line ([`line::Line`]):
//!
//! ```text
//! {"event":"session","id":"s-1","model":"small-1"}
//! {"event":"tool","id":"t-1","name":"write","exit_code":0}
//! {"event":"message","text":"Wrote out.txt."}
//! {"event":"usage","input":120,"output":30}
//! {"event":"done"}
//! ```
//!
//! Four ideas carry every adapter:
//!
//! 1. **It acts only through the engine.** It asks for a program by the name in its descriptor
//!    and never sees a path, a secret or the network (`session::start`).
//! 2. **It gives the session back.** Each blocking call may say `interrupted`; then
//!    `wait-for-completion` returns `pending` and everything else a failure (`session`).
//! 3. **It observes from evidence alone.** What it remembers while it waits only tells people
//!    what goes on; the result is read from `/evidence` ([`observe`]), so that it comes out the
//!    same after a crash and years later.
//! 4. **What it does not know stays `none`.** Never 0, never a guess.
//!
//! Where the descriptor grants no program, it *simulates* one: it writes the same lines into
//! the agent's home, the engine copies them into the evidence as the descriptor declares, and
//! the rest is the same code (`simulate`). The parameter `behaviour` chooses how that ends.

// The component exports its operations by generated code.
#![cfg_attr(not(target_arch = "wasm32"), forbid(unsafe_code))]
#![warn(missing_docs)]

pub mod line;
pub mod observe;
pub mod parameters;

#[cfg(target_arch = "wasm32")]
pub mod adapter;
#[cfg(target_arch = "wasm32")]
pub mod running;
#[cfg(target_arch = "wasm32")]
pub mod session;
#[cfg(target_arch = "wasm32")]
mod simulate;

#[cfg(all(target_arch = "wasm32", feature = "component"))]
use adapter::FakeAdapter;
#[cfg(all(target_arch = "wasm32", feature = "component"))]
akbench_adapter_sdk::bindings::export!(FakeAdapter with_types_in akbench_adapter_sdk::bindings);
