//! Decisions: what somebody wants becomes an event, or is refused with a reason.

use super::checks::Doing;
use super::event::{Action, Evidence, Manner, NewItem, Run, RunStep, Sighting, StartFacts, Step};
use super::item::{Claim, Item};
use super::refusal::Refusal;
use super::words::{ClaimMode, Ending, Label, Lease, Outcome, Prerequisite, State};
use super::{At, Queue};
use crate::model::{By, EventId, ObjectName, Timestamp};

/// Who acts, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Actor {
    /// The name that was given with `--as`.
    pub name: Option<String>,
    /// The name otherwise.
    pub default: String,
    /// Who it is.
    pub by: By,
    /// When.
    pub now: Timestamp,
}

impl Actor {
    /// The name under which the actor acts on what somebody may hold. Who made a claim under another name need not
    /// say that name again.
    fn holder(&self, claim: Option<&Claim>) -> String {
        match (&self.name, claim) {
            (Some(name), _) => name.clone(),
            (None, Some(claim)) if claim.by == self.by => claim.holder.clone(),
            (None, _) => self.default.clone(),
        }
    }
}

/// What is to be queued.
#[derive(Debug, Clone, PartialEq)]
pub struct Addition {
    /// The continuation.
    pub new: NewItem,
    /// The name as it was given: it may be the id of one that exists.
    pub called: Option<String>,
}

/// How something is claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claiming {
    /// For how long.
    pub lease: Lease,
    /// How sure it is.
    pub mode: ClaimMode,
    /// A random number below 2^53, where the claim must be unlike those of other clones.
    pub nonce: Option<u64>,
}

impl Queue {
    fn on(&self, at: At, step: Step) -> Action {
        let item = &self.items[at];
        Action::Item { item: item.id, seen: Some(item.last), step }
    }

    /// Queues a continuation.
    ///
    /// # Errors
    /// [`Refusal::Cycle`] when it has the name of one that it would wait for, [`Refusal::NameTaken`] when it has that
    /// of another unfinished one.
    pub fn add(&self, addition: Addition) -> Result<Action, Refusal> {
        let Addition { mut new, called } = addition;
        if let Some(called) = called {
            let unfinished = |at: &At| self.items[*at].end.is_none();
            if let Some(taken) = self.named(&called).into_iter().find(unfinished) {
                for prerequisite in &new.after {
                    self.refuse_loop(taken, prerequisite)?;
                }
                // Digits that begin an id are no name that somebody else gave.
                let item = &self.items[taken];
                if item.name.as_ref() == new.name.as_ref() || item.id.to_string() == called {
                    return Err(Refusal::NameTaken { name: called, item: item.id.short() });
                }
            }
        }
        let mut known = std::collections::HashSet::new();
        new.after.retain(|prerequisite| known.insert(prerequisite.clone()));
        Ok(Action::Add(Box::new(new)))
    }

    fn refuse_loop(&self, at: At, prerequisite: &Prerequisite) -> Result<(), Refusal> {
        if let Prerequisite::Continuation(id) = prerequisite
            && let Some(path) = self.find(id).and_then(|upstream| self.loop_through(at, upstream))
        {
            return Err(Refusal::Cycle { path });
        }
        Ok(())
    }

    /// Adds and drops prerequisites.
    ///
    /// # Errors
    /// When it has started, would wait for itself, or does not wait for what is dropped.
    pub fn link(&self, at: At, added: Vec<Prerequisite>, dropped: Vec<Prerequisite>) -> Result<Action, Refusal> {
        self.may_link(at)?;
        let item = &self.items[at];
        for prerequisite in &added {
            self.refuse_loop(at, prerequisite)?;
        }
        if let Some(missing) = dropped.iter().find(|prerequisite| !item.after.contains(prerequisite)) {
            let prerequisite = self.spoken(missing);
            return Err(Refusal::NoSuchPrerequisite { item: item.label(), prerequisite });
        }
        Ok(self.on(at, Step::Link { added, dropped }))
    }

    /// Claims it, or renews the claim.
    ///
    /// # Errors
    /// When it is not ready, or somebody else holds it.
    pub fn claim(&self, at: At, actor: &Actor, claiming: Claiming) -> Result<Action, Refusal> {
        let claim = self.items[at].claim.as_ref();
        let holder = actor.holder(claim);
        self.may_claim(at, Doing { holder: &holder, now: actor.now })?;
        let Claiming { lease, mode, nonce } = claiming;
        Ok(self.on(at, Step::Claim { holder, lease, mode, over: claim.map(|claim| claim.event), nonce }))
    }

    /// Gives a claim back; `Manner::Forced` takes one away that still holds.
    ///
    /// # Errors
    /// When nobody holds it, or somebody else does.
    pub fn release(&self, at: At, actor: &Actor, manner: Manner) -> Result<Action, Refusal> {
        let holder = actor.holder(self.items[at].claim.as_ref());
        match (self.may_release(at, Doing { holder: &holder, now: actor.now }), manner) {
            (Ok(()), _) => Ok(self.on(at, Step::Release { holder, manner: Manner::Own })),
            (Err(Refusal::NotHolder { .. }), Manner::Forced) => {
                Ok(self.on(at, Step::Release { holder, manner: Manner::Forced }))
            }
            (Err(refusal), _) => Err(refusal),
        }
    }

    /// What is true when a continuation is started now.
    pub fn start_facts(
        &self,
        at: At,
        revision: Option<ObjectName>,
        lease: Lease,
        superseded_by: Option<EventId>,
    ) -> StartFacts {
        let item = &self.items[at];
        let evidence = |prerequisite: &Prerequisite| Evidence {
            prerequisite: prerequisite.clone(),
            event: self.evidence(item, prerequisite),
        };
        let evidence = item.after.iter().map(evidence).collect();
        StartFacts { handoff: item.handoff, revision, lease, evidence, superseded_by }
    }

    /// Starts it.
    ///
    /// # Errors
    /// When it is not ready, or somebody else holds it.
    pub fn start(&self, at: At, actor: &Actor, facts: StartFacts) -> Result<Action, Refusal> {
        let holder = actor.holder(self.items[at].claim.as_ref());
        self.may_start(at, Doing { holder: &holder, now: actor.now }, None)?;
        Ok(self.on(at, Step::Start { holder, facts }))
    }

    /// Ends it. One that was not started is started by the same event: `facts` are for that.
    ///
    /// # Errors
    /// When it cannot be started or has ended, or somebody else holds it.
    pub fn finish(
        &self,
        at: At,
        actor: &Actor,
        ending: Ending,
        exit_code: Option<i32>,
        facts: StartFacts,
    ) -> Result<Action, Refusal> {
        let item = &self.items[at];
        let holder = actor.holder(item.claim.as_ref());
        let start = Some(facts).filter(|_| item.is_open());
        self.may_finish(at, Doing { holder: &holder, now: actor.now }, ending, start.as_ref(), None)?;
        Ok(self.on(at, Step::Finish { holder, ending, exit_code, start }))
    }

    /// Gives it up.
    ///
    /// # Errors
    /// When it has ended, or somebody else holds it.
    pub fn cancel(&self, at: At, actor: &Actor) -> Result<Action, Refusal> {
        let holder = actor.holder(self.items[at].claim.as_ref());
        self.may_cancel(at, Doing { holder: &holder, now: actor.now })?;
        Ok(self.on(at, Step::Cancel { holder }))
    }

    /// Tries it again; nothing when it waits or is ready anyway.
    ///
    /// # Errors
    /// When it runs or has succeeded, or what stopped it has not changed.
    pub fn retry(&self, at: At) -> Result<Option<Action>, Refusal> {
        self.may_retry(at)?;
        let nothing_to_do = matches!(self.state(&self.items[at]), State::Waiting | State::Ready);
        Ok((!nothing_to_do).then(|| self.on(at, Step::Retry)))
    }

    /// Approves of it; nothing when somebody has.
    ///
    /// # Errors
    /// When it has started or ended.
    pub fn approve(&self, at: At) -> Result<Option<Action>, Refusal> {
        self.may_approve(at)?;
        Ok(self.items[at].approved.is_none().then(|| self.on(at, Step::Approve)))
    }

    fn with_operation(&self, name: &Label, step: RunStep) -> Result<Action, Refusal> {
        self.may_run(name, &step)?;
        let seen = self.operations.get(name).map(|operation| operation.last);
        Ok(Action::Operation { name: name.clone(), seen, step })
    }

    /// Begins a run of an operation.
    ///
    /// # Errors
    /// When one runs.
    pub fn begin_operation(&self, name: &Label) -> Result<Action, Refusal> {
        self.with_operation(name, RunStep::Start)
    }

    /// Ends the run of an operation, or tells of the first one at its end.
    ///
    /// # Errors
    /// When the latest run has ended.
    pub fn end_operation(&self, name: &Label, ending: Ending, run: Option<Run>) -> Result<Action, Refusal> {
        self.with_operation(name, RunStep::End { ending, run })
    }

    /// What was seen of a branch or a commit, when that is new.
    pub fn observe(&self, prerequisite: &Prerequisite, commit: ObjectName, met: Sighting) -> Option<Action> {
        let known = self.observations.get(prerequisite);
        if known.is_some_and(|seen| seen.met || (seen.commit == commit && met == Sighting::NotYet)) {
            return None;
        }
        let seen = known.map(|seen| seen.event);
        Some(Action::Observed { prerequisite: prerequisite.clone(), commit, met, seen })
    }

    /// The branches and commits that somebody waits for and that were not seen yet.
    pub fn to_be_observed(&self) -> Vec<Prerequisite> {
        let is_sought = |item: &Item, each: &Prerequisite| {
            matches!(each, Prerequisite::Merged(_) | Prerequisite::Commit(_))
                && self.outcome(item, each) == Outcome::Open
        };
        let open = self.items.iter().filter(|item| item.is_open());
        let mut sought: Vec<Prerequisite> = open
            .flat_map(|item| item.after.iter().filter(|each| is_sought(item, each)).cloned().collect::<Vec<_>>())
            .collect();
        sought.sort();
        sought.dedup();
        sought
    }
}
