//! Waivers: somebody says of one finding of the secret scan that it is none, so that the log may be published.

use serde_json::{Map, json};

use super::{NewEvent, envelope};
use crate::model::{EventKind, Origin};

/// The kind of these events.
pub const WAIVER: &str = "waiver";

/// The waiver of a finding, by its fingerprint.
pub fn waiver(origin: &Origin, fingerprint: &str, reason: &str) -> NewEvent {
    let fields = Map::from_iter([("fingerprint".to_owned(), json!(fingerprint)), ("reason".to_owned(), json!(reason))]);
    NewEvent::new(EventKind::from_folder(WAIVER), envelope::encode(origin, fields))
}

/// The fingerprint that these stored bytes waive, if they are a waiver.
pub fn waived(bytes: &[u8]) -> Option<String> {
    let (_, fields) = envelope::decode(bytes).ok()?;
    fields.get("fingerprint")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::By;

    #[test]
    fn a_waiver_is_read_as_it_was_written() {
        let created = super::super::fixture::moment(0);
        let by = By { agent: None, agent_session: None, identity: "Kim <kim@example.com>".into() };
        let event = waiver(&Origin { created, by }, "jwt:ba7816bf8f01cfea", "a sample");
        assert_eq!(event.kind().as_str(), "waiver");
        assert_eq!(waived(event.bytes()).as_deref(), Some("jwt:ba7816bf8f01cfea"));
        assert_eq!(waived(b"{}"), None);
    }
}
