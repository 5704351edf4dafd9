//! Whether a handoff may be stored: bounds, secrets, score, completeness, in that order, before the first object is
//! written.

use serde_json::{Value, json};

use super::error::{Code, Failure};
use super::place::Place;
use super::session::Session;
use crate::document;
use crate::model::score::{Facts, Score, score};
use crate::model::{Completeness, Handoff};
use crate::secrets::{self, Finding, Fingerprint};

/// A secret and the field that it stands in.
#[derive(Debug, Clone)]
pub(super) struct Located {
    /// The field, such as `decisions[2]` or `extra.Environment`.
    pub(super) field: String,
    /// The finding, with line and column inside the field.
    pub(super) finding: Finding,
}

/// Judges a handoff that is to be stored, records in it the findings that its author allowed, and returns its score.
///
/// # Errors
/// `TOO_LARGE`, `SECRET_FOUND`, `SCORE_TOO_LOW` or `NOT_AUTHORITATIVE`.
pub(super) fn judge(
    session: &Session<'_>,
    place: &Place,
    handoff: &mut Handoff,
    allowed: &[Fingerprint],
) -> Result<Score, Failure> {
    document::within_bounds(handoff).map_err(|error| Failure::because(Code::TooLarge, &error))?;
    let found = find_secrets(&document::to_value(handoff));
    let (permitted, refused): (Vec<Located>, Vec<Located>) =
        found.into_iter().partition(|located| allowed.contains(&located.finding.fingerprint));
    if !refused.is_empty() {
        return Err(secret_failure(&refused));
    }
    let mut used: Vec<String> = permitted.iter().map(|located| located.finding.fingerprint.to_string()).collect();
    used.sort();
    used.dedup();
    handoff.metadata.allowed_findings = used;
    let score = rate(session, place, handoff);
    if !score.is_sufficient() {
        return Err(score_failure(&score));
    }
    if handoff.completeness == Completeness::Authoritative {
        authoritative(handoff)?;
    }
    Ok(score)
}

/// Refuses a handoff with a secret that its author has not allowed.
///
/// # Errors
/// `SECRET_FOUND`.
pub(super) fn without_secrets(handoff: &Handoff, allowed: &[Fingerprint]) -> Result<(), Failure> {
    let mut found = find_secrets(&document::to_value(handoff));
    found.retain(|located| !allowed.contains(&located.finding.fingerprint));
    if found.is_empty() { Ok(()) } else { Err(secret_failure(&found)) }
}

/// The score of a handoff made at this place.
pub(super) fn rate(session: &Session<'_>, place: &Place, handoff: &Handoff) -> Score {
    score(&Facts {
        content: &handoff.content,
        status: handoff.status,
        topic: &handoff.topic,
        revision: place.revision(),
        path_exists: &|path| session.path_exists(path, place.commit),
    })
}

/// The secrets in every text of a document, keys included.
pub(super) fn find_secrets(document: &Value) -> Vec<Located> {
    let mut found = Vec::new();
    search(document, "", &mut found);
    found
}

fn search(value: &Value, field: &str, found: &mut Vec<Located>) {
    let below = |name: &str| if field.is_empty() { name.to_owned() } else { format!("{field}.{name}") };
    let mut scan = |field: &str, text: &str| {
        found.extend(secrets::scan(text).into_iter().map(|finding| Located { field: field.into(), finding }));
    };
    match value {
        Value::String(text) => scan(field, text),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                search(item, &format!("{field}[{at}]"), found);
            }
        }
        Value::Object(map) => {
            for (name, item) in map {
                // A name in the document may be anybody's text too; it must not be echoed if it is a secret.
                let shown = secrets::mask(name).into_owned();
                found.extend(secrets::scan(name).into_iter().map(|finding| Located { field: below(&shown), finding }));
                search(item, &below(&shown), found);
                if let Value::String(text) = item {
                    found.extend(assigned(name, text, &below(&shown)));
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A name and its value may only together be an assignment of a secret, as `extra: {"DB_PASSWORD": "…"}` is.
fn assigned(name: &str, text: &str, field: &str) -> Vec<Located> {
    let joined = format!("{name}: {text}");
    let alone = secrets::scan(text);
    let new = |finding: &Finding| !alone.iter().any(|known| known.fingerprint == finding.fingerprint);
    let one_line = !text.contains('\n');
    let findings = if one_line { secrets::scan(&joined) } else { Vec::new() };
    findings
        .into_iter()
        .filter(new)
        .filter(|finding| finding.span.start > name.len())
        .map(|finding| Located { field: field.into(), finding })
        .collect()
}

/// A finding as `--json` and `validate` give it.
pub(super) fn finding_json(located: &Located) -> Value {
    let Located { field, finding } = located;
    json!({
        "rule": finding.rule,
        "field": field,
        "line": finding.line,
        "column": finding.column,
        "fingerprint": finding.fingerprint.to_string(),
        "masked": finding.masked,
    })
}

fn secret_failure(found: &[Located]) -> Failure {
    let lines: Vec<String> = found
        .iter()
        .map(|Located { field, finding }| {
            format!(
                "  {} in {field}, line {}: {} [{}]",
                finding.rule, finding.line, finding.masked, finding.fingerprint
            )
        })
        .collect();
    let what = if found.len() == 1 { "a secret".to_owned() } else { format!("{} secrets", found.len()) };
    Failure::new(Code::SecretFound, format!("the handoff contains {what}; nothing was stored\n{}", lines.join("\n")))
        .hint("take it out and rotate it if it was real; for a false alarm: --allow-finding FINGERPRINT (recorded)")
        .detail("findings", found.iter().map(finding_json).collect::<Vec<_>>())
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

/// Refuses a handoff that claims to suffice and lacks what a successor needs.
fn authoritative(handoff: &Handoff) -> Result<(), Failure> {
    let content = &handoff.content;
    let needed = [
        (content.objective.is_some(), "an objective"),
        (content.next_action.is_some(), "a next action"),
        (!content.pending_steps.is_empty() || !content.approved_plan.is_empty(), "remaining work or an approved plan"),
        (handoff.metadata.commit.is_some(), "a source commit"),
    ];
    let missing: Vec<&str> = needed.iter().filter(|(there, _)| !there).map(|(_, what)| *what).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::new(
        Code::NotAuthoritative,
        format!("the handoff does not suffice to continue from it alone: it lacks {}", missing.join(", ")),
    )
    .hint("add what is missing, or leave out --complete")
    .detail("missing", missing))
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
        let fields: Vec<String> = find_secrets(&document).into_iter().map(|located| located.field).collect();
        assert_eq!(fields, ["decisions[1]", "extra.[secret: github-pat]", "topic"]);
    }

    #[test]
    fn a_name_and_its_value_are_read_together() {
        let document = json!({"extra": {"DB_PASSWORD": format!("Zq9vT2m{}", "Lx8RwK4")}});
        let fields: Vec<String> = find_secrets(&document).into_iter().map(|located| located.field).collect();
        assert_eq!(fields, ["extra.DB_PASSWORD"]);
    }
}
