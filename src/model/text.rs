//! Text from strangers: normal form for storing, visible form for showing.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The form in which text is stored: line ends are `\n`, no byte-order mark, no blank lines or white space at
/// the end, no blank lines at the beginning.
///
/// Ids therefore do not depend on `core.autocrlf` or on the editor that wrote the text.
pub fn normalised(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    let text = text.trim_end();
    let start = text.char_indices().find(|(_, c)| !c.is_whitespace()).map_or(0, |(at, _)| at);
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    text[line_start..].to_owned()
}

/// Text for several lines of output in which nothing can act on a terminal: every control character but
/// line feed and tab, every bidirectional control and every invisible character is written out, as `\u{1b}`.
///
/// Writing out beats removing: removal would hide that somebody tried.
pub fn visible(text: &str) -> Cow<'_, str> {
    escape(text, |c| c == '\n' || c == '\t')
}

/// [`visible`] for a single line: line feeds and tabs are written out too.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    escape(text, |_| false)
}

/// At most `limit` characters; what is longer ends in an ellipsis, which counts as one.
pub fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    if text.chars().count() <= limit {
        return Cow::Borrowed(text);
    }
    let kept: String = text.chars().take(limit.saturating_sub(1)).collect();
    Cow::Owned(kept.trim_end().to_owned() + "…")
}

/// Whether a character changes how others are shown, or cannot be seen at all.
///
/// The joiners that emoji and several scripts need (U+200C, U+200D) are left alone.
pub(crate) fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A piece of a line of Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Span<'a> {
    /// Running text.
    Prose(&'a str),
    /// What stands between backticks.
    Code(&'a str),
}

/// The pieces of a line, in their order. Backticks without a partner are running text.
pub(crate) fn spans(line: &str) -> Vec<Span<'_>> {
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(open) = line[at..].find('`').map(|offset| at + offset) {
        let ticks = line[open..].bytes().take_while(|byte| *byte == b'`').count();
        let body = open + ticks;
        let Some(close) = closing_ticks(line, body, ticks) else {
            at = body;
            continue;
        };
        if start < open {
            pieces.push(Span::Prose(&line[start..open]));
        }
        pieces.push(Span::Code(&line[body..close]));
        at = close + ticks;
        start = at;
    }
    if start < line.len() {
        pieces.push(Span::Prose(&line[start..]));
    }
    pieces
}

/// Where the next run of exactly so many backticks begins.
fn closing_ticks(line: &str, from: usize, ticks: usize) -> Option<usize> {
    let mut at = from;
    while let Some(run) = line[at..].find('`').map(|offset| at + offset) {
        let length = line[run..].bytes().take_while(|byte| *byte == b'`').count();
        if length == ticks {
            return Some(run);
        }
        at = run + length;
    }
    None
}

/// Each line with whether it stands in a fenced code block; the fences themselves count as code.
pub(crate) fn lines_with_fences(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut fence: Option<&str> = None;
    text.lines().map(move |line| {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, None) => (line, false),
            (None, Some(mark)) => {
                fence = Some(mark);
                (line, true)
            }
            (Some(open), mark) => {
                if mark == Some(open) {
                    fence = None;
                }
                (line, true)
            }
        }
    })
}

fn escape(text: &str, allowed: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(|c| is_deceptive(c) && !allowed(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if allowed(c) || !is_deceptive(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c => write!(out, "\\u{{{:x}}}", u32::from(c)).expect("a String takes every write"),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_marks_and_blank_edges_do_not_change_what_is_stored() {
        assert_eq!(normalised("\u{feff}\r\n  a\r\n\r\nb \r\n"), "  a\n\nb");
        assert_eq!(normalised(" \n\t\n"), "");
    }

    #[test]
    fn escapes_and_bidirectional_controls_are_written_out() {
        assert_eq!(visible("a\x1b[2J\u{202e}b\n\tc\u{9b}"), "a\\u{1b}[2J\\u{202e}b\n\tc\\u{9b}");
        assert_eq!(visible_line("a\nb"), "a\\nb");
    }

    #[test]
    fn ordinary_text_of_any_script_is_left_alone() {
        for text in ["naïve café", "مرحبا", "👩‍💻", "日本語"] {
            assert_eq!(visible_line(text), text);
        }
    }

    #[test]
    fn code_spans_are_told_from_prose() {
        let pieces = spans("a `b` c ``d ` e`` f ` g");
        let expected =
            [Span::Prose("a "), Span::Code("b"), Span::Prose(" c "), Span::Code("d ` e"), Span::Prose(" f ` g")];
        assert_eq!(pieces, expected);
    }

    #[test]
    fn fenced_lines_are_told_from_prose() {
        let lines: Vec<bool> = lines_with_fences("a\n```rust\n~~~\nb\n```\nc").map(|(_, code)| code).collect();
        assert_eq!(lines, [false, true, true, true, true, false]);
    }

    #[test]
    fn a_long_text_is_cut_at_characters_not_bytes() {
        assert_eq!(cut("éééé", 3), "éé…");
        assert_eq!(cut("ééé", 3), "ééé");
    }
}
