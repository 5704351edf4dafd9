//! One pass for all keywords, then only the patterns that a keyword has woken.
//!
//! Compiling all patterns would cost more than everything else that `create` does, so each is compiled when one
//! of its keywords occurs for the first time, byte-wise and without Unicode tables.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Regex, RegexBuilder};

use super::rules::{Form, Match, Rule};
use super::{Certainty, assignment, derived, rules};

/// A secret found, with its text. It does not leave this module tree.
#[derive(Debug, Clone)]
pub(super) struct Hit<'t> {
    pub(super) rule: &'static str,
    pub(super) certainty: Certainty,
    pub(super) span: Range<usize>,
    /// The secret as it is when nothing encodes it.
    pub(super) secret: Cow<'t, str>,
    /// How many leading characters are a public prefix.
    pub(super) public: usize,
}

impl Hit<'_> {
    /// What may be shown.
    pub(super) fn masked(&self) -> String {
        let shown: String = self.secret.chars().take(self.public.min(4)).collect();
        format!("{shown}…({} characters)", self.secret.chars().count())
    }

    pub(super) fn into_owned(self, span: Range<usize>) -> Hit<'static> {
        Hit {
            rule: self.rule,
            certainty: self.certainty,
            span,
            secret: Cow::Owned(self.secret.into_owned()),
            public: self.public,
        }
    }
}

/// Everything found in `text`, as it stands and with one level of encoding undone. Hits may overlap.
pub(super) fn hits(text: &str) -> Vec<Hit<'_>> {
    let mut hits = direct(text);
    hits.extend(derived::hits(text));
    hits
}

/// Everything found in `text` as it stands.
fn direct(text: &str) -> Vec<Hit<'_>> {
    let woken = Woken::by(text);
    let mut hits = Vec::new();
    for &index in &woken.rules {
        table().entries[index].search(text, &mut hits);
    }
    hits.extend(assignment::hits(text, &woken.names));
    hits
}

/// What is certain in a text that was decoded.
pub(super) fn certain(text: &str) -> Vec<Hit<'_>> {
    let woken = Woken::by(text);
    let mut hits = Vec::new();
    for &index in &woken.rules {
        table().entries[index].search(text, &mut hits);
    }
    hits.retain(|hit| hit.certainty == Certainty::Certain);
    hits
}

/// Tokens that stand alone, in a text whose line wraps were taken out.
pub(super) fn tokens(text: &str) -> Vec<Hit<'_>> {
    let woken = Woken::by(text);
    let mut hits = Vec::new();
    for &index in &woken.rules {
        let entry = &table().entries[index];
        match entry.rule.form {
            Form::Token => entry.search(text, &mut hits),
            Form::Context => {}
        }
    }
    hits
}

/// The hits in order and without overlaps: the more certain one stays, then the longer one.
pub(super) fn resolved(mut hits: Vec<Hit<'_>>) -> Vec<Hit<'_>> {
    hits.sort_by_key(|hit| (std::cmp::Reverse(hit.certainty), std::cmp::Reverse(hit.span.len()), hit.span.start));
    let mut kept: BTreeMap<usize, Hit<'_>> = BTreeMap::new();
    for hit in hits {
        let before = kept.range(..hit.span.end).next_back();
        if before.is_none_or(|(_, earlier)| earlier.span.end <= hit.span.start) {
            kept.insert(hit.span.start, hit);
        }
    }
    kept.into_values().collect()
}

/// The spans that the hits cover together, each with the name of its best rule.
pub(super) fn united(mut hits: Vec<Hit<'_>>) -> Vec<(Range<usize>, &'static str)> {
    hits.sort_by_key(|hit| hit.span.start);
    let mut spans: Vec<(Range<usize>, &'static str, Certainty)> = Vec::new();
    for hit in hits {
        match spans.last_mut() {
            Some((span, rule, certainty)) if hit.span.start < span.end => {
                span.end = span.end.max(hit.span.end);
                if hit.certainty > *certainty {
                    (*rule, *certainty) = (hit.rule, hit.certainty);
                }
            }
            _ => spans.push((hit.span, hit.rule, hit.certainty)),
        }
    }
    spans.into_iter().map(|(span, rule, _)| (span, rule)).collect()
}

/// Which rules have a keyword in the text, and where names of secrets may stand.
struct Woken {
    rules: Vec<usize>,
    names: Vec<Range<usize>>,
}

impl Woken {
    fn by(text: &str) -> Self {
        let table = table();
        let mut seen = vec![false; table.wakes.len()];
        let mut names = Vec::new();
        for found in table.keywords.find_overlapping_iter(text) {
            let keyword = found.pattern().as_usize();
            seen[keyword] = true;
            if table.naming[keyword] {
                names.push(found.range());
            }
        }
        let mut rules: Vec<usize> =
            seen.iter().zip(&table.wakes).filter(|(seen, _)| **seen).flat_map(|(_, wakes)| wakes).copied().collect();
        rules.sort_unstable();
        rules.dedup();
        Self { rules, names }
    }
}

/// The rules with what is compiled of them. A constant, built when first used.
struct Table {
    entries: Vec<Entry>,
    keywords: AhoCorasick,
    /// Per keyword, the rules that it wakes.
    wakes: Vec<Vec<usize>>,
    /// Per keyword, whether names of secrets contain it.
    naming: Vec<bool>,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let entries: Vec<_> = rules::all().map(|rule| Entry { rule, regex: OnceLock::new() }).collect();
        let mut wakes: BTreeMap<&str, Vec<usize>> = assignment::KEYWORDS.iter().map(|word| (*word, vec![])).collect();
        for (index, entry) in entries.iter().enumerate() {
            for keyword in entry.rule.keywords {
                wakes.entry(keyword).or_default().push(index);
            }
        }
        let keywords = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .ascii_case_insensitive(true)
            .build(wakes.keys())
            .expect("the keywords are few and short");
        let naming = wakes.keys().map(|keyword| assignment::KEYWORDS.contains(keyword)).collect();
        Table { entries, keywords, wakes: wakes.into_values().collect(), naming }
    })
}

struct Entry {
    rule: &'static Rule,
    regex: OnceLock<Regex>,
}

impl Entry {
    fn search<'t>(&self, text: &'t str, hits: &mut Vec<Hit<'t>>) {
        let regex = self.regex.get_or_init(|| compiled(self.rule));
        for captures in regex.captures_iter(text.as_bytes()) {
            let secret = captures.iter().skip(1).flatten().next().or_else(|| captures.get(0));
            let Some(span) = secret.map(|secret| on_boundaries(text, secret.range())) else { continue };
            if span.is_empty() || !(self.rule.accept)(Match { text, span: span.clone() }) {
                continue;
            }
            let secret = &text[span.clone()];
            hits.push(Hit {
                rule: self.rule.name,
                certainty: self.rule.certainty,
                public: self.rule.public_prefix(secret),
                secret: Cow::Borrowed(secret),
                span,
            });
        }
    }
}

/// Where a token may begin: after what is no letter or digit, an escape (`\n`), or a percent-encoded byte.
const BEGINNING: &str = r"(?:^|[^A-Za-z0-9]|\\[nrt]|%[0-9A-Fa-f]{2})";

fn compiled(rule: &Rule) -> Regex {
    let pattern = match rule.form {
        Form::Token => Cow::Owned(format!("{BEGINNING}({})", rule.pattern)),
        Form::Context => Cow::Borrowed(rule.pattern),
    };
    RegexBuilder::new(&pattern).unicode(false).build().expect("a test compiles every pattern")
}

/// The smallest span of whole characters around a span of bytes.
fn on_boundaries(text: &str, mut span: Range<usize>) -> Range<usize> {
    while !text.is_char_boundary(span.start) {
        span.start -= 1;
    }
    while !text.is_char_boundary(span.end) {
        span.end += 1;
    }
    span
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_no_keyword_has_capitals() {
        for rule in rules::all() {
            compiled(rule);
            assert!(!rule.keywords.is_empty(), "{}", rule.name);
            for keyword in rule.keywords {
                assert_eq!(*keyword, keyword.to_ascii_lowercase(), "{}", rule.name);
            }
        }
    }

    fn hit(rule: &'static str, certainty: Certainty, span: Range<usize>) -> Hit<'static> {
        Hit { rule, certainty, span, secret: "x".into(), public: 0 }
    }

    #[test]
    fn of_overlapping_hits_the_more_certain_then_the_longer_stays() {
        let hits = vec![
            hit("suspected", Certainty::Suspected, 0..40),
            hit("short", Certainty::Certain, 10..20),
            hit("long", Certainty::Certain, 12..25),
            hit("apart", Certainty::Suspected, 40..50),
        ];
        let kept: Vec<_> = resolved(hits).into_iter().map(|hit| (hit.rule, hit.span)).collect();
        assert_eq!(kept, [("long", 12..25), ("apart", 40..50)]);
    }
}
