//! How large a document may be, so that every reader can take it in whole.

use serde_json::{Number, Value};

use super::error::BoundsError;
use super::json::{canonical_bytes, to_value};
use crate::model::{Content, Handoff};

/// How deep the values of unknown fields may be nested; readers follow at least this far.
const MAX_DEPTH: usize = 100;
/// The largest number that every reader of JSON has exactly.
const MAX_NUMBER: u64 = (1 << 53) - 1;

/// Checks that the document may be sealed.
///
/// # Errors
/// When a list or the whole is too long, or an unknown field holds a number that canonical JSON would round.
pub fn within_bounds(handoff: &Handoff) -> Result<(), BoundsError> {
    let supersedes = [("supersedes", handoff.metadata.supersedes.len())];
    let findings = [("allowed_findings", handoff.metadata.allowed_findings.len())];
    for (field, found) in supersedes.into_iter().chain(findings).chain(lengths(&handoff.content)) {
        entries(field, found)?;
    }
    for (field, value) in &handoff.unknown {
        check(field, value, MAX_DEPTH)?;
    }
    size(handoff)
}

fn lengths(content: &Content) -> [(&'static str, usize); 13] {
    [
        ("scope.included", content.scope.included.len()),
        ("scope.excluded", content.scope.excluded.len()),
        ("approved_plan", content.approved_plan.len()),
        ("completed_steps", content.completed_steps.len()),
        ("files_changed", content.files_changed.len()),
        ("decisions", content.decisions.len()),
        ("commands", content.commands.len()),
        ("verification_evidence", content.verification_evidence.len()),
        ("known_failures", content.known_failures.len()),
        ("constraints", content.constraints.len()),
        ("prerequisites", content.prerequisites.len()),
        ("pending_steps", content.pending_steps.len()),
        ("context_refs", content.context_refs.len()),
    ]
}

fn entries(field: &str, found: usize) -> Result<(), BoundsError> {
    let limit = Handoff::MAX_ENTRIES;
    if found > limit { Err(BoundsError::Entries { field: field.into(), found, limit }) } else { Ok(()) }
}

/// Checks a value of an unknown field.
fn check(field: &str, value: &Value, depth: usize) -> Result<(), BoundsError> {
    if depth == 0 {
        return Err(BoundsError::Depth { field: field.into(), limit: MAX_DEPTH });
    }
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
        Value::Number(number) if is_exact(number) => Ok(()),
        Value::Number(number) => Err(BoundsError::Number { field: field.into(), number: number.to_string() }),
        Value::Array(list) => {
            entries(field, list.len())?;
            list.iter().try_for_each(|entry| check(field, entry, depth - 1))
        }
        Value::Object(map) => {
            entries(field, map.len())?;
            map.values().try_for_each(|entry| check(field, entry, depth - 1))
        }
    }
}

fn is_exact(number: &Number) -> bool {
    let whole = number.as_u64().or(number.as_i64().map(i64::unsigned_abs));
    whole.map_or_else(
        || number.as_f64().is_some_and(|float| float.fract() != 0.0 || float.abs() <= MAX_NUMBER as f64),
        |whole| whole <= MAX_NUMBER,
    )
}

fn size(handoff: &Handoff) -> Result<(), BoundsError> {
    let limit = Handoff::MAX_BYTES;
    let value = to_value(handoff);
    let bytes = canonical_bytes(&value).len();
    if bytes <= limit {
        return Ok(());
    }
    let fields = value.as_object().into_iter().flatten();
    let sizes = fields.map(|(name, value)| (canonical_bytes(value).len(), name));
    let (largest, field) = sizes.max().map(|(largest, name)| (largest, name.clone())).unwrap_or_default();
    Err(BoundsError::Bytes { bytes, limit, field, largest })
}
