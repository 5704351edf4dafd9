//! The metadata cache: all handoffs in the log's order, so that listing and selecting cost the same for ten as for
//! 100,000.
//!
//! It is disposable. Whatever does not fit, be it a short file, a wrong checksum, another version or another
//! configuration of lanes, makes it empty or [`CacheError::Damaged`], and the caller builds it again from the log
//! with [`Index::empty`] and [`Index::extend`].
//!
//! The rows form a stack. Adding what comes last in the order pushes rows; adding something earlier (a join) pops
//! the rows behind it and pushes them again. Everything derived (ordinals, what is closed by what) is decided when
//! a row is pushed, so that the result does not depend on the steps in which the log became known.

mod add;
#[cfg(test)]
mod figures;
mod find;
mod head;
mod heap;
mod maps;
mod row;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use crate::model::{
    AgentName, Anomaly, EventId, EventKind, Lane, Lanes, ObjectName, Status, Summary, Timestamp, Trigger,
};

pub use head::Saved;

use heap::{Heap, Identity};
use maps::Maps;
use row::{Kind, NOWHERE};
use table::Table;

/// Why the cache could not be used or written.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// Its bytes are not what was written. Build it again from the log.
    #[error("the metadata cache is damaged")]
    Damaged,
    /// It could not be read or written.
    #[error("the metadata cache cannot be read or written")]
    Io(#[from] std::io::Error),
    /// The heap has no more room.
    #[error("the metadata cache has no room for more than 4 GiB of texts")]
    Full,
}

/// All handoffs in the log's order.
#[derive(Debug)]
pub struct Index {
    lanes: Vec<Lane>,
    lane_of: Lanes,
    table: Table,
    heap: Heap,
    maps: Maps,
    origin: head::Origin,
    state: State,
}

/// What is known of all rows together.
#[derive(Debug, Clone, Default, PartialEq)]
struct State {
    basis: Option<ObjectName>,
    /// How much a `created` exceeds its effective time at most, in milliseconds.
    slack: i64,
    /// How many rows close an id that no row before them has.
    forward: BTreeMap<EventId, u32>,
    /// How many handoffs and how many live unfinished ones each lane has.
    lanes: Vec<[u32; 2]>,
    anomalies: u32,
    events: u32,
    /// Whether it holds what no log has, and therefore must not be saved.
    overlaid: bool,
}

/// A handoff as scanning sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Its place among all rows; a handle for [`Index::summary`].
    pub position: u32,
    /// The effective time of its commit.
    pub effective: i64,
    /// When it was made.
    pub created: Timestamp,
    /// How far the work is.
    pub status: Status,
    /// Why it was made.
    pub trigger: Trigger,
    /// The how-manieth of its minute and lane it is.
    pub ordinal: u32,
    lane: u16,
    agent: u32,
    branch: u32,
    live: bool,
    named_before: bool,
}

impl Row {
    /// Whether no other handoff closes it.
    pub fn live(&self) -> bool {
        self.live
    }

    /// The number of its lane among [`Index::lanes`].
    pub fn lane_number(&self) -> usize {
        usize::from(self.lane)
    }

    /// Whether a handoff that stands before it in the order names it.
    pub fn named_before(&self) -> bool {
        self.named_before
    }

    /// Whether the agent may be this one; only the summary knows for sure.
    pub fn may_be_of(&self, agent: &AgentName) -> bool {
        self.agent == row::hash(agent.as_str())
    }

    /// Whether the branch may be this one; only the summary knows for sure.
    pub fn may_be_on(&self, branch: &str) -> bool {
        self.branch == row::hash(branch)
    }
}

/// An event that is not a handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherEvent {
    /// Its content id.
    pub id: EventId,
    /// Its kind.
    pub kind: EventKind,
    /// The blob that holds it.
    pub blob: Option<ObjectName>,
    /// The commit that recorded it.
    pub recorded_in: Option<ObjectName>,
    /// The effective time of that commit.
    pub effective: i64,
}

impl Index {
    /// An index of nothing. Saving it replaces whatever is there.
    pub fn empty(lanes: &Lanes) -> Self {
        let all = lanes.all();
        Self {
            state: State { lanes: vec![[0, 0]; all.len()], ..State::default() },
            lanes: all,
            lane_of: lanes.clone(),
            table: Table::default(),
            heap: Heap::default(),
            maps: Maps::default(),
            origin: head::Origin::default(),
        }
    }

    /// The index that was saved in this directory; empty when there is none or it cannot be used.
    pub fn load(dir: &Path, lanes: &Lanes) -> Self {
        head::load(dir, lanes).unwrap_or_else(|| Self::empty(lanes))
    }

    /// Saves it for the next process, unless another process has done so meanwhile.
    pub fn save(&mut self, dir: &Path) -> Result<Saved, CacheError> {
        head::save(self, dir)
    }

    /// The own log tip that it is current for.
    pub fn basis(&self) -> Option<ObjectName> {
        self.state.basis
    }

    /// How many rows there are, of whatever kind.
    pub fn len(&self) -> u32 {
        self.table.len()
    }

    /// Whether nothing is known of any log.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many handoffs there are.
    pub fn handoff_count(&self) -> u32 {
        self.state.lanes.iter().map(|[all, _]| all).sum()
    }

    /// Every lane that can occur, with the number of its handoffs and of those that are live and unfinished.
    pub fn lanes(&self) -> impl Iterator<Item = (&Lane, u32, u32)> {
        self.lanes.iter().zip(&self.state.lanes).map(|(lane, [all, open])| (lane, *all, *open))
    }

    /// The positions of the earlier handoffs that the one at this position closes.
    pub fn closes(&self, position: u32) -> Result<Vec<u32>, CacheError> {
        self.closed_by(&self.table.get(position)?)
    }

    /// What was found in the log that is not a good event, in the log's order.
    pub fn anomalies(&self) -> Result<Vec<Anomaly>, CacheError> {
        let read = |row: row::Row| heap::read_anomaly(&self.heap.get(&row)?.1);
        self.of_kind(Kind::Anomaly, self.state.anomalies)?.into_iter().map(read).collect()
    }

    /// The events that are not handoffs, in the log's order.
    pub fn other_events(&self) -> Result<Vec<OtherEvent>, CacheError> {
        self.last_other_events(self.state.events)
    }

    fn other_event(&self, row: row::Row) -> Result<OtherEvent, CacheError> {
        let (Identity { id, commit, blob, .. }, rest) = self.heap.get(&row)?;
        let kind = heap::read_kind(&rest)?;
        Ok(OtherEvent { id, kind, blob, recorded_in: commit, effective: row.effective })
    }

    /// How many events there are that are not handoffs.
    pub fn other_event_count(&self) -> u32 {
        self.state.events
    }

    /// The last `count` of [`Index::other_events`].
    pub fn last_other_events(&self, count: u32) -> Result<Vec<OtherEvent>, CacheError> {
        self.of_kind(Kind::Event, count)?.into_iter().map(|row| self.other_event(row)).collect()
    }

    /// What lists show of the handoff at a position.
    pub fn summary(&self, position: u32) -> Result<Summary, CacheError> {
        let row = self.table.get(position)?;
        if row.kind != Kind::Handoff {
            return Err(CacheError::Damaged);
        }
        let (identity, rest) = self.heap.get(&row)?;
        heap::read_summary(&row, identity, &rest)
    }

    /// The id at a position, whatever kind of row it is; `None` for rows that are no event.
    pub fn id_at(&self, position: u32) -> Result<Option<EventId>, CacheError> {
        let id = self.heap.get(&self.table.get(position)?)?.0.id;
        Ok((id != Identity::no_event()).then_some(id))
    }

    /// The last `count` rows of a kind, oldest first.
    fn of_kind(&self, kind: Kind, count: u32) -> Result<Vec<row::Row>, CacheError> {
        let mut found = Vec::new();
        for position in (0..self.len()).rev() {
            if found.len() == count as usize {
                break;
            }
            let row = self.table.get(position)?;
            if row.kind == kind {
                found.push(row);
            }
        }
        found.reverse();
        Ok(found)
    }

    /// The positions of earlier handoffs that a row closes.
    fn closed_by(&self, row: &row::Row) -> Result<Vec<u32>, CacheError> {
        if row.spilled {
            self.earlier(&self.heap.get(row)?.0.closes_once())
        } else {
            Ok(row.closes.into_iter().filter(|position| *position != NOWHERE).collect())
        }
    }
}
