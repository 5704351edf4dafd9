//! `queue list`, `ready` and `show`.

use std::io;

use serde_json::Value;

use super::super::super::args;
use super::super::super::error::Failure;
use super::super::super::session::Session;
use super::super::log::{Lines, draws_boxes};
use super::face::{Shown, conflict_json};
use super::graph::Graph;
use crate::model::Timestamp;
use crate::model::queue::{At, Queue, State};
use crate::ui::{Page, Report, Table, Ui};

/// Lists what is not finished, or everything.
///
/// # Errors
/// When git cannot be read.
pub(super) fn list(session: &Session<'_>, args: &args::QueueList, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let queue = session.read_queue(|_, queue| Ok(queue))?;
    let now = session.now();
    let wanted = |at: &At| args.all || queue.item(*at).end.is_none();
    let items: Vec<At> = (0..queue.items().len()).filter(wanted).collect();
    if items.is_empty() {
        ui.note("nothing is queued");
    }
    for stray in queue.strays() {
        ui.warn(format!("{} by {}: {}", stray.verb, stray.by, stray.why));
    }
    let listing = Listing { cycles: queue.cycles(), queue, items, now };
    if args.graph {
        let lines = if draws_boxes(session) { Lines::Boxes } else { Lines::Ascii };
        return Ok(ui.answer(&Graph { listing, lines })?);
    }
    Ok(ui.answer(&listing)?)
}

/// Lists what can be started now.
///
/// # Errors
/// When git cannot be read.
pub(super) fn ready(session: &Session<'_>, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let queue = session.read_queue(|_, queue| Ok(queue))?;
    let now = session.now();
    let is_ready = |at: &At| queue.state_at(queue.item(*at), now) == State::Ready;
    let items: Vec<At> = (0..queue.items().len()).filter(is_ready).collect();
    if items.is_empty() {
        ui.note("nothing is ready");
    }
    // What is ready is part of no loop.
    Ok(ui.answer(&Listing { cycles: Vec::new(), queue, items, now })?)
}

/// Shows one continuation.
///
/// # Errors
/// When none or several are meant.
pub(super) fn show(session: &Session<'_>, text: &str, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let (queue, at) = session.read_queue(|index, queue| {
        let at = session.find_item(index, &queue, text)?;
        Ok((queue, at))
    })?;
    Ok(ui.answer(&One { cycles: queue.cycles(), queue, at, now: session.now() })?)
}

/// Continuations in the order in which they were queued.
pub(super) struct Listing {
    pub(super) queue: Queue,
    pub(super) items: Vec<At>,
    pub(super) cycles: Vec<Vec<At>>,
    pub(super) now: Timestamp,
}

impl Listing {
    pub(super) fn shown(&self, at: At) -> Shown<'_> {
        Shown::new(&self.queue, at, &self.cycles, self.now)
    }
}

impl Report for Listing {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let mut table = Table::default();
        for at in &self.items {
            let shown = self.shown(*at);
            let name = shown.item.name.as_ref().map_or("-", |name| name.as_str());
            let (id, topic) = (shown.item.id.short(), shown.item.topic.as_str());
            let conflicts = match shown.item.conflicts.len() {
                0 => String::new(),
                1 => " (1 conflict)".into(),
                count => format!(" ({count} conflicts)"),
            };
            let why = shown.why().unwrap_or_default();
            table.row([&id, name, shown.state.as_str(), topic, &format!("{why}{conflicts}")]);
        }
        table.lines().iter().try_for_each(|line| page.line(line))
    }

    fn json(&self) -> Value {
        self.items.iter().map(|at| self.shown(*at).json()).collect()
    }

    fn quiet(&self) -> Option<String> {
        let ids: Vec<String> = self.items.iter().map(|at| self.queue.item(*at).id.to_string()).collect();
        (!ids.is_empty()).then(|| ids.join("\n"))
    }
}

struct One {
    queue: Queue,
    at: At,
    cycles: Vec<Vec<At>>,
    now: Timestamp,
}

impl One {
    fn shown(&self) -> Shown<'_> {
        Shown::new(&self.queue, self.at, &self.cycles, self.now)
    }
}

impl Report for One {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        self.shown().lines(page)
    }

    fn json(&self) -> Value {
        let mut json = self.shown().json();
        let ancestors = self.queue.open_ancestors(self.at);
        json["open_before"] = ancestors.iter().map(|at| self.queue.item(*at).id.to_string()).collect();
        let strays = self.queue.strays().iter().map(conflict_json);
        json["strays"] = strays.collect();
        json
    }

    fn quiet(&self) -> Option<String> {
        Some(self.queue.item(self.at).id.to_string())
    }
}
