//! Which handoffs the indexes show, found without looking at more rows than it takes.

use super::ViewError;
use super::markdown::{ALL_ROWS, LANE_ROWS, Listing};
use crate::views::cache::{Index, Row};

/// A lane whose index is wanted.
pub(super) struct Wanted {
    /// Its number among [`Index::lanes`].
    pub(super) lane: usize,
    /// How many handoffs it has.
    pub(super) count: u32,
    /// How many of them are live and unfinished.
    pub(super) open: u32,
}

/// What the indexes of these lanes and the one over all show, in one pass that ends when nothing can be added.
pub(super) fn listings(index: &Index, wanted: &[Wanted]) -> Result<(Vec<Listing>, Listing), ViewError> {
    let open = index.lanes().map(|(_, _, open)| open).sum();
    let lane = |lane: &Wanted| Gathering::new(Some(lane.lane), LANE_ROWS, lane.count, lane.open);
    let mut gathering: Vec<Gathering> = wanted.iter().map(lane).collect();
    gathering.push(Gathering::new(None, ALL_ROWS, index.handoff_count(), open));
    for row in index.newest_first() {
        let row = row?;
        gathering.iter_mut().for_each(|listing| listing.meet(&row));
        if gathering.iter().all(Gathering::is_done) {
            break;
        }
    }
    let listings: Result<Vec<Listing>, ViewError> =
        gathering.into_iter().map(|gathering| gathering.read(index)).collect();
    let mut listings = listings?;
    let all = listings.pop().unwrap_or_default();
    Ok((listings, all))
}

/// The rows of a listing while they are looked for.
struct Gathering {
    lane: Option<usize>,
    limit: usize,
    open: u32,
    recent: Vec<u32>,
    current: Option<u32>,
}

impl Gathering {
    fn new(lane: Option<usize>, limit: usize, count: u32, open: u32) -> Self {
        Self { lane, limit: limit.min(count as usize), open, recent: Vec::new(), current: None }
    }

    fn meet(&mut self, row: &Row) {
        if self.lane.is_some_and(|lane| lane != row.lane_number()) {
            return;
        }
        if self.recent.len() < self.limit {
            self.recent.push(row.position);
        }
        if self.current.is_none() && row.live() && row.status.is_unfinished() {
            self.current = Some(row.position);
        }
    }

    fn is_done(&self) -> bool {
        self.recent.len() == self.limit && (self.current.is_some() || self.open == 0)
    }

    fn read(self, index: &Index) -> Result<Listing, ViewError> {
        let current = self.current.or_else(|| self.recent.first().copied());
        let recent = self.recent.into_iter().map(|position| index.summary(position)).collect::<Result<_, _>>()?;
        Ok(Listing { current: current.map(|position| index.summary(position)).transpose()?, recent })
    }
}
