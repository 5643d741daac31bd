//! SHA-256 digests.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::Digest;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A SHA-256 digest, printed as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sha256([u8; 32]);

impl Sha256 {
    /// Of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// Reads 64 hexadecimal digits, upper or lower case; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// Of a file, and how long it is.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn of_file(path: &Path) -> io::Result<(Self, u64)> {
        let mut file = File::open(path)?;
        let mut hasher = Hasher::default();
        let mut chunk = vec![0; 128 << 10];
        let mut length = 0;
        loop {
            let read = file.read(&mut chunk)?;
            if read == 0 {
                return Ok((hasher.finish(), length));
            }
            length += read as u64;
            hasher.update(&chunk[..read]);
        }
    }
}

/// Digests what comes in pieces.
#[derive(Default)]
pub struct Hasher(sha2::Sha256);

impl Hasher {
    /// The next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest.
    pub fn finish(self) -> Sha256 {
        Sha256(self.0.finalize().into())
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sha256({self})")
    }
}

impl Serialize for Sha256 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Sha256 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom("expected 64 hexadecimal digits of a SHA-256 digest")
        })
    }
}
