//! The form in which content is sealed, whoever wrote it.

use serde_json::{Number, Value};

use crate::model::{Content, Observer, normalised};

/// Brings every text to the normal form, leaves out what says nothing, and makes the author the one who saw the
/// evidence: only this tool itself can say that it did.
pub(super) fn normalise(content: &mut Content) {
    let texts = [
        &mut content.objective,
        &mut content.current_state,
        &mut content.database_changes,
        &mut content.api_changes,
        &mut content.frontend_changes,
        &mut content.next_action,
        &mut content.resume_instructions,
    ];
    texts.into_iter().for_each(text);
    let lists = [
        &mut content.scope.included,
        &mut content.scope.excluded,
        &mut content.approved_plan,
        &mut content.completed_steps,
        &mut content.decisions,
        &mut content.commands,
        &mut content.known_failures,
        &mut content.constraints,
        &mut content.prerequisites,
        &mut content.pending_steps,
        &mut content.context_refs,
    ];
    lists.into_iter().for_each(list);
    for file in &mut content.files_changed {
        file.path = normalised(&file.path);
        text(&mut file.from);
        text(&mut file.note);
    }
    content.files_changed.retain(|file| !file.path.is_empty() || file.note.is_some());
    for evidence in &mut content.verification_evidence {
        text(&mut evidence.command);
        text(&mut evidence.detail);
        evidence.observed_by = Observer::Author;
    }
    content.verification_evidence.retain(|evidence| evidence.command.is_some() || evidence.detail.is_some());
    for body in content.extra.values_mut() {
        *body = normalised(body);
    }
    content.extra.retain(|_, body| !body.is_empty());
}

fn text(slot: &mut Option<String>) {
    *slot = slot.take().map(|text| normalised(&text)).filter(|text| !text.is_empty());
}

fn list(entries: &mut Vec<String>) {
    entries.iter_mut().for_each(|entry| *entry = normalised(entry));
    entries.retain(|entry| !entry.is_empty());
}

/// Writes whole numbers as integers, which is how they come back from canonical JSON.
pub(super) fn stored_numbers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let whole = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0);
            // Larger ones stay as they are, for the check of the bounds to refuse them.
            if let Some(float) = whole.filter(|float| float.abs() < 2_f64.powi(53)) {
                *value = Number::from(float as i64).into();
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(stored_numbers),
        Value::Object(fields) => fields.values_mut().for_each(stored_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}
