//! What the secret scanner finds and leaves alone, measured on `tests/corpus/`.

#![allow(clippy::print_stdout, reason = "the figures are what the corpus is for")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use git_handoff::secrets::{mask, rule_names, scan};

/// One text that holds a secret.
struct Positive {
    kind: String,
    rule: String,
    text: String,
    /// What was made up for it.
    invented: Vec<String>,
}

fn corpus(set: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(set)
}

fn positives(set: &str) -> Vec<Positive> {
    let table = std::fs::read_to_string(corpus(set).join("positives.tsv")).expect("the corpus is in the repository");
    let mut invent = Invention::new(set.len() as u64);
    let mut row = |line: &str| {
        let mut columns = line.splitn(3, '\t').map(str::to_owned);
        let mut column = || columns.next().expect("three columns");
        let (kind, rule, template) = (column(), column(), column());
        let text = invent.expand(&template).replace('⏎', "\n");
        Positive { kind, rule, text, invented: std::mem::take(&mut invent.made) }
    };
    table.lines().map(&mut row).collect()
}

fn negatives(set: &str) -> Vec<(String, String)> {
    let mut files: Vec<_> = std::fs::read_dir(corpus(set))
        .expect("the corpus is in the repository")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).expect("readable")))
        .collect()
}

/// Invented secrets: the same ones in every run, and none of them in a file.
struct Invention {
    state: u64,
    made: Vec<String>,
}

impl Invention {
    fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, made: Vec::new() }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from((self.state >> 11) % limit as u64).expect("below a usize")
    }

    fn text(&mut self, alphabet: &str, length: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| letters[self.below(letters.len())]).collect()
    }

    /// Fills in `«…»`, innermost first as they nest.
    fn expand(&mut self, template: &str) -> String {
        let Some(open) = template.find('«') else { return template.to_owned() };
        let mut depth = 0;
        let close = template[open..]
            .char_indices()
            .find(|(_, c)| {
                depth += i32::from(*c == '«') - i32::from(*c == '»');
                depth == 0
            })
            .map(|(at, _)| open + at)
            .expect("every « has its »");
        let inner = self.expand(&template[open + '«'.len_utf8()..close]);
        let filled = self.fill(&inner);
        format!("{}{filled}{}", &template[..open], self.expand(&template[close + '»'.len_utf8()..]))
    }

    fn fill(&mut self, what: &str) -> String {
        const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
        const DIGITS: &str = "0123456789";
        if what == "+" {
            return String::new();
        }
        if what == "uuid" {
            return [8, 4, 4, 4, 12].map(|length| self.text("0123456789abcdef", length)).join("-");
        }
        let (kind, argument) = what.split_once(':').expect("alphabet:length");
        let alphabet = match kind {
            "base64" => return base64(&argument.replace('⏎', "\n")),
            "percent" => return percent(argument),
            "b62" => format!("{UPPER}{LOWER}{DIGITS}"),
            "b64" => format!("{UPPER}{LOWER}{DIGITS}+/"),
            "b64u" => format!("{UPPER}{LOWER}{DIGITS}-_"),
            "hex" => "0123456789abcdef".to_owned(),
            "up" => format!("{UPPER}{DIGITS}"),
            "low" => format!("{LOWER}{DIGITS}"),
            "num" => DIGITS.to_owned(),
            "b32" => "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".to_owned(),
            other => panic!("unknown alphabet {other}"),
        };
        let text = self.text(&alphabet, argument.parse().expect("a length"));
        self.made.push(text.clone());
        text
    }
}

fn base64(text: &str) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits = chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let value = (bits >> (18 - 6 * digit)) as usize & 63;
            out.push(if digit <= chunk.len() { char::from(DIGITS[value]) } else { '=' });
        }
    }
    out
}

fn percent(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("writing to a String cannot fail");
        }
        out
    })
}

/// What went wrong in a set, in words, and how much was right.
struct Measure {
    positives: usize,
    found: usize,
    lines: usize,
    alarms: usize,
    report: String,
}

impl Measure {
    fn of(set: &str) -> Self {
        let mut measure = Self { positives: 0, found: 0, lines: 0, alarms: 0, report: String::new() };
        for positive in positives(set) {
            let findings = scan(&positive.text);
            let found = findings.iter().any(|finding| finding.rule == positive.rule);
            measure.positives += 1;
            measure.found += usize::from(found);
            if !found {
                let rules: Vec<_> = findings.iter().map(|finding| finding.rule).collect();
                measure
                    .note(&format!("missed {} ({}), found {rules:?}: {}", positive.kind, positive.rule, positive.text));
            }
        }
        for (file, text) in negatives(set) {
            measure.lines += text.lines().filter(|line| !line.trim().is_empty()).count();
            for finding in scan(&text) {
                measure.alarms += 1;
                let line = text.lines().nth(finding.line - 1).unwrap_or_default();
                measure.note(&format!("false alarm {} in {file}:{}: {line}", finding.rule, finding.line));
            }
        }
        measure
    }

    fn note(&mut self, line: &str) {
        self.report.push_str(line);
        self.report.push('\n');
    }

    fn summary(&self) -> String {
        format!(
            "{} of {} secrets found, {} false alarms in {} lines",
            self.found, self.positives, self.alarms, self.lines
        )
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are for people")]
fn all_secrets_of_the_corpus_are_found_and_nothing_else_is() {
    for set in ["held-out", "tuned"] {
        let measure = Measure::of(set);
        println!("{set}: {}", measure.summary());
        assert_eq!(measure.report, "", "{set}: {}", measure.summary());
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are for people")]
fn the_corpus_is_as_large_as_the_documentation_says() {
    let positives: Vec<_> = ["held-out", "tuned"].into_iter().flat_map(positives).collect();
    let kinds: BTreeSet<_> = positives.iter().map(|positive| &positive.kind).collect();
    let lines: usize = ["held-out", "tuned"].into_iter().map(|set| Measure::of(set).lines).sum();
    println!("{} secrets of {} kinds, {lines} lines without", positives.len(), kinds.len());
    assert!(
        positives.len() >= 240 && kinds.len() >= 120 && lines >= 440,
        "{} {} {lines}",
        positives.len(),
        kinds.len()
    );
}

#[test]
fn every_rule_finds_something_in_the_corpus() {
    let found: BTreeSet<_> = ["held-out", "tuned"]
        .into_iter()
        .flat_map(positives)
        .flat_map(|positive| scan(&positive.text))
        .map(|finding| finding.rule)
        .collect();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), rule_names());
}

#[test]
fn a_masked_text_holds_no_invented_secret() {
    for positive in ["held-out", "tuned"].into_iter().flat_map(positives) {
        let masked = mask(&positive.text);
        assert_eq!(scan(&masked), [], "{}", positive.kind);
        for secret in positive.invented.iter().filter(|secret| secret.len() >= 10) {
            assert!(!masked.contains(secret.as_str()), "{}: {secret} stays in {masked}", positive.kind);
        }
    }
}

#[test]
fn the_templates_themselves_are_no_findings() {
    for set in ["held-out", "tuned"] {
        let templates = std::fs::read_to_string(corpus(set).join("positives.tsv")).expect("readable");
        assert_eq!(scan(&templates), [], "{set}");
    }
}

#[test]
fn every_rule_is_in_the_documentation() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/secrets.md")).expect("readable");
    let missing: Vec<_> = rule_names().into_iter().filter(|rule| !page.contains(&format!("`{rule}`"))).collect();
    assert_eq!(missing, Vec::<&str>::new());
}
