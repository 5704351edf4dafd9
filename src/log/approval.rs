//! Approvals as they are stored.
//!
//! ```json
//! {"by":{"identity":"Kim <kim@example.com>"},"created":"…","handoff":"<id>","note":"…","schema":"event/v1"}
//! ```

use serde_json::{Map, Value, json};

use super::{NewEvent, envelope};
use crate::model::{AnomalyKind, Approval, EventKind, Origin, visible_line};

/// The event that this approval is.
pub fn encode(origin: &Origin, approval: &Approval) -> NewEvent {
    let mut fields = Map::from_iter([("handoff".to_owned(), json!(approval.handoff.to_string()))]);
    fields.extend(approval.note.iter().map(|note| ("note".to_owned(), json!(note))));
    NewEvent::new(EventKind::from_folder(Approval::KIND), envelope::encode(origin, fields))
}

/// The approval that these bytes hold.
///
/// # Errors
/// When they are no approval.
pub fn decode(bytes: &[u8]) -> Result<(Origin, Approval), AnomalyKind> {
    let (origin, fields) = envelope::decode(bytes)?;
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let handoff = text("handoff").ok_or_else(|| AnomalyKind::Unreadable("'handoff' is missing".into()))?;
    let handoff = handoff.parse().map_err(|error: crate::model::IdError| {
        AnomalyKind::Unreadable(visible_line(&error.to_string()).into_owned())
    })?;
    Ok((origin, Approval { handoff, note: text("note").map(str::to_owned) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{By, EventId};

    #[test]
    fn an_approval_is_read_as_it_was_written() {
        let origin = Origin {
            created: "2026-08-18T17:04:00+03:00".parse().expect("a time"),
            by: By { agent: None, agent_session: None, identity: "Kim <kim@example.com>".into() },
        };
        for note in [None, Some("ship it".to_owned())] {
            let approval = Approval { handoff: EventId::of(b"one"), note };
            let event = encode(&origin, &approval);
            assert_eq!(event.kind().as_str(), "approval");
            assert_eq!(decode(event.bytes()), Ok((origin.clone(), approval)));
        }
    }

    #[test]
    fn an_approval_of_nothing_is_unreadable() {
        let text = br#"{"by":{"identity":"a"},"created":"2026-08-18T17:04:00+03:00"}"#;
        assert_eq!(decode(text), Err(AnomalyKind::Unreadable("'handoff' is missing".into())));
    }
}
