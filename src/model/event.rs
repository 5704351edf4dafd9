//! What the log remembers, as it is after reading: events, their place in the order, and what could not be read.

use super::{AgentName, EventId, Handoff, ObjectName, Timestamp};

/// The kinds of events, which are also the folders in the log's trees.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// A handoff document.
    Handoff,
    /// Any other kind, by its folder name: those of later versions as well as those that this module does not
    /// interpret. They are kept and never changed.
    Other(String),
}

impl EventKind {
    /// The folder name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Handoff => "handoff",
            Self::Other(name) => name,
        }
    }

    /// The kind with this folder name.
    pub fn from_folder(name: &str) -> Self {
        match name {
            "handoff" => Self::Handoff,
            other => Self::Other(other.into()),
        }
    }
}

/// When an event was made, and by whom. Every event but a handoff, which says so in fields of its own, has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// When.
    pub created: Timestamp,
    /// By whom.
    pub by: By,
}

/// Who made an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By {
    /// The agent, where one is known.
    pub agent: Option<AgentName>,
    /// The agent's own session id.
    pub agent_session: Option<String>,
    /// The git identity, as `Name <email>`.
    pub identity: String,
}

/// An event's content.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A handoff.
    Handoff(Box<Handoff>),
    /// An event that this version does not interpret; its bytes stay in the log.
    Opaque {
        /// When it was made, as far as it says so.
        created: Option<Timestamp>,
    },
}

/// An event with its place in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The content id, checked against the bytes.
    pub id: EventId,
    /// The folder that it stands in.
    pub kind: EventKind,
    /// The blob that holds it; `None` while it is only in the spool.
    pub blob: Option<ObjectName>,
    /// The content.
    pub event: Event,
}

/// One commit of the log. The order of all events is (effective time of the commit, id of the event).
#[derive(Debug, Clone, PartialEq)]
pub struct LogCommit {
    /// Its object name; `None` for a spooled event, which no commit holds yet.
    pub name: Option<ObjectName>,
    /// Effective time in milliseconds since the epoch: the later of its own time and one more than the
    /// effective time of every parent, so that no wrong clock puts an effect before its cause.
    pub effective: i64,
    /// Its good events.
    pub entries: Vec<Entry>,
    /// What it holds that is not a good event.
    pub anomalies: Vec<Anomaly>,
}

/// Something in the log that is not a good event. It is reported and never stops the good ones from being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anomaly {
    /// The commit of the log that holds it.
    pub commit: Option<ObjectName>,
    /// The path in the commit's tree; empty when the commit itself is meant.
    pub path: String,
    /// What is wrong.
    pub kind: AnomalyKind,
}

/// What can be wrong with something in the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnomalyKind {
    /// The object is not in this repository.
    #[error("the object is missing in this repository")]
    Missing,
    /// The bytes do not have the id that the name says.
    #[error("the content does not match its id")]
    Mismatch,
    /// It is not JSON of the kind that the folder says.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// It is larger than any event may be; the number of bytes.
    #[error("it is too large ({0} bytes)")]
    Oversized(u64),
    /// The path is not `<kind>/<id>.json`, or it is not an ordinary file.
    #[error("it is not a file named <kind>/<id>.json")]
    Foreign,
}
