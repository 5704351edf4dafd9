//! How a continuation is shown: as lines, as a row, as JSON.

use std::io;

use serde_json::{Value, json};

use super::super::super::queue::prerequisite_line;
use crate::model::queue::{At, Claim, Conflict, Item, Queue, State};
use crate::model::{Timestamp, visible_line};
use crate::ui::{Page, Report};

/// A continuation at a moment.
pub(super) struct Shown<'q> {
    pub(super) queue: &'q Queue,
    pub(super) item: &'q Item,
    pub(super) state: State,
    /// The other members of the loop that it is part of.
    pub(super) cycle: Vec<String>,
    pub(super) now: Timestamp,
}

impl<'q> Shown<'q> {
    pub(super) fn new(queue: &'q Queue, at: At, cycles: &[Vec<At>], now: Timestamp) -> Self {
        let item = queue.item(at);
        let cycle = cycles.iter().find(|members| members.contains(&at)).map(Vec::as_slice).unwrap_or_default();
        let cycle = cycle.iter().map(|at| cycle_name(queue.item(*at))).collect();
        Self { queue, item, state: queue.state_at(item, now), cycle, now }
    }

    /// Why it is where it is, in a few words.
    pub(super) fn why(&self) -> Option<String> {
        match self.state {
            State::Waiting if !self.cycle.is_empty() => Some(format!("part of a cycle: {}", self.cycle.join(", "))),
            State::Waiting => self.queue.waits_on(self.item).map(|on| format!("on {on}")),
            State::Stopped => self.queue.stopped_because(self.item),
            State::Claimed => self.item.claim.as_ref().map(|claim| format!("by {}", claim.holder)),
            State::Started => self.item.start.as_ref().map(|start| format!("by {}", start.holder)),
            State::Ready => self.item.claim.as_ref().map(|claim| format!("the lease of {} is over", claim.holder)),
            State::Succeeded | State::Failed | State::Cancelled => {
                self.item.end.as_ref().map(|end| format!("by {}", end.holder))
            }
        }
    }

    /// The claim, while it matters.
    fn claim(&self) -> Option<&Claim> {
        self.item.claim.as_ref().filter(|_| self.item.end.is_none())
    }

    pub(super) fn json(&self) -> Value {
        let Item { id, created, by, name, topic, handoff, agent, accepted, after, start, end, conflicts, .. } =
            self.item;
        let after: Vec<Value> = after
            .iter()
            .map(|each| {
                json!({
                    "prerequisite": each.to_string(),
                    "outcome": self.queue.outcome(self.item, each).as_str(),
                    "evidence": self.queue.evidence(self.item, each).map(|id| id.to_string()),
                })
            })
            .collect();
        let started = start.as_ref().map(|start| {
            json!({
                "by": start.holder,
                "at": start.created.to_string(),
                "handoff": start.facts.handoff.to_string(),
                "revision": start.facts.revision.map(|commit| commit.to_string()),
                "superseded_by": start.facts.superseded_by.map(|id| id.to_string()),
                "evidence": start.facts.evidence.iter().map(|met| json!({
                    "prerequisite": met.prerequisite.to_string(),
                    "event": met.event.map(|id| id.to_string()),
                })).collect::<Vec<_>>(),
            })
        });
        let finished = end.as_ref().map(|end| {
            json!({
                "outcome": end.ending.as_str(),
                "by": end.holder,
                "at": end.created.to_string(),
                "exit_code": end.exit_code,
            })
        });
        json!({
            "id": id.to_string(),
            "name": name.as_ref().map(|name| name.as_str()),
            "topic": topic.as_str(),
            "state": self.state.as_str(),
            "handoff": handoff.to_string(),
            "after": after,
            "claim": self.claim().map(|claim| json!({
                "by": claim.holder,
                "until": claim.until.to_string(),
                "mode": claim.mode.as_str(),
                "expired": claim.has_expired(self.now),
            })),
            "stopped_by": self.item.stopped.as_ref().map(|stop| stop.prerequisite.to_string()),
            "stopped_outcome": self.item.stopped.as_ref().map(|stop| stop.outcome.as_str()),
            "conflicts": conflicts.iter().map(conflict_json).collect::<Vec<_>>(),
            "cycle": self.cycle,
            "why": self.why(),
            "agent": agent.as_ref().map(|agent| agent.as_str()),
            "accepted": accepted.words(),
            "approved": self.item.approved.as_ref().map(|mark| json!({
                "by": mark.by.identity,
                "at": mark.created.to_string(),
            })),
            "created": created.to_string(),
            "by": by.identity,
            "started": started,
            "finished": finished,
        })
    }

    pub(super) fn lines(&self, page: &mut Page<'_>) -> io::Result<()> {
        let Self { queue, item, .. } = self;
        let name = item.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        let mut line = |name: &str, value: String| page.line(format!("{name}: {}", visible_line(&value)));
        line("Continuation", format!("{}{name}", item.id))?;
        line("Topic", item.topic.to_string())?;
        let why = self.why().map(|why| format!(" ({why})")).unwrap_or_default();
        line("State", format!("{}{why}", self.state))?;
        let accepted = item.accepted.words();
        let accepted =
            if accepted.is_empty() { String::new() } else { format!(" (accepted: {})", accepted.join(", ")) };
        line("Handoff", format!("{}{accepted}", item.handoff))?;
        line("Queued", format!("{} by {}", item.created, item.by.identity))?;
        if let Some(agent) = &item.agent {
            line("Meant for", agent.to_string())?;
        }
        for each in &item.after {
            line("After", prerequisite_line(queue, item, each))?;
        }
        if !item.after.is_empty()
            && let Some(ancestors) = self.open_ancestors()
        {
            line("Open before it", ancestors)?;
        }
        if let Some(claim) = self.claim() {
            let over = if claim.has_expired(self.now) { ", which is over" } else { "" };
            line("Claim", format!("{} until {}{over} ({})", claim.holder, claim.until, claim.mode))?;
        }
        if let Some(mark) = &item.approved {
            line("Approved", format!("{} by {}", mark.created, mark.by.identity))?;
        }
        if let Some(start) = &item.start {
            let at = start.facts.revision.map(|commit| format!(" at {}", commit.short())).unwrap_or_default();
            let over = start.facts.superseded_by.map(|id| format!(", although {} supersedes it", id.short()));
            let over = over.unwrap_or_default();
            line("Started", format!("{} by {}{at}{over}", start.created, start.holder))?;
        }
        if let Some(end) = &item.end {
            let code = end.exit_code.map(|code| format!(", exit status {code}")).unwrap_or_default();
            line("Ended", format!("{} {} by {}{code}", end.created, end.ending, end.holder))?;
        }
        for Conflict { verb, by, created, why, .. } in &item.conflicts {
            line("Conflict", format!("{verb} by {by} at {created}: {why}"))?;
        }
        Ok(())
    }

    fn open_ancestors(&self) -> Option<String> {
        let at = self.queue.find(&self.item.id)?;
        let labels: Vec<String> =
            self.queue.open_ancestors(at).into_iter().map(|at| self.queue.item(at).label()).collect();
        (!labels.is_empty()).then(|| labels.join(", "))
    }
}

/// A member of a loop: by its name, or else its topic would say more than its id.
fn cycle_name(item: &Item) -> String {
    item.name.as_ref().map_or_else(|| format!("{} ({})", item.id.short(), item.topic), ToString::to_string)
}

pub(in crate::cli) fn conflict_json(conflict: &Conflict) -> Value {
    let Conflict { event, verb, by, created, why, lost_to } = conflict;
    json!({
        "event": event.to_string(),
        "verb": verb,
        "by": by,
        "at": created.to_string(),
        "why": why,
        "lost_to": lost_to,
    })
}

/// What a verb did with a continuation.
pub(super) struct Done {
    pub(super) sentence: String,
    pub(super) id: String,
    pub(super) item: Value,
}

impl Done {
    pub(super) fn new(queue: &Queue, at: At, sentence: impl Into<String>, now: Timestamp) -> Self {
        let shown = Shown::new(queue, at, &queue.cycles(), now);
        Self { sentence: sentence.into(), id: shown.item.id.to_string(), item: shown.json() }
    }
}

impl Report for Done {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line(visible_line(&self.sentence))
    }

    fn json(&self) -> Value {
        self.item.clone()
    }

    fn quiet(&self) -> Option<String> {
        Some(self.id.clone())
    }
}
