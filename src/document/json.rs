//! The document as JSON: the stored face, whose bytes the id is taken over.

use serde_json::{Map, Value, json};

use super::content::{decode_field, encode_field};
use super::error::DocumentError;
use super::fields::FIELDS;
use super::typed::{Object, kind_of};
use super::{AUTHORITY, SCHEMA};
use crate::model::{Content, EventId, Handoff, Link, Metadata};

/// The canonical JSON (RFC 8785): the bytes that are stored and hashed.
pub fn canonical(handoff: &Handoff) -> Vec<u8> {
    canonical_bytes(&to_value(handoff))
}

/// The content id: SHA-256 of the canonical JSON.
pub fn id(handoff: &Handoff) -> EventId {
    EventId::of(&canonical(handoff))
}

/// A value as canonical JSON.
pub(super) fn canonical_bytes(value: &Value) -> Vec<u8> {
    serde_json_canonicalizer::to_vec(value).expect("a JSON value has string keys and finite numbers")
}

/// Whether these bytes are the canonical JSON of what they say.
pub fn is_canonical(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Value>(bytes).is_ok_and(|value| canonical_bytes(&value) == bytes)
}

/// The document as a JSON value. What is unknown is left out; nothing is `null`.
pub fn to_value(handoff: &Handoff) -> Value {
    let mut map = Map::new();
    let mut put = |name: &str, value: Value| {
        map.insert(name.into(), value);
    };
    put("schema", SCHEMA.into());
    put("authority", AUTHORITY.into());
    put("completeness", handoff.completeness.as_str().into());
    put("created", handoff.created.to_string().into());
    put("agent", handoff.agent.as_str().into());
    put("trigger", handoff.trigger.as_str().into());
    put("status", handoff.status.as_str().into());
    put("topic", handoff.topic.as_str().into());
    encode_metadata(&handoff.metadata, &mut put);
    for field in FIELDS {
        if let Some(value) = encode_field(field, &handoff.content) {
            put(field.json, value);
        }
    }
    if handoff.content.files_omitted > 0 {
        put("files_omitted", handoff.content.files_omitted.into());
    }
    if !handoff.content.extra.is_empty() {
        put("extra", json!(handoff.content.extra));
    }
    for (name, value) in &handoff.unknown {
        put(name, value.clone());
    }
    Value::Object(map)
}

fn encode_metadata(metadata: &Metadata, put: &mut impl FnMut(&str, Value)) {
    let links = |links: &[Link]| Value::from(links.iter().map(Link::to_string).collect::<Vec<_>>());
    let texts = [
        ("model", metadata.model.clone()),
        ("agent_session", metadata.agent_session.clone()),
        ("agent_turn", metadata.agent_turn.clone()),
        ("goal_status", metadata.goal_status.map(|status| status.to_string())),
        ("working_directory", metadata.working_directory.clone()),
        ("branch", metadata.branch.clone()),
        ("commit", metadata.commit.map(|commit| commit.to_string())),
        ("previous", metadata.previous.as_ref().map(Link::to_string)),
        ("resumed_from", metadata.resumed_from.as_ref().map(Link::to_string)),
        ("boundary", metadata.boundary.clone()),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            put(name, text.into());
        }
    }
    if let Some(dirty) = metadata.dirty {
        put("dirty", dirty.into());
    }
    if !metadata.supersedes.is_empty() {
        put("supersedes", links(&metadata.supersedes));
    }
    if !metadata.allowed_findings.is_empty() {
        put("allowed_findings", metadata.allowed_findings.clone().into());
    }
}

/// Reads a stored document, which is kept exactly as it is.
///
/// Encoding the result gives the same fields again: what this version does not know, and every field that holds
/// more than this version understands, is kept in [`Handoff::unknown`].
///
/// # Errors
/// When it is not JSON, names another schema, lacks a field that every handoff has, or holds a value that is not
/// allowed.
pub fn from_json(bytes: &[u8]) -> Result<Handoff, DocumentError> {
    let value: Value = serde_json::from_slice(bytes).map_err(DocumentError::Json)?;
    let Value::Object(map) = value else {
        return Err(DocumentError::Type {
            field: "the document".into(),
            expected: "a JSON object",
            found: kind_of(&value),
        });
    };
    let object = Object::new(&map);
    match object.text("schema")? {
        Some(schema) if schema == SCHEMA => {}
        other => return Err(DocumentError::Schema { found: other.unwrap_or_default().into() }),
    }
    let mut handoff = Handoff {
        created: object.required("created")?,
        agent: object.required("agent")?,
        trigger: object.required("trigger")?,
        status: object.required("status")?,
        topic: object.required("topic")?,
        metadata: decode_metadata(&object)?,
        content: decode_content(&object)?,
        completeness: object.required("completeness")?,
        unknown: Map::new(),
    };
    handoff.unknown = beyond(&handoff, map);
    Ok(handoff)
}

/// The fields that the handoff alone would not give back.
fn beyond(handoff: &Handoff, map: Map<String, Value>) -> Map<String, Value> {
    let understood = to_value(handoff);
    map.into_iter().filter(|(name, value)| understood.get(name) != Some(value)).collect()
}

fn decode_metadata(object: &Object<'_>) -> Result<Metadata, DocumentError> {
    let text = |name| object.text(name).map(|text| text.map(str::to_owned));
    let link = |name| object.text(name).map(|text| text.map(Link::from));
    Ok(Metadata {
        model: text("model")?,
        agent_session: text("agent_session")?,
        agent_turn: text("agent_turn")?,
        goal_status: object.parsed("goal_status")?,
        working_directory: text("working_directory")?,
        branch: text("branch")?,
        commit: object.parsed("commit")?,
        dirty: object.flag("dirty")?,
        previous: link("previous")?,
        resumed_from: link("resumed_from")?,
        supersedes: object.texts("supersedes")?.into_iter().map(|text| Link::from(text.as_str())).collect(),
        boundary: text("boundary")?,
        allowed_findings: object.texts("allowed_findings")?,
    })
}

/// The content that stands in a JSON object under the document's field names.
pub(super) fn decode_content(object: &Object<'_>) -> Result<Content, DocumentError> {
    let mut content = Content::default();
    for field in FIELDS {
        if let Some(value) = object.value(field.json) {
            decode_field(field, value, &mut content)?;
        }
    }
    content.files_omitted = object.count("files_omitted")?.unwrap_or_default();
    if let Some(extra) = object.object("extra")? {
        for heading in extra.names() {
            if let Some(text) = extra.text(heading)? {
                content.extra.insert(heading.into(), text.into());
            }
        }
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::examples::billing;

    /// The JSON of the example with some fields replaced.
    fn with(fields: Value) -> Value {
        let mut value = to_value(&billing());
        let map = value.as_object_mut().expect("an object");
        map.extend(fields.as_object().expect("an object").clone());
        value
    }

    #[test]
    fn what_a_newer_version_wrote_keeps_its_id() {
        let value = with(json!({
            "later": [1, {"a": null}],
            "verification_evidence": [{"command": "make", "observed_by": "author", "duration": 3}],
            "scope": {"included": [], "perhaps": ["x"]},
            "supersedes": [],
            "branch": null,
            "created": "2026-08-18T14:04:00Z",
        }));
        let bytes = canonical_bytes(&value);
        let handoff = from_json(&bytes).expect("a document");
        assert_eq!(String::from_utf8_lossy(&canonical(&handoff)), String::from_utf8_lossy(&bytes));
        assert_eq!(handoff.content.verification_evidence[0].command.as_deref(), Some("make"));
    }

    #[test]
    fn what_is_no_document_is_refused() {
        let without_topic = {
            let mut value = to_value(&billing());
            value.as_object_mut().expect("an object").remove("topic");
            value
        };
        let cases = [
            (json!([]), "'the document' must be a JSON object, not a list"),
            (json!({}), "the schema is ''; this version reads handoff/v1"),
            (with(json!({"schema": "handoff/v2"})), "the schema is 'handoff/v2'; this version reads handoff/v1"),
            (without_topic, "'topic' is missing"),
            (with(json!({"status": "perhaps"})), "'status' has a value that is not allowed"),
            (with(json!({"dirty": "yes"})), "'dirty' must be true or false, not a string"),
            (
                with(json!({"files_omitted": -1})),
                "'files_omitted' must be a whole number that is not negative, not a number",
            ),
            (with(json!({"extra": {"a": 1}})), "'extra.a' must be a string, not a number"),
        ];
        for (value, expected) in cases {
            assert_eq!(from_json(value.to_string().as_bytes()).expect_err("refused").to_string(), expected);
        }
        let deep = "[".repeat(1_000_000);
        assert!(matches!(from_json(deep.as_bytes()), Err(DocumentError::Json(_))));
    }
}
