//! Whether a handoff may be stored: bounds, secrets, score, completeness, in that order, before the first object is
//! written. `create`, `edit` and `validate` all judge here.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::error::{Code, Failure};
use super::place::Place;
use super::scanner::{self, Complaint};
use super::session::Session;
use crate::document::{self, BoundsError};
use crate::model::score::{Facts, Revision, Score, score};
use crate::model::{Completeness, Handoff, ObjectName};
use crate::secrets::{self, Finding, Fingerprint};

/// A secret and the field that it stands in.
#[derive(Debug, Clone)]
pub(super) struct Located {
    /// The field, such as `decisions[2]` or `extra.Environment`; `None` where only the given text has it.
    pub(super) field: Option<String>,
    /// The finding, with line and column inside the field.
    pub(super) finding: Finding,
    /// The line of the text that was given, or of the field where there is none.
    pub(super) line: usize,
}

/// What is judged.
pub(super) struct Subject<'a> {
    /// The handoff.
    pub(super) handoff: &'a Handoff,
    /// What is known of its source commit.
    pub(super) revision: Revision,
    /// The commit in which its files may be found.
    pub(super) commit: Option<ObjectName>,
    /// The text that it stands in.
    pub(super) text: Text<'a>,
    /// The findings that are allowed.
    pub(super) allowed: &'a [Fingerprint],
}

/// The text that a handoff stands in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Text<'a> {
    /// None: it was put together from flags.
    None,
    /// What its author gave: everything in it is scanned, and lines are counted in it.
    Given(&'a str),
    /// Its own rendering, in which lines are counted.
    Rendered(&'a str),
}

impl<'a> Text<'a> {
    fn as_str(self) -> Option<&'a str> {
        match self {
            Self::None => None,
            Self::Given(text) | Self::Rendered(text) => Some(text),
        }
    }
}

impl<'a> Subject<'a> {
    /// A handoff that was made by this tool and says itself which commit it stands on.
    pub(super) fn sealed(handoff: &'a Handoff, text: Text<'a>, allowed: &'a [Fingerprint]) -> Self {
        let commit = handoff.metadata.commit;
        let revision = if commit.is_some() { Revision::Known } else { Revision::Unborn };
        Self { handoff, revision, commit, text, allowed }
    }

    /// A handoff that is about to be made at a place.
    pub(super) fn at(place: &Place, handoff: &'a Handoff, text: Text<'a>, allowed: &'a [Fingerprint]) -> Self {
        Self { handoff, revision: place.revision(), commit: place.commit, text, allowed }
    }
}

/// All that there is to say about whether a handoff may be stored.
#[derive(Debug)]
pub(super) struct Judgement {
    /// Why it is too large; then nothing else is judged.
    pub(super) bounds: Option<BoundsError>,
    /// The secrets that nobody allowed.
    pub(super) findings: Vec<Located>,
    /// The allowed findings that are in it, by fingerprint.
    pub(super) allowed: Vec<String>,
    /// What the scanner of the configuration says.
    pub(super) complaint: Option<Complaint>,
    /// The points; `None` when it is too large.
    pub(super) score: Option<Score>,
    /// What it lacks although it claims that one may continue from it alone.
    pub(super) lacking: Vec<&'static str>,
}

impl Judgement {
    /// Judges.
    ///
    /// # Errors
    /// When the scanner of the configuration cannot be run.
    pub(super) fn of(session: &Session<'_>, subject: &Subject<'_>) -> Result<Self, Failure> {
        let handoff = subject.handoff;
        if let Err(bounds) = document::within_bounds(handoff) {
            return Ok(Self {
                bounds: Some(bounds),
                findings: Vec::new(),
                allowed: Vec::new(),
                complaint: None,
                score: None,
                lacking: Vec::new(),
            });
        }
        let found = in_text(find_secrets(&document::to_value(handoff), subject.text.as_str()), subject.text);
        let is_allowed = |located: &Located| subject.allowed.contains(&located.finding.fingerprint);
        let (permitted, findings): (Vec<Located>, Vec<Located>) = found.into_iter().partition(is_allowed);
        let mut allowed: Vec<String> =
            permitted.iter().map(|located| located.finding.fingerprint.to_string()).collect();
        allowed.sort();
        allowed.dedup();
        Ok(Self {
            bounds: None,
            findings,
            allowed,
            complaint: scanner::ask(session, handoff, subject.text)?,
            score: Some(score(&Facts {
                content: &handoff.content,
                status: handoff.status,
                topic: &handoff.topic,
                revision: subject.revision,
                path_exists: &|path| session.path_exists(path, subject.commit),
            })),
            lacking: match handoff.completeness {
                Completeness::Authoritative => lacking(handoff),
                Completeness::Partial => Vec::new(),
            },
        })
    }

    /// The points; none when it is too large to be judged.
    pub(super) fn total(&self) -> u8 {
        self.score.as_ref().map_or(0, |score| score.total)
    }

    /// Everything that is to be added or corrected, one sentence each.
    pub(super) fn missing(&self) -> Vec<String> {
        let bounds = self.bounds.iter().map(ToString::to_string);
        let score = self.score.iter().flat_map(|score| score.missing.iter().cloned());
        let lacking =
            self.lacking.iter().map(|what| format!("Completeness: {what} is needed to continue from it alone."));
        bounds.chain(score).chain(lacking).collect()
    }

    /// The first reason not to store it, if there is one.
    pub(super) fn refusal(&self) -> Option<Failure> {
        if let Some(bounds) = &self.bounds {
            return Some(Failure::because(Code::TooLarge, bounds));
        }
        if !self.findings.is_empty() {
            return Some(secret_failure(&self.findings));
        }
        if let Some(complaint) = &self.complaint {
            return Some(complaint.failure());
        }
        let score = self.score.as_ref()?;
        if !score.is_sufficient() {
            return Some(score_failure(score));
        }
        (!self.lacking.is_empty()).then(|| lacking_failure(&self.lacking))
    }

    /// The score of a handoff that may be stored. The findings that its author allowed are recorded in it.
    ///
    /// # Errors
    /// `TOO_LARGE`, `SECRET_FOUND`, `SCORE_TOO_LOW` or `NOT_AUTHORITATIVE`.
    pub(super) fn accept(self, handoff: &mut Handoff) -> Result<Score, Failure> {
        if let Some(refusal) = self.refusal() {
            return Err(refusal);
        }
        handoff.metadata.allowed_findings = self.allowed;
        Ok(self.score.expect("what is not too large has a score"))
    }
}

/// Judges a handoff that is to be made at a place, records in it the findings that its author allowed, and returns its
/// score.
///
/// # Errors
/// As [`Judgement::of`] and [`Judgement::accept`].
pub(super) fn judge(
    session: &Session<'_>,
    place: &Place,
    handoff: &mut Handoff,
    text: Text<'_>,
    allowed: &[Fingerprint],
) -> Result<Score, Failure> {
    Judgement::of(session, &Subject::at(place, handoff, text, allowed))?.accept(handoff)
}

/// Refuses a handoff with a secret that its author has not allowed.
///
/// # Errors
/// `SECRET_FOUND`.
pub(super) fn without_secrets(handoff: &Handoff, allowed: &[Fingerprint]) -> Result<(), Failure> {
    let mut found = find_secrets(&document::to_value(handoff), None);
    found.retain(|located| !allowed.contains(&located.finding.fingerprint));
    if found.is_empty() { Ok(()) } else { Err(secret_failure(&found)) }
}

/// Gives the findings their lines in the text. What only the given text has is added: it may be read in other ways
/// than ours.
fn in_text(mut located: Vec<Located>, text: Text<'_>) -> Vec<Located> {
    let Some(source) = text.as_str() else { return located };
    let mut raw = secrets::scan(source);
    for each in &mut located {
        // The same secret twice stands on two lines: each of them is told once.
        let same = raw.iter().position(|finding| finding.fingerprint == each.finding.fingerprint);
        if let Some(at) = same {
            each.line = raw.remove(at).line;
        }
    }
    if matches!(text, Text::Given(_)) {
        let known: HashSet<Fingerprint> = located.iter().map(|each| each.finding.fingerprint.clone()).collect();
        let new = raw.into_iter().filter(|finding| !known.contains(&finding.fingerprint));
        located.extend(new.map(|finding| Located { field: None, line: finding.line, finding }));
    }
    located
}

/// The secrets in every text of a document, keys included. Where the text is given that the document stands in, lines are
/// counted there as far as they can be found.
pub(super) fn find_secrets(document: &Value, source: Option<&str>) -> Vec<Located> {
    let mut search = Search { source, found: Vec::new() };
    search.value(document, "");
    search.found
}

struct Search<'a> {
    source: Option<&'a str>,
    found: Vec<Located>,
}

impl Search<'_> {
    /// How many findings are looked up in the source, so that a text made of secrets does not take long.
    const MOST_LOOKED_UP: usize = 200;

    fn value(&mut self, value: &Value, field: &str) {
        let below = |name: &str| if field.is_empty() { name.to_owned() } else { format!("{field}.{name}") };
        match value {
            Value::String(text) => self.add(field, text, secrets::scan(text)),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.value(item, &format!("{field}[{at}]"));
                }
            }
            Value::Object(map) => {
                for (name, item) in map {
                    // A name in the document may be anybody's text too; it must not be echoed if it is a secret.
                    let shown = below(&secrets::mask(name));
                    self.add(&shown, name, secrets::scan(name));
                    self.value(item, &shown);
                    if let Value::String(text) = item {
                        self.assigned(name, text, &shown);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A name and its value may only together be an assignment of a secret, as `extra: {"DB_PASSWORD": "…"}` is.
    fn assigned(&mut self, name: &str, text: &str, field: &str) {
        if text.contains('\n') {
            return;
        }
        let joined = format!("{name}: {text}");
        let mut findings = secrets::scan(&joined);
        findings.retain(|finding| finding.span.start > name.len());
        if !findings.is_empty() {
            let alone = secrets::scan(text);
            findings.retain(|finding| !alone.iter().any(|known| known.fingerprint == finding.fingerprint));
        }
        self.add(field, &joined, findings);
    }

    fn add(&mut self, field: &str, text: &str, findings: Vec<Finding>) {
        for finding in findings {
            let looked_up = self.source.filter(|_| self.found.len() < Self::MOST_LOOKED_UP);
            let line = looked_up.and_then(|source| line_of(source, text.get(finding.span.clone())?));
            let line = line.unwrap_or(finding.line);
            self.found.push(Located { field: Some(field.into()), line, finding });
        }
    }
}

/// The first line on which the text has what a finding covers.
fn line_of(source: &str, covered: &str) -> Option<usize> {
    let first = covered.lines().next().filter(|line| !line.is_empty())?;
    let at = source.find(first)?;
    Some(source[..at].matches('\n').count() + 1)
}

impl Located {
    /// A finding as `--json` and `validate` give it.
    pub(super) fn json(&self) -> Value {
        let Self { field, finding, line } = self;
        json!({
            "rule": finding.rule,
            "field": field,
            "line": line,
            "column": finding.column,
            "fingerprint": finding.fingerprint.to_string(),
            "masked": finding.masked,
        })
    }

    /// A finding for people.
    pub(super) fn line(&self) -> String {
        let Self { field, finding, line } = self;
        let place = field.as_ref().map_or_else(|| "the text".to_owned(), Clone::clone);
        format!("{} in {place}, line {line}: {} [{}]", finding.rule, finding.masked, finding.fingerprint)
    }
}

fn secret_failure(found: &[Located]) -> Failure {
    let mut lines: Vec<String> = found.iter().take(MOST_SHOWN).map(|located| format!("  {}", located.line())).collect();
    if found.len() > MOST_SHOWN {
        lines.push(format!("  … and {} more", found.len() - MOST_SHOWN));
    }
    let what = if found.len() == 1 { "a secret".to_owned() } else { format!("{} secrets", found.len()) };
    let by_branch = found.iter().all(|located| located.field.as_deref() == Some("branch"));
    let hint = if by_branch {
        "the name of the branch looks like a key: rename it with 'git branch -m', or give another name with --branch; \
         for a false alarm: --allow-finding FINGERPRINT (recorded)"
    } else {
        "take it out and rotate it if it was real; for a false alarm: --allow-finding FINGERPRINT (recorded)"
    };
    Failure::new(Code::SecretFound, format!("the handoff contains {what}; nothing was stored\n{}", lines.join("\n")))
        .hint(hint)
        .detail("findings", found.iter().map(Located::json).collect::<Vec<_>>())
}

/// Refuses texts that are to be recorded beside a handoff, such as a note or a name, if there is a secret in them.
///
/// # Errors
/// `SECRET_FOUND`, with the findings; none of them can be allowed.
pub(super) fn refuse_secrets(texts: &Value) -> Result<(), Failure> {
    let found = find_secrets(texts, None);
    let Some(first) = found.first() else { return Ok(()) };
    let field = first.field.as_deref().unwrap_or("text");
    Err(Failure::new(Code::SecretFound, format!("there is a secret in the {field}: {}", first.finding.rule))
        .hint("say it without the secret")
        .detail("findings", found.iter().map(Located::json).collect::<Vec<_>>()))
}

/// How many faults are told of in a message; all are in its details.
const MOST_SHOWN: usize = 20;

fn score_failure(score: &Score) -> Failure {
    let mut missing: Vec<String> = score.missing.iter().take(MOST_SHOWN).map(|text| format!("  {text}")).collect();
    if score.missing.len() > MOST_SHOWN {
        missing.push(format!("  … and {} more", score.missing.len() - MOST_SHOWN));
    }
    Failure::new(
        Code::ScoreTooLow,
        format!("the handoff scores {} of 100; {} are needed\n{}", score.total, Score::THRESHOLD, missing.join("\n")),
    )
    .detail("score", score.total)
    .detail("missing", score.missing.clone())
}

/// What a successor needs and a handoff does not have.
fn lacking(handoff: &Handoff) -> Vec<&'static str> {
    let content = &handoff.content;
    let needed = [
        (content.objective.is_some(), "an objective"),
        (content.next_action.is_some(), "a next action"),
        (!content.pending_steps.is_empty() || !content.approved_plan.is_empty(), "remaining work or an approved plan"),
        (handoff.metadata.commit.is_some(), "a source commit"),
    ];
    needed.into_iter().filter(|(there, _)| !there).map(|(_, what)| what).collect()
}

/// Refuses a handoff that claims to suffice and lacks what a successor needs.
fn lacking_failure(missing: &[&str]) -> Failure {
    Failure::new(
        Code::NotAuthoritative,
        format!("the handoff does not suffice to continue from it alone: it lacks {}", missing.join(", ")),
    )
    .hint("add what is missing, or leave out --complete")
    .detail("missing", missing.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_in_every_text_and_name_of_a_document() {
        let token = format!("{}_{}", "ghp", "Zk4Qm7Xw2Rb9Lt5Nc8Vd3Hf6Js1Pg0Ty4Ue7");
        let document = json!({
            "topic": token, "decisions": ["fine", token], "extra": {(token.clone()): "x"}, "number": 1,
        });
        let fields: Vec<String> =
            find_secrets(&document, None).into_iter().filter_map(|located| located.field).collect();
        assert_eq!(fields, ["decisions[1]", "extra.[secret: github-pat]", "topic"]);
    }

    #[test]
    fn a_name_and_its_value_are_read_together() {
        let document = json!({"extra": {"DB_PASSWORD": format!("Zq9vT2m{}", "Lx8RwK4")}});
        let fields: Vec<String> =
            find_secrets(&document, None).into_iter().filter_map(|located| located.field).collect();
        assert_eq!(fields, ["extra.DB_PASSWORD"]);
    }
}
