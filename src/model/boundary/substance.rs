//! How much of a file's change is substance: what is left when white space and moves are set aside.

use std::collections::HashMap;

/// What a change did to a file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Substance {
    /// Nothing: it was only moved, or only its mode changed.
    None,
    /// Only white space, and the commas that formatters add and take away before a closing bracket.
    Formatting,
    /// This many lines of text, the larger number of those added and those removed.
    Lines(u32),
    /// It is not text, or too large to be looked into.
    Opaque,
}

impl Substance {
    /// What lies between two contents of a file; `None` where there was, or is, no file.
    pub fn between(old: Option<&[u8]>, new: Option<&[u8]>) -> Self {
        let (before, after) = (old.unwrap_or_default(), new.unwrap_or_default());
        if old.is_some() && new.is_some() {
            if before == after {
                return Self::None;
            }
            if !is_binary(before) && !is_binary(after) && essence(before) == essence(after) {
                return Self::Formatting;
            }
        }
        if is_binary(before) || is_binary(after) {
            return Self::Opaque;
        }
        Self::Lines(changed_lines(before, after))
    }
}

fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(8000).any(|byte| *byte == 0)
}

/// The bytes without white space and without commas before a closing bracket.
fn essence(bytes: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(bytes.len());
    for byte in bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()) {
        if matches!(byte, b')' | b']' | b'}' | b'>') && out.last() == Some(&b',') {
            out.pop();
        }
        out.push(byte);
    }
    out
}

/// How many lines one content has more often than the other, whichever direction has more of them.
fn changed_lines(before: &[u8], after: &[u8]) -> u32 {
    let mut balance: HashMap<&[u8], i64> = HashMap::new();
    for (content, count) in [(before, -1), (after, 1)] {
        let lines = content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        for line in lines.filter(|line| !line.is_empty()) {
            *balance.entry(line).or_default() += count;
        }
    }
    let added: i64 = balance.values().filter(|count| **count > 0).sum();
    let removed: i64 = -balance.values().filter(|count| **count < 0).sum::<i64>();
    u32::try_from(added.max(removed)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_measured_without_white_space_and_moves() {
        let between = |old: &str, new: &str| Substance::between(Some(old.as_bytes()), Some(new.as_bytes()));
        assert_eq!(between("a\n", "a\n"), Substance::None);
        assert_eq!(between("f(a, b)\n", "f(\n    a,\n    b,\n)\n"), Substance::Formatting);
        assert_eq!(between("one\ntwo\n", "one\n2\n3\n"), Substance::Lines(2));
        assert_eq!(between("one\ntwo\n", "two\none\n"), Substance::Lines(0));
        assert_eq!(between("a", "\0"), Substance::Opaque);
        assert_eq!(Substance::between(None, Some(b"a\nb\n")), Substance::Lines(2));
        assert_eq!(Substance::between(Some(b"a\n"), None), Substance::Lines(1));
    }
}
