//! The stored shape of a `rewrite` event: which commits replaced which, as git told it.
//!
//! ```json
//! {"by":{…},"command":"rebase","created":"…","pairs":[["<old>","<new>"]],"schema":"event/v1"}
//! ```

use serde_json::{Map, Value, json};

use super::envelope;
use crate::model::rewrite::Pair;
use crate::model::{AnomalyKind, Origin};

/// The folder of these events.
pub const KIND: &str = "rewrite";
/// How many pairs one event holds at most.
pub const MAX_PAIRS: usize = 1000;

/// The canonical JSON of a rewrite by this git command (`amend` or `rebase`).
pub fn encode(origin: &Origin, command: &str, pairs: &[Pair]) -> Vec<u8> {
    let pairs: Vec<Value> = pairs.iter().map(|(old, new)| json!([old.to_string(), new.to_string()])).collect();
    let fields = Map::from_iter([("command".to_owned(), json!(command)), ("pairs".to_owned(), json!(pairs))]);
    envelope::encode(origin, fields)
}

/// The pairs of a stored rewrite. A pair that is none is passed over.
///
/// # Errors
/// When it is no event.
pub fn decode(bytes: &[u8]) -> Result<Vec<Pair>, AnomalyKind> {
    let (_, fields) = envelope::decode(bytes)?;
    let name = |value: Option<&Value>| value.and_then(Value::as_str).and_then(|text| text.parse().ok());
    let pair = |value: &Value| Some((name(value.get(0))?, name(value.get(1))?));
    let pairs = fields.get("pairs").and_then(Value::as_array);
    Ok(pairs.into_iter().flatten().filter_map(pair).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::By;

    #[test]
    fn a_rewrite_is_read_as_it_was_written() {
        let by = By { agent: None, agent_session: None, identity: "Kim <kim@example.com>".into() };
        let origin = Origin { created: "2026-08-18T17:04:00+03:00".parse().expect("a time"), by };
        let pair = ("a".repeat(40).parse().expect("a name"), "b".repeat(40).parse().expect("a name"));
        assert_eq!(decode(&encode(&origin, "amend", &[pair])), Ok(vec![pair]));
        let odd = br#"{"by":{"identity":"x"},"created":"2026-08-18T17:04:00+03:00","pairs":[["z"],3]}"#;
        assert_eq!(decode(odd), Ok(Vec::new()));
    }
}
