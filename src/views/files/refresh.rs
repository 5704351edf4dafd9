//! One refresh of a work tree's views, from taking the lock to noting what was written.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::model::{Lane, Lanes, Link, Summary};

use super::handoffs::{Placing, linked};
use super::lines::{self, Found};
use super::listing::{Wanted, listings};
use super::markdown;
use super::stamps::{Stamp, Stamps, digest};
use super::survey::{self, handoffs_dir};
use super::tree::Tree;
use super::write::open_lock;
use super::{ALL_INDEX, Effect, Finding, Layout, Mode, Refresh, RefreshReport, ViewError, exclude};
use crate::views::cache::{Index, Row};

/// How long a refresh waits for others of the same work tree.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(3);

/// Makes the views stand for the log.
///
/// What stands in the way of one file is a finding and does not keep the others from being written.
pub fn refresh(request: &Refresh<'_>) -> Result<RefreshReport, ViewError> {
    if request.layout == Layout::Off {
        return Ok(RefreshReport::default());
    }
    let _lock = match request.effect {
        Effect::Writes => Some(lock(request.state_dir)?),
        Effect::Rehearses => None,
    };
    let index = (request.fresh)().map_err(ViewError::Index)?;
    let tree = open_tree(request.work_dir, request.effect)?;
    for lane in request.lanes.all() {
        tree.sweep(&lane.dir);
        tree.sweep(&format!("{}/handoffs", lane.dir));
    }
    tree.sweep(".session-transfer");
    let mut work = Work {
        placing: Placing::new(request, &index, &tree),
        stamps: Stamps::load(request.state_dir, request.lanes),
        touched: Vec::new(),
        mode: request.mode,
    };
    let dirs: Vec<(String, Option<u128>)> = request
        .lanes
        .all()
        .iter()
        .map(handoffs_dir)
        .map(|dir| {
            let modified = tree.dir_modified(&dir);
            (dir, modified)
        })
        .collect();
    work.run()?;
    let mut report = RefreshReport { written: work.placing.written, findings: work.placing.findings };
    // What failed is tried again; a link that leads out or a missing object stays as it is until `recover`.
    if !report.findings.iter().any(|finding| matches!(finding, Finding::Failed { .. })) {
        work.stamps.stand_for(&index)?;
    }
    if request.effect == Effect::Rehearses {
        return Ok(report);
    }
    for (dir, before) in &dirs {
        survey::stamp(&mut work.stamps, &tree, &index, dir, (request.mode == Mode::Incremental).then_some(*before))?;
    }
    let saved = work.stamps.save(request.state_dir);
    saved.map_err(|source| ViewError::State { path: request.state_dir.to_owned(), source })?;
    if request.layout == Layout::Exclude {
        let dirs: Vec<&str> =
            index.lanes().filter(|(_, all, _)| *all > 0).map(|(lane, ..)| lane.dir.as_str()).collect();
        // A file that cannot be written only means that `git status` shows the views.
        exclude::ensure(request.exclude_file, &dirs).ok();
    }
    report.findings.dedup_by(|a, b| a.to_string() == b.to_string());
    Ok(report)
}

/// Whether the views of a work tree do not stand for this index, as far as can be told without looking at every
/// handoff: an old copy of an index or a list is noticed, a missing handoff is not.
pub fn are_behind(work_dir: &Path, state_dir: &Path, lanes: &Lanes, index: &Index) -> Result<bool, ViewError> {
    let tree = open_tree(work_dir, Effect::Rehearses)?;
    let stamps = Stamps::load(state_dir, lanes);
    let mut used = index.lanes().filter(|(_, count, _)| *count > 0).map(|(lane, ..)| lane);
    let fit = |lane: &Lane| stamps.fit_list(&tree, &list_path(lane)) && stamps.fit_index(&tree, &index_path(lane));
    let fits = index.is_empty() || (used.all(fit) && stamps.fit_index(&tree, ALL_INDEX));
    Ok(!fits || !stamps.are_of(index))
}

pub(super) fn open_tree(work_dir: &Path, effect: Effect) -> Result<Tree, ViewError> {
    Tree::new(work_dir, effect).map_err(|source| ViewError::WorkTree { path: work_dir.to_owned(), source })
}

/// Waits until no other refresh of this work tree runs. The lock ends with the process, however that ends.
fn lock(state_dir: &Path) -> Result<File, ViewError> {
    let failed = |source| ViewError::State { path: state_dir.to_owned(), source };
    fs::create_dir_all(state_dir).map_err(failed)?;
    let file = open_lock(&state_dir.join("views.flock")).map_err(failed)?;
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) if start.elapsed() > PATIENCE => return Err(ViewError::Busy),
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
        }
    }
}

/// A refresh while it runs.
struct Work<'a> {
    placing: Placing<'a>,
    stamps: Stamps,
    /// The handoffs that may have other files than before, oldest first.
    touched: Vec<Row>,
    mode: Mode,
}

/// What has to be done for a lane.
struct LaneWork {
    lane: Lane,
    number: usize,
    count: u32,
    open: u32,
    touched: Vec<u32>,
    list: bool,
    index: bool,
}

impl Work<'_> {
    fn run(&mut self) -> Result<(), ViewError> {
        self.find_touched()?;
        let placing = &mut self.placing;
        placing.place(self.touched.iter().map(|row| row.position))?;
        let lanes = self.lane_work()?;
        if self.mode == Mode::Full {
            for work in &lanes {
                let stems = work.touched.iter().map(|position| self.placing.index.summary(*position));
                let names = stems.map(|summary| Ok(format!("{}.md", summary?.session().stem())));
                let expected = names.collect::<Result<HashSet<String>, ViewError>>()?;
                self.placing.remove_stale(&work.lane, &expected)?;
            }
        }
        for work in lanes.iter().filter(|work| work.list) {
            self.write_list(work)?;
        }
        self.write_indexes(&lanes)
    }

    /// Finds the handoffs that are new or have moved in the order.
    fn find_touched(&mut self) -> Result<(), ViewError> {
        let index = self.placing.index;
        let unchanged = self.stamps.unchanged(index)?;
        if unchanged > 0 && index.lanes().any(|(lane, count, _)| count > 0 && self.is_upset(&list_path(lane))) {
            self.mode = Mode::Full;
        }
        let start = if self.mode == Mode::Full { 0 } else { unchanged };
        self.touched = touched_since(index, start)?;
        // A handoff that earlier ones name changes what they show of it.
        if start > 0 && self.touched.iter().any(Row::named_before) {
            self.touched = touched_since(index, 0)?;
        }
        if self.touched.len() as u32 == index.handoff_count() {
            self.mode = Mode::Full;
        }
        Ok(())
    }

    fn lane_work(&self) -> Result<Vec<LaneWork>, ViewError> {
        let index = self.placing.index;
        let mut lanes: Vec<LaneWork> = index
            .lanes()
            .enumerate()
            .filter(|(_, (lane, count, _))| *count > 0 || self.has_orphaned_list(lane))
            .map(|(number, (lane, count, open))| LaneWork {
                lane: lane.clone(),
                number,
                count,
                open,
                touched: Vec::new(),
                list: self.mode == Mode::Full || !self.stamps.fit_list(self.placing.tree, &list_path(lane)),
                index: count > 0
                    && (self.mode == Mode::Full || !self.stamps.fit_index(self.placing.tree, &index_path(lane))),
            })
            .collect();
        let mut at: BTreeMap<usize, usize> = BTreeMap::new();
        at.extend(lanes.iter().enumerate().map(|(place, work)| (work.number, place)));
        for row in &self.touched {
            if let Some(place) = at.get(&row.lane_number()) {
                lanes[*place].touched.push(row.position);
                (lanes[*place].list, lanes[*place].index) = (true, true);
            }
            for closed in index.closes(row.position)? {
                let lane = index.row(closed)?.and_then(|row| at.get(&row.lane_number()).copied());
                if let Some(place) = lane {
                    lanes[place].index = true;
                }
            }
        }
        Ok(lanes)
    }

    /// Whether everything is looked at, and a lane in which the log has no handoff has a list.
    fn has_orphaned_list(&self, lane: &Lane) -> bool {
        self.mode == Mode::Full && self.placing.tree.metadata(&list_path(lane)).is_some()
    }

    /// Whether a list that was written is not as it was, so that other files may be missing or changed too.
    fn is_upset(&self, path: &str) -> bool {
        self.stamps.files.contains_key(path) && !self.stamps.fit_list(self.placing.tree, path)
    }

    fn write_list(&mut self, work: &LaneWork) -> Result<(), ViewError> {
        let path = list_path(&work.lane);
        let outcome = match self.stamps.files.get(&path).cloned() {
            Some(stamp)
                if self.mode == Mode::Incremental
                    && stamp.file_only == 0
                    && self.stamps.fit_list(self.placing.tree, &path) =>
            {
                self.extend_list(work, &path, stamp.lines)?
            }
            _ => self.rebuild_list(work, &path)?,
        };
        match outcome {
            Ok((lines, file_only)) => {
                if let Some(metadata) = self.placing.tree.metadata(&path) {
                    self.stamps.files.insert(path, Stamp { lines, file_only, ..Stamp::of(&metadata, None) });
                }
            }
            Err(finding) => {
                self.stamps.files.remove(&path);
                self.placing.findings.push(finding);
            }
        }
        Ok(())
    }

    /// Adds lines to a list that is exactly as it was written. Lines of handoffs that were touched are replaced.
    fn extend_list(&mut self, work: &LaneWork, path: &str, lines: u32) -> Result<Outcome, ViewError> {
        let kept = work.count.saturating_sub(work.touched.len() as u32);
        let mut added = String::new();
        for position in &work.touched {
            added += &self.line(&self.placing.index.summary(*position)?)?;
        }
        let written = if kept == lines {
            self.placing.tree.append(path, added.as_bytes())
        } else {
            match self.placing.tree.read(path) {
                Ok(Some(old)) if kept < lines => {
                    let new = [&old[..end_of_line(&old, kept)], added.as_bytes()].concat();
                    if new == old {
                        return Ok(Ok((work.count, 0)));
                    }
                    self.placing.tree.write(path, &new)
                }
                Ok(_) => return self.rebuild_list(work, path),
                Err(finding) => Err(finding),
            }
        };
        self.placing.written += usize::from(written.is_ok());
        Ok(written.map(|()| (work.count, 0)))
    }

    /// Writes a list anew, with what only the file knows.
    fn rebuild_list(&mut self, work: &LaneWork, path: &str) -> Result<Outcome, ViewError> {
        let index = self.placing.index;
        let (mut own, mut known) = (Vec::new(), HashSet::new());
        for row in index.newest_first() {
            let row = row?;
            if row.lane_number() == work.number {
                let summary = index.summary(row.position)?;
                own.push((row.created.millis(), self.line(&summary)?));
                known.insert(lines::mark(&summary));
            }
        }
        own.reverse();
        let old = match self.placing.tree.read(path) {
            Ok(old) => old,
            Err(finding) => return Ok(Err(finding)),
        };
        let Found { file_only, skipped, annotated } =
            old.as_deref().map(|old| lines::read(old, &known)).unwrap_or_default();
        let new = lines::merge(&own, &file_only);
        if old.as_deref() != Some(new.as_bytes()) {
            let kept = old.filter(|_| annotated || !skipped.is_empty());
            if let Err(finding) = self.replace(path, new.as_bytes(), kept.as_deref(), skipped) {
                return Ok(Err(finding));
            }
        }
        if !file_only.is_empty() {
            self.placing.findings.push(Finding::FileOnly { path: path.into(), lines: file_only.len() });
        }
        Ok(Ok((work.count, file_only.len() as u32)))
    }

    /// Writes a file, after a copy of what a person put there.
    fn replace(&mut self, path: &str, new: &[u8], kept: Option<&[u8]>, skipped: Vec<usize>) -> Result<(), Finding> {
        let failed = |error| Finding::Failed { path: path.into(), error };
        let kept = kept
            .map(|old| self.placing.tree.keep(self.placing.request.state_dir, path, old))
            .transpose()
            .map_err(failed)?;
        self.placing.tree.write(path, new)?;
        self.placing.written += 1;
        let path = path.to_owned();
        self.placing.findings.extend(kept.map(|kept| match skipped.is_empty() {
            true => Finding::Foreign { path, kept },
            false => Finding::Skipped { path, lines: skipped, kept },
        }));
        Ok(())
    }

    fn line(&self, summary: &Summary) -> Result<String, ViewError> {
        let (index, lanes) = (self.placing.index, self.placing.request.lanes);
        let shown = |link: Option<&Link>, name: &dyn Fn(&Summary) -> String| -> Result<Option<String>, ViewError> {
            match link {
                Some(Link::Text(text)) => Ok(Some(text.clone())),
                link => Ok(linked(index, link)?.as_ref().map(name)),
            }
        };
        let previous = shown(summary.previous.as_ref(), &|previous| previous.session().to_string())?;
        let resumed_from = shown(summary.resumed_from.as_ref(), &|source| source.file(lanes))?;
        Ok(lines::line(summary, previous.as_deref(), resumed_from.as_deref()))
    }

    /// Writes the indexes of the lanes that need it, and the one over all.
    fn write_indexes(&mut self, lanes: &[LaneWork]) -> Result<(), ViewError> {
        let needed: Vec<&LaneWork> = lanes.iter().filter(|work| work.index).collect();
        let wanted: Vec<Wanted> =
            needed.iter().map(|work| Wanted { lane: work.number, count: work.count, open: work.open }).collect();
        let (listings, all) = listings(self.placing.index, &wanted)?;
        for (work, listing) in needed.iter().zip(&listings) {
            self.write_index(&index_path(&work.lane), &markdown::lane_index(&work.lane, listing));
        }
        if !all.recent.is_empty() {
            let request = self.placing.request;
            let queued = (request.continuations)(self.placing.index).map_err(ViewError::Queue)?;
            self.write_index(ALL_INDEX, &markdown::all_index(request.lanes, &all, &queued));
        }
        Ok(())
    }

    /// Whether a file stands where an index should that was never one: it lacks even the title, and we never wrote it.
    fn is_somebody_elses(&self, path: &str, old: &[u8], new: &str) -> bool {
        let title = new.lines().next().unwrap_or_default().as_bytes();
        let has_title = old.split(|byte| *byte == b'\n').any(|line| line.trim_ascii_end() == title);
        !self.stamps.files.contains_key(path) && !has_title && !old.trim_ascii().is_empty()
    }

    fn write_index(&mut self, path: &str, new: &str) {
        let outcome = self.placing.tree.read(path).and_then(|old| match old {
            Some(old) if old == new.as_bytes() => Ok(()),
            Some(old) if self.is_somebody_elses(path, &old, new) => Err(Finding::NotOurs { path: path.into() }),
            Some(old) => {
                let written = self.stamps.files.get(path).and_then(|stamp| stamp.hash.clone());
                let ours = written == Some(digest(&old))
                    || std::str::from_utf8(&old).is_ok_and(markdown::is_generated)
                    || old.is_empty();
                self.replace(path, new.as_bytes(), (!ours).then_some(&old), Vec::new())
            }
            None => self.replace(path, new.as_bytes(), None, Vec::new()),
        });
        match (outcome, self.placing.tree.metadata(path)) {
            (Ok(()), Some(metadata)) => {
                self.stamps.files.insert(path.into(), Stamp::of(&metadata, Some(new.as_bytes())));
            }
            (Ok(()), None) => {}
            (Err(finding), _) => self.placing.findings.push(finding),
        }
    }
}

/// What became of a list: how many lines of the log's and of the file's own it has.
type Outcome = Result<(u32, u32), Finding>;

fn index_path(lane: &Lane) -> String {
    format!("{}/INDEX.md", lane.dir)
}

fn list_path(lane: &Lane) -> String {
    format!("{}/handoffs.jsonl", lane.dir)
}

fn touched_since(index: &Index, start: u32) -> Result<Vec<Row>, ViewError> {
    let mut rows = Vec::new();
    for row in index.newest_first() {
        let row = row?;
        if row.position < start {
            break;
        }
        rows.push(row);
    }
    rows.reverse();
    Ok(rows)
}

/// Where the first `count` lines end.
fn end_of_line(bytes: &[u8], count: u32) -> usize {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    if count == 0 { 0 } else { ends.take(count as usize).last().unwrap_or(0) }
}
