//! Evidence in Markdown: `` - passed: `cargo test` (observed) ``, and the ways in which authors write the same.

use super::list::Form;
use super::span;
use crate::model::{Evidence, Observer, Outcome};

/// How a line says that this tool ran the check itself.
const OBSERVED: &str = " (observed)";

/// Evidence as the text of a list entry. `None` when it has no form that reads back.
pub(super) fn render_entry(evidence: &Evidence) -> Option<String> {
    let outcome = evidence.outcome.map_or_else(String::new, |outcome| format!("{outcome}: "));
    let observed = match evidence.observed_by {
        Observer::Tool => OBSERVED,
        Observer::Author => "",
    };
    let text = match (&evidence.command, &evidence.detail) {
        (Some(command), None) => format!("{outcome}{}{observed}", span::render(command)),
        (Some(command), Some(detail)) => format!("{outcome}{}{observed}: {detail}", span::render(command)),
        (None, Some(detail)) => format!("{outcome}{detail}"),
        (None, None) => return None,
    };
    (read_entry(&text, None) == *evidence).then_some(text)
}

/// The evidence of a section's entry. What it says of the observer is for the caller to believe or not.
pub(super) fn read_block(text: &str, form: Form) -> Evidence {
    match form {
        Form::Done => read_entry(text, Some(Outcome::Passed)),
        Form::Open => read_entry(text, Some(Outcome::NotRun)),
        Form::Item | Form::Paragraph => read_entry(text, None),
    }
}

/// The evidence that a text gives, with the outcome that its tick box stands for.
pub(super) fn read_entry(text: &str, ticked: Option<Outcome>) -> Evidence {
    if let Some(read) = led_by_outcome(text).or_else(|| led_by_command(text)).or_else(|| led_by_name(text)) {
        return Evidence { outcome: read.outcome.or(ticked), ..read };
    }
    match ticked {
        Some(outcome) if !text.contains('\n') => author(Some(text), Some(outcome), None),
        outcome => author(None, outcome, Some(text)),
    }
}

/// `` passed: `cargo test` (observed): detail `` or `passed: detail`.
fn led_by_outcome(text: &str) -> Option<Evidence> {
    let (word, rest) = text.split_once(':')?;
    let outcome = outcome_of(word)?;
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let read = command(rest).unwrap_or_else(|| author(None, None, Some(rest)));
    Some(Evidence { outcome: Some(outcome), ..read })
}

/// `` `cargo test`: passed `` or `` `cargo test`: detail ``.
fn led_by_command(text: &str) -> Option<Evidence> {
    let read = command(text)?;
    Some(match read.detail.as_deref().and_then(split_outcome) {
        Some((outcome, rest)) => Evidence { outcome: Some(outcome), detail: remark(rest).map(str::to_owned), ..read },
        None => read,
    })
}

/// `unit tests: passed (12 of them)`.
fn led_by_name(text: &str) -> Option<Evidence> {
    let (name, rest) = text.split_once(':')?;
    if name.contains('\n') || name.chars().count() > 80 {
        return None;
    }
    let (outcome, rest) = split_outcome(rest.trim_start_matches(['*', ' ']))?;
    // `Result: failed attempts are logged` is prose.
    let ends = rest.trim_start().chars().next().is_none_or(|next| !next.is_alphanumeric());
    let name = name.trim_matches(['*', ' ']);
    (ends && !name.is_empty()).then(|| author(Some(name), Some(outcome), remark(rest)))
}

/// A command as a code span with what follows it; the outcome stays open.
fn command(text: &str) -> Option<Evidence> {
    let (command, rest) = span::split(text)?;
    if command.contains('\n') {
        return None;
    }
    let (observed_by, rest) = match rest.strip_prefix(OBSERVED) {
        Some(rest) => (Observer::Tool, rest),
        None => (Observer::Author, rest),
    };
    let separators = [": ", " - ", " – ", " — ", " → ", " "];
    let detail = separators.iter().find_map(|separator| rest.strip_prefix(separator));
    let detail = match detail {
        Some(detail) => Some(detail),
        None if rest.is_empty() => None,
        None => rest.strip_prefix([':', '\n']).or(Some(rest)),
    };
    let detail = detail.map(str::trim_end).filter(|detail| !detail.is_empty());
    Some(Evidence { observed_by, ..author(Some(command), None, detail) })
}

/// An outcome at the beginning of a text, and what follows it.
fn split_outcome(text: &str) -> Option<(Outcome, &str)> {
    let end = text.find([' ', ',', ';', ':', '.', '(', '\n']).unwrap_or(text.len());
    let (word, rest) = match text.get(..7) {
        Some(words) if words.eq_ignore_ascii_case("not run") => text.split_at(7),
        _ => text.split_at(end),
    };
    Some((outcome_of(word)?, rest))
}

/// What is said after an outcome.
fn remark(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches([' ', ',', ';', ':', '.', '-', '–', '—']).trim();
    let inner = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).filter(|inner| !inner.contains(')'));
    Some(inner.unwrap_or(rest)).filter(|said| !said.is_empty())
}

/// The outcome that a word means, with the words that authors use besides ours.
fn outcome_of(word: &str) -> Option<Outcome> {
    let word = word.trim_matches(['*', '_', ' ', '[', ']']);
    match word.to_lowercase().as_str() {
        "pass" | "passes" | "passing" | "ok" | "success" | "succeeded" | "green" | "✅" => Some(Outcome::Passed),
        "fail" | "fails" | "failing" | "failure" | "red" | "❌" => Some(Outcome::Failed),
        "skipped" | "not_run" | "notrun" => Some(Outcome::NotRun),
        other => other.parse().ok(),
    }
}

/// What the author says.
fn author(command: Option<&str>, outcome: Option<Outcome>, detail: Option<&str>) -> Evidence {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    Evidence { command: owned(command), outcome, detail: owned(detail), observed_by: Observer::Author }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_authors_write_is_understood() {
        use Outcome::{Failed, NotRun, Passed};
        let lines = [
            ("passed: `cargo test`", author(Some("cargo test"), Some(Passed), None)),
            ("`cargo test` — passed", author(Some("cargo test"), Some(Passed), None)),
            ("`cargo test`: 12 of 12", author(Some("cargo test"), None, Some("12 of 12"))),
            ("unit tests: passed (12 of them)", author(Some("unit tests"), Some(Passed), Some("12 of them"))),
            ("**Lint**: failed, two findings", author(Some("Lint"), Some(Failed), Some("two findings"))),
            ("clippy: not run", author(Some("clippy"), Some(NotRun), None)),
            ("`make`: failed with two errors", author(Some("make"), Some(Failed), Some("with two errors"))),
            ("Result: failed attempts are logged", author(None, None, Some("Result: failed attempts are logged"))),
            ("passed: twelve tests", author(None, Some(Passed), Some("twelve tests"))),
            (
                "Looked at the page by hand: it is fine",
                author(None, None, Some("Looked at the page by hand: it is fine")),
            ),
        ];
        for (line, expected) in lines {
            assert_eq!(read_entry(line, None), expected, "{line}");
        }
        assert_eq!(read_entry("cargo test", Some(Passed)), author(Some("cargo test"), Some(Passed), None));
    }

    #[test]
    fn what_this_tool_saw_reads_back() {
        let evidence = Evidence {
            command: Some("cargo `x`".into()),
            outcome: Some(Outcome::Failed),
            detail: Some("exit 1\nin 2 s".into()),
            observed_by: Observer::Tool,
        };
        let text = render_entry(&evidence).expect("it has a form");
        assert_eq!(text, "failed: `` cargo `x` `` (observed): exit 1\nin 2 s");
        assert_eq!(read_entry(&text, None), evidence);
    }

    #[test]
    fn evidence_that_says_nothing_has_no_readable_form() {
        assert_eq!(render_entry(&author(None, Some(Outcome::Passed), None)), None);
    }
}
