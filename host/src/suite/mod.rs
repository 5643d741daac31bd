//! The contract suite: an adapter proves itself before its runs count.
//!
//! A case has a name, says what it proves, and is passed, failed, or not applicable for a
//! stated reason. Most cases play a recording of the agent's program ([`stub_folder`]) that
//! the suite varies ([`scenario`]): cut in the middle, killed by a signal, flooded, deaf. So
//! an author supplies a few recordings and gets all cases.
//!
//! - [`lab`] and [`place`]: where cases happen, each in folders of its own.
//! - [`hand`]: the operations one by one, where the order matters.
//! - [`cases`]: one file for each group of cases.
//! - [`run`]: all cases, the waiting ones at the same time.
//! - [`report`], [`junit`]: what came out.

pub mod case;
pub mod cases;
pub mod expectation;
pub mod hand;
pub mod junit;
pub mod lab;
pub mod place;
pub mod report;
pub mod run;
pub mod scenario;
pub mod stub_folder;

/// The version of the cases. A new or stricter case raises it, and attestations of older
/// versions no longer count.
pub const VERSION: &str = "2";
