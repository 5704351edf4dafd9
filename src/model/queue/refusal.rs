//! Why something cannot be done with the queue. The same sentences explain the conflicts of a joined log.

use super::words::{Outcome, State};
use crate::model::Timestamp;

/// Why something is not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It needs another state.
    #[error("{item} is {state}{why}; {verb} needs one that is {needed}")]
    WrongState {
        /// The continuation.
        item: String,
        /// Where it stands.
        state: State,
        /// What it waits for, or why it is stopped; begins with a separator.
        why: String,
        /// What was to be done.
        verb: &'static str,
        /// The states in which that can be done, in words.
        needed: &'static str,
    },
    /// Somebody else holds it.
    #[error("{item} belongs to {holder} until {until}")]
    NotHolder {
        /// The continuation.
        item: String,
        /// Who holds it.
        holder: String,
        /// Until when.
        until: Timestamp,
    },
    /// Nobody holds it.
    #[error("nobody has claimed {item}")]
    NotClaimed {
        /// The continuation.
        item: String,
    },
    /// It would wait for itself.
    #[error("a continuation cannot wait for itself: {}", path.join(" after "))]
    Cycle {
        /// The continuations of the loop; the first comes again at the end.
        path: Vec<String>,
    },
    /// Another unfinished continuation has the name.
    #[error("the name '{name}' belongs to the unfinished continuation {item}")]
    NameTaken {
        /// The name.
        name: String,
        /// The first digits of its id.
        item: String,
    },
    /// What stopped it has not changed.
    #[error("{item} cannot be tried again: {prerequisite} is {outcome}")]
    StillBad {
        /// The continuation.
        item: String,
        /// The prerequisite.
        prerequisite: String,
        /// How it stands.
        outcome: Outcome,
    },
    /// It has no such prerequisite.
    #[error("{item} does not wait for {prerequisite}")]
    NoSuchPrerequisite {
        /// The continuation.
        item: String,
        /// The prerequisite.
        prerequisite: String,
    },
    /// The operation runs already.
    #[error("the operation '{name}' is running since {since}")]
    Running {
        /// Its name.
        name: String,
        /// Since when.
        since: Timestamp,
    },
    /// The operation's run has ended.
    #[error("the latest run of the operation '{name}' has {outcome}; a new one begins with 'op start'")]
    NotRunning {
        /// Its name.
        name: String,
        /// How its latest run ended.
        outcome: Outcome,
    },
    /// A claim that is sure took its place.
    #[error("{holder} claimed {item} exclusively meanwhile")]
    Beaten {
        /// The continuation.
        item: String,
        /// Who has it now.
        holder: String,
    },
    /// The handoff that was handed over is not the pinned one.
    #[error("{item} was started with another handoff than the one that is pinned")]
    OtherHandoff {
        /// The continuation.
        item: String,
    },
}

impl Refusal {
    /// Who has what was lost, when a claim was.
    pub fn lost_to(&self) -> Option<&str> {
        match self {
            Self::NotHolder { holder, .. } | Self::Beaten { holder, .. } => Some(holder),
            Self::WrongState { .. }
            | Self::NotClaimed { .. }
            | Self::Cycle { .. }
            | Self::NameTaken { .. }
            | Self::StillBad { .. }
            | Self::NoSuchPrerequisite { .. }
            | Self::Running { .. }
            | Self::NotRunning { .. }
            | Self::OtherHandoff { .. } => None,
        }
    }
}
