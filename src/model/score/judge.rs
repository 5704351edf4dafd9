//! Whether a text says anything, in whatever language.

use std::collections::HashSet;

use super::placeholder;

/// What was found in a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) finding: Finding,
    /// The placeholders in it.
    pub(super) placeholders: Vec<String>,
    /// Its words, without those of placeholders.
    pub(super) words: Vec<String>,
}

/// Whether a section has substance or, if not, what it has instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finding {
    /// It says something.
    Substance,
    /// There is no such section.
    Absent,
    /// Placeholders and nothing else.
    Placeholders,
    /// "None", "N/A" or the like.
    NoAnswer,
    /// No letter or digit: a heading, a comment, dashes.
    Wordless,
    /// A word or two that nobody can act on.
    Thin,
    /// The same words again and again.
    Filler,
    /// What the section of this heading already says.
    Repeats(&'static str),
}

impl Judgement {
    pub(super) fn absent() -> Self {
        Self { finding: Finding::Absent, placeholders: Vec::new(), words: Vec::new() }
    }

    /// Why the section does not earn all its points.
    pub(super) fn reasons(&self) -> Vec<String> {
        let finding = match self.finding {
            Finding::Substance | Finding::Placeholders => None,
            Finding::Absent => Some("missing".into()),
            Finding::NoAnswer => Some("'none' is no answer here".into()),
            Finding::Wordless => Some("holds no words".into()),
            Finding::Thin => Some("is too short to work from".into()),
            Finding::Filler => Some("repeats the same words again and again".into()),
            Finding::Repeats(heading) => Some(format!("says only what {heading} already says")),
        };
        finding.into_iter().chain(placeholder_reasons(&self.placeholders)).collect()
    }
}

/// Names placeholders one by one.
pub(super) fn placeholder_reasons(found: &[String]) -> Vec<String> {
    found.iter().map(|text| format!("holds the placeholder '{text}'")).collect()
}

/// Fewer letters than this say nothing. An ideograph or a syllable counts as three.
const FEWEST_LETTERS: usize = 8;

/// Lines that say that there is nothing to say.
const NO_ANSWERS: &[&str] = &[
    "ditto",
    "n a",
    "na",
    "nil",
    "none",
    "none recorded",
    "not applicable",
    "not available",
    "not known",
    "not recorded",
    "not specified",
    "nothing",
    "null",
    "same as above",
    "see above",
    "unknown",
];

/// Judges a section's text.
pub(super) fn judge(text: &str) -> Judgement {
    let extraction = placeholder::extract(text);
    let (answers, blanks): (Vec<&str>, Vec<&str>) = extraction
        .rest
        .lines()
        .filter(|line| line.chars().any(char::is_alphanumeric))
        .partition(|line| !NO_ANSWERS.contains(&words(placeholder::bare(line)).join(" ").as_str()));
    let said = answers.join("\n");
    let words = words(&said);
    let distinct: HashSet<&String> = words.iter().collect();
    let finding = if words.is_empty() {
        match (blanks.is_empty(), extraction.found.is_empty(), text.trim().is_empty()) {
            (_, _, true) => Finding::Absent,
            (_, false, false) => Finding::Placeholders,
            (false, true, false) => Finding::NoAnswer,
            (true, true, false) => Finding::Wordless,
        }
    } else if distinct.len() < 2 || letters(&said) < FEWEST_LETTERS {
        Finding::Thin
    } else if is_filler(&words) {
        Finding::Filler
    } else {
        Finding::Substance
    };
    Judgement { finding, placeholders: extraction.found, words }
}

/// The words of a text in lower case. Scripts that do not part words give one word a character.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
        let mut word = String::new();
        for c in run.chars() {
            if is_unparted(c) {
                words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
                words.push(c.into());
            } else {
                word.extend(c.to_lowercase());
            }
        }
        words.extend((!word.is_empty()).then_some(word));
    }
    words
}

/// Scripts that write words without spaces: Thai to Tibetan, Burmese, Khmer, kana, ideographs.
fn is_unparted(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0fff | 0x1000..=0x109f | 0x1780..=0x17ff) || is_dense(c)
}

/// Characters that say as much as several letters: kana, ideographs.
fn is_dense(c: char) -> bool {
    matches!(u32::from(c), 0x3005..=0x3007 | 0x3040..=0x30ff | 0x3400..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

fn letters(text: &str) -> usize {
    let weight = |c: char| match c {
        c if is_dense(c) || matches!(c, '\u{ac00}'..='\u{d7af}') => 3,
        c if c.is_alphanumeric() => 1,
        _ => 0,
    };
    text.chars().map(weight).sum()
}

/// From so many different sequences on a text has substance, whatever it repeats besides.
const ENOUGH_SEQUENCES: usize = 24;

/// Whether the text mostly repeats itself: of its sequences of three words fewer than two in five are different.
/// Ordinary text, lists too, hardly ever has the same three words in a row twice.
fn is_filler(words: &[String]) -> bool {
    let dummy = ["lorem", "ipsum", "dolor"];
    let sequences: Vec<&[String]> = words.windows(3).collect();
    let distinct: HashSet<&[String]> = sequences.iter().copied().collect();
    let repeats = sequences.len() >= 6 && distinct.len() * 5 < sequences.len() * 2 && distinct.len() < ENOUGH_SEQUENCES;
    repeats || sequences.iter().any(|sequence| *sequence == dummy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(text: &str) -> Finding {
        judge(text).finding
    }

    #[test]
    fn short_text_of_any_script_has_substance() {
        for text in [
            "Ship the filter",
            "Fix parser",
            "c1 (3f78685)",
            "Der Zerteiler läuft; Rückgaben fehlen.",
            "解析器は動くが、返金はまだ。",
            "テスト追加",
            "المحلل يعمل والاختبارات ناجحة",
            "Парсер готов",
            "파서 완성",
            "การทดสอบผ่านแล้ว",
        ] {
            assert_eq!(finding(text), Finding::Substance, "{text}");
        }
    }

    #[test]
    fn what_says_nothing_is_told_by_kind() {
        let found = [
            "",
            "[TODO: x]\nTBD",
            "None.",
            "- N/A\n- none",
            "---\n### Notes\n<!-- hint -->",
            "👍 🎉",
            "done",
            "ok ok ok ok ok",
        ]
        .map(finding);
        let expected = [
            Finding::Absent,
            Finding::Placeholders,
            Finding::NoAnswer,
            Finding::NoAnswer,
            Finding::Wordless,
            Finding::Wordless,
            Finding::Thin,
            Finding::Thin,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn repeated_words_are_filler_in_any_script() {
        assert_eq!(finding(&"lorem ipsum dolor sit amet ".repeat(9)), Finding::Filler);
        assert_eq!(finding(&"The work is going well. ".repeat(4)), Finding::Filler);
        assert_eq!(finding(&"作業は順調です。".repeat(5)), Finding::Filler);
        assert_eq!(finding("Lorem ipsum dolor sit amet, consectetur adipiscing elit"), Finding::Filler);
    }

    #[test]
    fn lists_with_a_pattern_are_no_filler() {
        let list: Vec<String> =
            (0..40).map(|n| format!("- Ported the test of module m{n} to the new harness")).collect();
        assert_eq!(finding(&list.join("\n")), Finding::Substance);
        let log: String = (0..30).map(|n| format!("test parser::case_{n} ... ok\n")).collect();
        assert_eq!(finding(&format!("```\n{log}```")), Finding::Substance);
    }
}
