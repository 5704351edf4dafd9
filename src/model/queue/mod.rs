//! Continuations: queued work, what it waits for, who holds it and how it ended.
//!
//! Everything is a fold of events in the log's order. The fold is total: an event that does not fit the state in
//! which it arrives is kept as a [`Conflict`] and changes nothing. The checks of the fold are those of the decisions,
//! so that what may be decided and what counts after a join are one set of rules.
//!
//! No clock: a lease ends for the fold when an event says so by its own time. Only [`Queue::state_at`] takes a moment.

mod checks;
mod cycles;
mod decide;
mod event;
mod fold;
mod item;
mod refusal;
mod runs;
#[cfg(test)]
mod tests;
mod words;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use super::{EventId, IdPrefix, Timestamp};

pub use decide::{Actor, Addition, Claiming};
pub use event::{
    Accepted, Action, Evidence, Manner, NewItem, Place, QueueEvent, Run, RunStep, Sighting, StartFacts, Step,
};
pub use fold::NotInOrder;
pub use item::{Claim, Completion, Conflict, End, Item, Mark, Observation, Operation, RunEnd, Start, Stop};
pub use refusal::Refusal;
pub use words::{
    ClaimMode, Ending, Label, LabelError, Lease, LeaseError, Outcome, Prerequisite, PrerequisiteError, Span, SpanError,
    Spoken, State,
};

/// The place of a continuation in [`Queue::items`].
pub type At = usize;

/// All continuations and operations, as the events left them.
#[derive(Debug, Clone, Default)]
pub struct Queue {
    items: Vec<Item>,
    operations: BTreeMap<Label, Operation>,
    observations: BTreeMap<Prerequisite, Observation>,
    completions: BTreeMap<EventId, Completion>,
    strays: Vec<Conflict>,
    folded: u32,
    last: Option<Place>,
    by_id: ById,
    /// Made when the first event is folded: who only reads needs it not. Sorted, so that a queue that was kept goes on
    /// exactly as one that was not.
    waiting_for: Option<HashMap<Prerequisite, BTreeSet<At>>>,
}

/// What everything else follows from; the maps are derived.
impl PartialEq for Queue {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items
            && self.operations == other.operations
            && self.observations == other.observations
            && self.completions == other.completions
            && self.strays == other.strays
            && (self.folded, self.last) == (other.folded, other.last)
    }
}

/// Places by id. The ids are hashes: they need no other.
type ById = HashMap<EventId, At, BuildHasherDefault<IdHasher>>;

/// Takes the first bytes of an id for its hash.
#[derive(Debug, Clone, Copy, Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.0 = u64::from_le_bytes(*first);
        }
    }
}

/// The plain parts of a queue, for who keeps it between processes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parts {
    /// The continuations in the order in which they were queued.
    pub items: Vec<Item>,
    /// The operations.
    pub operations: BTreeMap<Label, Operation>,
    /// What was seen of branches and commits.
    pub observations: BTreeMap<Prerequisite, Observation>,
    /// The handoffs that are prerequisites and whose work is completed.
    pub completions: BTreeMap<EventId, Completion>,
    /// Events about continuations that this log does not know.
    pub strays: Vec<Conflict>,
    /// How many events were folded.
    pub folded: u32,
    /// The place of the last of them.
    pub last: Option<Place>,
}

impl Queue {
    /// The queue with these parts.
    pub fn from_parts(parts: Parts) -> Self {
        let Parts { items, operations, observations, completions, strays, folded, last } = parts;
        let mut queue = Self { items, operations, observations, completions, strays, folded, last, ..Self::default() };
        queue.by_id.reserve(queue.items.len());
        queue.by_id.extend(queue.items.iter().enumerate().map(|(at, item)| (item.id, at)));
        queue
    }

    /// The plain parts.
    pub fn parts(&self) -> Parts {
        Parts {
            items: self.items.clone(),
            operations: self.operations.clone(),
            observations: self.observations.clone(),
            completions: self.completions.clone(),
            strays: self.strays.clone(),
            folded: self.folded,
            last: self.last,
        }
    }

    /// The continuations in the order in which they were queued.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The continuation at a place.
    pub fn item(&self, at: At) -> &Item {
        &self.items[at]
    }

    /// The operations by name.
    pub fn operations(&self) -> &BTreeMap<Label, Operation> {
        &self.operations
    }

    /// What was seen of a branch or a commit.
    pub fn observation(&self, prerequisite: &Prerequisite) -> Option<&Observation> {
        self.observations.get(prerequisite)
    }

    /// Events about continuations that this log does not know.
    pub fn strays(&self) -> &[Conflict] {
        &self.strays
    }

    /// How many events were folded.
    pub fn folded(&self) -> u32 {
        self.folded
    }

    /// The place of the last event that was folded.
    pub fn last(&self) -> Option<Place> {
        self.last
    }

    /// The place of the continuation with this id.
    pub fn find(&self, id: &EventId) -> Option<At> {
        self.by_id.get(id).copied()
    }

    /// The continuations that a text may mean: the one with this id; those with this name, the unfinished before all
    /// others; those whose ids begin with it.
    pub fn named(&self, text: &str) -> Vec<At> {
        if let Some(at) = text.parse().ok().and_then(|id| self.find(&id)) {
            return vec![at];
        }
        let numbered = || self.items.iter().enumerate();
        let is_named = |item: &Item| item.name.as_ref().is_some_and(|name| name.as_str() == text.trim());
        let named: Vec<At> = numbered().filter(|(_, item)| is_named(item)).map(|(at, _)| at).collect();
        let (open, ended): (Vec<At>, Vec<At>) = named.into_iter().partition(|at| self.items[*at].end.is_none());
        if !open.is_empty() {
            return open;
        }
        if !ended.is_empty() {
            return ended;
        }
        let Ok(prefix) = text.parse::<IdPrefix>() else { return Vec::new() };
        numbered().filter(|(_, item)| prefix.matches(&item.id)).map(|(at, _)| at).collect()
    }

    /// The handoffs that unfinished continuations wait for and that are not known to be completed.
    pub fn open_handoffs(&self) -> Vec<EventId> {
        let unfinished = self.items.iter().filter(|item| item.is_open());
        let mut handoffs: Vec<EventId> = unfinished
            .flat_map(|item| &item.after)
            .filter_map(|prerequisite| match prerequisite {
                Prerequisite::Handoff(id) => Some(*id).filter(|id| !self.completions.contains_key(id)),
                Prerequisite::Continuation(_)
                | Prerequisite::Operation(_)
                | Prerequisite::Merged(_)
                | Prerequisite::Commit(_)
                | Prerequisite::Approval => None,
            })
            .collect();
        handoffs.sort_unstable();
        handoffs.dedup();
        handoffs
    }

    /// Takes note of where the work of a handoff was completed.
    pub fn complete(&mut self, handoff: EventId, completion: Completion) {
        self.completions.insert(handoff, completion);
    }

    /// How a prerequisite of a continuation stands.
    pub fn outcome(&self, item: &Item, prerequisite: &Prerequisite) -> Outcome {
        match prerequisite {
            Prerequisite::Handoff(id) if self.completions.contains_key(id) => Outcome::Succeeded,
            Prerequisite::Handoff(_) => Outcome::Open,
            Prerequisite::Continuation(id) => self.find(id).map_or(Outcome::Unknown, |at| self.outcome_of(at)),
            Prerequisite::Operation(name) => {
                let ended = self.operations.get(name).and_then(|operation| operation.ended.as_ref());
                ended.map_or(Outcome::Open, |end| end.ending.outcome())
            }
            Prerequisite::Merged(_) | Prerequisite::Commit(_) => {
                let met = self.observations.get(prerequisite).is_some_and(|seen| seen.met);
                if met { Outcome::Succeeded } else { Outcome::Open }
            }
            Prerequisite::Approval if item.approved.is_some() => Outcome::Succeeded,
            Prerequisite::Approval => Outcome::Open,
        }
    }

    /// What a continuation means to those who wait for it.
    fn outcome_of(&self, at: At) -> Outcome {
        let item = &self.items[at];
        match (&item.end, &item.stopped) {
            (Some(end), _) => end.ending.outcome(),
            (None, Some(_)) => Outcome::Stopped,
            (None, None) => Outcome::Open,
        }
    }

    /// The event that decided a prerequisite.
    pub fn evidence(&self, item: &Item, prerequisite: &Prerequisite) -> Option<EventId> {
        match prerequisite {
            Prerequisite::Handoff(id) => self.completions.get(id).map(|completion| completion.place.1),
            Prerequisite::Continuation(id) => {
                self.find(id).and_then(|at| self.items[at].end.as_ref()).map(|end| end.event)
            }
            Prerequisite::Operation(name) => self.operations.get(name).map(|operation| operation.last),
            Prerequisite::Merged(_) | Prerequisite::Commit(_) => {
                self.observations.get(prerequisite).map(|seen| seen.event)
            }
            Prerequisite::Approval => item.approved.as_ref().map(|mark| mark.event),
        }
    }

    /// Where a continuation stands, as far as the events alone tell. A claim counts however old it is.
    pub fn state(&self, item: &Item) -> State {
        if let Some(end) = &item.end {
            return match end.ending {
                Ending::Succeeded => State::Succeeded,
                Ending::Failed => State::Failed,
                Ending::Cancelled => State::Cancelled,
            };
        }
        if item.start.is_some() {
            return State::Started;
        }
        if item.stopped.is_some() {
            return State::Stopped;
        }
        let met = item.after.iter().all(|prerequisite| self.outcome(item, prerequisite) == Outcome::Succeeded);
        match (met, &item.claim) {
            (false, _) => State::Waiting,
            (true, Some(_)) => State::Claimed,
            (true, None) => State::Ready,
        }
    }

    /// [`Queue::state`] at a moment: a claim whose lease is over holds nothing back.
    pub fn state_at(&self, item: &Item, now: Timestamp) -> State {
        let state = self.state(item);
        let has_expired = item.claim.as_ref().is_some_and(|claim| claim.has_expired(now));
        if state == State::Claimed && has_expired { State::Ready } else { state }
    }
}
