//! Wall-clock time as it stands in records.

/// Now, RFC 3339 in UTC with milliseconds.
pub fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}
