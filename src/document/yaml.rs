//! YAML: scalars that no reader misreads, and reading with a small budget.

use std::fmt::Write as _;

use super::error::DocumentError;
use super::metadata::Block;
use crate::model::visible_line;

/// A text as a YAML scalar: plain when every reader of YAML 1.1 and 1.2 takes it for this very text, else in
/// double quotes with escapes that JSON has too.
pub(super) fn scalar(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

/// A text as a JSON string in which every character that cannot be seen, or that acts on others, is escaped.
pub(super) fn quoted(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    escaped(&json)
}

/// JSON text in which no character is invisible. Such characters occur in strings only, where they have escapes.
pub(super) fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        let mut buffer = [0; 4];
        let shown: &str = c.encode_utf8(&mut buffer);
        if c == '\n' || matches!(visible_line(shown), std::borrow::Cow::Borrowed(_)) && !is_noncharacter(c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}").expect("a String takes every write");
            }
        }
    }
    out
}

/// Characters that YAML does not let stand for themselves and that are no control characters.
fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{fffe}' | '\u{ffff}')
}

fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let begins = first.is_ascii_alphanumeric() || matches!(first, '.' | '/' | '_');
    let allowed =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '.' | '_' | '/' | '@' | '+' | '-' | '(' | ')');
    begins && text.chars().all(allowed) && !text.ends_with(' ') && !is_other_type(text)
}

/// Whether some reader may take the text for a number, a truth value, a time or nothing.
fn is_other_type(text: &str) -> bool {
    const WORDS: [&str; 11] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", ".inf", ".nan"];
    if WORDS.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return true;
    }
    let numeric = text.starts_with(|c: char| c.is_ascii_digit())
        || text.starts_with('.') && text[1..].starts_with(|c: char| c.is_ascii_digit());
    // Radix marks, exponents, suffixes of times: letters that occur in what is not text.
    let telling = |c: char| c.is_ascii_alphabetic() && !"eExXoObBtTzZ".contains(c);
    numeric && (text[1..].starts_with(['x', 'X']) || !text.contains(telling))
}

/// Reads a metadata block that begins on this line of its document.
pub(super) fn read(yaml: &str, first_line: usize) -> Result<Block, DocumentError> {
    let options = serde_saphyr::options! {
        // Two lists of the most entries that a list may have, and room for the keys.
        budget: serde_saphyr::budget! {
            max_nodes: 8192, max_events: 16_384, max_depth: 32, max_aliases: 16, max_anchors: 16
        },
        with_snippet: false,
    };
    // The lines before the block are blank lines here, so that errors name lines of the document.
    let placed = format!("{}{yaml}", "\n".repeat(first_line.saturating_sub(1)));
    serde_saphyr::from_str_with_options(&placed, options)
        .map_err(|source| DocumentError::Yaml { source: Box::new(source) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_values_stay_plain() {
        for text in [
            ".",
            "codex",
            "gpt-5.6",
            "feat/billing",
            "billing-system",
            ".claude/handoffs/2026-08-18-1401.md",
            "claude/2026-08-18-1401",
            "3f786850e387550fdab836ed7e6dc881de23001b",
            "Fix the parser (part 2)",
            "3d-view",
        ] {
            assert_eq!(scalar(text), text);
        }
    }

    #[test]
    fn what_a_reader_could_take_for_something_else_is_quoted() {
        for text in [
            "",
            "no",
            "Yes",
            "n",
            "null",
            "~",
            "1e3",
            "0x1f",
            "0o17",
            "0b1",
            "017",
            "1_000",
            "1.5",
            ".5",
            ".inf",
            "2026-08-18",
            "12:30",
            "190",
            "1e5_0",
            "a: b",
            "a #b",
            "#x",
            "- x",
            "-",
            "?",
            "@x",
            "`x`",
            "{a}",
            "[a]",
            "*a",
            "&a",
            "!a",
            "|",
            ">",
            "%a",
            "'a'",
            "a\tb",
            " a",
            "a ",
            "é",
            "<<",
            "=",
        ] {
            assert_eq!(scalar(text), quoted(text), "{text}");
        }
    }

    #[test]
    fn nothing_invisible_stands_in_a_quoted_value() {
        assert_eq!(quoted("a\u{1b}\u{85}\u{2028}\u{feff}\"\\\n\u{7f}"), r#""a\u001b\u0085\u2028\ufeff\"\\\n\u007f""#);
    }
}
