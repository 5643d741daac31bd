//! One line of JSON, as found in evidence: maybe torn, cut, or not UTF-8.

use akbench_adapter_sdk::lines::Line;
use serde::Deserialize;
use serde_json::Value;

/// Why a line could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineFault {
    /// The last line of a file, cut off by whatever ended its writer.
    Torn,
    /// Anything else.
    Malformed,
}

/// What could not be read of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Faults {
    /// The last line was cut off.
    pub torn: bool,
    /// Lines that are no JSON object.
    pub malformed: u64,
}

impl Faults {
    /// Counts one.
    pub fn count(&mut self, fault: LineFault) {
        match fault {
            LineFault::Torn => self.torn = true,
            LineFault::Malformed => self.malformed += 1,
        }
    }

    /// True if something could not be read.
    pub fn any(self) -> bool {
        self.torn || self.malformed > 0
    }
}

/// Reads a line into a value. A duplicate key counts once, with its last value: the program
/// itself writes such lines. An empty line is `Value::Null`.
///
/// # Errors
///
/// If the line is no JSON object.
pub fn parse(line: Line<'_>) -> Result<Value, LineFault> {
    match read(line, &mut String::new())? {
        None => Ok(Value::Null),
        Some(value @ Value::Object(_)) => Ok(value),
        Some(_) => Err(fault(line)),
    }
}

/// Reads a line into what borrows from it; `None` if it is empty. `repaired` takes the line's
/// text where its bytes are no UTF-8, and lends it out then.
///
/// # Errors
///
/// If the line is no JSON, or not of this type.
pub fn read<'a, T: Deserialize<'a>>(
    line: Line<'a>,
    repaired: &'a mut String,
) -> Result<Option<T>, LineFault> {
    if line.bytes.trim_ascii().is_empty() && line.terminated {
        return Ok(None);
    }
    // Looked at once as a whole: as bytes, every text in it would be looked at by itself.
    let text = match simdutf8::basic::from_utf8(line.bytes) {
        Ok(text) => text,
        // Bytes that are no UTF-8 can only lie inside a string: the line's structure holds.
        Err(_) => {
            *repaired = String::from_utf8_lossy(line.bytes).into_owned();
            repaired
        }
    };
    serde_json::from_str(text)
        .map(Some)
        .map_err(|_| fault(line))
}

/// Why a line is not what was expected.
pub fn fault(line: Line<'_>) -> LineFault {
    if line.terminated {
        LineFault::Malformed
    } else {
        LineFault::Torn
    }
}

/// The text at a key of an object; `None` if it is absent or something else.
pub fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn line(bytes: &[u8], terminated: bool) -> Line<'_> {
        Line {
            number: 1,
            bytes,
            terminated,
            oversized: false,
        }
    }

    #[test]
    fn duplicate_keys_and_foreign_bytes_do_not_lose_a_line() {
        let value = parse(line(br#"{"id":"a","type":"x","id":"b"}"#, true)).unwrap();
        assert_eq!(text(&value, "id"), Some("b"));
        let value = parse(line(b"{\"a\":\"\xff\"}", true)).unwrap();
        assert_eq!(text(&value, "a"), Some("\u{fffd}"));
    }

    #[test]
    fn a_cut_last_line_is_torn_and_a_cut_line_within_is_malformed() {
        assert_eq!(parse(line(b"{\"a\":", false)), Err(LineFault::Torn));
        assert_eq!(parse(line(b"{\"a\":", true)), Err(LineFault::Malformed));
        assert_eq!(parse(line(b"7", true)), Err(LineFault::Malformed));
        assert_eq!(parse(line(b"", true)), Ok(Value::Null));
    }
}
