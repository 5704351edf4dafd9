//! After the log: the work-tree files, the notes and the cache are brought up to it.
//!
//! Whatever goes wrong here is a warning: the handoff stands, and `git handoff recover` makes the views again.

use std::cell::RefCell;
use std::fmt;
use std::path::Path;

use super::error::Failure;
use super::judge::find_secrets;
use super::session::Session;
use super::store::append_failure;
use crate::document::{self, Names};
use crate::log::{AppendError, NOTES_REF, Spool, TakeIn};
use crate::model::{AnomalyKind, Entry, Event, EventId, Handoff, Link, ObjectName, SessionName, Summary};
use crate::ui::Ui;
use crate::views::cache::Index;
use crate::views::files::{
    ALL_INDEX, BoxError, Effect, FileNames, Layout, Look, Mode, ParsedFile, Refresh, RefreshReport, are_behind, refresh,
};
use crate::views::notes;

/// What became of the index over all agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum GlobalIndex {
    /// It is up to the log.
    Updated,
    /// There is no work tree to write it into.
    NoWorkTree,
    /// `handoff.layout` is `off`.
    Off,
    /// It could not be written.
    Failed,
    /// The handoff waits in the spool.
    Spooled,
}

impl fmt::Display for GlobalIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Updated => ALL_INDEX,
            Self::NoWorkTree => "no (bare repository)",
            Self::Off => "no (handoff.layout is off)",
            Self::Failed => "no (see the warning; 'git handoff recover' makes it again)",
            Self::Spooled => "no (spooled)",
        })
    }
}

impl Session<'_> {
    /// What a command that writes does first: it takes the spool and the fetched logs into the own log, so that it
    /// decides on everything that is known here.
    ///
    /// # Errors
    /// When the log cannot be read. One that cannot be written is read instead.
    pub(super) fn prepare(&self, ui: &mut Ui<'_>) -> Result<Index, Failure> {
        let log = self.log();
        let tips = log.tips()?;
        let mut index = self.own_index(tips.own)?;
        let stamp = self.stamp();
        let lost = self.lost_tip(&index)?.filter(|tip| self.repo.exists(tip));
        let unknown = |tip: &&ObjectName| !matches!(index.known(tip), Ok(Some(_)));
        let others: Vec<ObjectName> =
            tips.remotes.iter().map(|(_, tip)| tip).chain(&lost).filter(unknown).copied().collect();
        if !others.is_empty() {
            match log.take_in_logs(&stamp, &others) {
                Ok(Some((_, tip))) => {
                    self.bring_to(&mut index, Some(tip))?;
                    if let Some(lost) = lost {
                        ui.note(format!(
                            "the log had been moved away from {}, the tip seen last here; it is joined with it again",
                            lost.short()
                        ));
                    }
                }
                Ok(None) => {}
                Err(AppendError::NotWritable(_)) => return self.index(),
                Err(error) => {
                    ui.warn(append_failure(&error).while_doing("fetched handoffs cannot be joined yet").message())
                }
            }
        }
        if self.lost_tip(&index)?.is_none() {
            self.remember_tip(index.basis());
        }
        if let Some(spool) = Spool::of(&self.repo) {
            let refused = RefCell::new(Vec::new());
            let caller = TakeIn {
                seen: index.basis(),
                is_known: &|id| matches!(index.find(id), Ok(Some(_))),
                describe: &|entry| describe_spooled(&index, entry.id, &entry.event),
                accept: &|path, entry| match self.distrust(path, entry) {
                    Some(why) => {
                        refused.borrow_mut().push(why);
                        false
                    }
                    None => true,
                },
            };
            match log.take_in_spool(&stamp, &spool, &caller) {
                Ok(taken) => {
                    refused.borrow().iter().for_each(|why| ui.warn(why));
                    for anomaly in &taken.anomalies {
                        ui.warn(format!("{}: {}", anomaly.path, anomaly.kind));
                    }
                    if !taken.recorded.is_empty() {
                        self.bring_to(&mut index, self.repo.read_ref(crate::log::REF)?)?;
                        let recorded = taken.recorded.iter().map(|id| self.summary_of(&index, id));
                        let recorded: Vec<Summary> = recorded.filter_map(Result::ok).collect();
                        self.add_notes(&recorded, ui);
                    }
                }
                Err(AppendError::NotWritable(_)) => return self.index(),
                Err(error) => ui.warn(append_failure(&error).while_doing("the spool cannot be taken in yet").message()),
            }
        }
        Ok(index)
    }

    /// Why an event in the spool may not become part of the log: it came with the repository instead of from here, or holds a
    /// secret.
    fn distrust(&self, path: &Path, entry: &Entry) -> Option<String> {
        let name = path.strip_prefix(self.repo.work_dir()?).unwrap_or(path).display().to_string();
        if !self.is_own_spool_file(path) {
            return Some(format!("{name} came with the repository (git tracks it); it is not taken into the log"));
        }
        let Event::Handoff(handoff) = &entry.event else { return None };
        let found = find_secrets(&document::to_value(handoff), None);
        let allowed = &handoff.metadata.allowed_findings;
        let refused = found.iter().any(|located| !allowed.contains(&located.finding.fingerprint.to_string()));
        refused.then(|| format!("{name} holds a secret; it is not taken into the log"))
    }

    /// Whether a file in the spool was written here: git does not track it. What a repository brings along could be
    /// anybody's.
    pub(super) fn is_own_spool_file(&self, path: &Path) -> bool {
        let top = self.repo.work_dir().unwrap_or(path);
        let relative = path.strip_prefix(top).unwrap_or(path).to_string_lossy().replace('\\', "/");
        !self.repo.is_tracked(&relative)
    }

    /// Brings an index to this tip of the own log.
    ///
    /// # Errors
    /// When git cannot be read.
    pub(super) fn bring_to(&self, index: &mut Index, tip: Option<ObjectName>) -> Result<(), Failure> {
        if index.basis() != tip {
            *index = self.own_index(tip)?;
        }
        Ok(())
    }

    /// Saves the cache and brings the work-tree files up to the log.
    pub(super) fn refresh_views(&self, index: &mut Index, mode: Mode, ui: &mut Ui<'_>) -> GlobalIndex {
        // A cache that cannot be saved costs time, not truth.
        drop(index.save(&self.repo.shared_state_dir()));
        self.remember_tip(index.basis());
        let Some(report) = self.refresh_files(mode, ui) else {
            return match (self.layout, self.repo.work_dir()) {
                (_, None) => GlobalIndex::NoWorkTree,
                (Layout::Off, Some(_)) => GlobalIndex::Off,
                (Layout::Exclude | Layout::Track, Some(_)) => GlobalIndex::Failed,
            };
        };
        for finding in &report.findings {
            ui.warn(finding.to_string());
        }
        if report.is_complete() { GlobalIndex::Updated } else { GlobalIndex::Failed }
    }

    /// Brings the work-tree files up to the log; `None` when there are none or it failed as a whole, which is said.
    pub(super) fn refresh_files(&self, mode: Mode, ui: &mut Ui<'_>) -> Option<RefreshReport> {
        self.repo.work_dir().filter(|_| self.layout != Layout::Off)?;
        let missing =
            self.repo.read_ref(crate::log::REF).ok().and_then(|own| self.own_index(own).ok()).is_some_and(|index| {
                index.anomalies().unwrap_or_default().iter().any(|anomaly| anomaly.kind == AnomalyKind::Missing)
            });
        if missing {
            // Names follow the order of all handoffs: with some of them unknown, files would get names of others.
            ui.warn(
                "objects of the log are missing in this repository, so the files in the work tree are left as they are",
            );
            return None;
        }
        let fresh = || -> Result<Index, BoxError> {
            let own = self.repo.read_ref(crate::log::REF)?;
            self.own_index(own).map_err(boxed)
        };
        self.refresh_with(mode, Effect::Writes, &fresh, ui)
    }

    /// What a full refresh would do if the log held all that is known here.
    pub(super) fn rehearse_refresh(&self, ui: &mut Ui<'_>) -> Option<RefreshReport> {
        self.refresh_with(Mode::Full, Effect::Rehearses, &|| self.index_with(Look::Thorough).map_err(boxed), ui)
    }

    fn refresh_with(
        &self,
        mode: Mode,
        effect: Effect,
        fresh: &dyn Fn() -> Result<Index, BoxError>,
        ui: &mut Ui<'_>,
    ) -> Option<RefreshReport> {
        let work_dir = self.repo.work_dir().filter(|_| self.layout != Layout::Off)?;
        let request = Refresh {
            work_dir,
            state_dir: &self.repo.state_dir(),
            exclude_file: &self.repo.common_dir().join("info/exclude"),
            layout: self.layout,
            mode,
            effect,
            lanes: &self.lanes,
            continuations: &|index| self.queued_work(index).map_err(boxed),
            fresh,
            document: &|summary| self.document(summary).map_err(boxed),
            render: &|handoff, names| document::render(handoff, &rendered_names(names)),
            parse: &parse,
        };
        refresh(&request).map_err(|error| ui.warn(format!("the views could not be refreshed: {error}"))).ok()
    }

    /// Whether views were ever made in this work tree.
    pub(super) fn views_exist(&self) -> bool {
        self.repo.work_dir().is_some_and(|top| self.layout != Layout::Off && top.join(ALL_INDEX).exists())
    }

    /// Whether a cheap look shows that the work-tree files are not those of the log. Where no view was ever made there is
    /// none that could be behind.
    pub(super) fn views_are_behind(&self, index: &Index) -> bool {
        let behind = |top| are_behind(top, &self.repo.state_dir(), &self.lanes, index).unwrap_or(false);
        // What stands only in files is no view's fault; it is told of by itself.
        let only_the_log = self.file_only.borrow().is_empty();
        self.views_exist() && only_the_log && self.repo.work_dir().is_some_and(behind)
    }

    /// Adds the lines of these handoffs to the notes of their source commits.
    pub(super) fn add_notes(&self, summaries: &[Summary], ui: &mut Ui<'_>) {
        let lines = |commit: &ObjectName| {
            summaries.iter().filter(|each| each.commit == Some(*commit)).map(notes::line).collect::<Vec<_>>()
        };
        let mut commits: Vec<ObjectName> =
            summaries.iter().filter_map(|each| each.commit).filter(|commit| self.repo.exists(commit)).collect();
        commits.sort_unstable();
        commits.dedup();
        if commits.is_empty() {
            return;
        }
        let edit = |commit: &ObjectName, existing: Option<&[u8]>| {
            let merged = lines(commit)
                .iter()
                .fold(existing.map(<[u8]>::to_vec), |note, line| Some(notes::merge_lines(note.as_deref(), line)));
            merged.or_else(|| existing.map(<[u8]>::to_vec))
        };
        let stamp = self.stamp();
        let reflog = stamp.reflog("git handoff: note");
        if let Err(error) = self.repo.update_notes(NOTES_REF, &commits, &edit, &reflog) {
            ui.warn(format!("the note could not be written: {}", Failure::from(error).message()));
        }
    }

    /// A handoff as Markdown, with the names that the log gives.
    ///
    /// # Errors
    /// When the cache is damaged.
    pub(super) fn render(&self, index: &Index, handoff: &Handoff, session: &SessionName) -> Result<String, Failure> {
        let linked = |link: &Option<Link>| -> Result<Option<Summary>, Failure> {
            let Some(position) = link.as_ref().and_then(Link::id).map(|id| index.find(&id)).transpose()?.flatten()
            else {
                return Ok(None);
            };
            Ok(Some(index.summary(position)?))
        };
        let names = Names {
            id: document::id(handoff),
            session: session.clone(),
            previous: linked(&handoff.metadata.previous)?.map(|summary| summary.session()),
            resumed_from: linked(&handoff.metadata.resumed_from)?.map(|summary| summary.file(&self.lanes)),
        };
        Ok(document::render(handoff, &names))
    }

    /// The handoff's file, where it is there.
    pub(super) fn file_on_disk(&self, summary: &Summary) -> Option<String> {
        let file = summary.file(&self.lanes);
        self.repo.work_dir().filter(|top| self.layout != Layout::Off && top.join(&file).is_file()).map(|_| file)
    }
}

fn boxed(failure: Failure) -> BoxError {
    failure.message().into()
}

fn rendered_names(names: &FileNames) -> Names {
    let FileNames { id, session, previous, resumed_from } = names.clone();
    Names { id, session, previous, resumed_from }
}

/// What a file in the work tree holds, if it is a handoff at all.
fn parse(text: &str) -> Option<ParsedFile> {
    let view = document::parse_view(text).ok()?;
    Some(ParsedFile { id: document::id(&view.handoff), claimed: view.claimed_id })
}

/// What the log says of an event that waited in the spool.
fn describe_spooled(index: &Index, id: EventId, event: &Event) -> crate::log::Description {
    match event {
        Event::Handoff(handoff) => {
            let ordinal = index.next_ordinal(&handoff.agent, handoff.created).unwrap_or(1);
            let session = SessionName::new(handoff.agent.clone(), handoff.created, ordinal);
            super::store::describe(handoff, id, &session)
        }
        Event::Opaque { .. } => crate::log::Description {
            subject: format!("event {}", id.short()),
            trailers: vec![("Handoff-Id".into(), id.to_string())],
        },
    }
}
