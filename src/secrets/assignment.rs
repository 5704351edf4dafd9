//! Values that stand beside a name which says that they are secret.
//!
//! Read by hand and not by one large pattern: a name, a separator and a value have many spellings (environment
//! files, JSON inside JSON, YAML blocks, makefiles, flags, XML, tables), and what counts as a secret depends on the
//! spelling. In code an unquoted value is a variable; in an environment file it is the value itself.

use std::borrow::Cow;
use std::ops::Range;

use super::Certainty;
use super::engine::Hit;
use super::names::{Named, named};
use super::{plausible, rules};

/// What every name of a secret contains.
pub(super) const KEYWORDS: &[&str] = &["pass", "pwd", "pw", "psw", "secret", "token", "key", "cred"];

/// The rules that live here.
pub(super) const RULES: [&str; 2] = [PASSWORD, TOKEN];

const PASSWORD: &str = "password-assignment";
const TOKEN: &str = "generic-api-key";

/// Longer names and values are not names and passwords; the limits keep the work linear.
const LONGEST_NAME: usize = 80;
const LONGEST_VALUE: usize = 1024;
const LONGEST_GAP: usize = 64;

/// The secrets beside the names that contain a keyword at one of these places.
pub(super) fn hits<'t>(text: &'t str, keywords: &[Range<usize>]) -> Vec<Hit<'t>> {
    let mut hits = Vec::new();
    let mut done = 0;
    for keyword in keywords {
        if keyword.start < done {
            continue;
        }
        let Some(name) = Name::around(text, keyword) else { continue };
        done = name.span.end;
        let Some(kind) = name.kind(text) else { continue };
        if let Some(value) = Value::beside(text, &name)
            && value.is_secret(text, &name, kind)
        {
            hits.push(Hit {
                rule: match kind {
                    Named::Password => PASSWORD,
                    Named::Token => TOKEN,
                },
                certainty: Certainty::Suspected,
                secret: Cow::Borrowed(&text[value.span.clone()]),
                span: value.span,
                public: 0,
            });
        }
    }
    hits
}

/// A name in the text.
struct Name {
    span: Range<usize>,
}

impl Name {
    fn around(text: &str, keyword: &Range<usize>) -> Option<Self> {
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

    fn kind(&self, text: &str) -> Option<Named> {
        let before = &text[..self.span.start];
        let word = before.strip_suffix(' ').map_or("", |before| {
            let from = before.bytes().rev().take(LONGEST_NAME).take_while(u8::is_ascii_alphanumeric).count();
            &before[before.len() - from..]
        });
        let name = &text[self.span.clone()];
        let name = name.strip_prefix("\\n").unwrap_or(name);
        named(name, word)
    }

    /// `--password`, `-password`
    fn is_flag(&self, text: &str) -> bool {
        text[self.span.clone()].starts_with("--")
    }

    /// Whether it is written as environment variables are.
    fn is_in_capitals(&self, text: &str) -> bool {
        !text[self.span.clone()].bytes().any(|byte| byte.is_ascii_lowercase())
    }

    fn is_name_of_a_rule(&self, text: &str) -> bool {
        let name = text[self.span.clone()].trim_start_matches('-');
        RULES.contains(&name) || rules::all().any(|rule| rule.name == name)
    }
}

/// How name and value are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Join {
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
struct Value {
    span: Range<usize>,
    join: Join,
    quoted: bool,
}

impl Value {
    fn beside(text: &str, name: &Name) -> Option<Self> {
        let mut cursor = Cursor { text, at: name.span.end };
        let join = cursor.join(name)?;
        let value = cursor.value(join)?;
        // `password: str = "…"`, `const token: string = "…"`
        if join == Join::Colon && !value.quoted {
            let mut after = Cursor { text, at: value.span.end };
            after.skip(|byte| matches!(byte, b' ' | b'>' | b']'));
            if after.take("=") && after.peek() != Some(b'=') && after.peek() != Some(b'>') {
                after.skip(|byte| byte == b' ');
                return after.quoted(Join::Loose);
            }
        }
        Some(value)
    }

    fn is_secret(&self, text: &str, name: &Name, kind: Named) -> bool {
        let value = &text[self.span.clone()];
        if plausible::placeholder(value)
            || plausible::reference(value)
            || plausible::is_content_hash(value)
            || value.len() == 16 && name.is_name_of_a_rule(text)
        {
            return false;
        }
        match kind {
            Named::Password => self.is_password(text, name, value),
            Named::Token => self.is_token(text, value),
        }
    }

    fn is_password(&self, text: &str, name: &Name, value: &str) -> bool {
        let literal = self.quoted || matches!(self.join, Join::Tight | Join::Element | Join::Block | Join::Flag);
        let passphrase = name.is_in_capitals(text)
            && self.join == Join::Tight
            && value.len() >= 12
            && value.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
        if literal && (plausible::password(value) || passphrase) {
            return true;
        }
        let strong = plausible::classes(value) >= 3 && plausible::password(value) && !looks_like_code(value);
        match self.join {
            Join::Loose | Join::Colon | Join::Prose => self.ends_its_line(text) && (plausible::random(value) || strong),
            Join::Tight | Join::Element | Join::Block | Join::Flag | Join::Call => false,
        }
    }

    fn is_token(&self, text: &str, value: &str) -> bool {
        let chosen = value.bytes().any(|byte| b"!@#$%^&*".contains(&byte))
            && plausible::classes(value) >= 3
            && !value.contains([':', '/', ' ']);
        let invented =
            plausible::random(value) && value.len() >= 12 && !value.contains([' ', '(', ')', '[', ']', '{', '}']);
        let literal = self.quoted || matches!(self.join, Join::Tight | Join::Element | Join::Block | Join::Flag);
        (invented && (literal || self.ends_its_line(text))) || (literal && chosen && value.len() >= 10)
    }

    /// Whether nothing but punctuation or a comment follows: in prose the sentence goes on.
    fn ends_its_line(&self, text: &str) -> bool {
        let line = text[self.span.end..].lines().next().unwrap_or_default();
        let rest = line.trim_start_matches(['"', '\'', '`', ',', ';', '.', ')', '}', ']', '|', '*', ' ', '\t', '\\']);
        rest.is_empty()
            || rest.starts_with(['#', '(', '<'])
            || rest.starts_with("//")
            || rest.starts_with("--")
            || line.trim_start().starts_with(['|', ',', ';'])
    }
}

fn looks_like_code(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.?:".contains(&byte)) && plausible::wordy(value)
}

/// A place in the text that moves forward.
struct Cursor<'t> {
    text: &'t str,
    at: usize,
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
        if room == 0 && closed == 0 && self.take("(") || closed > 0 && self.take(",") {
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
        for (offset, &byte) in self.rest().iter().take(LONGEST_VALUE).enumerate() {
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
        let mut end = start;
        while end - start < LONGEST_VALUE {
            match self.text.as_bytes().get(end) {
                None | Some(b'"' | b'\'' | b'`' | b',' | b';' | b'<' | b'>' | b'|' | b'\r' | b'\n' | b' ' | b'\t') => {
                    break;
                }
                Some(b'&') if self.text[..start].bytes().rev().take(200).any(|byte| byte == b'?') => break,
                Some(b'\\') => match continued(&self.text.as_bytes()[end..]) {
                    Some(gap) if end > start => end += gap,
                    _ => break,
                },
                Some(byte) if byte.is_ascii_control() => break,
                Some(_) => end += 1,
            }
        }
        while !self.text.is_char_boundary(end) {
            end -= 1;
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
