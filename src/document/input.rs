//! What an author hands in: a JSON packet or a Markdown document, read as generously as its meaning is clear.
//!
//! Nothing is lost: what has no place of its own is kept verbatim in `extra`. And nothing is believed: the
//! metadata stay claims, and evidence was seen by the author, whatever the text says.

use serde_json::{Map, Value};

use super::body::add_extra;
use super::content::decode_field;
use super::error::DocumentError;
use super::fields::FIELDS;
use super::metadata::{self, Block, Claims, Slot};
use super::normal::{normalise, stored_numbers};
use super::parse::{has_metadata, read_document};
use super::sections::{Document, Levels, cut, headings};
use super::typed::{self, Object, mismatch, parsed, truth};
use super::{SCHEMA, TITLE};
use crate::model::{Completeness, Content, Timestamp};

/// The most bytes that are read as input. What can be sealed is less; see [`within_bounds`](super::within_bounds).
pub const MAX_INPUT: usize = 4 * 1024 * 1024;

/// What an author handed in.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Input {
    /// What the document says about itself, unchecked.
    pub claims: Claims,
    /// When it says that it was made.
    pub created: Option<Timestamp>,
    /// Whether the author asks for a handoff from which alone somebody may continue.
    pub complete: bool,
    /// The title, unless it only says that this is a handoff.
    pub title: Option<String>,
    /// The content, in the normal form of stored texts.
    pub content: Content,
    /// Fields that are neither text nor known.
    pub unknown: Map<String, Value>,
}

/// Reads what an author handed in.
///
/// # Errors
/// When it is too large, not text, not the JSON that it begins as, or has a field of the wrong kind.
pub fn read_input(bytes: &[u8]) -> Result<Input, DocumentError> {
    let text = text_of(bytes)?;
    if text.trim_start().starts_with('{') || is_other_json(text) { read_packet(text) } else { read_markdown(text) }
}

/// Whether it is JSON of another kind than an object, which no Markdown document is by chance.
fn is_other_json(text: &str) -> bool {
    let list_or_text = text.trim_start().starts_with(['[', '"']);
    (list_or_text || text.trim() == "null") && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn text_of(bytes: &[u8]) -> Result<&str, DocumentError> {
    if bytes.len() > MAX_INPUT {
        return Err(DocumentError::TooLarge { bytes: bytes.len(), limit: MAX_INPUT });
    }
    let line_at = |offset: usize| bytes[..offset].iter().filter(|byte| **byte == b'\n').count() + 1;
    let text = std::str::from_utf8(bytes).map_err(|source| {
        let offset = source.valid_up_to();
        DocumentError::NotUtf8 { line: line_at(offset), offset, source }
    })?;
    if let Some(offset) = text.find('\0') {
        return Err(DocumentError::Nul { line: line_at(offset), offset });
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn read_packet(text: &str) -> Result<Input, DocumentError> {
    let map: Map<String, Value> = serde_json::from_str(text).map_err(DocumentError::Json)?;
    let mut block = Block::default();
    for (name, value) in map {
        match block.claims.slot(&name) {
            _ if value.is_null() => {}
            Some(_) if name == "unknown" => {
                block.other.insert(name, value);
            }
            Some(Slot::Text(text)) => *text = Some(scalar(&name, &value)?),
            Some(Slot::Texts(texts)) => *texts = typed::texts(&value, &name)?,
            None => {
                block.other.insert(name, value);
            }
        }
    }
    if let Some(schema) = block.claims.schema.as_ref().filter(|schema| *schema != SCHEMA) {
        return Err(DocumentError::Schema { found: schema.clone() });
    }
    let created = block.claims.created.as_deref().map(|text| parsed(text, "created")).transpose()?;
    let input = Input { created, ..Input::default() };
    complete(input, block)
}

/// A claim of a packet as text.
fn scalar(name: &str, value: &Value) -> Result<String, DocumentError> {
    match (name, value) {
        (_, Value::String(text)) => Ok(text.clone()),
        ("dirty" | "complete", Value::Bool(flag)) => Ok(flag.to_string()),
        ("files_omitted", Value::Number(number)) => Ok(number.to_string()),
        ("dirty" | "complete", other) => Err(mismatch(name, "true or false", other)),
        ("files_omitted", other) => Err(mismatch(name, "a number", other)),
        (_, other) => Err(mismatch(name, "a string", other)),
    }
}

fn read_markdown(text: &str) -> Result<Input, DocumentError> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (front, text) = split_front_matter(&text);
    let mut block = front.map(|yaml| metadata::read(yaml, 2)).transpose()?.unwrap_or_default();
    let headings = headings(&text);
    let ours = cut(&text, &headings, Levels::Second);
    let document = if has_metadata(&ours) { ours } else { cut(&text, &headings, Levels::Known) };
    let mut input = Input { title: title(&document), ..Input::default() };
    if let Some(located) = read_document(&document, &mut input.content)? {
        block = located.block;
    }
    match block.claims.created.as_deref().map(str::parse) {
        Some(Ok(created)) => input.created = Some(created),
        // Older tools wrote times without an offset, which name no moment.
        Some(Err(_)) => block.other.extend(block.claims.created.take().map(|text| ("created".into(), text.into()))),
        None => {}
    }
    complete(input, block)
}

/// The YAML between two lines `---` at the beginning, and the document with blank lines in its place, so that
/// line numbers stay true.
fn split_front_matter(text: &str) -> (Option<&str>, std::borrow::Cow<'_, str>) {
    let split = || {
        let rest = text.strip_prefix("---")?.trim_start_matches([' ', '\t']).strip_prefix('\n')?;
        let is_key = |line: &str| line.split_once(':').is_some_and(|(key, _)| !key.is_empty() && !key.contains(' '));
        let first = rest.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'))?;
        if !is_key(first) {
            return None;
        }
        let mut end = 0;
        for line in rest.split_inclusive('\n') {
            if matches!(line.trim_end(), "---" | "...") {
                return Some((&rest[..end], &rest[end + line.len()..]));
            }
            end += line.len();
        }
        None
    };
    match split() {
        Some((yaml, rest)) => {
            let lines = text[..text.len() - rest.len()].matches('\n').count();
            (Some(yaml), format!("{}{rest}", "\n".repeat(lines)).into())
        }
        None => (None, text.into()),
    }
}

/// What the title says besides that this is a handoff.
fn title(document: &Document<'_>) -> Option<String> {
    let title = document.title?;
    let prefix = [TITLE, "Handoff"]
        .into_iter()
        .find(|prefix| title.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix)));
    let said = match prefix.map(|prefix| title[prefix.len()..].trim_start()) {
        None => title,
        Some("") => "",
        Some(rest) => rest.strip_prefix([':', '-', '–', '—']).map_or(title, str::trim_start),
    };
    (!said.is_empty()).then(|| said.to_owned())
}

/// Gives every field that was read its place.
fn complete(mut input: Input, block: Block) -> Result<Input, DocumentError> {
    let Block { claims, other } = block;
    claims.check_authority()?;
    let asked = claims.complete.as_deref().map(|text| truth(text, "complete")).transpose()?.unwrap_or_default();
    let claimed =
        claims.completeness.as_deref().map(|text| parsed::<Completeness>(text, "completeness")).transpose()?;
    input.complete = asked || claimed == Some(Completeness::Authoritative);
    input.content.files_omitted = claims.files_omitted()?;
    input.unknown = claims.unknown()?;
    for (name, value) in other {
        place(name, value, &mut input)?;
    }
    // A value that stood beside a field which this author has edited would hide the edit.
    input.unknown.retain(|name, _| !is_known(name));
    input.unknown.values_mut().for_each(stored_numbers);
    normalise(&mut input.content);
    Ok(Input { claims: Claims { unknown: None, ..claims }, ..input })
}

/// Puts a field where it belongs: its own place, or `extra` when it is text.
fn place(name: String, value: Value, input: &mut Input) -> Result<(), DocumentError> {
    if let Some(field) = FIELDS.iter().find(|field| field.json == name) {
        return decode_field(field, &value, &mut input.content);
    }
    if name == "extra" {
        let extra = Object::at(&value, &name)?;
        for heading in extra.names() {
            if let Some(text) = extra.text(heading)? {
                add_extra(heading, text.to_owned(), &mut input.content);
            }
        }
        return Ok(());
    }
    match value {
        Value::Null => {}
        Value::String(text) => add_extra(&name, text, &mut input.content),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            input.unknown.insert(name, other);
        }
    }
    Ok(())
}

/// Whether the name is one of the document's own.
fn is_known(name: &str) -> bool {
    name == "extra" || FIELDS.iter().any(|field| field.json == name) || Claims::default().slot(name).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::document::error::told;
    use crate::model::{Change, Evidence, FileEntry, Observer, Outcome};

    fn read(text: &str) -> Input {
        read_input(text.as_bytes()).expect("it can be read")
    }

    fn refusal(bytes: &[u8]) -> String {
        told(&read_input(bytes).expect_err("it cannot be read"))
    }

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    fn evidence(command: &str, outcome: Outcome) -> Evidence {
        let (command, outcome) = (Some(command.to_owned()), Some(outcome));
        Evidence { command, outcome, detail: None, observed_by: Observer::Author }
    }

    #[test]
    fn a_document_of_the_older_skills_is_understood() {
        let text = "\
---
topic: billing
created: 2026-08-18 17:04
status: wip
reviewer: ada
tags: [a, 1]
---

# Handoff: Billing

## Session Metadata
- Project: shop

## Current State Summary

It compiles.

---

## Codebase Understanding

### Critical Files

| File | Purpose |
|------|---------|
| `src/gateway.rs` | the adapter |

### Key Patterns Discovered

Ports and adapters.

## Work Completed

### Tasks Finished

- [x] Adapter
- [ ] Refunds

### Decisions Made

1. One retry
   only

Because of keys.

## Pending Work

### Immediate Next Steps

1. Test
2. Code

## Context for Resuming Agent

### Important Context

Use the sandbox.

### Potential Gotchas

* It drops calls
";
        let expected = Input {
            claims: Claims { topic: Some("billing".into()), status: Some("wip".into()), ..Claims::default() },
            title: Some("Billing".into()),
            content: Content {
                current_state: Some("It compiles.".into()),
                files_changed: vec![FileEntry {
                    path: "src/gateway.rs".into(),
                    note: Some("the adapter".into()),
                    ..FileEntry::default()
                }],
                completed_steps: texts(&["Adapter"]),
                pending_steps: texts(&["Refunds"]),
                decisions: texts(&["One retry\nonly", "Because of keys."]),
                next_action: Some("1. Test\n2. Code".into()),
                resume_instructions: Some("Use the sandbox.".into()),
                known_failures: texts(&["It drops calls"]),
                extra: [
                    ("Session Metadata", "- Project: shop"),
                    ("Key Patterns Discovered", "Ports and adapters."),
                    ("created", "2026-08-18 17:04"),
                    ("reviewer", "ada"),
                ]
                .map(|(heading, text)| (heading.to_owned(), text.to_owned()))
                .into(),
                ..Content::default()
            },
            unknown: json!({"tags": ["a", 1]}).as_object().expect("an object").clone(),
            ..Input::default()
        };
        assert_eq!(read(text), expected);
    }

    #[test]
    fn a_packet_has_the_documents_field_names() {
        let packet = json!({
            "schema": "handoff/v1", "agent": "codex", "created": "2026-08-18T17:04:00+03:00", "complete": true,
            "dirty": false, "resumed_from": "04be", "objective": "\r\n x \r\n", "scope": {"excluded": ["y"]},
            "files_changed": ["M src/a.rs", {"path": "b c", "change": "added"}],
            "verification_evidence": ["passed: `make` (observed)", {"command": "x", "observed_by": "tool"}],
            "next_action": null, "mood": "good", "energy": 3.0, "extra": {"Notes": "n"},
        });
        let input = read(&packet.to_string());
        let file = |path: &str, change| FileEntry { path: path.into(), change: Some(change), ..FileEntry::default() };
        let expected = Content {
            objective: Some(" x".into()),
            scope: crate::model::Scope { included: Vec::new(), excluded: texts(&["y"]) },
            files_changed: vec![file("src/a.rs", Change::Modified), file("b c", Change::Added)],
            verification_evidence: vec![
                evidence("make", Outcome::Passed),
                Evidence { outcome: None, ..evidence("x", Outcome::Passed) },
            ],
            extra: [("Notes", "n"), ("mood", "good")].map(|(name, text)| (name.to_owned(), text.to_owned())).into(),
            ..Content::default()
        };
        assert_eq!(input.content, expected);
        assert_eq!(Value::Object(input.unknown), json!({"energy": 3}));
        assert!(input.complete);
        assert_eq!(input.created.map(|created| created.to_string()), Some("2026-08-18T17:04:00+03:00".into()));
        let claims =
            (input.claims.agent.as_deref(), input.claims.dirty.as_deref(), input.claims.resumed_from.as_deref());
        assert_eq!(claims, (Some("codex"), Some("false"), Some("04be")));
    }

    #[test]
    fn what_nothing_understands_is_kept_verbatim() {
        let text = "intro\n\n# T\n\n## Files\n\n- src/a.rs\n- none of the others\n\n## Ideas\n\n```\n## not a heading\n```\n\n## Ideas\n\nmore\n";
        let input = read(text);
        let extra = [
            ("Preamble", "intro"),
            ("T", ""),
            ("Files", "- none of the others"),
            ("Ideas", "```\n## not a heading\n```\n\nmore"),
        ];
        let kept = extra.into_iter().filter(|(_, text)| !text.is_empty());
        assert_eq!(input.content.extra, kept.map(|(name, text)| (name.to_owned(), text.to_owned())).collect());
        assert_eq!(input.content.files_changed.len(), 1);
    }

    #[test]
    fn headings_of_another_level_are_understood() {
        let first = read("# Objective\n\na\n\n# Next Steps\n\nb\n");
        let third = read("### Objective\n\na\n\n### Next Steps\n\nb\n");
        assert_eq!(first.content, third.content);
        assert_eq!((first.content.objective.as_deref(), first.content.next_action.as_deref()), (Some("a"), Some("b")));
    }

    #[test]
    fn two_sections_of_one_field_are_joined() {
        let input = read("## Objective\n\na\n\n## Goal\n\nb\n\n## Risks\n\n- c\n\n## Gotchas\n\nd\n");
        assert_eq!(input.content.objective.as_deref(), Some("a\n\nb"));
        assert_eq!(input.content.known_failures, texts(&["c", "d"]));
    }

    #[test]
    fn metadata_in_a_section_keep_every_scalar_as_it_was_written() {
        let text = "# Session Handoff\n\n## Metadata\n\n```yaml\nbranch: no\nagent_turn: 1e3\nmodel: 0123456\ntopic: ~\ncompleteness: authoritative_for_continuation\n```\n";
        let input = read(text);
        let claims = [input.claims.branch, input.claims.agent_turn, input.claims.model, input.claims.topic];
        assert_eq!(claims.map(|claim| claim.unwrap_or_default()), ["no", "1e3", "0123456", ""]);
        assert!(input.complete);
        assert_eq!(input.title, None);
    }

    #[test]
    fn refusals_name_the_place_and_what_belongs_there() {
        let cases: [(&[u8], &str); 9] = [
            (
                b"a\nb\xff",
                "line 2 is not valid UTF-8 (byte 3 of the input): invalid utf-8 sequence of 1 bytes from index 3",
            ),
            (b"a\n\nb\0", "line 3 contains a NUL byte (byte 4 of the input): a handoff is text"),
            (b"{\"topic\": \"a", "the JSON cannot be read: EOF while parsing a string at line 1 column 12"),
            (b"{\"topic\": 5}", "'topic' must be a string, not a number"),
            (b"{\"decisions\": \"a\"}", "'decisions' must be a list of strings, not a string"),
            (b"{\"decisions\": [\"a\", {}]}", "'decisions[1]' must be a string, not an object"),
            (
                b"{\"files_changed\": [{\"path\": \"a\", \"change\": \"Z\"}]}",
                "'files_changed[].change' has a value that is not allowed: 'Z' is not one of A, M, D, R, C, T",
            ),
            (b"{\"schema\": \"handoff/v9\"}", "the schema is 'handoff/v9'; this version reads handoff/v1"),
            (
                b"{\"authority\": \"root\"}",
                "'authority' has a value that is not allowed: 'root' is not 'inform_only', the only authority that a document has by itself",
            ),
        ];
        for (bytes, expected) in cases {
            assert_eq!(refusal(bytes), expected);
        }
    }

    #[test]
    fn wrong_yaml_is_refused_with_its_line() {
        let cases = ["---\ntopic: a\ntopic: b\n---\n", "# T\n\n## Metadata\n\n```yaml\ntopic: [a\n```\n"];
        let ends = ["at line 3, column 1", "at line 6, column 8"];
        for (text, end) in cases.into_iter().zip(ends) {
            assert!(refusal(text.as_bytes()).ends_with(end), "{}", refusal(text.as_bytes()));
        }
    }

    #[test]
    fn what_nobody_could_seal_is_refused_before_it_is_parsed() {
        let error = read_input(&vec![b'{'; MAX_INPUT + 1]).expect_err("too large");
        assert!(matches!(error, DocumentError::TooLarge { bytes, limit: MAX_INPUT } if bytes == MAX_INPUT + 1));
    }

    #[test]
    fn deep_nesting_is_refused_without_a_crash() {
        let deep = format!("{{\"x\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(matches!(read_input(deep.as_bytes()), Err(DocumentError::Json(_))));
    }

    #[test]
    fn an_edited_field_is_not_hidden_by_what_an_unknown_version_wrote() {
        let text = "# Session Handoff\n\n## Metadata\n\n```yaml\nunknown: '{\"objective\": 1, \"later\": 2}'\n```\n\n## Objective\n\nnew\n";
        assert_eq!(Value::Object(read(text).unknown), json!({"later": 2}));
    }
}
