//! `git handoff recover`: everything derived made again from the log, and the log from the files where it lacks
//! something.

use std::collections::HashSet;
use std::io;

use serde_json::{Value, json};

use super::super::args;
use super::super::error::{Code, Failure};
use super::super::rewrites::Reattached;
use super::super::session::Session;
use super::super::store::append_failure;
use super::super::unrecorded::{FileOnly, Refused, Sorted};
use crate::log::Rescued;
use crate::model::{Anomaly, EventId, Summary, visible_line};
use crate::ui::{Page, Report, Tone, Ui};
use crate::views::cache::Index;
use crate::views::files::{Finding, Layout, Look, Mode, RefreshReport};

/// How many handoffs are in memory while the notes are made again.
const NOTES_AT_A_TIME: usize = 500;

/// Runs the command.
///
/// # Errors
/// When the repository cannot be written, a view could not be made again, or a file holds what is never recorded. All
/// else is done then all the same.
pub(in crate::cli) fn run(session: &Session<'_>, args: &args::Recover, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let recovery = if args.dry_run { rehearse(session, ui)? } else { recover(session, ui)? };
    recovery.warn(ui);
    ui.answer(&recovery)?;
    recovery.outcome()
}

fn recover(session: &Session<'_>, ui: &mut Ui<'_>) -> Result<Recovery, Failure> {
    session.check_writable()?;
    let rescued = session.log().rescue(&session.stamp(), session.last_tip()).map_err(|error| append_failure(&error))?;
    session.rebuild_cache()?;
    let spooled = spooled_ids(session)?;
    let before = session.own_index(session.log().tips()?.own)?;
    let lost = session.lost_tip(&before)?.filter(|tip| !session.repo.exists(tip));
    let mut index = session.prepare(ui)?;
    let found = session.unrecorded(&index, Look::Thorough)?;
    let Sorted { accepted, refused, edited } = Sorted::of(session, found);
    session.record_files(&mut index, &accepted)?;
    if !accepted.is_empty() && !index.anomalies()?.is_empty() {
        // What was written again may be what could not be read before.
        session.rebuild_cache()?;
        index = session.own_index(session.log().tips()?.own)?;
    }
    drop(index.save(&session.repo.shared_state_dir()));
    session.remember_tip(index.basis());
    let taken_in = taken_in(&before, &index, &accepted, &spooled)?;
    let noted = rebuild_notes(session, &index, ui)?;
    let reattached = session.reattach_notes(&index, ui)?;
    let files = session.refresh_files(Mode::Full, ui);
    Ok(Recovery {
        dry_run: false,
        rescued,
        lost_tip: lost.map(|tip| tip.to_string()),
        recorded: index.handoff_count(),
        anomalies: index.anomalies()?,
        taken_in,
        refused,
        edited,
        noted,
        reattached,
        files_failed: files.is_none() && session.repo.work_dir().is_some() && session.layout != Layout::Off,
        files: files.unwrap_or_default(),
    })
}

/// What [`recover`] would do, as far as it can be told without doing it.
fn rehearse(session: &Session<'_>, ui: &mut Ui<'_>) -> Result<Recovery, Failure> {
    let own = session.log().tips()?.own;
    let before = session.own_index(own)?;
    let index = session.index_with(Look::Thorough)?;
    // A thorough look, at the log without what only the files have.
    let Sorted { accepted, refused, edited } = Sorted::of(session, session.unrecorded(&before, Look::Thorough)?);
    let spooled = spooled_ids(session)?;
    let mut taken_in = taken_in(&before, &index, &accepted, &spooled)?;
    let files = session.file_only.borrow().clone();
    let is_left = |id| files.iter().any(|file| file.id == id) && !accepted.iter().any(|file| file.id == id);
    taken_in.retain(|taken| !is_left(taken.summary.id));
    let files = session.rehearse_refresh(ui).unwrap_or_default();
    Ok(Recovery {
        dry_run: true,
        rescued: None,
        lost_tip: session.lost_tip(&before)?.map(|tip| tip.to_string()),
        recorded: before.handoff_count() + taken_in.len() as u32,
        anomalies: index.anomalies()?,
        taken_in,
        refused,
        edited,
        noted: 0,
        reattached: Vec::new(),
        files_failed: false,
        files,
    })
}

fn spooled_ids(session: &Session<'_>) -> Result<HashSet<EventId>, Failure> {
    Ok(session.spooled()?.iter().flat_map(|spooled| spooled.commit.entries.iter().map(|entry| entry.id)).collect())
}

/// The handoffs that one index has and the earlier one has not, oldest first.
fn taken_in(
    before: &Index,
    after: &Index,
    files: &[FileOnly],
    spooled: &HashSet<EventId>,
) -> Result<Vec<TakenIn>, Failure> {
    let mut taken = Vec::new();
    for row in after.newest_first() {
        let row = row?;
        let Some(id) = after.id_at(row.position)? else { continue };
        if before.find(&id)?.is_some() {
            continue;
        }
        let source = match files.iter().find(|file| file.id == id) {
            Some(file) => Source::File(file.path.clone()),
            None if spooled.contains(&id) => Source::Spool,
            None => Source::Log,
        };
        taken.push(TakenIn { summary: after.summary(row.position)?, source });
    }
    taken.reverse();
    Ok(taken)
}

/// Adds every handoff's line to the notes of its source commit; returns how many lines there are.
fn rebuild_notes(session: &Session<'_>, index: &Index, ui: &mut Ui<'_>) -> Result<usize, Failure> {
    let mut batch = Vec::with_capacity(NOTES_AT_A_TIME);
    let mut noted = 0;
    for row in index.newest_first() {
        let summary = index.summary(row?.position)?;
        if summary.commit.is_some_and(|commit| session.repo.exists(&commit)) {
            noted += 1;
            batch.push(summary);
        }
        if batch.len() == NOTES_AT_A_TIME {
            session.add_notes(&batch, ui);
            batch.clear();
        }
    }
    session.add_notes(&batch, ui);
    Ok(noted)
}

/// Where a handoff was taken in from.
enum Source {
    File(String),
    Spool,
    /// A fetched log, or the own one before it was rewound.
    Log,
}

impl Source {
    fn name(&self) -> &'static str {
        match self {
            Self::File(_) => "file",
            Self::Spool => "spool",
            Self::Log => "log",
        }
    }
}

struct TakenIn {
    summary: Summary,
    source: Source,
}

/// What was done, or would be.
struct Recovery {
    dry_run: bool,
    rescued: Option<Rescued>,
    lost_tip: Option<String>,
    recorded: u32,
    anomalies: Vec<Anomaly>,
    taken_in: Vec<TakenIn>,
    refused: Vec<Refused>,
    edited: Vec<(String, EventId)>,
    noted: usize,
    /// Notes that were brought to what replaced a commit that no branch holds any more.
    reattached: Vec<Reattached>,
    files_failed: bool,
    files: RefreshReport,
}

impl Recovery {
    /// Says every loss, and everything that is not as it should be.
    fn warn(&self, ui: &mut Ui<'_>) {
        if let Some(Rescued { broken, tip, earlier }) = &self.rescued {
            let from = if *earlier { "goes on from an earlier tip" } else { "begins again with" };
            ui.warn(format!(
                "the log's tip {} cannot be read; the log {from} {}, and what the files still hold is taken in again",
                broken.short(),
                tip.short()
            ));
        }
        if let Some(tip) = &self.lost_tip {
            ui.warn(format!(
                "the log that was seen last here ({}) is gone; only files and fetched logs are left of it",
                &tip[..12]
            ));
        }
        super::warn_of_anomalies(&self.anomalies, ui);
        super::warn_of_refused(&self.refused, ui);
        for (path, claimed) in &self.edited {
            super::warn_of_edited(path, claimed, ui);
        }
        for finding in &self.files.findings {
            ui.warn(finding.to_string());
        }
    }

    /// Whether all of it worked.
    fn outcome(&self) -> Result<(), Failure> {
        super::refusal_of(&self.refused)?;
        if self.files_failed || !self.files.is_complete() {
            return Err(Failure::new(Code::Io, "not every file could be made again; the warnings above say which"));
        }
        Ok(())
    }

    fn sources(&self) -> Vec<String> {
        let count = |name: &str| self.taken_in.iter().filter(|taken| taken.source.name() == name).count();
        let say = |name: &str, what: &str| match count(name) {
            0 => None,
            count => Some(format!("{count} from {what}")),
        };
        [say("file", "files"), say("spool", "the spool"), say("log", "other logs")].into_iter().flatten().collect()
    }
}

impl Report for Recovery {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let [taken, rewritten] = match self.dry_run {
            true => ["Would be taken into the log", "Files that would be written"],
            false => ["Taken into the log", "Files written"],
        };
        if !self.taken_in.is_empty() {
            page.line(format!("{taken}: {}", self.sources().join(", ")))?;
        }
        for TakenIn { summary, source } in &self.taken_in {
            let from = match source {
                Source::File(path) => format!(" ({})", visible_line(path)),
                Source::Spool | Source::Log => String::new(),
            };
            let (id, topic) = (page.toned(Tone::Name, summary.id.short()), visible_line(summary.topic.as_str()));
            page.line(format!("  {id} {} {topic}{from}", summary.session()))?;
        }
        for Reattached { from, to, proof } in &self.reattached {
            page.line(format!("Note of {} attached to {} ({})", from.short(), to.short(), proof.as_str()))?;
        }
        page.line(format!("{rewritten}: {}", self.files.written))?;
        page.line(format!("Handoffs: {}", self.recorded))
    }

    fn json(&self) -> Value {
        let taken = |TakenIn { summary, source }: &TakenIn| {
            let path = match source {
                Source::File(path) => Some(path),
                Source::Spool | Source::Log => None,
            };
            json!({
                "id": summary.id.to_string(),
                "session": summary.session().to_string(),
                "source": source.name(),
                "path": path,
            })
        };
        let finding = |finding: &Finding| {
            json!({
                "code": finding.code(),
                "path": finding.path(),
                "kept": finding.kept().map(|kept| kept.display().to_string()),
                "text": finding.to_string(),
            })
        };
        let skipped = self.files.findings.iter().filter_map(|finding| match finding {
            Finding::Skipped { path, lines, .. } => Some(json!({"path": path, "lines": lines})),
            Finding::Edited { .. }
            | Finding::Corrupt { .. }
            | Finding::Displaced { .. }
            | Finding::Occupied { .. }
            | Finding::Foreign { .. }
            | Finding::NotOurs { .. }
            | Finding::FileOnly { .. }
            | Finding::Renamed { .. }
            | Finding::Refused { .. }
            | Finding::Failed { .. }
            | Finding::Unloadable { .. } => None,
        });
        let reattached = |Reattached { from, to, proof }: &Reattached| json!({"from": from.to_string(), "to": to.to_string(), "proof": proof.as_str()});
        json!({
            "dry_run": self.dry_run,
            "recorded": self.recorded,
            "taken_in": self.taken_in.iter().map(taken).collect::<Vec<_>>(),
            "refused": self.refused.iter().map(Refused::json).collect::<Vec<_>>(),
            "edited": super::edited_json(&self.edited),
            "rewritten": self.files.written,
            "kept": self.files.findings.iter().filter(|found| found.kept().is_some() || found.code() == "edited").map(finding).collect::<Vec<_>>(),
            "skipped": skipped.collect::<Vec<_>>(),
            "findings": self.files.findings.iter().map(finding).collect::<Vec<_>>(),
            "notes": self.noted,
            "reattached": self.reattached.iter().map(reattached).collect::<Vec<_>>(),
            "anomalies": self.anomalies.iter().map(super::anomaly_json).collect::<Vec<_>>(),
            "lost_tip": self.lost_tip,
            "broken_tip": self.rescued.map(|rescued| rescued.broken.to_string()),
        })
    }
}
