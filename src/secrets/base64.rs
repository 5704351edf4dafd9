//! Base64 as it occurs in text: either alphabet, padded or not, wrapped or not.

/// Whether the byte belongs to one of the two alphabets.
pub(super) fn is_digit(byte: u8) -> bool {
    value(byte).is_some()
}

/// The text that this encodes, if it is text: printable, and UTF-8.
pub(super) fn text(encoded: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len() / 4 * 3 + 3);
    let (mut pending, mut bits) = (0u32, 0u32);
    for byte in encoded.bytes().filter(|byte| !matches!(byte, b'=' | b' ' | b'\t' | b'\r' | b'\n')) {
        pending = pending << 6 | u32::from(value(byte)?);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            let decoded = (pending >> bits & 0xff) as u8;
            if is_unprintable(decoded) {
                return None;
            }
            bytes.push(decoded);
        }
    }
    String::from_utf8(bytes).ok()
}

fn value(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

fn is_unprintable(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\r' | b'\n') || byte == 0x7f
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_decoded_from_both_alphabets() {
        assert_eq!(text("dXNlcjpww6Rzcw=="), Some("user:päss".into()));
        assert_eq!(text("Pz8_Pj4-"), Some("???>>>".into()));
        assert_eq!(text("dXNl\r\n  cjpw"), Some("user:p".into()));
    }

    #[test]
    fn what_encodes_no_text_is_none() {
        assert_eq!(text("3f786850e387550fdab836ed7e6dc881de23001b"), None);
        assert_eq!(text("a.b"), None);
    }
}
