//! What the stored JSON of every event but a handoff has in common: when it was made and by whom.
//!
//! ```json
//! {"by":{"agent":"codex","identity":"Kim <kim@example.com>"},"created":"2026-08-18T17:04:00+03:00","schema":"event/v1", …}
//! ```

use serde_json::{Map, Value, json};

use crate::model::{AnomalyKind, By, Origin};

/// The schema of events that are no handoffs.
const SCHEMA: &str = "event/v1";

/// The canonical JSON (RFC 8785) of an event: its own fields, and where it comes from.
///
/// Numbers among the fields must stay within ±2^53.
pub fn encode(origin: &Origin, fields: Map<String, Value>) -> Vec<u8> {
    let Origin { created, by } = origin;
    let mut who = Map::from_iter([("identity".to_owned(), json!(by.identity))]);
    who.extend(by.agent.iter().map(|agent| ("agent".to_owned(), json!(agent.as_str()))));
    who.extend(by.agent_session.iter().map(|session| ("agent_session".to_owned(), json!(session))));
    let mut event = fields;
    event.insert("schema".into(), json!(SCHEMA));
    event.insert("created".into(), json!(created.to_string()));
    event.insert("by".into(), Value::Object(who));
    serde_json_canonicalizer::to_vec(&event).expect("strings and small numbers always have a canonical form")
}

/// Where an event comes from, and its own fields.
///
/// # Errors
/// When it is not an object with `created` and `by`.
pub fn decode(bytes: &[u8]) -> Result<(Origin, Map<String, Value>), AnomalyKind> {
    let mut fields: Map<String, Value> =
        serde_json::from_slice(bytes).map_err(|error| unreadable(error.to_string()))?;
    let created = fields.remove("created");
    let created = created.as_ref().and_then(Value::as_str).ok_or_else(|| unreadable("'created' is missing"))?;
    let created = created.parse().map_err(|error: crate::model::TimeError| unreadable(error.to_string()))?;
    let by = fields.remove("by").ok_or_else(|| unreadable("'by' is missing"))?;
    let text = |name: &str| by.get(name).and_then(Value::as_str).map(str::to_owned);
    let agent = text("agent").map(|name| name.parse()).transpose();
    let by = By {
        agent: agent.map_err(|error: crate::model::AgentNameError| unreadable(error.to_string()))?,
        agent_session: text("agent_session"),
        identity: text("identity").ok_or_else(|| unreadable("'by.identity' is missing"))?,
    };
    fields.remove("schema");
    Ok((Origin { created, by }, fields))
}

fn unreadable(why: impl Into<String>) -> AnomalyKind {
    AnomalyKind::Unreadable(crate::model::visible_line(&why.into()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_as_it_was_written() {
        let origin = Origin {
            created: "2026-08-18T17:04:00+03:00".parse().expect("a time"),
            by: By {
                agent: "codex".parse().ok(),
                agent_session: Some("t-1".into()),
                identity: "Kim <kim@example.com>".into(),
            },
        };
        let fields = Map::from_iter([("note".to_owned(), json!("fine"))]);
        let bytes = encode(&origin, fields.clone());
        assert_eq!(
            String::from_utf8_lossy(&bytes),
            "{\"by\":{\"agent\":\"codex\",\"agent_session\":\"t-1\",\"identity\":\"Kim <kim@example.com>\"},\
             \"created\":\"2026-08-18T17:04:00+03:00\",\"note\":\"fine\",\"schema\":\"event/v1\"}"
        );
        assert_eq!(decode(&bytes), Ok((origin, fields)));
    }

    #[test]
    fn an_event_of_nobody_is_unreadable() {
        assert_eq!(decode(b"{}"), Err(AnomalyKind::Unreadable("'created' is missing".into())));
        let no_by = br#"{"created":"2026-08-18T17:04:00+03:00"}"#;
        assert_eq!(decode(no_by), Err(AnomalyKind::Unreadable("'by' is missing".into())));
    }
}
