//! Whether something may be done with a continuation, for decisions and for the fold alike.

use super::event::StartFacts;
use super::item::{Claim, Item};
use super::refusal::Refusal;
use super::words::{Ending, Outcome, State};
use super::{At, Place, Prerequisite, Queue};
use crate::model::Timestamp;

/// Who does something, and when by its own clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Doing<'a> {
    pub(super) holder: &'a str,
    pub(super) now: Timestamp,
}

impl Queue {
    pub(super) fn wrong_state(&self, item: &Item, verb: &'static str, needed: &'static str) -> Refusal {
        let state = self.state(item);
        let why = match state {
            State::Waiting => self.waits_on(item),
            State::Stopped => self.stopped_because(item),
            State::Claimed => item.claim.as_ref().map(|claim| format!("by {}", claim.holder)),
            State::Started => item.start.as_ref().map(|start| format!("by {}", start.holder)),
            State::Ready | State::Succeeded | State::Failed | State::Cancelled => None,
        };
        let by = matches!(state, State::Claimed | State::Started);
        let why = why.map(|why| if by { format!(" {why}") } else { format!(" ({why})") });
        Refusal::WrongState { item: item.label(), state, why: why.unwrap_or_default(), verb, needed }
    }

    /// A prerequisite as people read it: continuations by their names.
    pub fn spoken(&self, prerequisite: &Prerequisite) -> String {
        match prerequisite {
            Prerequisite::Continuation(id) => {
                let label = self.find(id).map_or_else(|| id.short(), |at| self.items[at].label());
                format!("continuation:{label}")
            }
            Prerequisite::Handoff(id) => format!("handoff:{}", id.short()),
            Prerequisite::Commit(commit) => format!("commit:{}", commit.short()),
            other @ (Prerequisite::Operation(_) | Prerequisite::Merged(_) | Prerequisite::Approval) => {
                other.to_string()
            }
        }
    }

    /// What a continuation waits on.
    pub fn waits_on(&self, item: &Item) -> Option<String> {
        let open = item.after.iter().filter_map(|prerequisite| match self.outcome(item, prerequisite) {
            Outcome::Succeeded => None,
            Outcome::Unknown => Some(format!("{} (unknown here)", self.spoken(prerequisite))),
            Outcome::Open | Outcome::Failed | Outcome::Cancelled | Outcome::Stopped => Some(self.spoken(prerequisite)),
        });
        let open: Vec<String> = open.collect();
        (!open.is_empty()).then(|| open.join(", "))
    }

    /// Why a continuation is stopped.
    pub fn stopped_because(&self, item: &Item) -> Option<String> {
        let stop = item.stopped.as_ref()?;
        Some(format!("{} {}", self.spoken(&stop.prerequisite), stop.outcome))
    }

    /// Refuses unless the claim is the holder's own, or none that holds.
    fn own_claim(item: &Item, doing: Doing<'_>) -> Result<(), Refusal> {
        match &item.claim {
            Some(claim) if claim.holder != doing.holder && !claim.has_expired(doing.now) => {
                Err(held_by_other(item, claim))
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn may_claim(&self, at: At, doing: Doing<'_>) -> Result<(), Refusal> {
        let item = &self.items[at];
        let needed = "ready, or started under a lease that is over";
        match self.state(item) {
            State::Ready | State::Claimed | State::Started => Self::own_claim(item, doing),
            State::Waiting | State::Succeeded | State::Failed | State::Cancelled | State::Stopped => {
                Err(self.wrong_state(item, "claim", needed))
            }
        }
    }

    pub(super) fn may_release(&self, at: At, doing: Doing<'_>) -> Result<(), Refusal> {
        let item = &self.items[at];
        if item.end.is_some() {
            return Err(self.wrong_state(item, "release", "claimed or started"));
        }
        match &item.claim {
            Some(_) => Self::own_claim(item, doing),
            None => Err(Refusal::NotClaimed { item: item.label() }),
        }
    }

    /// `before`: the place of the start; what was completed later does not count.
    pub(super) fn may_start(&self, at: At, doing: Doing<'_>, before: Option<Place>) -> Result<(), Refusal> {
        let item = &self.items[at];
        match self.state(item) {
            State::Ready | State::Claimed => Self::own_claim(item, doing)?,
            State::Started => {
                Self::own_claim(item, doing)?;
                return Err(self.wrong_state(item, "start", "ready or claimed"));
            }
            State::Waiting | State::Succeeded | State::Failed | State::Cancelled | State::Stopped => {
                return Err(self.wrong_state(item, "start", "ready or claimed"));
            }
        }
        let in_time = |prerequisite: &Prerequisite| match (prerequisite, before) {
            (Prerequisite::Handoff(id), Some(start)) => {
                self.completions.get(id).is_some_and(|completion| completion.place < start)
            }
            _ => true,
        };
        if item.after.iter().all(in_time) { Ok(()) } else { Err(self.wrong_state(item, "start", "ready or claimed")) }
    }

    pub(super) fn may_finish(
        &self,
        at: At,
        doing: Doing<'_>,
        ending: Ending,
        start: Option<&StartFacts>,
        before: Option<Place>,
    ) -> Result<(), Refusal> {
        let item = &self.items[at];
        let needed = "started, claimed or ready";
        if let Some(end) = &item.end {
            // A success that turned out to be none: that only holds others back, and nobody starts too early by it.
            return match (end.ending, ending, &item.claim) {
                (Ending::Succeeded, Ending::Failed, Some(claim)) if claim.holder != doing.holder => {
                    Err(held_by_other(item, claim))
                }
                (Ending::Succeeded, Ending::Failed, _) => Ok(()),
                _ => Err(self.wrong_state(item, "finish", needed)),
            };
        }
        match (&item.start, start) {
            (Some(_), _) => Self::own_claim(item, doing),
            (None, Some(facts)) => {
                self.may_start(at, doing, before)?;
                self.is_pinned(item, facts)
            }
            (None, None) => Err(self.wrong_state(item, "finish", needed)),
        }
    }

    pub(super) fn is_pinned(&self, item: &Item, facts: &StartFacts) -> Result<(), Refusal> {
        if facts.handoff == item.handoff { Ok(()) } else { Err(Refusal::OtherHandoff { item: item.label() }) }
    }

    pub(super) fn may_cancel(&self, at: At, doing: Doing<'_>) -> Result<(), Refusal> {
        let item = &self.items[at];
        if item.end.is_some() {
            return Err(self.wrong_state(item, "cancel", "not finished"));
        }
        Self::own_claim(item, doing)
    }

    pub(super) fn may_retry(&self, at: At) -> Result<(), Refusal> {
        let item = &self.items[at];
        match self.state(item) {
            State::Failed | State::Cancelled | State::Stopped | State::Waiting | State::Ready => {}
            State::Claimed | State::Started | State::Succeeded => {
                return Err(self.wrong_state(item, "retry", "failed, cancelled or stopped"));
            }
        }
        let bad = |prerequisite: &&Prerequisite| self.outcome(item, prerequisite).is_bad();
        // A success that was taken back may lie further up.
        let cause = item.stopped.as_ref().map(|stop| &stop.prerequisite).filter(|cause| self.is_upstream(at, cause));
        match item.after.iter().chain(cause).find(bad) {
            Some(prerequisite) => Err(Refusal::StillBad {
                item: item.label(),
                prerequisite: self.spoken(prerequisite),
                outcome: self.outcome(item, prerequisite),
            }),
            None => Ok(()),
        }
    }

    pub(super) fn may_link(&self, at: At) -> Result<(), Refusal> {
        let item = &self.items[at];
        if item.is_open() { Ok(()) } else { Err(self.wrong_state(item, "link", "not started")) }
    }

    pub(super) fn may_approve(&self, at: At) -> Result<(), Refusal> {
        let item = &self.items[at];
        if item.is_open() { Ok(()) } else { Err(self.wrong_state(item, "approve", "not started")) }
    }
}

fn held_by_other(item: &Item, claim: &Claim) -> Refusal {
    Refusal::NotHolder { item: item.label(), holder: claim.holder.clone(), until: claim.until }
}
