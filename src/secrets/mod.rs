//! Secrets in text: finding them, naming them without showing them, masking them. Pure.
//!
//! A handoff is pushed and stays in git for ever, so a credential in it must be seen before the first object is
//! written. Git object ids, integrity hashes and names of variables fill such documents, so entropy alone is
//! useless: a finding needs a format that a provider publishes, or a name that says what its value is.
//!
//! - [`rules`]: the table of formats, each with the keywords without which it cannot match
//! - [`engine`]: one pass for all keywords, then only the patterns that were woken
//! - [`assignment`]: `DB_PASSWORD=…`, `"api_key": "…"` and their relatives, read by hand
//! - [`derived`]: the same text with line wraps, percent-encoding or base64 undone
//! - [`plausible`]: what a value looks like: random, a word, a placeholder, a reference

mod assignment;
mod base64;
mod derived;
mod engine;
mod fingerprint;
mod names;
mod plausible;
mod rules;

use std::borrow::Cow;
use std::ops::Range;

pub use fingerprint::{Fingerprint, FingerprintError};

/// How sure a rule is. Both kinds refuse a handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// A name says that the value is secret, and the value looks like one.
    Suspected,
    /// The format itself says that it is a credential.
    Certain,
}

/// One secret in a text. It never holds the secret itself, so it can be printed and logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The name of the rule, as `docs/secrets.md` lists it.
    pub rule: &'static str,
    /// How sure the rule is.
    pub certainty: Certainty,
    /// Line of the first character, from 1.
    pub line: usize,
    /// Column of the first character, in characters from 1.
    pub column: usize,
    /// What names this one secret, to allow it.
    pub fingerprint: Fingerprint,
    /// What may be shown of it: at most four characters of a public prefix, and its length.
    pub masked: String,
    /// The bytes of the scanned text that hold it.
    pub span: Range<usize>,
}

/// The secrets in `text`, in order, none overlapping another.
pub fn scan(text: &str) -> Vec<Finding> {
    let mut place = Place::default();
    engine::resolved(engine::hits(text))
        .into_iter()
        .map(|hit| {
            place.advance(text, hit.span.start);
            Finding {
                rule: hit.rule,
                certainty: hit.certainty,
                line: place.line + 1,
                column: place.column + 1,
                fingerprint: Fingerprint::of(hit.rule, &hit.secret),
                masked: hit.masked(),
                span: hit.span,
            }
        })
        .collect()
}

/// The same text with a label in the place of every secret: `[secret: github-pat]`.
///
/// Nothing is left to find: `scan(&mask(text))` is empty.
pub fn mask(text: &str) -> Cow<'_, str> {
    let mut masked = Cow::Borrowed(text);
    for _ in 0..MASK_ROUNDS {
        let hits = engine::hits(&masked);
        if hits.is_empty() {
            return masked;
        }
        masked = Cow::Owned(replaced(&masked, hits));
    }
    Cow::Borrowed("[text withheld: secrets remain in it]")
}

/// The names of all rules, sorted.
pub fn rule_names() -> Vec<&'static str> {
    let mut names: Vec<_> = rules::all().map(|rule| rule.name).chain(assignment::RULES).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A masked text can join what stood apart; texts that need more than this many rounds are made to annoy.
const MASK_ROUNDS: usize = 16;

fn replaced(text: &str, hits: Vec<engine::Hit<'_>>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for (span, rule) in engine::united(hits) {
        out.push_str(&text[copied..span.start]);
        out.push_str("[secret: ");
        out.push_str(rule);
        out.push(']');
        copied = span.end;
    }
    out.push_str(&text[copied..]);
    out
}

/// A position that only moves forward, so that all lines are counted in one pass.
#[derive(Default)]
struct Place {
    offset: usize,
    line: usize,
    column: usize,
}

impl Place {
    fn advance(&mut self, text: &str, to: usize) {
        let passed = &text[self.offset..to];
        match passed.rfind('\n') {
            Some(last) => {
                self.line += passed.bytes().filter(|&byte| byte == b'\n').count();
                self.column = passed[last + 1..].chars().count();
            }
            None => self.column += passed.chars().count(),
        }
        self.offset = to;
    }
}
