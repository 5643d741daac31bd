//! What measurements share. It knows neither the host nor an adapter, so that using
//! it changes nothing in how either is built.
//!
//! - [`recordings`]: lines of recorded sessions, to make long ones of.
//! - [`evidence`]: folders of evidence as the engine records them, with long streams.
//! - [`peak`]: the peak memory of this process.
//! - [`computing`]: how long this thread computed.
//! - [`row`]: one figure of a report.
//! - [`baseline`]: counts that do not drift, compared with what was recorded.

pub mod baseline;
pub mod computing;
pub mod evidence;
pub mod peak;
pub mod recordings;
pub mod row;
