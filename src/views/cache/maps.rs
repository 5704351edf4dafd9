//! Lookups for callers that ask often. A single question is cheaper answered by looking at the newest rows.

use std::cell::{Cell, Ref, RefCell};
use std::collections::HashMap;

use super::row::{Kind, Row};
use super::{CacheError, Index};

/// How many rows may be looked at, for each row that there is, before the maps are built.
const PATIENCE: u64 = 2;

/// Looked-at rows, and the maps once they are worth it.
#[derive(Debug, Default)]
pub(super) struct Maps {
    looked_at: Cell<u64>,
    built: RefCell<Option<Built>>,
}

/// Maps over all rows.
#[derive(Debug, Default)]
pub(super) struct Built {
    /// The newest position with a prefix of an id.
    pub(super) ids: HashMap<u64, u32>,
    /// The newest position with a prefix of a commit's name.
    pub(super) commits: HashMap<u32, u32>,
    /// The highest ordinal of a lane and minute.
    pub(super) minutes: HashMap<(u16, i64), u32>,
    /// How many later rows close each row.
    pub(super) closers: Vec<u32>,
    /// Whether two rows share a prefix of an id, so that taking one away would lose the other.
    shared: bool,
}

impl Built {
    fn push(&mut self, position: u32, row: &Row, closes: &[u32]) {
        if matches!(row.kind, Kind::Handoff | Kind::Event) && self.ids.insert(row.id, position).is_some() {
            self.shared = true;
        }
        self.commits.insert(row.commit, position);
        if row.kind == Kind::Handoff {
            self.minutes.insert((row.lane, row.local_minute()), row.ordinal);
        }
        self.closers.push(0);
        for closed in closes {
            if let Some(count) = self.closers.get_mut(*closed as usize) {
                *count += 1;
            }
        }
    }

    fn pop(&mut self, row: &Row, closes: &[u32]) {
        if matches!(row.kind, Kind::Handoff | Kind::Event) {
            self.ids.remove(&row.id);
        }
        if row.kind == Kind::Handoff {
            self.minutes.insert((row.lane, row.local_minute()), row.ordinal.saturating_sub(1));
        }
        self.closers.pop();
        for closed in closes {
            if let Some(count) = self.closers.get_mut(*closed as usize) {
                *count = count.saturating_sub(1);
            }
        }
    }
}

impl Maps {
    /// A row was pushed.
    pub(super) fn pushed(&mut self, position: u32, row: &Row, closes: &[u32]) {
        if let Some(built) = self.built.get_mut() {
            built.push(position, row, closes);
        }
    }

    /// The last row was popped.
    pub(super) fn popped(&mut self, row: &Row, closes: &[u32]) {
        match self.built.get_mut() {
            Some(built) if !built.shared => built.pop(row, closes),
            _ => *self.built.get_mut() = None,
        }
    }

    /// Somebody looked at so many rows one by one.
    pub(super) fn looked_at(&self, rows: u32) {
        self.looked_at.set(self.looked_at.get() + u64::from(rows));
    }
}

impl Index {
    /// The maps, once so many rows were looked at that building them costs less than going on.
    pub(super) fn maps(&self) -> Result<Option<Ref<'_, Built>>, CacheError> {
        if self.maps.built.borrow().is_none() {
            if self.maps.looked_at.get() <= PATIENCE * u64::from(self.len()) {
                return Ok(None);
            }
            let built = self.build_maps()?;
            *self.maps.built.borrow_mut() = Some(built);
            self.maps.looked_at.set(0);
        }
        Ok(Ref::filter_map(self.maps.built.borrow(), Option::as_ref).ok())
    }

    fn build_maps(&self) -> Result<Built, CacheError> {
        let mut built = Built::default();
        let mut spilled = Vec::new();
        for position in 0..self.len() {
            let row = self.table.get(position)?;
            if row.spilled {
                spilled.push((position, row));
                built.push(position, &row, &[]);
            } else {
                built.push(position, &row, &self.closed_by(&row)?);
            }
        }
        for (position, row) in spilled {
            for id in self.heap.get(&row)?.0.closes_once() {
                if let Some(closed) = self.position_in(&built, &id)?.filter(|closed| *closed < position) {
                    built.closers[closed as usize] += 1;
                }
            }
        }
        Ok(built)
    }
}
