//! The table of formats: what providers publish about their credentials, and where credentials stand.
//!
//! Names are those that users know from gitleaks where it has one; the patterns are our own.

mod cloud;
mod contexts;
mod development;
mod services;

use std::ops::Range;

use super::{Certainty, plausible};

/// One format of a credential.
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) certainty: Certainty,
    /// Lower-case texts of which every match contains one, in any case.
    pub(super) keywords: &'static [&'static str],
    /// The first group that takes part in the match is the secret; without groups the whole match.
    pub(super) pattern: &'static str,
    pub(super) form: Form,
    /// Looks again at what matched.
    pub(super) accept: fn(Match<'_>) -> bool,
}

/// Whether a secret is known by itself or by what stands around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The pattern is the token; it may not begin in the middle of a word.
    Token,
    /// The pattern says where the secret stands.
    Context,
}

/// A secret that a pattern has found, before it is believed.
pub(super) struct Match<'t> {
    pub(super) text: &'t str,
    pub(super) span: Range<usize>,
}

impl<'t> Match<'t> {
    pub(super) fn secret(&self) -> &'t str {
        &self.text[self.span.clone()]
    }

    /// What stands before the secret on its command line, at most 400 bytes of it.
    pub(super) fn command(&self) -> &'t str {
        let mut from = self.span.start.saturating_sub(400);
        while !self.text.is_char_boundary(from) {
            from += 1;
        }
        let before = &self.text[from..self.span.start];
        let line = before.rmatch_indices('\n').find(|(at, _)| !before[..*at].trim_end_matches('\r').ends_with('\\'));
        &before[line.map_or(0, |(at, _)| at + 1)..]
    }
}

impl Rule {
    const fn token(name: &'static str, keywords: &'static [&'static str], pattern: &'static str) -> Self {
        let accept = plausible::is_no_placeholder;
        Self { name, certainty: Certainty::Certain, keywords, pattern, form: Form::Token, accept }
    }

    const fn context(name: &'static str, keywords: &'static [&'static str], pattern: &'static str) -> Self {
        let accept = plausible::is_no_placeholder;
        Self { name, certainty: Certainty::Certain, keywords, pattern, form: Form::Context, accept }
    }

    const fn when(mut self, accept: fn(Match<'_>) -> bool) -> Self {
        self.accept = accept;
        self
    }

    /// How many leading characters of this secret are the published prefix.
    pub(super) fn public_prefix(&self, secret: &str) -> usize {
        let begins = |keyword: &&str| {
            secret.as_bytes().get(..keyword.len()).is_some_and(|start| start.eq_ignore_ascii_case(keyword.as_bytes()))
        };
        self.keywords.iter().copied().filter(begins).map(str::len).max().unwrap_or(0)
    }
}

/// Every rule that is a pattern.
pub(super) fn all() -> impl Iterator<Item = &'static Rule> {
    [cloud::RULES, development::RULES, services::RULES, contexts::RULES].into_iter().flatten()
}
