//! A name for one secret that does not give it away.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// `rule:16 hex digits`: the rule's name and the beginning of the SHA-256 of the secret.
///
/// The same secret has the same fingerprint wherever it stands, so that it can be allowed once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(String);

/// Why a text is not a fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a fingerprint: a rule's name, a colon and 16 hex digits are needed")]
pub struct FingerprintError(String);

const DIGITS: usize = 16;

impl Fingerprint {
    /// The fingerprint of this secret under this rule.
    pub fn of(rule: &str, secret: &str) -> Self {
        let mut text = format!("{rule}:");
        for byte in &Sha256::digest(secret.as_bytes())[..DIGITS / 2] {
            write!(text, "{byte:02x}").expect("writing to a String cannot fail");
        }
        Self(text)
    }

    /// The text, `rule:16 hex digits`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The rule's name.
    pub fn rule(&self) -> &str {
        &self.0[..self.0.len() - DIGITS - 1]
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        let refuse = || FingerprintError(text.to_owned());
        let (rule, digits) = text.rsplit_once(':').ok_or_else(refuse)?;
        let named = !rule.is_empty() && rule.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        let hex = digits.len() == DIGITS && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if named && hex { Ok(Self(text.to_owned())) } else { Err(refuse()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_the_rule_and_the_beginning_of_the_hash() {
        let fingerprint = Fingerprint::of("jwt", "abc");
        assert_eq!(fingerprint.to_string(), "jwt:ba7816bf8f01cfea");
        assert_eq!(fingerprint.rule(), "jwt");
        assert_eq!("jwt:ba7816bf8f01cfea".parse(), Ok(fingerprint));
    }

    #[test]
    fn what_is_not_a_fingerprint_is_refused() {
        for text in
            ["", "jwt", "jwt:", ":ba7816bf8f01cfea", "jwt:BA7816BF8F01CFEA", "jwt:ba7816bf", "a b:ba7816bf8f01cfea"]
        {
            assert_eq!(text.parse::<Fingerprint>(), Err(FingerprintError(text.to_owned())));
        }
    }
}
