//! What listing and selecting need to know of a handoff: little enough to keep for each of 100,000.

use super::{
    AgentName, Completeness, EventId, Handoff, Lane, Lanes, Link, ObjectName, SessionName, Status, Timestamp, Topic,
    Trigger, cut,
};

/// A handoff as it appears in lists: its metadata, its place in the order and its readable name.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The content id.
    pub id: EventId,
    /// The blob that holds the document; `None` while it is only in the spool.
    pub blob: Option<ObjectName>,
    /// The commit of the log that recorded it; `None` while it is only in the spool.
    pub recorded_in: Option<ObjectName>,
    /// The effective time of that commit, in milliseconds; see [`super::LogCommit::effective`].
    pub effective: i64,
    /// The how-manieth handoff of its minute and lane it is, from 1.
    pub ordinal: u32,
    /// When it was made.
    pub created: Timestamp,
    /// The agent.
    pub agent: AgentName,
    /// The model.
    pub model: Option<String>,
    /// The agent's own session id.
    pub agent_session: Option<String>,
    /// What it is about.
    pub topic: Topic,
    /// How far the work is.
    pub status: Status,
    /// Why it was made.
    pub trigger: Trigger,
    /// How the goal ended.
    pub goal_status: Option<Status>,
    /// The branch.
    pub branch: Option<String>,
    /// The source commit.
    pub commit: Option<ObjectName>,
    /// Whether it may be continued from alone.
    pub completeness: Completeness,
    /// The handoff that it continues.
    pub previous: Option<Link>,
    /// The handoff that its session was resumed from.
    pub resumed_from: Option<Link>,
    /// The handoffs that it corrects.
    pub supersedes: Vec<Link>,
    /// The objective on one line, at most [`Summary::EXCERPT`] characters.
    pub objective: Option<String>,
    /// The next action on one line, at most [`Summary::EXCERPT`] characters.
    pub next_action: Option<String>,
}

impl Summary {
    /// How many characters of the objective and the next action are kept.
    pub const EXCERPT: usize = 200;

    /// The summary of a document. Its ordinal is still 1: who holds the whole order sets it.
    pub fn of(
        id: EventId,
        document: &Handoff,
        blob: Option<ObjectName>,
        recorded_in: Option<ObjectName>,
        effective: i64,
    ) -> Self {
        let metadata = document.metadata.clone();
        Self {
            id,
            blob,
            recorded_in,
            effective,
            ordinal: 1,
            created: document.created,
            agent: document.agent.clone(),
            model: metadata.model,
            agent_session: metadata.agent_session,
            topic: document.topic.clone(),
            status: document.status,
            trigger: document.trigger,
            goal_status: metadata.goal_status,
            branch: metadata.branch,
            commit: metadata.commit,
            completeness: document.completeness,
            previous: metadata.previous,
            resumed_from: metadata.resumed_from,
            supersedes: metadata.supersedes,
            objective: document.content.objective.as_deref().map(excerpt),
            next_action: document.content.next_action.as_deref().map(excerpt),
        }
    }

    /// The readable name.
    pub fn session(&self) -> SessionName {
        SessionName::new(self.agent.clone(), self.created, self.ordinal)
    }

    /// The handoff's file, relative to the top of the work tree.
    pub fn file(&self, lanes: &Lanes) -> String {
        self.session().file(&self.lane(lanes))
    }

    /// The lane that the file stands in.
    pub fn lane(&self, lanes: &Lanes) -> Lane {
        lanes.of(&self.agent)
    }

    /// The handoffs that this one closes: those that it corrects, continues or was resumed from.
    pub fn closes(&self) -> impl Iterator<Item = EventId> {
        self.previous.iter().chain(&self.resumed_from).chain(&self.supersedes).filter_map(Link::id)
    }
}

/// A text on one line, white space folded, cut at [`Summary::EXCERPT`] characters.
fn excerpt(text: &str) -> String {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&folded, Summary::EXCERPT).into_owned()
}
