//! Adding commits of the log, wherever in the order they belong.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::model::{Entry, Event, EventId, LogCommit, ObjectName, Summary};

use super::heap::{Identity, commit_prefix, prefix, write_anomaly, write_summary};
use super::row::{Kind, Row, hash};
use super::{CacheError, Index};

/// Commits with their effective times.
type Timed = BTreeMap<ObjectName, i64>;

/// A row that is not in its place yet.
#[derive(Debug)]
struct Item {
    row: Row,
    identity: Identity,
    created: Option<i64>,
}

impl Item {
    /// Of two records of one event, the smaller counts: what a log holds before what only the spool holds, then
    /// the earlier.
    fn preference(&self) -> (bool, i64, Option<ObjectName>, u8) {
        preference(&self.row, &self.identity)
    }

    fn order(&self) -> (i64, EventId, Option<ObjectName>, u8) {
        (self.row.effective, self.identity.id, self.identity.commit, self.row.kind as u8)
    }

    fn is_event(&self) -> bool {
        matches!(self.row.kind, Kind::Handoff | Kind::Event)
    }
}

fn preference(row: &Row, identity: &Identity) -> (bool, i64, Option<ObjectName>, u8) {
    (identity.commit.is_none(), row.effective, identity.commit, row.kind as u8)
}

impl Index {
    /// Takes in commits of the own log, which is then current for `basis`.
    ///
    /// The commits may come in any order and again; the result is the same. After an error the index is of no
    /// use any more.
    pub fn extend(
        &mut self,
        commits: impl IntoIterator<Item = LogCommit>,
        basis: Option<ObjectName>,
    ) -> Result<(), CacheError> {
        self.add(commits)?;
        self.state.basis = basis;
        Ok(())
    }

    /// [`Index::extend`] with what the own log does not have: logs that are fetched and not joined, the spool.
    /// From then on nothing is saved.
    pub fn overlay(&mut self, commits: impl IntoIterator<Item = LogCommit>) -> Result<(), CacheError> {
        self.state.overlaid = true;
        self.add(commits)
    }

    fn add(&mut self, commits: impl IntoIterator<Item = LogCommit>) -> Result<(), CacheError> {
        let (mut items, commits) = self.items(commits)?;
        let displaced = self.drop_duplicates(&mut items)?;
        self.keep_commits_known(&mut items, commits, &displaced)?;
        let Some(earliest) = items.iter().map(|item| item.row.effective).min() else { return Ok(()) };
        let start = displaced.iter().copied().min().unwrap_or(u32::MAX).min(self.first_at_or_after(earliest)?);
        while self.len() > start {
            let position = self.len() - 1;
            let (row, identity) = self.pop()?;
            if !displaced.contains(&position) {
                items.push(Item { row, identity, created: None });
            }
        }
        items.sort_by_key(|item| item.row.heap);
        items.sort_by_key(Item::order);
        items.into_iter().try_for_each(|item| self.push(item.row, &item.identity))
    }

    /// A row for everything in commits that are new, and those commits with their effective times.
    fn items(&mut self, commits: impl IntoIterator<Item = LogCommit>) -> Result<(Vec<Item>, Timed), CacheError> {
        let mut items = Vec::new();
        let mut seen = Timed::new();
        for commit in commits {
            if let Some(name) = commit.name {
                if seen.contains_key(&name) || self.has_commit(&name, commit.effective)? {
                    continue;
                }
                seen.insert(name, commit.effective);
            }
            for anomaly in &commit.anomalies {
                let identity = no_event(commit.name);
                items.push(self.item(Row::new(Kind::Anomaly), commit.effective, identity, &write_anomaly(anomaly))?);
            }
            for entry in commit.entries {
                items.push(self.event(entry, commit.name, commit.effective)?);
            }
        }
        Ok((items, seen))
    }

    fn event(&mut self, entry: Entry, commit: Option<ObjectName>, effective: i64) -> Result<Item, CacheError> {
        let mut identity = Identity { id: entry.id, commit, blob: entry.blob, closes: Vec::new() };
        match entry.event {
            Event::Handoff(document) => {
                let summary = Summary::of(entry.id, &document, entry.blob, commit, effective);
                identity.closes = summary.closes().collect();
                let mut row = Row::new(Kind::Handoff);
                row.created = summary.created.millis();
                row.offset = summary.created.offset_minutes();
                row.status = summary.status;
                row.trigger = summary.trigger;
                row.lane = self.lane_number(&summary.agent);
                row.agent = hash(summary.agent.as_str());
                row.branch = summary.branch.as_deref().map_or(0, hash);
                let created = Some(row.created);
                Ok(Item { created, ..self.item(row, effective, identity, &write_summary(&summary))? })
            }
            Event::Opaque { created } => {
                let created = created.map(|created| created.millis());
                let mut row = Row::new(Kind::Event);
                row.created = created.unwrap_or(effective);
                Ok(Item { created, ..self.item(row, effective, identity, entry.kind.as_str().as_bytes())? })
            }
        }
    }

    fn item(&mut self, row: Row, effective: i64, identity: Identity, rest: &[u8]) -> Result<Item, CacheError> {
        let heap = self.heap.put(&identity, rest).ok_or(CacheError::Full)?;
        let (id, commit) = (prefix(&identity.id), commit_prefix(identity.commit.as_ref()));
        Ok(Item { row: Row { id, effective, commit, heap, ..row }, identity, created: None })
    }

    /// Leaves one record of each event: drops new ones from `items` and says which rows have to go.
    fn drop_duplicates(&self, items: &mut Vec<Item>) -> Result<HashSet<u32>, CacheError> {
        let mut best: HashMap<EventId, (bool, i64, Option<ObjectName>, u8)> = HashMap::new();
        for item in items.iter().filter(|item| item.is_event()) {
            let preference = item.preference();
            best.entry(item.identity.id).and_modify(|best| *best = preference.min(*best)).or_insert(preference);
        }
        items.retain(|item| !item.is_event() || best.get(&item.identity.id) == Some(&item.preference()));
        let mut seen = HashSet::new();
        items.retain(|item| !item.is_event() || seen.insert(item.identity.id));
        let (mut displaced, mut superfluous) = (HashSet::new(), HashSet::new());
        for item in items.iter().filter(|item| item.is_event()) {
            let Some(position) = self.recent_position(&item.identity.id, item.created)? else { continue };
            let row = self.table.get(position)?;
            if preference(&row, &self.heap.get(&row)?.0) <= item.preference() {
                superfluous.insert(item.identity.id);
            } else {
                displaced.insert(position);
            }
        }
        items.retain(|item| !item.is_event() || !superfluous.contains(&item.identity.id));
        Ok(displaced)
    }

    /// Adds a row for every commit that would have none, so that [`Index::known`] finds it.
    fn keep_commits_known(
        &mut self,
        items: &mut Vec<Item>,
        mut absent: Timed,
        displaced: &HashSet<u32>,
    ) -> Result<(), CacheError> {
        let present: HashSet<ObjectName> = items.iter().filter_map(|item| item.identity.commit).collect();
        absent.retain(|name, _| !present.contains(name));
        for position in displaced {
            let row = self.table.get(*position)?;
            let Some(name) = self.heap.get(&row)?.0.commit else { continue };
            let remaining = self.rows_of(&name, row.effective)?;
            if remaining.iter().all(|position| displaced.contains(position)) {
                absent.insert(name, row.effective);
            }
        }
        for (name, effective) in absent {
            let item = self.item(Row::new(Kind::Commit), effective, no_event(Some(name)), &[])?;
            items.push(item);
        }
        Ok(())
    }

    fn has_commit(&self, name: &ObjectName, effective: i64) -> Result<bool, CacheError> {
        Ok(!self.rows_of(name, effective)?.is_empty())
    }

    /// Puts a row on top of the stack and derives what depends on those below.
    fn push(&mut self, mut row: Row, identity: &Identity) -> Result<(), CacheError> {
        let mut closed = Vec::new();
        match row.kind {
            Kind::Handoff => {
                row.ordinal = self.ordinal_after(row.lane, row.local_minute(), row.created)? + 1;
                row.closed_before = self.state.forward.contains_key(&identity.id);
                for id in identity.closes_once() {
                    match self.handoff_position(&id)? {
                        Some(position) => closed.push(position),
                        None => *self.state.forward.entry(id).or_default() += 1,
                    }
                }
                let inline = |at: usize| closed.get(at).copied().unwrap_or(super::NOWHERE);
                row.closes = [inline(0), inline(1)];
                row.spilled = closed.len() > row.closes.len();
                for lane in self.lanes_of_open(&closed)? {
                    self.count(lane, |[_, open]| *open = open.saturating_sub(1));
                }
                let opens = u32::from(row.status.is_unfinished() && !row.closed_before);
                self.count(row.lane, |[all, open]| (*all, *open) = (*all + 1, *open + opens));
                self.state.slack = self.state.slack.max(row.created.saturating_sub(row.effective));
            }
            Kind::Event => {
                self.state.events += 1;
                self.state.slack = self.state.slack.max(row.created.saturating_sub(row.effective));
            }
            Kind::Anomaly => self.state.anomalies += 1,
            Kind::Commit => {}
        }
        self.maps.pushed(self.len(), &row, &closed);
        self.table.push(row);
        Ok(())
    }

    /// Takes the top row away and undoes what [`Index::push`] derived.
    fn pop(&mut self) -> Result<(Row, Identity), CacheError> {
        let row = self.table.get(self.len() - 1)?;
        let identity = self.heap.get(&row)?.0;
        let closed = self.closed_by(&row)?;
        self.table.pop();
        self.maps.popped(&row, &closed);
        self.origin.popped(self.table.len());
        match row.kind {
            Kind::Handoff => {
                let closes = identity.closes_once();
                for id in if closes.len() == closed.len() { Vec::new() } else { closes } {
                    if self.handoff_position(&id)?.is_none() {
                        self.forget_forward(&id);
                    }
                }
                for lane in self.lanes_of_open(&closed)? {
                    self.count(lane, |[_, open]| *open += 1);
                }
                let opened = u32::from(row.status.is_unfinished() && !row.closed_before);
                self.count(row.lane, |[all, open]| {
                    (*all, *open) = (all.saturating_sub(1), open.saturating_sub(opened));
                });
            }
            Kind::Event => self.state.events = self.state.events.saturating_sub(1),
            Kind::Anomaly => self.state.anomalies = self.state.anomalies.saturating_sub(1),
            Kind::Commit => {}
        }
        Ok((row, identity))
    }

    fn forget_forward(&mut self, id: &EventId) {
        if let Some(count) = self.state.forward.get_mut(id) {
            *count -= 1;
            if *count == 0 {
                self.state.forward.remove(id);
            }
        }
    }

    fn count(&mut self, lane: u16, change: impl FnOnce(&mut [u32; 2])) {
        if let Some(counts) = self.state.lanes.get_mut(usize::from(lane)) {
            change(counts);
        }
    }

    /// The lanes of those of these handoffs that are unfinished and live.
    fn lanes_of_open(&self, positions: &[u32]) -> Result<Vec<u16>, CacheError> {
        let mut lanes = Vec::new();
        for position in positions {
            let row = self.table.get(*position)?;
            if row.status.is_unfinished() && self.is_live(*position)? {
                lanes.push(row.lane);
            }
        }
        Ok(lanes)
    }
}

fn no_event(commit: Option<ObjectName>) -> Identity {
    Identity { id: Identity::no_event(), commit, blob: None, closes: Vec::new() }
}
