//! Paths as git stores them, made into text.

use std::fmt::Write as _;

/// A path from git as text, such that two different paths never give the same text.
///
/// Ordinary paths are taken as they are. A path that is not UTF-8, holds a control character or begins with a
/// double quote is written as git does it for such paths: in double quotes, with `\` before `"` and `\`, and every
/// other offending byte in octal (`"caf\351"`).
pub(crate) fn readable(path: &[u8]) -> String {
    match std::str::from_utf8(path) {
        Ok(text) if !text.starts_with('"') && !text.chars().any(char::is_control) => text.to_owned(),
        _ => quoted(path),
    }
}

fn quoted(path: &[u8]) -> String {
    let mut out = String::with_capacity(path.len() + 8);
    out.push('"');
    for chunk in path.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                c if c.is_control() => {
                    c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| push_octal(&mut out, byte));
                }
                c => out.push(c),
            }
        }
        chunk.invalid().iter().for_each(|byte| push_octal(&mut out, *byte));
    }
    out.push('"');
    out
}

fn push_octal(out: &mut String, byte: u8) {
    write!(out, "\\{byte:03o}").expect("a String takes every write");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_paths_are_taken_as_they_are() {
        for path in ["src/main.rs", "naïve café.txt", "back\\slash", "quo\"te"] {
            assert_eq!(readable(path.as_bytes()), path);
        }
    }

    #[test]
    fn every_other_path_is_quoted_and_stays_distinct() {
        let paths: [&[u8]; 5] = [b"caf\xe9", b"caf\\351", b"\"caf\\351\"", b"a\nb", b"a\\nb"];
        let shown = paths.map(readable);
        assert_eq!(shown, [r#""caf\351""#, r"caf\351", r#""\"caf\\351\"""#, r#""a\012b""#, r"a\nb"]);
    }
}
