//! Claims that somebody believed to hold until another clone was heard.

use serde_json::{Value, json};

use super::super::error::Failure;
use super::super::session::Session;
use crate::model::queue::Queue;
use crate::model::{EventId, ObjectName};
use crate::views::cache::Index;

/// A claim that another one beat.
pub(in crate::cli) struct LostClaim {
    item: EventId,
    name: Option<String>,
    by: String,
    lost_to: String,
}

impl LostClaim {
    /// What happened, for people.
    pub(in crate::cli) fn sentence(&self) -> String {
        let name = self.name.clone().unwrap_or_else(|| self.item.short());
        format!("the claim of {name} by {} is lost: {} has it", self.by, self.lost_to)
    }

    /// The same for programs.
    pub(in crate::cli) fn json(&self) -> Value {
        let Self { item, name, by, lost_to } = self;
        json!({ "item": item.to_string(), "name": name, "by": by, "lost_to": lost_to })
    }
}

/// Tells each lost claim of the person who uses this clone once, when it becomes known here.
pub(in crate::cli) struct Losses {
    last: Queue,
    identity: String,
}

impl Losses {
    /// Begins with the queue as the own log has it at this tip.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub(in crate::cli) fn since(session: &Session<'_>, tip: Option<ObjectName>) -> Result<Self, Failure> {
        let last = session.queue(&session.own_index(tip)?)?;
        Ok(Self { last, identity: session.origin()?.by.identity })
    }

    /// The claims that have been lost since the last look.
    ///
    /// # Errors
    /// When the cache is damaged.
    pub(in crate::cli) fn look(&mut self, session: &Session<'_>, index: &Index) -> Result<Vec<LostClaim>, Failure> {
        let now = session.queue(index)?;
        let lost = lost_between(&self.last, &now, &self.identity);
        self.last = now;
        Ok(lost)
    }
}

fn lost_between(before: &Queue, after: &Queue, identity: &str) -> Vec<LostClaim> {
    let mut lost = Vec::new();
    for item in before.items() {
        let Some(claim) = item.claim.as_ref().filter(|claim| claim.by.identity == identity) else { continue };
        let Some(now) = after.find(&item.id).map(|at| after.item(at)) else { continue };
        let conflict = now.conflicts.iter().find(|conflict| conflict.event == claim.event);
        if let Some((conflict, lost_to)) = conflict.and_then(|it| Some((it, it.lost_to.clone()?))) {
            let name = item.name.as_ref().map(ToString::to_string);
            lost.push(LostClaim { item: item.id, name, by: conflict.by.clone(), lost_to });
        }
    }
    lost
}
