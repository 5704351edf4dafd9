//! `queue list --graph`: what waits on what, those that wait above what they wait for.

use std::collections::{BTreeSet, HashMap};
use std::io;

use renderdag::Ancestor;
use serde_json::Value;

use super::super::log::{GraphRow, Lines};
use super::list::Listing;
use crate::model::queue::{At, Prerequisite};
use crate::model::visible_line;
use crate::ui::{Page, Report, Tone};

/// A listing as a graph.
pub(super) struct Graph {
    pub(super) listing: Listing,
    pub(super) lines: Lines,
}

impl Graph {
    /// The listed continuations that one waits for.
    fn upstream(&self, at: At, row: &HashMap<At, usize>) -> Vec<At> {
        let after = &self.listing.queue.item(at).after;
        let continuations = after.iter().filter_map(|each| match each {
            Prerequisite::Continuation(id) => self.listing.queue.find(id),
            Prerequisite::Handoff(_)
            | Prerequisite::Operation(_)
            | Prerequisite::Merged(_)
            | Prerequisite::Commit(_)
            | Prerequisite::Approval => None,
        });
        continuations.filter(|at| row.contains_key(at)).collect()
    }

    /// The listed ones so that each stands above what it waits for, as far as there is no loop.
    fn order(&self) -> Vec<At> {
        let items = &self.listing.items;
        let listed: HashMap<At, usize> = items.iter().enumerate().map(|(row, at)| (*at, row)).collect();
        let mut dependents: HashMap<At, usize> = HashMap::new();
        for at in items {
            for upstream in self.upstream(*at, &listed) {
                *dependents.entry(upstream).or_default() += 1;
            }
        }
        let mut left = listed.clone();
        let mut order = Vec::with_capacity(items.len());
        let mut free: Vec<At> = items.iter().copied().filter(|at| !dependents.contains_key(at)).collect();
        let mut rest = items.iter().copied();
        while order.len() < items.len() {
            // In a loop nothing is free: its first member begins.
            let Some(at) = free.pop().or_else(|| rest.find(|at| left.contains_key(at))) else { break };
            if left.remove(&at).is_none() {
                continue;
            }
            order.push(at);
            for upstream in self.upstream(at, &listed) {
                let open = dependents.entry(upstream).or_default();
                *open = open.saturating_sub(1);
                if *open == 0 {
                    free.push(upstream);
                }
            }
        }
        order
    }

    fn rows(&self, page: &Page<'_>) -> Vec<GraphRow> {
        let order = self.order();
        let rows: HashMap<At, usize> = order.iter().enumerate().map(|(row, at)| (*at, row)).collect();
        let drawn = order.iter().enumerate().map(|(row, at)| {
            let below = self.upstream(*at, &rows).into_iter().filter_map(|at| rows.get(&at)).copied();
            let below: BTreeSet<usize> = below.filter(|below| *below > row).collect();
            let shown = self.listing.shown(*at);
            let why = shown.why().map(|why| format!(" ({})", visible_line(&why))).unwrap_or_default();
            let message = format!(
                "{} {}{why}\n{}",
                page.toned(Tone::Name, visible_line(&shown.item.label())),
                shown.state,
                visible_line(shown.item.topic.as_str())
            );
            let glyph = if shown.state.is_finished() { "x" } else { "o" };
            GraphRow { parents: below.into_iter().map(Ancestor::Parent).collect(), glyph, message }
        });
        drawn.collect()
    }
}

impl Report for Graph {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let rows = self.rows(page);
        self.lines.draw(page, rows)
    }

    fn json(&self) -> Value {
        self.listing.json()
    }

    fn quiet(&self) -> Option<String> {
        self.listing.quiet()
    }
}
