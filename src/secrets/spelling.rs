//! How a value is written beside its name: the separators, quotes and line breaks of a dozen formats.

use std::borrow::Cow;
use std::ops::Range;

/// Longer names are no names; the limits keep the work linear.
pub(super) const LONGEST_NAME: usize = 80;
const LONGEST_QUOTED: usize = 4096;
const LONGEST_GAP: usize = 64;

/// A name in the text.
pub(super) struct Name {
    pub(super) span: Range<usize>,
}

impl Name {
    pub(super) fn around(text: &str, keyword: &Range<usize>) -> Option<Self> {
        let bytes = text.as_bytes();
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        let (mut start, mut end) = (keyword.start, keyword.end);
        while start > 0 && is_of_name(bytes[start - 1]) && keyword.start - start < LONGEST_NAME {
            start -= 1;
        }
        while end < bytes.len() && is_of_name(bytes[end]) && end - keyword.end < LONGEST_NAME {
            end += 1;
        }
        while bytes[end - 1] == b'-' || bytes[end - 1] == b'.' {
            end -= 1;
        }
        (end >= keyword.end).then_some(Self { span: start..end })
    }

    /// `arn:aws:secret:…`, `AWS::IAM::AccessKey`
    pub(super) fn is_part_of_a_path(&self, text: &str) -> bool {
        match &text.as_bytes()[..self.span.start] {
            [.., before, b':'] => *before == b':' || before.is_ascii_alphanumeric(),
            _ => false,
        }
    }

    /// `env("NAME", …)`: a quote and a parenthesis before it.
    fn is_first_argument(&self, text: &str) -> bool {
        matches!(&text.as_bytes()[..self.span.start], [.., b'(', b'"' | b'\'' | b'`'])
    }

    /// `--password`
    fn is_flag(&self, text: &str) -> bool {
        text[self.span.clone()].starts_with("--")
    }
}

/// How name and value are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    /// `NAME=value`, without room: environment files, flags, connection strings.
    Tight,
    /// `name = value`, `name := value`: configuration or code.
    Loose,
    /// `name: value`: YAML, JSON, headers, prose.
    Colon,
    /// `--name value`
    Flag,
    /// `<name>value</name>`
    Element,
    /// `name("value")`, `name == "value"`, `name, "value"`
    Call,
    /// `| name | value |`, `name is value`
    Prose,
    /// `name: |` and an indented line
    Block,
}

/// The value beside a name.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) span: Range<usize>,
    pub(super) join: Join,
    pub(super) quoted: bool,
}

impl Value {
    pub(super) fn beside(mut cursor: Cursor<'_>, name: &Name) -> Option<Self> {
        let join = cursor.join(name)?;
        let value = cursor.value(join)?;
        // `password: str = "…"`, `const token: string = "…"`
        if join == Join::Colon && !value.quoted {
            let mut after = Cursor { at: value.span.end, ..cursor };
            after.skip(|byte| matches!(byte, b' ' | b'>' | b']'));
            if after.take("=") && after.peek() != Some(b'=') && after.peek() != Some(b'>') {
                after.skip(|byte| byte == b' ');
                return after.quoted(Join::Loose);
            }
        }
        Some(value)
    }
}

/// A place in the text that moves forward.
pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// The last value without quotes: one that begins within it ends where it ends.
    pub(super) last_bare: Range<usize>,
}

impl<'t> Cursor<'t> {
    fn rest(&self) -> &'t [u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    fn take(&mut self, part: &str) -> bool {
        let found = self.rest().starts_with(part.as_bytes());
        self.at += if found { part.len() } else { 0 };
        found
    }

    fn skip(&mut self, what: impl Fn(u8) -> bool) -> usize {
        let count = self.rest().iter().take(LONGEST_GAP).take_while(|byte| what(**byte)).count();
        self.at += count;
        count
    }

    fn skip_blanks(&mut self) -> usize {
        self.skip(|byte| matches!(byte, b' ' | b'\t'))
    }

    fn join(&mut self, name: &Name) -> Option<Join> {
        let opened = name.span.start.checked_sub(1).map(|before| self.text.as_bytes()[before]);
        if opened == Some(b'<') && self.take(">") {
            return Some(Join::Element);
        }
        let closed = self.skip(|byte| matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b']' | b'*'));
        let room = self.skip_blanks();
        if let Some(join) = self.operator(room) {
            return Some(join);
        }
        let is_argument = closed > 0 && name.is_first_argument(self.text) && self.take(",");
        if is_argument || room == 0 && closed == 0 && self.take("(") {
            return Some(Join::Call);
        }
        if room > 0 && name.is_flag(self.text) && self.peek() != Some(b'-') {
            return Some(Join::Flag);
        }
        // `- name: DB_PASSWORD` and `value: …` in the next line; `key="DbPassword" value="…"`
        let before_line = self.at;
        self.skip(|byte| byte.is_ascii_whitespace() || byte == b'"');
        if (self.at > before_line || room > 0) && self.take("value") {
            self.skip(|byte| byte == b'"');
            return if self.take(":") { Some(Join::Colon) } else { self.take("=").then_some(Join::Tight) };
        }
        None
    }

    fn operator(&mut self, room: usize) -> Option<Join> {
        for comparison in ["===", "==", "!==", "!="] {
            if self.take(comparison) {
                return Some(Join::Call);
            }
        }
        for assignment in [":=", "?=", "+=", "=>", "->"] {
            if self.take(assignment) {
                return Some(Join::Loose);
            }
        }
        if self.take("=") {
            let tight = room == 0 && !self.peek().is_some_and(|byte| byte.is_ascii_whitespace());
            return Some(if tight { Join::Tight } else { Join::Loose });
        }
        if self.rest().starts_with(b"::") {
            return None;
        }
        if self.take(":") {
            return Some(Join::Colon);
        }
        if room > 0 && (self.take("| ") || self.take("is ") || self.take("was ")) {
            return Some(Join::Prose);
        }
        None
    }

    fn value(&mut self, join: Join) -> Option<Value> {
        self.skip(|byte| byte == b'*');
        self.skip_blanks();
        if join == Join::Colon && matches!(self.peek(), Some(b'|' | b'>')) {
            return self.block();
        }
        if self.take("\\\r\n") || self.take("\\\n") {
            self.skip_blanks();
        } else if join == Join::Colon && matches!(self.peek(), Some(b'\r' | b'\n')) {
            return self.block();
        }
        if matches!(self.peek(), Some(b'b' | b'r' | b'@')) && matches!(self.rest().get(1), Some(b'"' | b'\'')) {
            self.at += 1;
        }
        let open = self.rest().iter().take(8).take_while(|byte| **byte == b'\\').count();
        if matches!(self.rest().get(open), Some(b'"' | b'\'' | b'`')) {
            return self.quoted(join);
        }
        (join != Join::Call).then(|| self.bare(join)).flatten()
    }

    /// A value in quotes, whose quotes may be escaped any number of times.
    fn quoted(&mut self, join: Join) -> Option<Value> {
        let escapes = self.skip(|byte| byte == b'\\');
        let quote = self.peek().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'))?;
        self.skip(|byte| byte == quote);
        let start = self.at;
        let mut before = 0;
        for (offset, &byte) in self.rest().iter().take(LONGEST_QUOTED).enumerate() {
            if byte == quote && (before == escapes || escapes == 0 && before % 2 == 0) {
                return Some(Value { span: start..start + offset - before.min(escapes), join, quoted: true });
            }
            if byte == b'\n' {
                break;
            }
            before = if byte == b'\\' { before + 1 } else { 0 };
        }
        self.bare(join)
    }

    /// A value without quotes, which may go on after a backslash at the end of its line.
    fn bare(&mut self, join: Join) -> Option<Value> {
        let start = self.at;
        let mut end = if self.last_bare.contains(&start) { self.last_bare.end } else { start };
        loop {
            match self.text.as_bytes().get(end) {
                None | Some(b'"' | b'\'' | b'`' | b',' | b';' | b'<' | b'>' | b'|' | b'\r' | b'\n' | b' ' | b'\t') => {
                    break;
                }
                Some(b'&') if is_parameter(&self.text.as_bytes()[end + 1..]) => break,
                Some(b'\\') => match continued(&self.text.as_bytes()[end..]) {
                    Some(gap) if end > start => end += gap,
                    _ => break,
                },
                Some(byte) if byte.is_ascii_control() => break,
                Some(_) => end += 1,
            }
        }
        let value = self.text[start..end].trim_end_matches(['.', ':', '*', '?']);
        let unbalanced = |open: char, close: char| value.ends_with(close) && !value.contains(open);
        let trimmed = if unbalanced('(', ')') || unbalanced('[', ']') || unbalanced('{', '}') {
            value.trim_end_matches([')', ']', '}'])
        } else {
            value
        };
        (!trimmed.is_empty()).then(|| Value { span: start..start + trimmed.len(), join, quoted: false })
    }

    /// The lines below `name: |`, or the single one below `name:`.
    fn block(&mut self) -> Option<Value> {
        let marked = self.skip(|byte| matches!(byte, b'|' | b'>' | b'-' | b'+' | b'0'..=b'9'));
        self.skip_blanks();
        if !(self.take("\r\n") || self.take("\n")) || self.skip_blanks() == 0 {
            return None;
        }
        let join = if marked > 0 { Join::Block } else { Join::Loose };
        let value = self.bare(join)?;
        let is_key = self.text[value.span.end..].starts_with(':');
        (!is_key).then_some(value)
    }
}

/// `name=` or `amp;name=`, after an ampersand.
fn is_parameter(rest: &[u8]) -> bool {
    let name = rest
        .iter()
        .take(LONGEST_NAME)
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.;[]".contains(byte))
        .count();
    name > 0 && rest.get(name) == Some(&b'=')
}

/// The value without the line breaks that continue it.
pub(super) fn unfolded(value: &str) -> Cow<'_, str> {
    if !value.contains('\n') {
        return Cow::Borrowed(value);
    }
    value.lines().map(|line| line.trim_start_matches([' ', '\t']).trim_end_matches('\\')).collect()
}

/// How long a backslash, a line break and the indentation after it are.
fn continued(rest: &[u8]) -> Option<usize> {
    let line_break = match rest.get(1..)? {
        [b'\n', ..] => 2,
        [b'\r', b'\n', ..] => 3,
        _ => return None,
    };
    let indentation =
        rest[line_break..].iter().take(LONGEST_GAP).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    Some(line_break + indentation)
}
