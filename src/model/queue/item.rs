//! A continuation and an operation as the events left them.

use super::event::{Accepted, Place, Run, StartFacts};
use super::words::{ClaimMode, Ending, Label, Outcome, Prerequisite};
use crate::model::{AgentName, By, EventId, ObjectName, Timestamp, Topic};

/// A continuation.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Its id: that of the event that queued it.
    pub id: EventId,
    /// When it was queued.
    pub created: Timestamp,
    /// By whom.
    pub by: By,
    /// The name to call it by.
    pub name: Option<Label>,
    /// What it is about.
    pub topic: Topic,
    /// The handoff that it continues.
    pub handoff: EventId,
    /// The agent that is meant to do it.
    pub agent: Option<AgentName>,
    /// What was accepted of the handoff.
    pub accepted: Accepted,
    /// What must have succeeded first.
    pub after: Vec<Prerequisite>,
    /// Who approved of it.
    pub approved: Option<Mark>,
    /// Who holds it, or held it when it ended.
    pub claim: Option<Claim>,
    /// The start, once there was one.
    pub start: Option<Start>,
    /// The end, once there was one.
    pub end: Option<End>,
    /// Why it was stopped. It stays so until somebody retries.
    pub stopped: Option<Stop>,
    /// Its latest event.
    pub last: EventId,
    /// Events that did not fit.
    pub conflicts: Vec<Conflict>,
}

impl Item {
    /// The name, or the first digits of the id.
    pub fn label(&self) -> String {
        self.name.as_ref().map_or_else(|| self.id.short(), ToString::to_string)
    }

    /// Whether it has neither started nor ended.
    pub fn is_open(&self) -> bool {
        self.start.is_none() && self.end.is_none()
    }
}

/// Who did something, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// The event.
    pub event: EventId,
    /// By whom.
    pub by: By,
    /// When.
    pub created: Timestamp,
}

/// A claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The event.
    pub event: EventId,
    /// The name that the holder gave.
    pub holder: String,
    /// Who made it.
    pub by: By,
    /// When its lease ends.
    pub until: Timestamp,
    /// How sure it is.
    pub mode: ClaimMode,
}

impl Claim {
    /// Whether its lease is over at a moment.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        now.millis() >= self.until.millis()
    }
}

/// A start.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// The event.
    pub event: EventId,
    /// To whom the packet was handed over.
    pub holder: String,
    /// When.
    pub created: Timestamp,
    /// What was true then.
    pub facts: StartFacts,
}

/// An end.
#[derive(Debug, Clone, PartialEq)]
pub struct End {
    /// The event.
    pub event: EventId,
    /// How.
    pub ending: Ending,
    /// Who says so.
    pub holder: String,
    /// When.
    pub created: Timestamp,
    /// The exit status of the command that decided, where one did.
    pub exit_code: Option<i32>,
}

/// Why a continuation is stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// The prerequisite.
    pub prerequisite: Prerequisite,
    /// How it stood when it stopped the continuation.
    pub outcome: Outcome,
}

/// An event that did not fit the state in which it arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// The event.
    pub event: EventId,
    /// What somebody did.
    pub verb: String,
    /// Who.
    pub by: String,
    /// When.
    pub created: Timestamp,
    /// Why it did not fit.
    pub why: String,
    /// For a claim or a start that was lost: who has it.
    pub lost_to: Option<String>,
}

/// An operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// Its latest event.
    pub last: EventId,
    /// When its latest run began.
    pub started: Timestamp,
    /// By whom.
    pub by: By,
    /// How the latest run ended.
    pub ended: Option<RunEnd>,
    /// Events that did not fit.
    pub conflicts: Vec<Conflict>,
}

/// The end of an operation's run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnd {
    /// How.
    pub ending: Ending,
    /// When.
    pub created: Timestamp,
    /// What is known of it, when this program ran it.
    pub run: Option<Run>,
}

/// What was seen of a branch or a commit.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The event.
    pub event: EventId,
    /// The commit that was looked for.
    pub commit: ObjectName,
    /// Whether it was met.
    pub met: bool,
}

/// Where the work of a handoff was completed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The place of the completed handoff in the order.
    pub place: Place,
}
