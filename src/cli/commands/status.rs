//! `git handoff status`: what is recorded, recommended and pending here.

use std::io;

use serde_json::{Value, json};

use super::super::drafts::Drafts;
use super::super::error::Failure;
use super::super::session::{Session, one_line};
use super::super::sharing::Shared;
use super::list::item_json;
use crate::model::{Anomaly, Lanes, Summary, visible_line};
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
            recorded: index.handoff_count(),
            drafts: Drafts::new(&session.repo.state_dir()).count(),
            spooled: session.spooled()?.iter().map(|spooled| spooled.commit.entries.len()).sum(),
            shared: None,
            lanes: session.lanes.clone(),
        })
    })?;
    status.shared = session.shared()?;
    super::warn_of_stale_views(status.views_are_behind, ui);
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

struct Status {
    recommended: Option<Summary>,
    live: usize,
    anomalies: Vec<Anomaly>,
    views_are_behind: bool,
    recorded: u32,
    drafts: usize,
    spooled: usize,
    shared: Option<Shared>,
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
        if self.drafts > 0 {
            page.line(format!("Drafts: {} (seal one with: git handoff create --from FILE)", self.drafts))?;
        }
        if self.spooled > 0 {
            page.line(format!("Spooled: {} (the next command that can write takes them into the log)", self.spooled))?;
        }
        let Some(Shared { remote, unpublished, unjoined }) = &self.shared else { return Ok(()) };
        let remote = visible_line(remote);
        if *unjoined > 0 {
            page.line(format!("Fetched and not joined yet: {unjoined} (the next command that writes joins them)"))?;
        }
        match unpublished {
            0 => Ok(()),
            count => page.line(format!("Unpublished: {count} (to share with {remote}: git handoff sync)")),
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
            "goal": null,
            "queue": null,
            "hooks": null,
        })
    }

    fn quiet(&self) -> Option<String> {
        self.recommended.as_ref().map(|summary| summary.id.to_string())
    }
}
