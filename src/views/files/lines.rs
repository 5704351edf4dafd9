//! `handoffs.jsonl`: one line a handoff, oldest first.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::Value;

use crate::model::{Summary, Timestamp};

/// The keys that a record may have.
const KEYS: [&str; 12] = [
    "id",
    "created",
    "agent",
    "topic",
    "status",
    "trigger",
    "branch",
    "commit",
    "file",
    "previous_session",
    "resumed_from",
    "goal_status",
];

/// A line. The order of the fields is that of the keys in the file.
#[derive(Serialize)]
struct Record<'a> {
    id: &'a str,
    created: String,
    agent: &'a str,
    topic: &'a str,
    status: &'a str,
    trigger: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resumed_from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal_status: Option<&'a str>,
}

/// The line of a handoff with its line feed.
pub(super) fn line(summary: &Summary, previous: Option<&str>, resumed_from: Option<&str>) -> String {
    let stem = summary.session().stem();
    let record = Record {
        id: &stem,
        created: summary.created.to_string(),
        agent: summary.agent.as_str(),
        topic: summary.topic.as_str(),
        status: summary.status.as_str(),
        trigger: summary.trigger.as_str(),
        branch: summary.branch.as_deref(),
        commit: summary.commit.map(|name| name.to_string()),
        file: format!("handoffs/{stem}.md"),
        previous_session: previous,
        resumed_from,
        goal_status: summary.goal_status.map(|status| status.as_str()),
    };
    serde_json::to_string(&record).expect("strings can always be written as JSON") + "\n"
}

/// What identifies a handoff in a file of any age: names change, these do not.
pub(super) type Mark = (i64, String, String);

/// The mark of a handoff.
pub(super) fn mark(summary: &Summary) -> Mark {
    (summary.created.millis(), summary.agent.to_string(), summary.topic.to_string())
}

/// What a file holds beyond the handoffs that the log knows.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Found {
    /// Records of handoffs that the log does not know, as they stand there, with the time that they give.
    pub(super) file_only: Vec<(i64, String)>,
    /// The numbers of the lines, from 1, that are no records: remarks, conflict markers, torn lines.
    pub(super) skipped: Vec<usize>,
    /// Whether a person added to a record of the log's.
    pub(super) annotated: bool,
}

/// Looks through a file.
pub(super) fn read(bytes: &[u8], known: &HashSet<Mark>) -> Found {
    let mut found = Found::default();
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let record = serde_json::from_slice::<Value>(line).ok();
        let Some(Value::Object(record)) = record.filter(|record| record["id"].is_string()) else {
            found.skipped.push(at + 1);
            continue;
        };
        let text = |key: &str| record.get(key).and_then(Value::as_str);
        let created = text("created").and_then(|text| text.parse::<Timestamp>().ok()).map(|time| time.millis());
        let mark = (created, text("agent"), text("topic"));
        let ours = matches!(mark, (Some(created), Some(agent), Some(topic))
            if known.contains(&(created, agent.into(), topic.into())));
        if ours {
            found.annotated |= record.keys().any(|key| !KEYS.contains(&key.as_str()));
        } else {
            found.file_only.push((created.unwrap_or(i64::MIN), String::from_utf8_lossy(line).into_owned() + "\n"));
        }
    }
    let mut seen = HashSet::new();
    found.file_only.retain(|(_, line)| seen.insert(line.clone()));
    found.file_only.sort_by_key(|(created, _)| *created);
    found
}

/// The lines of the log's handoffs with those that only the file knows at the place of their time.
pub(super) fn merge(own: &[(i64, String)], file_only: &[(i64, String)]) -> String {
    let mut out = String::with_capacity(own.iter().map(|(_, line)| line.len()).sum());
    let mut rest = file_only.iter().peekable();
    for (created, line) in own {
        while let Some((_, other)) = rest.next_if(|(other, _)| other < created) {
            out += other;
        }
        out += line;
    }
    rest.for_each(|(_, other)| out += other);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_file_knows_is_told_from_what_is_no_record() {
        let known = HashSet::from([(1_787_061_840_000, "codex".to_owned(), "known".to_owned())]);
        let ours = r#"{"id":"2026-08-18-1704","created":"2026-08-18T17:04:00+03:00","agent":"codex","topic":"known"}"#;
        let other = r#"{"id":"2026-08-18-1705","created":"2026-08-18T17:05:00+03:00","agent":"codex","topic":"b"}"#;
        let late = 1_787_061_900_000;
        let found = read(format!("\u{feff}{ours}\r\n{other}\n{other}\n").as_bytes(), &known);
        assert_eq!(found, Found { file_only: vec![(late, format!("{other}\n"))], ..Found::default() });
        for torn in ["<<<<<<< HEAD", "{\"id\":\"2026", "remember the milk", "[1]", "\u{1}", "{}"] {
            assert_eq!(read(format!("{ours}\n{torn}").as_bytes(), &known).skipped, [2], "{torn}");
        }
        let annotated = ours.replace("\"topic\"", "\"note\":\"mine\",\"topic\"");
        assert!(read(annotated.as_bytes(), &known).annotated);
        assert_eq!(merge(&[(5, "a".into()), (late + 1, "c".into())], &found.file_only), format!("a{other}\nc"));
    }
}
