//! The content's fields as JSON values, one field at a time, both ways.
//!
//! The stored JSON uses it for the whole document, Markdown for the sections that have no readable form.

use serde_json::{Map, Value};

use super::error::DocumentError;
use super::fields::{Field, Kind};
use super::typed::{self, Object};
use super::{evidence, files};
use crate::model::{Change, Content, Evidence, FileEntry, Observer, Outcome, Scope};

/// The field's value; `None` when nothing is known.
pub(super) fn encode_field(field: &Field, content: &Content) -> Option<Value> {
    match &field.kind {
        Kind::Prose(slot) => (slot.get)(content).clone().map(Value::from),
        Kind::List(_, slot) => texts((slot.get)(content)),
        Kind::Scope => encode_scope(&content.scope),
        Kind::Files => entries(&content.files_changed, encode_file),
        Kind::Evidence => entries(&content.verification_evidence, encode_evidence),
    }
}

/// Adds a field's value to what the content has already.
pub(super) fn decode_field(field: &Field, value: &Value, content: &mut Content) -> Result<(), DocumentError> {
    match &field.kind {
        Kind::Prose(slot) => join((slot.get_mut)(content), typed::text(value, field.json)?.to_owned()),
        Kind::List(_, slot) => (slot.get_mut)(content).extend(typed::texts(value, field.json)?),
        Kind::Scope => {
            let scope = Object::at(value, field.json)?;
            content.scope.included.extend(scope.texts("included")?);
            content.scope.excluded.extend(scope.texts("excluded")?);
        }
        Kind::Files => content.files_changed.extend(decode_entries(field, value, decode_file)?),
        Kind::Evidence => content.verification_evidence.extend(decode_entries(field, value, decode_evidence)?),
    }
    Ok(())
}

/// Adds a text to one that may be there already.
pub(super) fn join(slot: &mut Option<String>, text: String) {
    match slot {
        Some(present) => {
            present.push_str("\n\n");
            present.push_str(&text);
        }
        None => *slot = Some(text),
    }
}

fn texts(list: &[String]) -> Option<Value> {
    (!list.is_empty()).then(|| list.to_vec().into())
}

fn entries<T>(list: &[T], encode: impl Fn(&T) -> Value) -> Option<Value> {
    (!list.is_empty()).then(|| list.iter().map(encode).collect::<Vec<_>>().into())
}

fn encode_scope(scope: &Scope) -> Option<Value> {
    let lists = [("included", &scope.included), ("excluded", &scope.excluded)];
    let map = object(lists.map(|(name, list)| (name, texts(list))));
    (!map.is_empty()).then_some(Value::Object(map))
}

fn encode_file(file: &FileEntry) -> Value {
    Value::Object(object([
        ("path", Some(file.path.as_str().into())),
        ("change", file.change.map(|change| change.letter().to_string().into())),
        ("from", file.from.as_deref().map(Value::from)),
        ("blob", file.blob.map(|blob| blob.to_string().into())),
        ("note", file.note.as_deref().map(Value::from)),
    ]))
}

fn encode_evidence(evidence: &Evidence) -> Value {
    Value::Object(object([
        ("command", evidence.command.as_deref().map(Value::from)),
        ("outcome", evidence.outcome.map(|outcome| outcome.as_str().into())),
        ("detail", evidence.detail.as_deref().map(Value::from)),
        ("observed_by", Some(evidence.observed_by.as_str().into())),
    ]))
}

fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Map<String, Value> {
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn decode_entries<T>(
    field: &Field,
    value: &Value,
    decode: impl Fn(&Value, &str) -> Result<T, DocumentError>,
) -> Result<Vec<T>, DocumentError> {
    let entries = typed::list(value, field.json)?.iter().enumerate();
    entries.map(|(at, entry)| decode(entry, &format!("{}[{at}]", field.json))).collect()
}

/// A file: an object, or a line such as the Markdown has.
fn decode_file(value: &Value, place: &str) -> Result<FileEntry, DocumentError> {
    if let Value::String(line) = value {
        let bare = || FileEntry { path: line.clone(), ..FileEntry::default() };
        return Ok(files::read_entry(line).unwrap_or_else(bare));
    }
    let file = Object::at(value, place)?;
    let owned = |name| file.text(name).map(|text| text.map(str::to_owned));
    Ok(FileEntry {
        path: owned("path")?.ok_or(DocumentError::Missing { field: "files_changed[].path" })?,
        change: file.text("change")?.map(decode_change).transpose()?,
        from: owned("from")?,
        blob: file.text("blob")?.map(|text| typed::parsed(text, "files_changed[].blob")).transpose()?,
        note: owned("note")?,
    })
}

/// A change by git's letter or, as authors write it, by its word.
fn decode_change(text: &str) -> Result<Change, DocumentError> {
    files::change_of(text).ok_or_else(|| typed::malformed(text, "files_changed[].change", "one of A, M, D, R, C, T"))
}

/// Evidence: an object, or a line such as the Markdown has.
fn decode_evidence(value: &Value, place: &str) -> Result<Evidence, DocumentError> {
    if let Value::String(line) = value {
        return Ok(evidence::read_entry(line, None));
    }
    let entry = Object::at(value, place)?;
    let owned = |name| entry.text(name).map(|text| text.map(str::to_owned));
    let outcome = |text| typed::parsed::<Outcome>(text, "verification_evidence[].outcome");
    let observer = |text| typed::parsed::<Observer>(text, "verification_evidence[].observed_by");
    Ok(Evidence {
        command: owned("command")?,
        outcome: entry.text("outcome")?.map(outcome).transpose()?,
        detail: owned("detail")?,
        observed_by: entry.text("observed_by")?.map(observer).transpose()?.unwrap_or(Observer::Author),
    })
}
