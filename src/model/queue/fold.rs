//! The fold: events in the log's order, each of which either fits or becomes a conflict.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::checks::Doing;
use super::event::{Action, NewItem, QueueEvent, Sighting, StartFacts, Step};
use super::item::{Claim, Conflict, End, Item, Mark, Observation, Start, Stop};
use super::refusal::Refusal;
use super::words::{ClaimMode, Ending, Lease, Outcome, Prerequisite};
use super::{At, Queue};
use crate::model::EventId;

/// Events belong before some that were folded already: everything has to be folded again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("events arrived that belong before others")]
pub struct NotInOrder;

impl Queue {
    /// Folds events. The order in which they are given does not matter.
    ///
    /// # Errors
    /// [`NotInOrder`] when one of them belongs before the last that was folded; nothing has changed then.
    pub fn extend(&mut self, events: impl IntoIterator<Item = QueueEvent>) -> Result<(), NotInOrder> {
        let mut events: Vec<QueueEvent> = events.into_iter().collect();
        events.sort_by_key(QueueEvent::place);
        let mut known = HashSet::with_capacity(events.len());
        // One event may be recorded by several commits; the first counts.
        events.retain(|event| known.insert(event.id));
        if let (Some(first), Some(last)) = (events.first(), self.last)
            && first.place() <= last
        {
            return Err(NotInOrder);
        }
        for event in events {
            self.last = Some(event.place());
            self.folded += 1;
            self.apply(event);
        }
        Ok(())
    }

    /// Which continuations wait for what. Only what can fail is entered.
    fn waiting_for(&mut self) -> &mut HashMap<Prerequisite, BTreeSet<At>> {
        let items = &self.items;
        self.waiting_for.get_or_insert_with(|| {
            let mut waiting: HashMap<Prerequisite, BTreeSet<At>> = HashMap::new();
            for (at, item) in items.iter().enumerate() {
                for prerequisite in item.after.iter().filter(|prerequisite| prerequisite.can_fail()) {
                    waiting.entry(prerequisite.clone()).or_default().insert(at);
                }
            }
            waiting
        })
    }

    fn enter(&mut self, prerequisite: &Prerequisite, at: At) {
        if prerequisite.can_fail() {
            self.waiting_for().entry(prerequisite.clone()).or_default().insert(at);
        }
    }

    fn apply(&mut self, event: QueueEvent) {
        match &event.action {
            Action::Add(new) => self.add_item(&event, new),
            Action::Item { item, step, .. } => match self.find(item) {
                Some(at) => {
                    self.items[at].last = event.id;
                    if let Err(refusal) = self.take_step(at, &event, step) {
                        let conflict = conflict(&event, step.verb(), actor(&event, step), &refusal);
                        self.items[at].conflicts.push(conflict);
                    }
                }
                None => {
                    let item = item.short();
                    let why = format!("the continuation {item} is not in this log");
                    let stray = Conflict { why, ..plain_conflict(&event, step.verb(), actor(&event, step)) };
                    self.strays.push(stray);
                }
            },
            Action::Operation { name, step, .. } => self.run_operation(&event, name, step),
            Action::Observed { prerequisite, commit, met, .. } => {
                let seen = self.observations.get(prerequisite).is_some_and(|seen| seen.met);
                // What was merged once stays so, whatever happens to the branch.
                if !seen {
                    let met = *met == Sighting::Met;
                    let observation = Observation { event: event.id, commit: *commit, met };
                    self.observations.insert(prerequisite.clone(), observation);
                }
            }
        }
    }

    fn add_item(&mut self, event: &QueueEvent, new: &NewItem) {
        let at = self.items.len();
        self.by_id.insert(event.id, at);
        let mut after = new.after.clone();
        let mut known = HashSet::new();
        after.retain(|prerequisite| known.insert(prerequisite.clone()));
        for prerequisite in &after {
            self.enter(prerequisite, at);
        }
        self.items.push(Item {
            id: event.id,
            created: event.origin.created,
            by: event.origin.by.clone(),
            name: new.name.clone(),
            topic: new.topic.clone(),
            handoff: new.handoff,
            agent: new.agent.clone(),
            accepted: new.accepted,
            after,
            approved: None,
            claim: None,
            start: None,
            end: None,
            stopped: None,
            last: event.id,
            conflicts: Vec::new(),
        });
        self.stop_if_bad(at);
    }

    fn take_step(&mut self, at: At, event: &QueueEvent, step: &Step) -> Result<(), Refusal> {
        let now = event.origin.created;
        let doing = |holder| Doing { holder, now };
        match step {
            Step::Link { added, dropped } => self.link_item(at, added, dropped),
            Step::Claim { holder, lease, mode, over, nonce: _ } => {
                self.claim_item(at, event, (holder, *lease, *mode), *over)
            }
            Step::Release { holder, manner } => {
                if *manner == super::Manner::Own {
                    self.may_release(at, doing(holder))?;
                } else if self.items[at].claim.is_none() || self.items[at].end.is_some() {
                    return Err(Refusal::NotClaimed { item: self.items[at].label() });
                }
                let item = &mut self.items[at];
                (item.claim, item.start) = (None, None);
                self.stop_if_bad(at);
                Ok(())
            }
            Step::Start { holder, facts } => {
                self.may_start(at, doing(holder), Some(event.place()))?;
                self.is_pinned(&self.items[at], facts)?;
                self.start_item(at, event, holder, facts);
                Ok(())
            }
            Step::Finish { holder, ending, exit_code, start } => {
                self.may_finish(at, doing(holder), *ending, start.as_ref(), Some(event.place()))?;
                if let (None, Some(facts)) = (&self.items[at].start, start) {
                    self.start_item(at, event, holder, facts);
                }
                self.end_item(at, event, holder, *ending, *exit_code);
                Ok(())
            }
            Step::Cancel { holder } => {
                self.may_cancel(at, doing(holder))?;
                self.end_item(at, event, holder, Ending::Cancelled, None);
                Ok(())
            }
            Step::Retry => {
                self.may_retry(at)?;
                self.reopen(at);
                Ok(())
            }
            Step::Approve => {
                self.may_approve(at)?;
                let mark = Mark { event: event.id, by: event.origin.by.clone(), created: now };
                self.items[at].approved.get_or_insert(mark);
                Ok(())
            }
        }
    }

    fn link_item(&mut self, at: At, added: &[Prerequisite], dropped: &[Prerequisite]) -> Result<(), Refusal> {
        self.may_link(at)?;
        for prerequisite in added {
            if !self.items[at].after.contains(prerequisite) {
                self.enter(prerequisite, at);
                self.items[at].after.push(prerequisite.clone());
            }
        }
        self.items[at].after.retain(|prerequisite| !dropped.contains(prerequisite));
        for prerequisite in dropped {
            if let Some(waiting) = self.waiting_for().get_mut(prerequisite) {
                waiting.remove(&at);
            }
        }
        self.stop_if_bad(at);
        Ok(())
    }

    fn claim_item(
        &mut self,
        at: At,
        event: &QueueEvent,
        (holder, lease, mode): (&str, Lease, ClaimMode),
        over: Option<EventId>,
    ) -> Result<(), Refusal> {
        let now = event.origin.created;
        let beats = |claim: &Claim| {
            mode == ClaimMode::Exclusive && claim.mode == ClaimMode::Offline && over != Some(claim.event)
        };
        if self.items[at].claim.as_ref().is_some_and(beats) {
            self.beat(at, holder);
        } else {
            self.may_claim(at, Doing { holder, now })?;
        }
        let item = &mut self.items[at];
        if item.claim.as_ref().is_some_and(|claim| claim.holder != holder) {
            // Taken over after the lease: whoever had started it has not finished it.
            item.start = None;
        }
        let (by, until) = (event.origin.by.clone(), lease.end(now));
        item.claim = Some(Claim { event: event.id, holder: holder.to_owned(), by, until, mode });
        self.stop_if_bad(at);
        Ok(())
    }

    /// A claim that the remote took comes before those that were made without it at the same time, and before all that
    /// was done under them.
    fn beat(&mut self, at: At, winner: &str) {
        let item = &mut self.items[at];
        let refusal = Refusal::Beaten { item: item.label(), holder: winner.to_owned() };
        let mut lost = Vec::new();
        if let Some(claim) = item.claim.take() {
            lost.push((claim.event, "claim", claim.holder, claim.until));
        }
        if let Some(start) = item.start.take() {
            lost.push((start.event, "start", start.holder, start.created));
        }
        let ended = item.end.take();
        if let Some(end) = &ended {
            lost.push((end.event, "finish", end.holder.clone(), end.created));
        }
        // A start without a claim of its own is both: it is told once.
        lost.dedup_by_key(|(event, ..)| *event);
        item.conflicts.extend(lost.into_iter().map(|(event, verb, by, created)| Conflict {
            event,
            verb: verb.into(),
            by,
            created,
            why: refusal.to_string(),
            lost_to: Some(winner.to_owned()),
        }));
        if ended.is_some() {
            self.free_dependents(at);
        }
    }

    fn start_item(&mut self, at: At, event: &QueueEvent, holder: &str, facts: &StartFacts) {
        let created = event.origin.created;
        let item = &mut self.items[at];
        if item.claim.as_ref().is_none_or(|claim| claim.holder != holder) {
            item.claim = Some(Claim {
                event: event.id,
                holder: holder.to_owned(),
                by: event.origin.by.clone(),
                until: facts.lease.end(created),
                mode: ClaimMode::Offline,
            });
        }
        item.start = Some(Start { event: event.id, holder: holder.to_owned(), created, facts: facts.clone() });
    }

    fn end_item(&mut self, at: At, event: &QueueEvent, holder: &str, ending: Ending, exit_code: Option<i32>) {
        let (id, created) = (event.id, event.origin.created);
        let item = &mut self.items[at];
        let reach = if item.end.is_some() { Reach::BeyondTheDone } else { Reach::ToTheDone };
        item.end = Some(End { event: id, ending, holder: holder.to_owned(), created, exit_code });
        item.stopped = None;
        if ending != Ending::Succeeded {
            let prerequisite = Prerequisite::Continuation(item.id);
            self.stop_dependents(prerequisite, ending.outcome(), reach);
        }
    }

    /// Makes a continuation as if nothing had been done with it, and frees what only it had stopped.
    fn reopen(&mut self, at: At) {
        let item = &mut self.items[at];
        let was_bad = item.end.is_some() || item.stopped.is_some();
        (item.claim, item.start, item.end, item.stopped) = (None, None, None, None);
        if was_bad {
            self.free_dependents(at);
        }
    }

    /// Frees what one continuation had stopped, and what that had stopped, however far.
    fn free_dependents(&mut self, at: At) {
        let root = Prerequisite::Continuation(self.items[at].id);
        let is_stopped_by =
            |item: &Item, cause: &Prerequisite| item.stopped.as_ref().is_some_and(|stop| stop.prerequisite == *cause);
        let stopped = (0..self.items.len()).filter(|at| is_stopped_by(&self.items[*at], &root));
        let mut free: Vec<At> = stopped.collect();
        while let Some(at) = free.pop() {
            self.items[at].stopped = self.stop_of(at);
            if self.items[at].stopped.is_none() {
                let freed = Prerequisite::Continuation(self.items[at].id);
                let waiting = self.waiting_for().get(&freed).cloned().unwrap_or_default();
                free.extend(waiting.into_iter().filter(|at| is_stopped_by(&self.items[*at], &freed)));
            }
        }
    }

    /// What stops a continuation, if anything does.
    fn stop_of(&self, at: At) -> Option<Stop> {
        let item = &self.items[at];
        let outcomes = item.after.iter().map(|each| (each, self.outcome(item, each)));
        let (prerequisite, outcome) = outcomes.into_iter().find(|(_, outcome)| outcome.is_bad())?;
        Some(Stop { prerequisite: prerequisite.clone(), outcome })
    }

    fn stop_if_bad(&mut self, at: At) {
        if self.items[at].is_open()
            && self.items[at].stopped.is_none()
            && let Some(stop) = self.stop_of(at)
        {
            self.stop(at, stop);
        }
    }

    fn stop(&mut self, at: At, stop: Stop) {
        let item = &mut self.items[at];
        (item.stopped, item.claim) = (Some(stop), None);
        let prerequisite = Prerequisite::Continuation(item.id);
        self.stop_dependents(prerequisite, Outcome::Stopped, Reach::ToTheDone);
    }

    /// Stops all that waits for something that went wrong, however far.
    pub(super) fn stop_dependents(&mut self, prerequisite: Prerequisite, outcome: Outcome, reach: Reach) {
        // What is looked through, and what stops those behind it.
        let cause = Stop { prerequisite: prerequisite.clone(), outcome };
        let mut gone = vec![(prerequisite, cause)];
        let mut passed = HashSet::new();
        while let Some((prerequisite, stop)) = gone.pop() {
            for at in self.waiting_for().get(&prerequisite).cloned().unwrap_or_default() {
                let item = &mut self.items[at];
                let own = Prerequisite::Continuation(item.id);
                if item.is_open() && item.stopped.is_none() {
                    (item.stopped, item.claim) = (Some(stop.clone()), None);
                    gone.push((own.clone(), Stop { prerequisite: own, outcome: Outcome::Stopped }));
                } else if !item.is_open() && reach == Reach::BeyondTheDone && passed.insert(at) {
                    gone.push((own, stop.clone()));
                }
            }
        }
    }
}

/// How far a failure goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// What has started has nothing to fear from it.
    ToTheDone,
    /// A success that was taken back makes doubtful what stands on it: what waits for that is stopped too.
    BeyondTheDone,
}

/// The name under which somebody did something.
fn actor<'a>(event: &'a QueueEvent, step: &'a Step) -> &'a str {
    match step {
        Step::Claim { holder, .. }
        | Step::Release { holder, .. }
        | Step::Start { holder, .. }
        | Step::Finish { holder, .. }
        | Step::Cancel { holder } => holder,
        Step::Link { .. } | Step::Retry | Step::Approve => &event.origin.by.identity,
    }
}

fn plain_conflict(event: &QueueEvent, verb: &str, by: &str) -> Conflict {
    Conflict {
        event: event.id,
        verb: verb.into(),
        by: by.into(),
        created: event.origin.created,
        why: String::new(),
        lost_to: None,
    }
}

pub(super) fn conflict(event: &QueueEvent, verb: &str, by: &str, refusal: &Refusal) -> Conflict {
    let lost_to = refusal.lost_to().filter(|_| matches!(verb, "claim" | "start")).map(str::to_owned);
    Conflict { why: refusal.to_string(), lost_to, ..plain_conflict(event, verb, by) }
}
