//! Masking secrets on their way to disk.
//!
//! A secret is looked for as it is and in the forms in which programs pass it on: base64
//! (standard and URL-safe, at each of the three alignments), URL-encoded, and escaped as in
//! JSON. A mask has the length of what it hides, so offsets in the evidence stay true.

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::Value;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::Arc;

const MASK: u8 = b'*';

/// Everything that must not reach the disk; shared by all recorders of a session.
#[derive(Clone)]
pub struct Redactor {
    inner: Option<Arc<Patterns>>,
}

struct Patterns {
    forms: Vec<Vec<u8>>,
    longest: usize,
    automaton: AhoCorasick,
}

/// The secrets could not be turned into a matcher: too large together.
#[derive(Debug, thiserror::Error)]
#[error("failed to prepare the masking of secrets: {0}")]
pub struct RedactorError(#[from] aho_corasick::BuildError);

impl Redactor {
    /// Masks these secrets. Empty ones are ignored: they would match everywhere.
    ///
    /// # Errors
    ///
    /// If the secrets are too large together.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, RedactorError> {
        let mut forms: Vec<Vec<u8>> = Vec::new();
        for secret in secrets.into_iter().filter(|secret| !secret.is_empty()) {
            forms.extend(forms_of(secret));
        }
        forms.sort();
        forms.dedup();
        if forms.is_empty() {
            return Ok(Self { inner: None });
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&forms)?;
        let longest = forms.iter().map(Vec::len).max().unwrap_or(0);
        Ok(Self {
            inner: Some(Arc::new(Patterns {
                forms,
                longest,
                automaton,
            })),
        })
    }

    /// Nothing in these bytes would be masked.
    pub fn is_clean(&self, bytes: &[u8]) -> bool {
        let patterns = self.inner.as_ref();
        patterns.is_none_or(|patterns| !patterns.automaton.is_match(bytes))
    }

    /// Masks a whole text and counts the masks.
    pub fn mask(&self, bytes: &mut [u8]) -> u64 {
        let Some(patterns) = &self.inner else {
            return 0;
        };
        let found: Vec<_> = patterns
            .automaton
            .find_iter(&*bytes)
            .map(|found| found.range())
            .collect();
        for range in &found {
            bytes[range.clone()].fill(MASK);
        }
        found.len() as u64
    }

    /// Masks a text for people.
    pub fn mask_text(&self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        self.mask(&mut bytes);
        // A form is ASCII unless the secret isn't; masks then replace whole characters only
        // by chance.
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Masks the texts of a document, names of members included, and nothing else: it stays a
    /// document, whatever a secret looks like.
    pub fn mask_document(&self, document: &mut Value) {
        match document {
            Value::String(text) => *text = self.mask_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_document(item)),
            Value::Object(members) => {
                *members = std::mem::take(members)
                    .into_iter()
                    .map(|(name, mut member)| {
                        self.mask_document(&mut member);
                        (self.mask_text(&name), member)
                    })
                    .collect();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Copies a whole source and counts the masks.
    ///
    /// # Errors
    ///
    /// What reading or writing returns.
    pub fn copy(&self, source: &mut impl Read, target: &mut impl Write) -> io::Result<u64> {
        let mut redacted = self.stream();
        let mut chunk = vec![0; 256 << 10];
        loop {
            let read = source.read(&mut chunk)?;
            if read == 0 {
                break;
            }
            target.write_all(&redacted.push(&chunk[..read]))?;
        }
        target.write_all(&redacted.finish())?;
        Ok(redacted.masks())
    }

    /// Masks a stream that arrives in pieces.
    pub fn stream(&self) -> RedactedStream {
        RedactedStream {
            redactor: self.clone(),
            held: Vec::new(),
            masks: 0,
        }
    }
}

/// One stream on its way to disk.
pub struct RedactedStream {
    redactor: Redactor,
    /// The end of what came so far, where it may be the beginning of a secret.
    held: Vec<u8>,
    masks: u64,
}

impl RedactedStream {
    /// Takes the next bytes and returns what may be written.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut ready = std::mem::take(&mut self.held);
        ready.extend_from_slice(bytes);
        let Some(patterns) = &self.redactor.inner else {
            return ready;
        };
        let (found, end) = patterns.settled(&ready);
        self.masks += found.len() as u64;
        for range in found {
            ready[range].fill(MASK);
        }
        self.held = ready.split_off(end);
        ready
    }

    /// The stream is over: returns what was held back.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut rest = std::mem::take(&mut self.held);
        self.masks += self.redactor.mask(&mut rest);
        rest
    }

    /// How many masks were set so far.
    pub fn masks(&self) -> u64 {
        self.masks
    }
}

impl Patterns {
    /// The forms that are found whatever follows these bytes, and up to where nothing that
    /// follows can change what is found.
    fn settled(&self, bytes: &[u8]) -> (Vec<Range<usize>>, usize) {
        let mut settled = Vec::new();
        let mut end = self.open_end(bytes, 0);
        for found in self.automaton.find_iter(bytes) {
            // From the first open byte on, a form that begins earlier or is longer may come.
            if found.start() >= end {
                break;
            }
            // A form may end with its own beginning: what belongs to this one opens no other.
            if found.end() > end {
                end = self.open_end(bytes, found.end());
            }
            settled.push(found.range());
        }
        (settled, end)
    }

    /// The first place, not before `from`, from which the bytes up to their end may be the
    /// beginning of a form; their length if there is none.
    fn open_end(&self, bytes: &[u8], from: usize) -> usize {
        let first = bytes.len().saturating_sub(self.longest - 1).max(from);
        (first..bytes.len())
            .find(|&at| {
                let end = &bytes[at..];
                self.forms
                    .iter()
                    .any(|form| form.len() > end.len() && form.starts_with(end))
            })
            .unwrap_or(bytes.len())
    }
}

fn forms_of(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = vec![secret.to_vec(), url_encoded(secret)];
    let text = String::from_utf8_lossy(secret);
    if let Ok(json) = serde_json::to_string(&text) {
        forms.push(json.as_bytes()[1..json.len() - 1].to_vec());
    }
    for skip in 0..3 {
        // Base64 of the secret inside a longer text begins at one of three alignments; the
        // characters that also hold bits of the neighbours are left out.
        let mut padded = vec![0; skip];
        padded.extend_from_slice(secret);
        let first = (skip * 8).div_ceil(6);
        let last = padded.len() * 8 / 6;
        for encoded in [
            STANDARD_NO_PAD.encode(&padded),
            URL_SAFE_NO_PAD.encode(&padded),
        ] {
            // A short rest would match by chance.
            if last >= first + 8 {
                forms.push(encoded.as_bytes()[first..last].to_vec());
            }
        }
    }
    forms
}

fn url_encoded(secret: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(secret.len());
    for &byte in secret {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(byte);
        } else {
            encoded.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    const SECRET: &[u8] = b"sk-can\"ary/4711+x";

    fn redactor() -> Redactor {
        Redactor::new([SECRET]).unwrap()
    }

    #[test]
    fn every_form_of_a_secret_is_masked_with_equal_length() {
        let text = String::from_utf8_lossy(SECRET).into_owned();
        let inside_base64 =
            |before: &str| STANDARD_NO_PAD.encode(format!("{before}{text}after").as_bytes());
        let cases = [
            text.clone(),
            serde_json::to_string(&text).unwrap(),
            "sk-can%22ary%2F4711%2Bx".to_owned(),
            STANDARD_NO_PAD.encode(SECRET),
            URL_SAFE_NO_PAD.encode(SECRET),
            inside_base64(""),
            inside_base64("a"),
            inside_base64("ab"),
        ];
        for case in cases {
            let mut masked = case.clone().into_bytes();
            assert_eq!(redactor().mask(&mut masked), 1, "{case}");
            assert_eq!(masked.len(), case.len());
            assert!(masked.windows(8).any(|part| part == b"********"), "{case}");
        }
    }

    #[test]
    fn nothing_is_held_back_unless_it_may_begin_a_secret() {
        let mut stream = redactor().stream();
        assert_eq!(stream.push(b"{\"type\":\"x\"}\n"), b"{\"type\":\"x\"}\n");
        assert_eq!(stream.push(b"key: sk-ca"), b"key: ");
        assert_eq!(stream.push(b"r"), b"sk-car");
    }

    #[test]
    fn a_secret_that_ends_as_it_begins_is_masked_in_a_stream() {
        for secret in ["sk-4711s", "abcXYZabc", "aaaaaaaa", "abababab"] {
            let redactor = Redactor::new([secret.as_bytes()]).unwrap();
            let text = format!("<{secret}><{secret}{secret}a>");
            let mut whole = text.clone().into_bytes();
            redactor.mask(&mut whole);
            for cut in 0..=text.len() {
                let mut stream = redactor.stream();
                let mut written = stream.push(&text.as_bytes()[..cut]);
                written.extend(stream.push(&text.as_bytes()[cut..]));
                written.extend(stream.finish());
                assert_eq!(written, whole, "{secret} cut at {cut}");
            }
        }
    }

    #[test]
    fn a_document_stays_one_whatever_a_secret_looks_like() {
        let redactor = Redactor::new(["12345678", "\",\"b\":\""].map(str::as_bytes)).unwrap();
        let mut document = serde_json::json!({
            "a": "x", "b": "12345678", "12345678": [112345678], "c": "\",\"b\":\"!"
        });
        redactor.mask_document(&mut document);
        let expected = serde_json::json!({
            "a": "x", "b": "********", "********": [112345678], "c": "*******!"
        });
        assert_eq!(document, expected);
    }

    proptest! {
        #[test]
        fn masking_does_not_depend_on_how_the_stream_is_cut(
            before in prop::collection::vec(any::<u8>(), 0..40),
            cuts in prop::collection::vec(0usize..100, 0..6),
        ) {
            let mut whole = before;
            whole.extend_from_slice(SECRET);
            whole.extend_from_slice(b" tail sk-can");
            let mut expected = whole.clone();
            redactor().mask(&mut expected);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (whole.len() + 1)).collect();
            cuts.sort_unstable();
            let mut stream = redactor().stream();
            let mut written = Vec::new();
            let mut at = 0;
            for cut in cuts {
                written.extend(stream.push(&whole[at..cut]));
                at = cut;
            }
            written.extend(stream.push(&whole[at..]));
            written.extend(stream.finish());
            prop_assert_eq!(written, expected);
        }
    }
}
