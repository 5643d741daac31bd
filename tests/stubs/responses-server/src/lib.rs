//! A scripted server that speaks the OpenAI Responses API on the loopback interface, so that
//! a real agent can be driven through every good and bad day of an endpoint without network.
//!
//! ```
//! use akbench_responses_server::{Reply, Script, Server};
//!
//! let script = Script::new([
//!     Reply::shell("call_1", "echo hi > out.txt").usage(1000, 0, 50, 0),
//!     Reply::message("Wrote out.txt.").usage(1100, 900, 20, 0),
//! ]);
//! let server = Server::start(script)?;
//! println!("point the agent at {}", server.base_url());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! - [`Script`] and [`Reply`]: what is answered, in Rust or as JSON.
//! - [`Item`] and [`Usage`]: what a streamed response is made of.
//! - [`Server`]: plays a script and records the requests.
//! - [`scripts`]: ready-made scripts.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod cursor;
mod events;
mod http;
mod item;
mod play;
mod record;
mod reply;
mod script;
pub mod scripts;
mod server;

pub use item::{Item, Usage};
pub use record::RecordedRequest;
pub use reply::{Action, End, HangPoint, Reply, Stream, When};
pub use script::{Exhausted, Script};
pub use server::{Options, Server};
