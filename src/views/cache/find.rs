//! Questions to the index. Newest rows are looked at first, and no further than the order allows.

use crate::model::{AgentName, EventId, IdPrefix, ObjectName, Summary, Timestamp};

use super::heap::{commit_prefix, prefix};
use super::maps::Built;
use super::row::{self, Kind, local_minute};
use super::{CacheError, Index, NOWHERE, Row};

/// Two clocks of one moment differ by less than two days: a [`Timestamp`] is less than a day off UTC.
const CLOCKS_APART: i64 = 48 * 60 * 60 * 1000;

/// The handoffs from the newest to the oldest.
#[derive(Debug)]
pub struct NewestFirst<'a> {
    index: &'a Index,
    next: u32,
    closed: Positions,
}

/// A set of positions, one bit each.
#[derive(Debug)]
struct Positions(Vec<u64>);

impl Positions {
    fn new(len: u32) -> Self {
        Self(vec![0; len as usize / 64 + 1])
    }

    fn insert(&mut self, position: u32) {
        if let Some(word) = self.0.get_mut(position as usize / 64) {
            *word |= 1 << (position % 64);
        }
    }

    fn contains(&self, position: u32) -> bool {
        self.0.get(position as usize / 64).is_some_and(|word| word & (1 << (position % 64)) != 0)
    }
}

impl NewestFirst<'_> {
    fn step(&mut self) -> Result<Option<Row>, CacheError> {
        while self.next > 0 {
            self.next -= 1;
            let position = self.next;
            let row = self.index.table.get(position)?;
            if row.kind != Kind::Handoff {
                continue;
            }
            if row.spilled {
                self.index.closed_by(&row)?.into_iter().for_each(|closed| self.closed.insert(closed));
            } else if row.closes != [NOWHERE; 2] {
                row.closes.into_iter().for_each(|closed| self.closed.insert(closed));
            }
            let live = !row.closed_before && !self.closed.contains(position);
            return Ok(Some(public(position, &row, live)?));
        }
        Ok(None)
    }
}

impl Iterator for NewestFirst<'_> {
    type Item = Result<Row, CacheError>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.next = 0;
        }
        step.transpose()
    }
}

impl Index {
    /// The handoffs, newest first.
    pub fn newest_first(&self) -> NewestFirst<'_> {
        NewestFirst { index: self, next: self.len(), closed: Positions::new(self.len()) }
    }

    /// The handoff at a position; `None` for other rows.
    pub fn row(&self, position: u32) -> Result<Option<Row>, CacheError> {
        let row = self.table.get(position)?;
        if row.kind != Kind::Handoff {
            return Ok(None);
        }
        public(position, &row, self.is_live(position)?).map(Some)
    }

    /// The effective time of a commit of the log, if its content is in the index.
    pub fn known(&self, commit: &ObjectName) -> Result<Option<i64>, CacheError> {
        let wanted = commit_prefix(Some(commit));
        let is_it = |row: &row::Row| -> Result<bool, CacheError> {
            Ok(row.commit == wanted && self.heap.get(row)?.0.commit == Some(*commit))
        };
        if let Some(maps) = self.maps()? {
            let Some(position) = maps.commits.get(&wanted) else { return Ok(None) };
            if *position < self.len() {
                let row = self.table.get(*position)?;
                if is_it(&row)? {
                    return Ok(Some(row.effective));
                }
            }
        }
        for position in (0..self.len()).rev() {
            let row = self.table.get(position)?;
            if is_it(&row)? {
                self.maps.looked_at(self.len() - position);
                return Ok(Some(row.effective));
            }
        }
        self.maps.looked_at(self.len());
        Ok(None)
    }

    /// The position of the handoff with this id.
    pub fn find(&self, id: &EventId) -> Result<Option<u32>, CacheError> {
        self.handoff_position(id)
    }

    /// The position of the handoff with this id, which was made at this time. Only what is not older is looked at.
    pub fn find_made_at(&self, id: &EventId, created: Timestamp) -> Result<Option<u32>, CacheError> {
        self.handoff_since(id, Some(created.millis()))
    }

    /// The positions of the handoffs whose ids begin so, newest first.
    pub fn find_prefix(&self, digits: &IdPrefix) -> Result<Vec<u32>, CacheError> {
        let short = &digits.as_str()[..digits.as_str().len().min(16)];
        let low = u64::from_str_radix(&format!("{short:0<16}"), 16).map_err(|_| CacheError::Damaged)?;
        let high = u64::from_str_radix(&format!("{short:f<16}"), 16).map_err(|_| CacheError::Damaged)?;
        self.positions(|row| Ok((low..=high).contains(&row.id) && digits.matches(&self.heap.get(row)?.0.id)))
    }

    /// The position of the handoff with this session name, such as `codex` and `2026-08-18-1704-2`.
    pub fn find_session(&self, agent: &AgentName, stem: &str) -> Result<Option<u32>, CacheError> {
        let Some((minute, ordinal)) = read_stem(stem) else { return Ok(None) };
        let (lane, agent_hash) = (self.lane_number(agent), row::hash(agent.as_str()));
        let named = |row: &row::Row| row.lane == lane && row.ordinal == ordinal && row.local_minute() == minute;
        let found = self.positions(|row| Ok(row.agent == agent_hash && named(row)))?;
        for position in found {
            if self.summary(position)?.agent == *agent {
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    /// The position of the handoff whose file stands at this path, relative to the top of the work tree.
    pub fn find_file(&self, path: &str) -> Result<Option<u32>, CacheError> {
        let name = path.rsplit_once("/handoffs/").and_then(|(dir, file)| Some((dir, file.strip_suffix(".md")?)));
        let Some((dir, stem)) = name else { return Ok(None) };
        let (Some(lane), Some((minute, ordinal))) =
            (self.lanes.iter().position(|lane| lane.dir == dir), read_stem(stem))
        else {
            return Ok(None);
        };
        let named =
            |row: &row::Row| usize::from(row.lane) == lane && row.ordinal == ordinal && row.local_minute() == minute;
        Ok(self.positions(|row| Ok(named(row)))?.first().copied())
    }

    /// The newest handoff of a branch, by this agent or by any.
    pub fn newest_on_branch(&self, branch: &str, agent: Option<&AgentName>) -> Result<Option<Summary>, CacheError> {
        for row in self.newest_first() {
            let row = row?;
            if row.may_be_on(branch) && agent.is_none_or(|agent| row.may_be_of(agent)) {
                let summary = self.summary(row.position)?;
                if summary.branch.as_deref() == Some(branch) && agent.is_none_or(|agent| summary.agent == *agent) {
                    return Ok(Some(summary));
                }
            }
        }
        Ok(None)
    }

    /// Whether no other handoff, wherever it stands in the order, closes the one at this position.
    pub fn is_live(&self, position: u32) -> Result<bool, CacheError> {
        if self.table.get(position)?.closed_before {
            return Ok(false);
        }
        if let Some(maps) = self.maps()? {
            return Ok(maps.closers.get(position as usize).is_none_or(|closers| *closers == 0));
        }
        self.maps.looked_at(self.len() - position);
        for later in (position + 1..self.len()).rev() {
            let row = self.table.get(later)?;
            let may_close = row.spilled || row.closes.contains(&position);
            if may_close && self.closed_by(&row)?.contains(&position) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The number, from 1, that a handoff of this agent and time gets when it comes last in the order.
    pub fn next_ordinal(&self, agent: &AgentName, created: Timestamp) -> Result<u32, CacheError> {
        let minute = local_minute(created.millis(), created.offset_minutes());
        Ok(self.ordinal_after(self.lane_number(agent), minute, created.millis())? + 1)
    }

    /// The highest ordinal of a lane and minute so far, 0 when there is none.
    pub(super) fn ordinal_after(&self, lane: u16, minute: i64, created: i64) -> Result<u32, CacheError> {
        if let Some(maps) = self.maps()? {
            return Ok(maps.minutes.get(&(lane, minute)).copied().unwrap_or(0));
        }
        let earliest = created.saturating_sub(CLOCKS_APART).saturating_sub(self.state.slack);
        self.newest_since(Some(earliest), |row| {
            let named = row.kind == Kind::Handoff && row.lane == lane && row.local_minute() == minute;
            Ok(named.then_some(row.ordinal))
        })
        .map(Option::unwrap_or_default)
    }

    /// The number of an agent's lane.
    pub(super) fn lane_number(&self, agent: &AgentName) -> u16 {
        let lane = self.lane_of.of(agent);
        let number = self.lanes.iter().position(|other| *other == lane).unwrap_or(0);
        u16::try_from(number).unwrap_or(u16::MAX)
    }

    /// The position of a handoff.
    pub(super) fn handoff_position(&self, id: &EventId) -> Result<Option<u32>, CacheError> {
        self.handoff_since(id, None)
    }

    fn handoff_since(&self, id: &EventId, created: Option<i64>) -> Result<Option<u32>, CacheError> {
        let Some(position) = self.recent_position(id, created)? else { return Ok(None) };
        Ok((self.table.get(position)?.kind == Kind::Handoff).then_some(position))
    }

    /// The position of an event of which it is known when it was made.
    pub(super) fn recent_position(&self, id: &EventId, created: Option<i64>) -> Result<Option<u32>, CacheError> {
        if let Some(maps) = self.maps()? {
            return self.position_in(&maps, id);
        }
        self.scan_for(id, created.map(|created| created.saturating_sub(self.state.slack)))
    }

    /// The position of an event by these maps.
    pub(super) fn position_in(&self, maps: &Built, id: &EventId) -> Result<Option<u32>, CacheError> {
        let Some(position) = maps.ids.get(&prefix(id)) else { return Ok(None) };
        if self.heap.get(&self.table.get(*position)?)?.0.id == *id {
            return Ok(Some(*position));
        }
        self.scan_for(id, None)
    }

    fn scan_for(&self, id: &EventId, earliest: Option<i64>) -> Result<Option<u32>, CacheError> {
        let wanted = prefix(id);
        let mut position = self.len();
        let found = self.newest_since(earliest, |row| {
            position -= 1;
            let may_be = row.id == wanted && matches!(row.kind, Kind::Handoff | Kind::Event);
            Ok((may_be && self.heap.get(row)?.0.id == *id).then_some(()))
        })?;
        Ok(found.map(|()| position))
    }

    /// The first answer that a row gives, newest first, down to an effective time.
    fn newest_since<T>(
        &self,
        earliest: Option<i64>,
        mut ask: impl FnMut(&row::Row) -> Result<Option<T>, CacheError>,
    ) -> Result<Option<T>, CacheError> {
        for position in (0..self.len()).rev() {
            let row = self.table.get(position)?;
            if earliest.is_some_and(|earliest| row.effective < earliest) {
                self.maps.looked_at(self.len() - position);
                return Ok(None);
            }
            let answer = ask(&row)?;
            if answer.is_some() {
                self.maps.looked_at(self.len() - position);
                return Ok(answer);
            }
        }
        self.maps.looked_at(self.len());
        Ok(None)
    }

    /// The positions of all handoffs that fit, newest first.
    fn positions(&self, fits: impl Fn(&row::Row) -> Result<bool, CacheError>) -> Result<Vec<u32>, CacheError> {
        let mut found = Vec::new();
        for position in (0..self.len()).rev() {
            let row = self.table.get(position)?;
            if row.kind == Kind::Handoff && fits(&row)? {
                found.push(position);
            }
        }
        Ok(found)
    }

    /// The rows of a commit whose effective time is known.
    pub(super) fn rows_of(&self, commit: &ObjectName, effective: i64) -> Result<Vec<u32>, CacheError> {
        let (wanted, mut rows) = (commit_prefix(Some(commit)), Vec::new());
        for position in self.first_at_or_after(effective)?..self.len() {
            let row = self.table.get(position)?;
            if row.effective != effective {
                break;
            }
            if row.commit == wanted && self.heap.get(&row)?.0.commit == Some(*commit) {
                rows.push(position);
            }
        }
        Ok(rows)
    }

    /// The first position whose effective time is not before this one.
    pub(super) fn first_at_or_after(&self, effective: i64) -> Result<u32, CacheError> {
        if self.is_empty() || self.table.get(self.len() - 1)?.effective < effective {
            return Ok(self.len());
        }
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.table.get(middle)?.effective < effective {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// The positions of the handoffs that this one closes.
    pub(super) fn earlier(&self, closes: &[EventId]) -> Result<Vec<u32>, CacheError> {
        let mut positions = Vec::new();
        for id in closes {
            positions.extend(self.handoff_position(id)?);
        }
        Ok(positions)
    }
}

fn public(position: u32, row: &row::Row, live: bool) -> Result<Row, CacheError> {
    Ok(Row {
        position,
        effective: row.effective,
        created: row.timestamp().ok_or(CacheError::Damaged)?,
        status: row.status,
        trigger: row.trigger,
        ordinal: row.ordinal,
        lane: row.lane,
        agent: row.agent,
        branch: row.branch,
        live,
        named_before: row.closed_before,
    })
}

/// The minute and the ordinal of `2026-08-18-1704` or `2026-08-18-1704-2`.
fn read_stem(stem: &str) -> Option<(i64, u32)> {
    let (minute, ordinal) = stem.split_at_checked("2026-08-18-1704".len())?;
    let ordinal = match ordinal {
        "" => 1,
        text => text.strip_prefix('-')?.parse().ok().filter(|n| *n > 1 && text == format!("-{n}"))?,
    };
    let (date, time) = minute.split_at_checked("2026-08-18-".len())?;
    let (hours, minutes) = time.split_at_checked(2)?;
    let time: Timestamp = format!("{}T{hours}:{minutes}:00Z", date.strip_suffix('-')?).parse().ok()?;
    Some((local_minute(time.millis(), 0), ordinal))
}
