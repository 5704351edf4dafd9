//! Values that stand beside a name which says that they are secret.
//!
//! Read by hand and not by one large pattern: a name, a separator and a value have many spellings (environment
//! files, JSON inside JSON, YAML blocks, makefiles, flags, XML, tables), and what counts as a secret depends on the
//! spelling. In code an unquoted value is a variable; in an environment file it is the value itself.

use std::ops::Range;

use super::Certainty;
use super::engine::Hit;
use super::names::{Named, named};
use super::spelling::{Cursor, Join, LONGEST_NAME, Name, Value, unfolded};
use super::{plausible, rules};

/// What every name of a secret contains.
pub(super) const KEYWORDS: &[&str] = &["pass", "pwd", "pw", "psw", "secret", "token", "key", "cred"];

/// The rules that live here.
pub(super) const RULES: [&str; 2] = [PASSWORD, TOKEN];

const PASSWORD: &str = "password-assignment";
const TOKEN: &str = "generic-api-key";

/// How much of a long value decides what it is.
const JUDGED: usize = 128;

/// The secrets beside the names that contain a keyword at one of these places.
pub(super) fn hits<'t>(text: &'t str, keywords: &[Range<usize>]) -> Vec<Hit<'t>> {
    let mut hits = Vec::new();
    let mut done = 0;
    let mut last_bare = 0..0;
    for keyword in keywords {
        if keyword.start < done {
            continue;
        }
        let Some(name) = Name::around(text, keyword) else { continue };
        done = name.span.end;
        if name.is_part_of_a_path(text) {
            continue;
        }
        let Some(kind) = name.kind(text) else { continue };
        let cursor = Cursor { text, at: name.span.end, last_bare: last_bare.clone() };
        let Some(value) = Value::beside(cursor, &name) else { continue };
        if !value.quoted && value.span.start >= last_bare.end {
            last_bare = value.span.clone();
        }
        if value.is_secret(text, &name, kind) {
            done = value.span.end;
            hits.push(Hit {
                rule: match kind {
                    Named::Password => PASSWORD,
                    Named::Token => TOKEN,
                },
                certainty: Certainty::Suspected,
                secret: unfolded(&text[value.span.clone()]),
                span: value.span,
                public: 0,
            });
        }
    }
    hits
}

impl Name {
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

    /// Whether it is written as environment variables are.
    fn is_in_capitals(&self, text: &str) -> bool {
        !text[self.span.clone()].bytes().any(|byte| byte.is_ascii_lowercase())
    }

    fn is_name_of_a_rule(&self, text: &str) -> bool {
        let name = text[self.span.clone()].trim_start_matches('-');
        RULES.contains(&name) || rules::all().any(|rule| rule.name == name)
    }
}

impl Value {
    fn is_secret(&self, text: &str, name: &Name, kind: Named) -> bool {
        let value = unfolded(beginning(&text[self.span.clone()]));
        let value = value.as_ref();
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
        if self.join == Join::Call {
            return plausible::random(value) && !value.contains('\\');
        }
        let literal = self.is_literal();
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
        let literal = self.is_literal();
        (invented && (literal || self.ends_its_line(text))) || (literal && chosen && value.len() >= 10)
    }

    /// Whether the spelling says that this is the value itself and not the name of a variable.
    fn is_literal(&self) -> bool {
        self.quoted || matches!(self.join, Join::Tight | Join::Element | Join::Block | Join::Flag)
    }

    /// Whether nothing but punctuation or a comment follows: in prose the sentence goes on.
    fn ends_its_line(&self, text: &str) -> bool {
        let line = text[self.span.end..].lines().next().unwrap_or_default();
        if line.starts_with(['"', '\'', '`']) {
            return true;
        }
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

fn beginning(value: &str) -> &str {
    let mut end = value.len().min(JUDGED);
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    &value[..end]
}
