//! `git handoff status`: what is recorded, recommended and pending here.

use std::io;

use serde_json::{Value, json};

use super::super::drafts::Drafts;
use super::super::error::Failure;
use super::super::goal::Goal;
use super::super::session::{Session, one_line};
use super::super::sharing::Shared;
use super::hooks::HooksState;
use super::list::item_json;
use crate::model::queue::{Queue, State};
use crate::model::{Anomaly, Lanes, Summary, Timestamp, visible_line};
use crate::ui::{Page, Report, Ui};
use crate::views::cache::Index;

/// Runs the command.
///
/// # Errors
/// When git cannot be read.
pub(in crate::cli) fn run(session: &Session<'_>, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let mut status = session.read(|index| {
        Ok(Status {
            recommended: recommended(index)?,
            live: live(index)?,
            anomalies: index.anomalies()?,
            views_are_behind: session.views_are_behind(index),
            unresolved_approvals: unresolved_approvals(session, index)?,
            recorded: index.handoff_count(),
            drafts: Drafts::new(&session.repo.state_dir()).count(),
            queue: Counts::of(&session.queue(index)?, session.now()),
            spooled: session.spooled()?.iter().map(|spooled| spooled.commit.entries.len()).sum(),
            shared: None,
            goal: None,
            hooks: None,
            lanes: session.lanes.clone(),
        })
    })?;
    status.shared = session.shared()?;
    status.goal = Goal::load(&session.repo.state_dir())?;
    // Whether hooks are there is worth saying; a hooks directory that cannot be read is no reason to say nothing.
    status.hooks = HooksState::of(session).ok();
    super::warn_of_stale_views(status.views_are_behind, ui);
    super::warn_of_file_only(session, ui);
    super::warn_of_anomalies(&status.anomalies, ui);
    Ok(ui.answer(&status)?)
}

/// The newest unfinished live handoff, else the newest of all.
fn recommended(index: &Index) -> Result<Option<Summary>, Failure> {
    let mut newest = None;
    for row in index.newest_first() {
        let row = row?;
        newest = newest.or(Some(row.position));
        if row.live() && row.status.is_unfinished() {
            newest = Some(row.position);
            break;
        }
    }
    Ok(newest.map(|position| index.summary(position)).transpose()?)
}

/// How many handoffs no later one closes.
fn live(index: &Index) -> Result<usize, Failure> {
    let mut count = 0;
    for row in index.newest_first() {
        count += usize::from(row?.live());
    }
    Ok(count)
}

/// The handoffs that somebody approved elsewhere and that are not here.
fn unresolved_approvals(session: &Session<'_>, index: &Index) -> Result<Vec<String>, Failure> {
    let is_known = |id: &crate::model::EventId| matches!(index.find(id), Ok(Some(_)));
    Ok(session.approvals(index, |id| !is_known(id))?.handoffs().map(ToString::to_string).collect())
}

/// How many continuations stand where somebody may have to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Counts {
    ready: usize,
    waiting: usize,
    stopped: usize,
}

impl Counts {
    fn of(queue: &Queue, now: Timestamp) -> Self {
        let count = |state| queue.items().iter().filter(|item| queue.state_at(item, now) == state).count();
        Self { ready: count(State::Ready), waiting: count(State::Waiting), stopped: count(State::Stopped) }
    }
}

struct Status {
    recommended: Option<Summary>,
    live: usize,
    anomalies: Vec<Anomaly>,
    views_are_behind: bool,
    unresolved_approvals: Vec<String>,
    recorded: u32,
    drafts: usize,
    queue: Counts,
    spooled: usize,
    shared: Option<Shared>,
    goal: Option<Goal>,
    hooks: Option<HooksState>,
    lanes: Lanes,
}

impl Report for Status {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        match &self.recommended {
            Some(summary) => {
                page.line(format!("Recommended: {}", visible_line(&one_line(summary))))?;
                if let Some(next) = &summary.next_action {
                    page.line(format!("Next action: {}", visible_line(next)))?;
                }
                page.line("To continue: git handoff resume")?;
            }
            None => page.line("No handoff is recorded here yet. To make one: git handoff create")?,
        }
        page.line(format!("Handoffs: {} recorded, {} live", self.recorded, self.live))?;
        if self.queue != Counts::default() {
            let Counts { ready, waiting, stopped } = self.queue;
            page.line(format!("Queue: {ready} ready, {waiting} waiting, {stopped} stopped (git handoff queue list)"))?;
        }
        if self.drafts > 0 {
            page.line(format!("Drafts: {} (seal one with: git handoff create --from FILE)", self.drafts))?;
        }
        if self.spooled > 0 {
            page.line(format!("Spooled: {} (the next command that can write takes them into the log)", self.spooled))?;
        }
        for id in &self.unresolved_approvals {
            page.line(format!("Approved, but not here: handoff {id}"))?;
        }
        if let Some(Shared { remote, unpublished, unjoined }) = &self.shared {
            let remote = visible_line(remote);
            if *unjoined > 0 {
                page.line(format!("Fetched and not joined yet: {unjoined} (the next command that writes joins them)"))?;
            }
            if *unpublished > 0 {
                page.line(format!("Unpublished: {unpublished} (to share with {remote}: git handoff sync)"))?;
            }
        }
        match &self.goal {
            Some(goal) => page.line(format!("Goal: {} (since {})", visible_line(&goal.text), goal.started)),
            None => Ok(()),
        }
    }

    fn json(&self) -> Value {
        json!({
            "recommended": self.recommended.as_ref().map(|summary| item_json(summary, true, &self.lanes)),
            "live": self.live,
            "recorded": self.recorded,
            "drafts": self.drafts,
            "spooled": self.spooled,
            "unpublished": self.shared.as_ref().map(|shared| shared.unpublished),
            "unjoined": self.shared.as_ref().map(|shared| shared.unjoined),
            "remote": self.shared.as_ref().map(|shared| &shared.remote),
            "unresolved_approvals": self.unresolved_approvals,
            "goal": self.goal.as_ref().map(Goal::json),
            "queue": {
                "ready": self.queue.ready,
                "waiting": self.queue.waiting,
                "stopped": self.queue.stopped,
            },
            "hooks": self.hooks.as_ref().map(HooksState::json),
        })
    }

    fn quiet(&self) -> Option<String> {
        self.recommended.as_ref().map(|summary| summary.id.to_string())
    }
}
