//! `git handoff verify`: every entry of the log, hashed again, and the graph walked from its tips.

use std::collections::{BTreeMap, HashSet};
use std::io;

use serde_json::{Value, json};

use super::super::error::{Code, Failure};
use super::super::session::Session;
use crate::document;
use crate::log::MAX_EVENT_BYTES;
use crate::model::{Anomaly, AnomalyKind, Entry, Event, EventId, EventKind, LogCommit, visible_line};
use crate::ui::{Page, Report, Ui};

/// The kinds of events that some version of this tool writes.
const KINDS: [&str; 14] = [
    "handoff",
    "approval",
    "continuation",
    "claim",
    "release",
    "start",
    "finish",
    "retry",
    "operation",
    "rewrite",
    "waiver",
    "redaction",
    "dependency",
    "cancel",
];

/// Runs the command.
///
/// # Errors
/// `LOG_DAMAGED` when an entry is missing, does not match its id, or breaks the graph.
pub(in crate::cli) fn run(session: &Session<'_>, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let tips = session.log().tips()?;
    let mut verified = Verified::default();
    let walk = session.log().visit_since(&tips.all(), &|_| None, &mut |commit| verified.look_at(session, commit));
    verified.bad.extend(walk.anomalies.into_iter().map(Bad::of));
    verified.settle();
    for spooled in session.spooled()? {
        let notes = spooled.commit.anomalies.iter().map(|bad| format!("in the spool: {}: {}", bad.path, bad.kind));
        verified.notes.extend(notes);
    }
    for (kind, count) in &verified.unknown {
        verified.notes.push(format!("{count} of the kind '{kind}', which this version does not know"));
    }
    for note in &verified.notes {
        ui.note(note);
    }
    ui.answer(&verified)?;
    if verified.bad.is_empty() {
        return Ok(());
    }
    let count = verified.bad.len();
    let what = if count == 1 { "an entry of the log is".to_owned() } else { format!("{count} entries of the log are") };
    Err(Failure::new(Code::LogDamaged, format!("{what} not as recorded"))
        .hint("'git handoff recover' takes in again what the files still hold; a fetch from a remote that has the objects brings the rest")
        .detail("bad", verified.bad.iter().map(Bad::json).collect::<Vec<_>>()))
}

/// An entry that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Bad {
    commit: Option<String>,
    path: String,
    code: &'static str,
    text: String,
}

impl Bad {
    fn of(anomaly: Anomaly) -> Self {
        let code = match &anomaly.kind {
            AnomalyKind::Missing if anomaly.path.is_empty() => "graph",
            AnomalyKind::Missing => "missing",
            AnomalyKind::Mismatch => "mismatch",
            AnomalyKind::Unreadable(_) if anomaly.path.is_empty() => "graph",
            AnomalyKind::Unreadable(_) => "unreadable",
            AnomalyKind::Oversized(_) => "oversized",
            AnomalyKind::Foreign => "foreign",
        };
        let commit = anomaly.commit.map(|commit| commit.to_string());
        Self { commit, path: anomaly.path, code, text: anomaly.kind.to_string() }
    }

    fn not_canonical(commit: &LogCommit, entry: &Entry) -> Self {
        Self {
            commit: commit.name.map(|name| name.to_string()),
            path: format!("{}/{}.json", entry.kind.as_str(), entry.id),
            code: "not_canonical",
            text: "its bytes are not the canonical JSON of what they say".into(),
        }
    }

    fn json(&self) -> Value {
        json!({"commit": self.commit, "path": self.path, "code": self.code, "text": self.text})
    }
}

/// What was looked at and found.
#[derive(Default)]
struct Verified {
    commits: u64,
    /// Each once, however often it was recorded.
    handoffs: HashSet<EventId>,
    events: u64,
    bad: Vec<Bad>,
    unknown: BTreeMap<String, u64>,
    notes: Vec<String>,
}

impl Verified {
    fn look_at(&mut self, session: &Session<'_>, commit: LogCommit) {
        self.commits += 1;
        for entry in &commit.entries {
            let canonical = match (&entry.event, &entry.kind) {
                (Event::Handoff(handoff), _) => {
                    self.handoffs.insert(entry.id);
                    EventId::of(&document::canonical(handoff)) == entry.id
                }
                (Event::Opaque { .. }, kind) => {
                    self.count(kind);
                    // Its bytes were checked against its id while they were read.
                    let bytes = entry.blob.map(|blob| session.repo.read_blob(&blob, MAX_EVENT_BYTES));
                    !matches!(bytes, Some(Ok(bytes)) if !document::is_canonical(&bytes))
                }
            };
            if !canonical {
                self.bad.push(Bad::not_canonical(&commit, entry));
            }
        }
        self.bad.extend(commit.anomalies.into_iter().map(Bad::of));
    }

    fn count(&mut self, kind: &EventKind) {
        self.events += 1;
        if !KINDS.contains(&kind.as_str()) {
            *self.unknown.entry(kind.as_str().to_owned()).or_default() += 1;
        }
    }

    /// A commit that several others lead to is told of once.
    fn settle(&mut self) {
        self.bad.sort();
        self.bad.dedup();
    }
}

impl Report for Verified {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        for bad in &self.bad {
            let commit = bad.commit.as_deref().map_or("no commit", |commit| &commit[..12]);
            page.line(format!(
                "bad: {commit} {} ({}): {}",
                visible_line(&bad.path),
                bad.code,
                visible_line(&bad.text)
            ))?;
        }
        let (commits, handoffs, events) = (self.commits, self.handoffs.len(), self.events);
        page.line(format!("Verified: {handoffs} handoffs and {events} other events in {commits} commits"))
    }

    fn json(&self) -> Value {
        json!({
            "checked": {"commits": self.commits, "handoffs": self.handoffs.len(), "events": self.events},
            "bad": self.bad.iter().map(Bad::json).collect::<Vec<_>>(),
            "unknown_kinds": self.unknown,
            "notes": self.notes,
        })
    }
}
