//! Names of things: the content id of an event and the object names that git gives.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// The content id of an event: SHA-256 over its canonical JSON (RFC 8785).
///
/// It does not depend on the object format of the repository, so that a handoff keeps its id when it moves
/// between SHA-1 and SHA-256 repositories.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId([u8; 32]);

/// Why a text is not an id, a prefix of one, or an object name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Another number of digits than the kind of id has.
    #[error("'{text}' has {found} hex digits; {expected} are needed")]
    Length {
        /// The text as given.
        text: String,
        /// How many characters it has.
        found: usize,
        /// How many it should have, in words.
        expected: &'static str,
    },
    /// A character outside `0-9a-f`.
    #[error("'{0}' is not hexadecimal")]
    Digit(String),
}

impl EventId {
    /// The id of these bytes, which must be canonical JSON for the id to mean anything.
    pub fn of(canonical: &[u8]) -> Self {
        Self(Sha256::digest(canonical).into())
    }

    /// The id with these 32 bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first twelve hex digits, for lines that people read.
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EventId({self})")
    }
}

impl FromStr for EventId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let mut bytes = [0; 32];
        if text.len() != 64 {
            return Err(IdError::Length { text: text.into(), found: text.chars().count(), expected: "64" });
        }
        read_hex(text, &mut bytes)?;
        Ok(Self(bytes))
    }
}

/// The beginning of an id as a person types it: 4 to 64 lower- or upper-case hex digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdPrefix(String);

impl IdPrefix {
    /// The fewest digits that may stand for an id.
    pub const SHORTEST: usize = 4;

    /// Whether the id begins with these digits.
    pub fn matches(&self, id: &EventId) -> bool {
        id.to_string().starts_with(&self.0)
    }

    /// The digits, in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for IdPrefix {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(IdError::Digit(text.into()));
        }
        if !(Self::SHORTEST..=64).contains(&text.len()) {
            return Err(IdError::Length { text: text.into(), found: text.len(), expected: "4 to 64" });
        }
        Ok(Self(text.to_ascii_lowercase()))
    }
}

/// The name of a git object in the repository's own object format: 20 bytes (SHA-1) or 32 (SHA-256).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName {
    length: u8,
    bytes: [u8; 32],
}

impl ObjectName {
    /// The name with these bytes; `None` unless there are 20 or 32 of them.
    pub fn from_bytes(raw: &[u8]) -> Option<Self> {
        let length = match raw.len() {
            20 => 20,
            32 => 32,
            _ => return None,
        };
        let mut bytes = [0; 32];
        bytes[..raw.len()].copy_from_slice(raw);
        Some(Self { length, bytes })
    }

    /// The 20 or 32 bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// The first twelve hex digits, for lines that people read.
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, self.as_bytes())
    }
}

impl fmt::Debug for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectName({self})")
    }
}

impl FromStr for ObjectName {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let length = match text.len() {
            40 => 20,
            64 => 32,
            _ => {
                return Err(IdError::Length { text: text.into(), found: text.chars().count(), expected: "40 or 64" });
            }
        };
        let mut bytes = [0; 32];
        read_hex(text, &mut bytes[..usize::from(length)])?;
        Ok(Self { length, bytes })
    }
}

fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// Fills `bytes` from twice as many hex digits.
fn read_hex(text: &str, bytes: &mut [u8]) -> Result<(), IdError> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|value| value as u8);
    for (pair, out) in text.as_bytes().chunks(2).zip(bytes) {
        match (digit(pair[0]), pair.get(1).copied().and_then(digit)) {
            (Some(high), Some(low)) => *out = high << 4 | low,
            _ => return Err(IdError::Digit(text.into())),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_the_sha256_of_the_bytes() {
        assert_eq!(EventId::of(b"abc").to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn ids_and_object_names_survive_being_written_and_read() {
        let id = EventId::of(b"x");
        assert_eq!(id.to_string().parse(), Ok(id));
        for length in [20, 32] {
            let name = ObjectName::from_bytes(&vec![0xa5; length]).expect("a length that git has");
            assert_eq!(name.to_string().parse(), Ok(name));
        }
    }

    #[test]
    fn a_prefix_of_three_digits_is_refused() {
        assert!(matches!("abc".parse::<IdPrefix>(), Err(IdError::Length { found: 3, .. })));
        assert!(matches!("abcg".parse::<IdPrefix>(), Err(IdError::Digit(_))));
    }

    #[test]
    fn multi_byte_text_is_refused_without_slicing_it() {
        let text = "é".repeat(32);
        assert_eq!(text.len(), 64);
        assert!(matches!(text.parse::<EventId>(), Err(IdError::Digit(_))));
        assert!(matches!(text.parse::<ObjectName>(), Err(IdError::Digit(_))));
    }
}
