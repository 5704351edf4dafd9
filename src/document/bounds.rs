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

fn lengths(content: &Content) -> [(&'static str, usize); 14] {
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
        ("extra", content.extra.len()),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::document::examples::billing;

    fn refusal(handoff: &Handoff) -> String {
        within_bounds(handoff).expect_err("out of bounds").to_string()
    }

    #[test]
    fn an_ordinary_document_is_within_bounds() {
        assert_eq!(within_bounds(&billing()), Ok(()));
    }

    #[test]
    fn the_last_byte_that_fits_and_the_first_that_does_not() {
        let mut handoff = billing();
        let rest = Handoff::MAX_BYTES - super::super::canonical(&handoff).len();
        let state = handoff.content.current_state.get_or_insert_default();
        state.push_str(&"x".repeat(rest));
        assert_eq!(within_bounds(&handoff), Ok(()));
        handoff.content.current_state.get_or_insert_default().push('x');
        assert_eq!(
            refusal(&handoff),
            "the document has 262145 bytes of canonical JSON; at most 262144 are allowed. The largest field is \
             'current_state' with 260916 bytes: put long material into a file and reference it"
        );
    }

    #[test]
    fn a_list_is_refused_with_its_length() {
        let mut handoff = billing();
        handoff.content.decisions = vec![String::new(); 1001];
        let expected =
            "'decisions' has 1001 entries; at most 1000 are allowed: put the list into a file and reference it";
        assert_eq!(refusal(&handoff), expected);
    }

    #[test]
    fn numbers_that_canonical_json_would_round_are_refused() {
        let with = |value: Value| Handoff { unknown: [("n".to_owned(), value)].into_iter().collect(), ..billing() };
        for number in
            [json!(9_007_199_254_740_992_u64), json!(-9_007_199_254_740_992_i64), json!(u64::MAX), json!(1e300)]
        {
            let expected =
                format!("'n' holds the number {number}, which canonical JSON would round: write it as a string");
            assert_eq!(refusal(&with(json!([number]))), expected);
        }
        for number in [json!(9_007_199_254_740_991_u64), json!(-1), json!(0.1), json!(1e-300)] {
            assert_eq!(within_bounds(&with(number)), Ok(()));
        }
    }

    #[test]
    fn values_deeper_than_a_reader_follows_are_refused() {
        let deep = (0..200).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        let handoff = Handoff { unknown: [("deep".to_owned(), deep)].into_iter().collect(), ..billing() };
        assert_eq!(refusal(&handoff), "'deep' is nested more than 100 levels deep");
    }
}
