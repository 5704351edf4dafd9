//! Stored bytes ⇄ events.

use serde_json::Value;

use crate::model::{AnomalyKind, Event, EventId, EventKind, Handoff, Timestamp};

/// The event that these bytes hold, when they have this id.
pub(super) fn decode(kind: &EventKind, id: &EventId, bytes: &[u8]) -> Result<Event, AnomalyKind> {
    if EventId::of(bytes) != *id {
        return Err(AnomalyKind::Mismatch);
    }
    match kind {
        EventKind::Handoff => handoff(bytes).map(|document| Event::Handoff(Box::new(document))),
        EventKind::Other(_) => opaque(bytes),
    }
}

/// When an event was made, in milliseconds, as far as it says so.
pub(super) fn created(event: &Event) -> Option<i64> {
    match event {
        Event::Handoff(document) => Some(document.created.millis()),
        Event::Opaque { created } => created.map(|created| created.millis()),
    }
}

fn unreadable(reason: impl std::fmt::Display) -> AnomalyKind {
    AnomalyKind::Unreadable(crate::model::visible_line(&reason.to_string()).into_owned())
}

fn opaque(bytes: &[u8]) -> Result<Event, AnomalyKind> {
    let value: Value = serde_json::from_slice(bytes).map_err(unreadable)?;
    let fields = value.as_object().ok_or_else(|| unreadable("it is not a JSON object"))?;
    let created = fields.get("created").and_then(Value::as_str).and_then(|text| text.parse::<Timestamp>().ok());
    Ok(Event::Opaque { created })
}

fn handoff(bytes: &[u8]) -> Result<Handoff, AnomalyKind> {
    crate::document::from_json(bytes).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(kind: &str, text: &str) -> Result<Event, AnomalyKind> {
        decode(&EventKind::from_folder(kind), &EventId::of(text.as_bytes()), text.as_bytes())
    }

    #[test]
    fn kinds_of_later_versions_are_kept_with_the_time_that_they_state() {
        let created = "2026-08-18T17:04:00+03:00".parse().ok();
        let text = r#"{"created":"2026-08-18T17:04:00+03:00","shape":"new"}"#;
        assert_eq!(decoded("dream", text), Ok(Event::Opaque { created }));
        assert_eq!(decoded("dream", "{}"), Ok(Event::Opaque { created: None }));
    }

    #[test]
    fn what_is_not_what_it_says_is_told_apart() {
        assert_eq!(decode(&EventKind::Handoff, &EventId::of(b"a"), b"b"), Err(AnomalyKind::Mismatch));
        assert!(matches!(decoded("handoff", "{}"), Err(AnomalyKind::Unreadable(_))));
        assert!(matches!(decoded("dream", "[]"), Err(AnomalyKind::Unreadable(_))));
        assert!(matches!(decoded("dream", "{"), Err(AnomalyKind::Unreadable(_))));
    }
}
