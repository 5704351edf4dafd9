//! What happens in the queue, as events that the log remembers.

use super::words::{ClaimMode, Ending, Label, Lease, Prerequisite};
use crate::model::{AgentName, EventId, ObjectName, Origin, Topic};

/// Something that happened in the queue.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueEvent {
    /// The content id.
    pub id: EventId,
    /// The effective time of the commit that recorded it; with the id, its place in the order.
    pub effective: i64,
    /// When and by whom.
    pub origin: Origin,
    /// What.
    pub action: Action,
}

impl QueueEvent {
    /// Its place in the log's order.
    pub fn place(&self) -> Place {
        (self.effective, self.id)
    }
}

/// A place in the log's order.
pub type Place = (i64, EventId);

/// What somebody did.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A continuation was queued.
    Add(Box<NewItem>),
    /// Something was done with a continuation.
    Item {
        /// The continuation.
        item: EventId,
        /// The continuation's latest event at the time. It makes every event unlike all others.
        seen: Option<EventId>,
        /// What.
        step: Step,
    },
    /// Something was done with an operation.
    Operation {
        /// Its name.
        name: Label,
        /// The operation's latest event at the time.
        seen: Option<EventId>,
        /// What.
        step: RunStep,
    },
    /// Somebody looked whether a branch is merged or a commit arrived.
    Observed {
        /// `merged:` or `commit:`.
        prerequisite: Prerequisite,
        /// The commit that was looked for.
        commit: ObjectName,
        /// What was seen: open or succeeded.
        met: Sighting,
        /// The prerequisite's latest observation at the time.
        seen: Option<EventId>,
    },
}

/// What somebody who looked has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sighting {
    /// It is not there yet.
    NotYet,
    /// It is there.
    Met,
}

/// A continuation as it is queued.
#[derive(Debug, Clone, PartialEq)]
pub struct NewItem {
    /// The handoff that it continues, pinned.
    pub handoff: EventId,
    /// What it is about.
    pub topic: Topic,
    /// A name to call it by.
    pub name: Option<Label>,
    /// The agent that is meant to do it.
    pub agent: Option<AgentName>,
    /// What must have succeeded first, each once.
    pub after: Vec<Prerequisite>,
    /// What was accepted although it is not as it should be.
    pub accepted: Accepted,
    /// Told apart from this many others that are the same in everything else.
    pub copy: u32,
}

/// What somebody accepted of a handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Accepted {
    /// That it is not authoritative for continuation.
    pub partial: bool,
    /// That a later handoff supersedes it.
    pub superseded: bool,
}

impl Accepted {
    /// The words for it.
    pub fn words(self) -> Vec<&'static str> {
        let words = [(self.partial, "partial"), (self.superseded, "superseded")];
        words.into_iter().filter_map(|(accepted, word)| accepted.then_some(word)).collect()
    }
}

/// What somebody did with a continuation.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Prerequisites were added or dropped.
    Link {
        /// Those that are new.
        added: Vec<Prerequisite>,
        /// Those that no longer count.
        dropped: Vec<Prerequisite>,
    },
    /// Somebody took it, or renewed a claim.
    Claim {
        /// Who.
        holder: String,
        /// For how long.
        lease: Lease,
        /// How sure it is.
        mode: ClaimMode,
        /// The claim that it renews or takes over.
        over: Option<EventId>,
        /// A random number, which makes it unlike a claim that the same person makes elsewhere in the same second.
        nonce: Option<u64>,
    },
    /// A claim was given back.
    Release {
        /// Who gave it back.
        holder: String,
        /// Whether it was the own one.
        manner: Manner,
    },
    /// The packet was handed over.
    Start {
        /// To whom.
        holder: String,
        /// What was true then.
        facts: StartFacts,
    },
    /// It ended.
    Finish {
        /// Who says so.
        holder: String,
        /// How.
        ending: Ending,
        /// The exit status of the command that decided, where one did.
        exit_code: Option<i32>,
        /// The start, when nothing recorded it before.
        start: Option<StartFacts>,
    },
    /// Nobody will do it.
    Cancel {
        /// Who says so.
        holder: String,
    },
    /// It may be tried again.
    Retry,
    /// A person approves of it.
    Approve,
}

impl Step {
    /// The verb for it.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Link { .. } => "link",
            Self::Claim { .. } => "claim",
            Self::Release { .. } => "release",
            Self::Start { .. } => "start",
            Self::Finish { .. } => "finish",
            Self::Cancel { .. } => "cancel",
            Self::Retry => "retry",
            Self::Approve => "approve",
        }
    }
}

/// Whose claim is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// The own one, or one whose lease is over.
    Own,
    /// Somebody else's, while it held.
    Forced,
}

/// What was true when a continuation was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartFacts {
    /// The handoff that was handed over.
    pub handoff: EventId,
    /// The commit that was checked out.
    pub revision: Option<ObjectName>,
    /// How long the start holds, where nothing claimed it before.
    pub lease: Lease,
    /// What showed that each prerequisite was met.
    pub evidence: Vec<Evidence>,
    /// A later handoff that supersedes the one handed over, which was accepted.
    pub superseded_by: Option<EventId>,
}

/// What shows that a prerequisite is met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The prerequisite.
    pub prerequisite: Prerequisite,
    /// The event that decided it.
    pub event: Option<EventId>,
}

/// What somebody did with an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunStep {
    /// A run began.
    Start,
    /// The run ended, or one that nothing recorded the beginning of.
    End {
        /// How.
        ending: Ending,
        /// What is known of a run by this program.
        run: Option<Run>,
    },
}

/// A run of an operation by this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The command, masked.
    pub command: String,
    /// Its exit status; `None` when a signal ended it or it could not be started.
    pub exit_code: Option<i32>,
    /// How long it took, in milliseconds.
    pub milliseconds: u64,
    /// The last lines of its output, masked.
    pub tail: String,
}
