//! Secrets in text: finding them, naming them without showing them, masking them. Pure.
//!
//! A handoff is pushed and stays in git for ever, so a credential in it must be seen before the first object is
//! written. Git object ids, integrity hashes and names of variables fill such documents, so entropy alone is
//! useless: a finding needs a format that a provider publishes, or a name that says what its value is.
//!
//! - `rules`: the table of formats, each with the keywords without which it cannot match
//! - `engine`: one pass for all keywords, then only the patterns that were woken
//! - `assignment`: `DB_PASSWORD=…`, `"api_key": "…"` and their relatives, read by hand (`spelling`, `names`)
//! - `derived`: the same text with line wraps, percent-encoding or base64 undone
//! - `plausible`: what a value looks like: random, a word, a placeholder, a reference

mod assignment;
mod base64;
mod derived;
mod engine;
mod fingerprint;
mod names;
mod plausible;
mod rules;
mod spelling;

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A token that no file holds.
    fn token() -> String {
        format!("gh{}_{}", 'p', "Zk4Qm7Xw2Rb9Lt5Nc8Vd3Hf6Js1Pg0Ty4Ue7")
    }

    #[test]
    fn a_finding_says_where_and_what_but_not_the_secret() {
        let token = token();
        let text = format!("first line\nüber {token} end");
        let finding = Finding {
            rule: "github-pat",
            certainty: Certainty::Certain,
            line: 2,
            column: 6,
            fingerprint: Fingerprint::of("github-pat", &token),
            masked: "ghp_…(40 characters)".into(),
            span: 17..57,
        };
        assert_eq!(scan(&text), [finding]);
        assert_eq!(mask(&text), "first line\nüber [secret: github-pat] end");
    }

    #[test]
    fn a_secret_without_a_public_prefix_shows_nothing_of_itself() {
        let text = format!("DB_PASS{}=Zq9vT2mLx8Rw", "WORD");
        let masked: Vec<_> = scan(&text).into_iter().map(|finding| (finding.rule, finding.masked)).collect();
        assert_eq!(masked, [("password-assignment", "…(12 characters)".to_owned())]);
    }

    #[test]
    fn the_same_secret_has_one_fingerprint_however_it_is_wrapped() {
        let token = token();
        let (start, end) = token.split_at(20);
        let percent = token.replace('_', "%5F");
        let fingerprints: Vec<_> = [token.clone(), format!("{start}\n{end}"), percent]
            .iter()
            .flat_map(|text| scan(text))
            .map(|finding| finding.fingerprint)
            .collect();
        assert_eq!(fingerprints, vec![Fingerprint::of("github-pat", &token); 3]);
    }

    #[test]
    fn a_continued_value_has_the_fingerprint_of_the_whole() {
        let (start, end) = ("Zq9vT2mLx8Rw", "K4Hb3Qz9");
        let text = format!("API_TO{}={start}\\\n    {end}", "KEN");
        let fingerprints: Vec<_> = scan(&text).into_iter().map(|finding| finding.fingerprint).collect();
        assert_eq!(fingerprints, [Fingerprint::of("generic-api-key", &format!("{start}{end}"))]);
    }

    #[test]
    fn clean_text_is_not_copied() {
        assert!(matches!(mask("commit 3f786850e387550fdab836ed7e6dc881de23001b"), Cow::Borrowed(_)));
    }

    #[test]
    fn texts_made_to_be_slow_are_read_to_their_end() {
        let begin = format!("-----BEGIN RSA PRIV{} KEY-----", "ATE");
        for piece in [
            "key=",
            "curl ",
            "curl -u a:b ",
            "BEGIN",
            &begin,
            "password: ",
            "\\\n",
            "a\n",
            "%41",
            "://a:",
            "eyJ",
            "cookie: a=b;",
            "mysql -p",
            "\"password\"",
            "secret\\\"",
            "Authorization: ",
            "QUJD",
            " ",
            "\n",
            "--password ",
            "[secret: ",
            "password=password=",
            "token=",
            "token=a1",
            "token=\\\"a ",
            "password:",
            "sk-",
            "discord M",
            "machine a login b ",
            "ü",
            "token|",
        ] {
            let text = piece.repeat(64 * 1024 / piece.len());
            let findings = scan(&text);
            assert!(findings.iter().all(|finding| finding.span.end <= text.len()));
            assert_eq!(scan(&mask(&text)), [], "{piece}");
        }
    }

    /// Text from pieces that rules wait for, so that arbitrary text meets them more often than by chance.
    fn hostile() -> impl Strategy<Value = String> {
        const PIECES: &[&str] = &[
            "password",
            "api_key",
            "token",
            "secret",
            "=",
            ":",
            " ",
            "\n",
            "\r\n",
            "\\",
            "\"",
            "'",
            "|",
            "{",
            "}",
            "://",
            "@",
            "postgres",
            "gh",
            "p_",
            "sk-",
            "ant-",
            "AK",
            "IA",
            "eyJ",
            ".",
            "-----BEGIN ",
            "PRIVATE",
            " KEY-----",
            "-----END ",
            "Zq9vT2mLx8Rw",
            "Zk4Qm7Xw2Rb9Lt5Nc8Vd3Hf6Js1Pg0Ty4Ue7",
            "QX7ZB2M4K6P8R0T1",
            "Authorization: Bearer ",
            "Basic ",
            "cookie: ",
            "curl -u ",
            "mysql -p",
            "%3A",
            "%40",
            "é",
            "🔑",
            "\u{202e}",
            "> ",
            "    ",
            "value",
            "<",
            ">",
            "--",
            "[secret: x]",
            concat!("Z2hw", "X1prNFFtN1h3MlJiOUx0NU5jOFZkM0hmNkpzMVBnMFR5NFVlNw"),
            "&",
            "?",
            ",",
            ";",
            "$",
            "(",
            ")",
        ];
        let piece = prop_oneof![4 => prop::sample::select(PIECES).prop_map(str::to_owned), 1 => any::<String>()];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn findings_are_in_order_apart_and_on_characters(text in hostile()) {
            let findings = scan(&text);
            for finding in &findings {
                prop_assert!(!text[finding.span.clone()].is_empty());
                let before = &text[..finding.span.start];
                prop_assert_eq!(finding.line, before.matches('\n').count() + 1);
                prop_assert_eq!(finding.column, before.chars().rev().take_while(|c| *c != '\n').count() + 1);
                prop_assert!(finding.masked.chars().take_while(|c| *c != '…').count() <= 4);
                prop_assert_eq!(finding.fingerprint.as_str().parse(), Ok(finding.fingerprint.clone()));
            }
            prop_assert!(findings.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start));
        }

        #[test]
        fn a_masked_text_has_nothing_left_to_find(text in hostile()) {
            let masked = mask(&text);
            prop_assert_eq!(scan(&masked), vec![]);
            prop_assert!(!masked.contains("withheld"), "{}", text);
        }
    }
}
