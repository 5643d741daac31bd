//! Reading a byte stream line by line.
//!
//! Lines end at the byte `\n` and nowhere else: agents write U+2028 and U+0085 raw inside
//! JSON strings, and a reader that splits there loses events.

use std::io::{self, Read};

/// Bytes of a line that are kept; what comes after is skipped up to the newline.
pub const MAX_LINE: usize = 16 << 20;

const CHUNK: usize = 64 << 10;

/// One line, without its newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Counted from 1.
    pub number: u64,
    /// What stands on the line; not necessarily UTF-8.
    pub bytes: &'a [u8],
    /// False for a last line that no newline ends: it may be torn.
    pub terminated: bool,
    /// True if the line was longer than [`MAX_LINE`] and its end was skipped.
    pub oversized: bool,
}

/// Splits what is pushed into it at newlines, keeping an unfinished line for later.
#[derive(Debug, Default)]
pub struct LineSplitter {
    partial: Vec<u8>,
    oversized: bool,
    number: u64,
}

impl LineSplitter {
    /// Takes the next bytes of the stream and calls `each` for every line that they end.
    pub fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (head, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            self.number += 1;
            if self.partial.is_empty() && !self.oversized && head.len() <= MAX_LINE {
                // The common case: the whole line lies in this chunk, so it isn't copied.
                each(Line {
                    number: self.number,
                    bytes: head,
                    terminated: true,
                    oversized: false,
                });
                continue;
            }
            self.keep(head);
            each(Line {
                number: self.number,
                bytes: &self.partial,
                terminated: true,
                oversized: self.oversized,
            });
            self.partial.clear();
            self.oversized = false;
        }
        self.keep(bytes);
    }

    /// The stream is over: hands out a last line that had no newline.
    pub fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        if self.partial.is_empty() && !self.oversized {
            return;
        }
        self.number += 1;
        each(Line {
            number: self.number,
            bytes: &self.partial,
            terminated: false,
            oversized: self.oversized,
        });
        self.partial.clear();
        self.oversized = false;
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_LINE - self.partial.len().min(MAX_LINE);
        self.partial
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.oversized |= bytes.len() > room;
    }
}

/// Calls `each` for every line of `source`.
///
/// # Errors
///
/// Whatever reading `source` returns; lines before the error have been handed out.
pub fn for_each_line(mut source: impl Read, mut each: impl FnMut(Line<'_>)) -> io::Result<()> {
    let mut splitter = LineSplitter::default();
    let mut chunk = vec![0; CHUNK];
    loop {
        match source.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => splitter.push(&chunk[..n], &mut each),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    splitter.finish(&mut each);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(chunks: &[&[u8]]) -> Vec<(Vec<u8>, bool)> {
        let mut splitter = LineSplitter::default();
        let mut lines = Vec::new();
        for chunk in chunks {
            splitter.push(chunk, |line| {
                lines.push((line.bytes.to_vec(), line.terminated))
            });
        }
        splitter.finish(|line| lines.push((line.bytes.to_vec(), line.terminated)));
        lines
    }

    #[test]
    fn a_line_may_span_chunks_and_the_last_may_lack_its_newline() {
        let lines = split(&[b"one\ntw", b"o\n\nthr", b"ee"]);
        let expected: [(&[u8], bool); 4] = [
            (b"one", true),
            (b"two", true),
            (b"", true),
            (b"three", false),
        ];
        assert_eq!(lines.len(), expected.len());
        for (line, (bytes, terminated)) in lines.iter().zip(expected) {
            assert_eq!((line.0.as_slice(), line.1), (bytes, terminated));
        }
    }

    #[test]
    fn unicode_line_separators_do_not_split() {
        let text = "a\u{2028}b\u{2029}c\u{85}d\u{b}e\n";
        assert_eq!(split(&[text.as_bytes()]).len(), 1);
    }

    #[test]
    fn a_line_over_the_limit_is_cut_and_says_so() {
        let mut splitter = LineSplitter::default();
        let mut seen = Vec::new();
        let half = vec![b'x'; MAX_LINE / 2 + 1];
        for part in [half.as_slice(), &half, b"\nnext\n"] {
            splitter.push(part, |line| seen.push((line.bytes.len(), line.oversized)));
        }
        assert_eq!(seen, [(MAX_LINE, true), (4, false)]);
    }
}
