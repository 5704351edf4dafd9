//! What the queue needs to know of the handoffs: which are prerequisites, where work was completed, what supersedes what.

use std::collections::HashSet;

use super::super::error::Failure;
use crate::model::queue::{Action, Completion, Prerequisite, QueueEvent, Step};
use crate::model::{EventId, Summary};
use crate::views::cache::Index;

/// The handoffs that events name as prerequisites.
pub(super) fn handoffs_named(events: &[QueueEvent]) -> HashSet<EventId> {
    let mut named = HashSet::new();
    for event in events {
        let after = match &event.action {
            Action::Add(new) => &new.after,
            Action::Item { step: Step::Link { added, .. }, .. } => added,
            Action::Item { .. } | Action::Operation { .. } | Action::Observed { .. } => continue,
        };
        for prerequisite in after {
            if let Prerequisite::Handoff(id) = prerequisite {
                named.insert(*id);
            }
        }
    }
    named
}

/// Where the work of a handoff was completed first: in itself, or in one that supersedes, continues or was resumed
/// from it.
pub(super) fn completion(index: &Index, handoff: &EventId) -> Result<Option<Completion>, Failure> {
    let Some(start) = index.find(handoff)? else { return Ok(None) };
    let mut family = HashSet::from([start]);
    for position in start..index.len() {
        let Some(row) = index.row(position)? else { continue };
        if position != start && !index.closes(position)?.iter().any(|closed| family.contains(closed)) {
            continue;
        }
        family.insert(position);
        if !row.status.is_unfinished()
            && let Some(id) = index.id_at(position)?
        {
            return Ok(Some(Completion { place: (row.effective, id) }));
        }
    }
    Ok(None)
}

/// The handoffs that supersede one, newest first.
pub(in crate::cli) fn superseding(index: &Index, summary: &Summary) -> Result<Vec<Summary>, Failure> {
    let Some(position) = index.find(&summary.id)? else { return Ok(Vec::new()) };
    if index.is_live(position)? {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for row in index.newest_first() {
        let row = row?;
        if row.position == position {
            break;
        }
        if index.closes(row.position)?.contains(&position) {
            let later = index.summary(row.position)?;
            if later.supersedes.iter().any(|link| link.id() == Some(summary.id)) {
                found.push(later);
            }
        }
    }
    Ok(found)
}
