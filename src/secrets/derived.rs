//! The same text with one thing undone: line wraps, percent-encoding, base64.
//!
//! A token broken by a terminal's width, a connection string in a query, a key file in a Kubernetes secret: what
//! is certain in the decoded text is as much of a leak as the plain one.

use std::ops::Range;

use super::base64;
use super::engine::{self, Hit};

/// What is certain in `text` once something is undone, with spans in `text` itself.
pub(super) fn hits(text: &str) -> Vec<Hit<'static>> {
    let mut hits = Vec::new();
    if let Some(unwrapped) = Derived::unwrapped(text) {
        let mut joined = engine::tokens(&unwrapped.text);
        joined.retain(|hit| unwrapped.is_changed(&hit.span));
        hits.extend(unwrapped.placed(joined));
    }
    if let Some(decoded) = Derived::percent_decoded(text) {
        hits.extend(decoded.placed(engine::certain(&decoded.text)));
    }
    for run in base64_runs(text) {
        let Some(decoded) = base64::text(&text[run.clone()]) else { continue };
        for hit in engine::resolved(engine::certain(&decoded)) {
            let span = encoded(text, &run, &hit.span);
            hits.push(hit.into_owned(span));
        }
    }
    hits
}

/// A text made from another by replacing some spans by shorter ones.
struct Derived {
    text: String,
    seams: Vec<Seam>,
}

/// One replaced span: where it was and what is there now.
struct Seam {
    at: usize,
    len: usize,
    origin: Range<usize>,
}

impl Derived {
    /// Line breaks, with a backslash before and indentation after them, taken out between characters of tokens.
    fn unwrapped(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut made = Making::of(text);
        for (newline, _) in text.match_indices('\n') {
            let mut from = newline;
            from -= usize::from(from > 0 && bytes[from - 1] == b'\r');
            from -= usize::from(from > 0 && bytes[from - 1] == b'\\');
            let mut to = newline + 1;
            while to < bytes.len() && matches!(bytes[to], b' ' | b'\t' | b'>' | b'|') {
                to += 1;
            }
            let joins = from > made.copied
                && is_of_token(bytes[from - 1])
                && bytes.get(to).is_some_and(|&byte| is_of_token(byte));
            if joins {
                made.replace(from..to, "");
            }
        }
        made.finished()
    }

    /// `%41` and the like decoded where they are printable ASCII.
    fn percent_decoded(text: &str) -> Option<Self> {
        let mut made = Making::of(text);
        for (at, _) in text.match_indices('%') {
            let digits = text.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
            if let Some(byte) = digits.filter(|byte| byte.is_ascii_graphic() || *byte == b' ')
                && at >= made.copied
            {
                made.replace(at..at + 3, char::from(byte).encode_utf8(&mut [0; 4]));
            }
        }
        made.finished()
    }

    /// The hits at the places where they come from.
    fn placed(&self, hits: Vec<Hit<'_>>) -> Vec<Hit<'static>> {
        hits.into_iter()
            .map(|hit| {
                let span = self.origin(&hit.span);
                hit.into_owned(span)
            })
            .collect()
    }

    fn is_changed(&self, span: &Range<usize>) -> bool {
        let first = self.seams.partition_point(|seam| seam.at + seam.len <= span.start);
        self.seams.get(first).is_some_and(|seam| seam.at < span.end)
    }

    fn origin(&self, span: &Range<usize>) -> Range<usize> {
        let shift = |before: usize, at: usize| match before.checked_sub(1).map(|last| &self.seams[last]) {
            Some(seam) => seam.origin.end + (at - seam.at - seam.len),
            None => at,
        };
        let before_start = self.seams.partition_point(|seam| seam.at + seam.len <= span.start);
        let before_end = self.seams.partition_point(|seam| seam.at < span.end);
        shift(before_start, span.start)..shift(before_end, span.end)
    }
}

/// A derived text while it is written.
struct Making<'t> {
    origin: &'t str,
    copied: usize,
    text: String,
    seams: Vec<Seam>,
}

impl<'t> Making<'t> {
    fn of(origin: &'t str) -> Self {
        Self { origin, copied: 0, text: String::new(), seams: Vec::new() }
    }

    fn replace(&mut self, span: Range<usize>, by: &str) {
        self.text.push_str(&self.origin[self.copied..span.start]);
        self.seams.push(Seam { at: self.text.len(), len: by.len(), origin: span.clone() });
        self.text.push_str(by);
        self.copied = span.end;
    }

    fn finished(mut self) -> Option<Derived> {
        self.text.push_str(&self.origin[self.copied..]);
        (!self.seams.is_empty()).then_some(Derived { text: self.text, seams: self.seams })
    }
}

fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-./+=~".contains(&byte)
}

/// The digits of a run that encode these bytes, the ones shared with their neighbours included.
fn encoded(text: &str, run: &Range<usize>, decoded: &Range<usize>) -> Range<usize> {
    let mut digits =
        text[run.clone()].bytes().enumerate().filter(|(_, byte)| base64::is_digit(*byte)).map(|(at, _)| run.start + at);
    let (first, last) = (decoded.start * 4 / 3, (decoded.end * 4).div_ceil(3) - 1);
    let start = digits.nth(first).unwrap_or(run.start);
    let end = digits.nth(last - first - 1).unwrap_or(run.end - 1);
    start..end + 1
}

/// Runs of base64 digits long enough to hold a credential. A run goes on in the next line if its line is a full one.
fn base64_runs(text: &str) -> Vec<Range<usize>> {
    const SHORTEST: usize = 24;
    const FULL_LINE: usize = 48;
    let bytes = text.as_bytes();
    let mut runs = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let mut line = start;
        loop {
            while at < bytes.len() && base64::is_digit(bytes[at]) {
                at += 1;
            }
            if at - line < FULL_LINE {
                break;
            }
            let next =
                bytes[at..].iter().position(|byte| !byte.is_ascii_whitespace()).map_or(bytes.len(), |gap| at + gap);
            let digits_follow = bytes.get(next).is_some_and(|&byte| base64::is_digit(byte));
            if !bytes[at..next].contains(&b'\n') || !digits_follow {
                break;
            }
            (line, at) = (next, next);
        }
        if at - start >= SHORTEST {
            runs.push(start..at);
        }
        at += 1;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_of_the_derived_text_leads_back_to_the_original() {
        let text = "x%41b%43 y";
        let derived = Derived::percent_decoded(text).expect("two bytes are encoded");
        assert_eq!(derived.text, "xAbC y");
        assert_eq!(&text[derived.origin(&(1..4))], "%41b%43");
        assert_eq!(&text[derived.origin(&(2..3))], "b");
        assert!(!derived.is_changed(&(2..3)));
        assert!(derived.is_changed(&(2..4)));
    }

    #[test]
    fn a_wrapped_token_is_joined() {
        let text = "see abc_\\\r\n    def now";
        let derived = Derived::unwrapped(text).expect("one line break joins");
        assert_eq!(derived.text, "see abc_def now");
        assert_eq!(&text[derived.origin(&(4..11))], "abc_\\\r\n    def");
        assert_eq!(&text[derived.origin(&(8..11))], "def");
    }

    #[test]
    fn the_digits_of_a_part_are_found_across_a_line_break() {
        // "abcdef" in two lines, of which "cd" is wanted: the digits at 2..6, one of them shared with "b".
        let text = "x YWJj\n ZGVm";
        assert_eq!(&text[encoded(text, &(2..12), &(2..4))], "Jj\n ZG");
    }

    #[test]
    fn base64_goes_on_in_the_next_line_only_after_a_full_one() {
        let line = "QUJD".repeat(19);
        let text = format!("{line}\n  QUJD and QUJDQUJDQUJDQUJDQUJDQUJD\nQUJD");
        let runs: Vec<_> = base64_runs(&text).into_iter().map(|run| text[run].len()).collect();
        assert_eq!(runs, [76 + 3 + 4, 24]);
    }
}
