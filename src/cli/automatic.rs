//! Handoffs that nobody types: the facts for the decision, the content from git, and the way into the log.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use super::args;
use super::compose::{Composed, Sources, compose};
use super::drafts::Drafts;
use super::error::{Code, Failure};
use super::goal::Goal;
use super::judge::{Text, judge};
use super::marker::Marker;
use super::place::{Place, Stated};
use super::record::follow_up;
use super::session::Session;
use super::store::{Stored, store_unless};
use crate::agents::Detection;
use crate::document::{self, Input};
use crate::git::StatusRun;
use crate::log::{self, envelope};
use crate::model::automatic::{self, Ahead, Known, Ran, Told};
use crate::model::boundary::{self, ChangedFile, Classes, Covered, Decision, Facts, OpenGoal, Reason, Substance};
use crate::model::{Change, Content, FileEntry, Handoff, ObjectName, Outcome, Status, Summary, Trigger};
use crate::secrets;
use crate::ui::Ui;
use crate::views::cache::Index;
use crate::views::files::Mode;

/// How many changed files are looked into.
const MAX_MEASURED: usize = 300;
/// The largest file that is looked into, in bytes.
const MAX_BLOB: u64 = 1024 * 1024;
/// How many of the newest handoffs count as covering commits.
const COVERING: usize = 100;
/// How many commits of the range are told apart.
const MAX_COMMITS: usize = 200;

/// Which changes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counting {
    /// What commits hold, as after a commit.
    Committed,
    /// Also what no commit holds.
    Everything,
}

/// Whether anything is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storing {
    /// Yes.
    Yes,
    /// No: it is only decided.
    No,
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    /// Why now.
    pub(super) occasion: Trigger,
    /// Which changes count.
    pub(super) counting: Counting,
    /// Whether anything is stored.
    pub(super) storing: Storing,
    /// Where the branch's work begins, should git not tell.
    pub(super) since: Option<ObjectName>,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Evaluated {
    /// Whether a handoff was made, or would have been.
    pub(super) created: bool,
    /// Why.
    pub(super) reasons: Vec<Reason>,
    /// The stored handoff.
    pub(super) stored: Option<Stored>,
    /// The id that it would have had.
    pub(super) preview: Option<String>,
    /// The draft that was kept instead.
    pub(super) draft: Option<PathBuf>,
    /// Where the work begins that was looked at.
    pub(super) start: Option<ObjectName>,
}

/// The patterns of the configuration with the built-in table.
pub(super) fn classes(session: &Session<'_>) -> Classes {
    let set = |key| session.repo.config_strings(key);
    Classes::new(&set("handoff.critical"), &set("handoff.ignore"))
}

/// What the files of a range amount to, as the decision needs it.
///
/// # Errors
/// When git cannot be read.
pub(super) fn measured(
    session: &Session<'_>,
    start: Option<&ObjectName>,
    commit: &ObjectName,
    files: &[FileEntry],
) -> Result<Vec<ChangedFile>, Failure> {
    let mut measured = Vec::with_capacity(files.len());
    for (at, file) in files.iter().enumerate() {
        let substance = match file.change {
            _ if at >= MAX_MEASURED => Substance::Opaque,
            Some(Change::TypeChanged) => Substance::Opaque,
            _ => session.repo.substance(start, commit, file, MAX_BLOB)?,
        };
        measured.push(ChangedFile { path: file.path.clone(), substance });
    }
    Ok(measured)
}

/// The work since the last handoff of the branch.
pub(super) struct Work {
    /// The place, with the commits and files that are this branch's own.
    pub(super) place: Place,
    /// The open goal.
    pub(super) goal: Option<Goal>,
    /// Which agent this is.
    pub(super) detection: Detection,
    last: Option<Summary>,
    files: Vec<ChangedFile>,
    operations: Vec<Ran>,
    classes: Classes,
    default: Option<String>,
    ahead: Option<Ahead>,
    boundary: String,
    covered: Covered,
}

impl Work {
    /// Looks at it.
    ///
    /// # Errors
    /// When git or the log cannot be read.
    pub(super) fn observe(
        session: &Session<'_>,
        index: &Index,
        counting: Counting,
        stated: Stated,
        status: StatusRun,
    ) -> Result<Self, Failure> {
        let covering = if stated.from.is_some() { 0 } else { COVERING };
        let mut place = Place::observe(session, index, stated, status)?;
        let committed = own_changes(session, index, &mut place, covering)?;
        let last = place.branch.as_deref().map(|branch| index.newest_on_branch(branch, None)).transpose()?.flatten();
        let document = last.as_ref().and_then(|last| session.document(last).ok());
        let detection = session.detect(None)?;
        let boundary = boundary::boundary(
            place.branch.as_deref(),
            detection.session_id.as_deref(),
            last.as_ref().and_then(|last| last.commit).as_ref(),
        );
        let stands = document.as_ref().is_some_and(|document| document.metadata.boundary.as_ref() == Some(&boundary));
        let mut files = match &place.commit {
            Some(commit) => measured(session, place.start.as_ref(), commit, &committed)?,
            None => Vec::new(),
        };
        if counting == Counting::Everything {
            files.extend(uncommitted(&place, document.as_ref()));
        }
        let default = session.repo.default_branch()?;
        Ok(Self {
            goal: Goal::load(&session.repo.state_dir())?,
            operations: operations_since(session, index, last.as_ref())?,
            ahead: ahead(session, &place, default.as_ref())?,
            default: default.map(|(name, _)| name),
            covered: if stands { Covered::Yes } else { Covered::No },
            classes: classes(session),
            place,
            detection,
            last,
            files,
            boundary,
        })
    }

    /// Whether a handoff is due.
    pub(super) fn decide(&self, session: &Session<'_>, occasion: Trigger) -> Decision {
        boundary::decide(&Facts {
            occasion,
            operation: session.repo.operation(),
            goal: self.goal.as_ref().map(|goal| OpenGoal { phases: goal.phases }),
            files: &self.files,
            recorded_operations: self.operations.len(),
            boundary: self.covered,
            classes: &self.classes,
        })
    }

    /// Whether the branch is work of its own.
    fn is_own_branch(&self) -> bool {
        self.place.branch.is_some() && self.place.branch != self.default
    }

    /// Topic and content as git and the record tell them.
    pub(super) fn told(&self) -> (String, Content) {
        let commits = self.place.commits.iter().rev();
        let commits: Vec<Told> = commits
            .map(|commit| Told {
                short: commit.name.short(),
                subject: commit.subject.clone(),
                body: commit.body.clone(),
            })
            .collect();
        let changes = self.place.worktree.changes.iter().map(|file| file.path.clone());
        let uncommitted: Vec<String> = changes.chain(self.place.worktree.untracked.iter().cloned()).collect();
        let known = Known {
            branch: self.place.branch.as_deref(),
            is_own_branch: self.is_own_branch(),
            goal: self.goal.as_ref().map(|goal| goal.text.as_str()),
            commits: &commits,
            files: &self.place.files,
            uncommitted: &uncommitted,
            ahead: self.ahead.clone(),
            operations: &self.operations,
            classes: &self.classes,
        };
        (automatic::topic(&known), automatic::content(&known))
    }

    /// The handoff that says so.
    fn compose(&self, session: &Session<'_>, index: &Index, occasion: Trigger) -> Result<Composed, Failure> {
        let (topic, content) = self.told();
        let mut input = Input { content, ..Input::default() };
        input.claims.boundary = Some(self.boundary.clone());
        // On a branch of its own one automatic handoff continues the other; on the default branch nothing says that two
        // pieces of work have to do with each other.
        let continues =
            self.last.as_ref().filter(|last| self.is_own_branch() && last.trigger == Trigger::SubstantialWork);
        input.claims.previous = continues.map(|last| last.id.to_string());
        let status = if occasion == Trigger::Interrupted { Status::Interrupted } else { Status::InProgress };
        let args = args::Create {
            topic: Some(topic),
            status: Some(status.as_str().into()),
            trigger: Some(occasion.as_str().into()),
            ..args::Create::default()
        };
        compose(session, index, &self.place, self.sources(session, input, &args))
    }

    /// What the composition of a handoff of this work takes.
    pub(super) fn sources<'a>(&self, session: &Session<'_>, input: Input, args: &'a args::Create) -> Sources<'a> {
        Sources {
            input,
            args,
            agent: self.detection.agent.clone(),
            agent_session: self.detection.session_id.clone(),
            marker: Marker::load(&session.repo.state_dir()),
        }
    }
}

/// Leaves in the place only what is this branch's own and none of the newest `covering` handoffs covers, and returns the
/// committed files.
fn own_changes(
    session: &Session<'_>,
    index: &Index,
    place: &mut Place,
    covering: usize,
) -> Result<Vec<FileEntry>, Failure> {
    let repo = &session.repo;
    let Some(commit) = place.commit else { return Ok(Vec::new()) };
    let mut changed = repo.changes_between(place.start.as_ref(), &commit, usize::MAX)?.files;
    let mut hidden: Vec<ObjectName> = place.start.into_iter().collect();
    let own: Vec<_> = repo.commits_without(&hidden, commit, MAX_COMMITS)?;
    for row in index.newest_first().take(covering) {
        let covered = index.summary(row?.position)?.commit;
        hidden.extend(covered.filter(|covered| repo.exists(covered)));
    }
    hidden.extend(lines_of_others(session, place, &commit)?);
    hidden.sort_unstable();
    hidden.dedup();
    let new = repo.commits_without(&hidden, commit, MAX_COMMITS)?;
    if new.len() < own.len() {
        let paths = paths_of(session, &new)?;
        changed.retain(|file| paths.contains(&file.path));
        let open: BTreeSet<&String> =
            place.worktree.changes.iter().map(|file| &file.path).chain(&place.worktree.untracked).collect();
        place.files.retain(|file| paths.contains(&file.path) || open.contains(&file.path));
        place.commits = new;
    }
    Ok(changed)
}

/// Where others' work stands that may have been merged into this branch.
fn lines_of_others(session: &Session<'_>, place: &Place, commit: &ObjectName) -> Result<Vec<ObjectName>, Failure> {
    let repo = &session.repo;
    let Some((default, tip)) = repo.default_branch()? else { return Ok(Vec::new()) };
    let tips: Vec<ObjectName> = if place.branch.as_ref() == Some(&default) {
        repo.upstream_of(&default)?.into_iter().collect()
    } else {
        repo.read_ref(&format!("refs/heads/{default}"))?.into_iter().chain([tip]).collect()
    };
    let mut others = Vec::new();
    for tip in tips {
        // A line that holds everything, as after a push or a merge, tells nothing apart.
        if !repo.is_ancestor(commit, &tip)? {
            others.push(tip);
        }
    }
    Ok(others)
}

/// The paths that these commits touched, merges left out.
fn paths_of(session: &Session<'_>, commits: &[crate::git::CommitInfo]) -> Result<BTreeSet<String>, Failure> {
    let mut paths = BTreeSet::new();
    for commit in commits {
        let parents = session.repo.read_commit(&commit.name)?.parents;
        if parents.len() < 2 {
            let parent = parents.first().filter(|parent| session.repo.exists(parent));
            let changes = session.repo.changes_between(parent, &commit.name, usize::MAX)?;
            paths.extend(changes.files.into_iter().map(|file| file.path));
        }
    }
    Ok(paths)
}

/// What no commit holds, without what the last handoff listed as such.
fn uncommitted(place: &Place, last: Option<&Handoff>) -> Vec<ChangedFile> {
    let listed = |path: &String| {
        let files = last.map(|last| last.content.files_changed.as_slice()).unwrap_or_default();
        files.iter().any(|file| file.path == *path && file.blob.is_none() && file.change != Some(Change::Deleted))
    };
    let changes = place.worktree.changes.iter().map(|file| &file.path).chain(&place.worktree.untracked);
    changes
        .filter(|path| !listed(path))
        .map(|path| ChangedFile { path: path.clone(), substance: Substance::Opaque })
        .collect()
}

/// The operations that were recorded since a handoff, each as it last ended.
///
/// # Errors
/// When the log cannot be read.
pub(super) fn operations_since(
    session: &Session<'_>,
    index: &Index,
    last: Option<&Summary>,
) -> Result<Vec<Ran>, Failure> {
    let since = last.map_or(i64::MIN, |last| last.effective);
    let mut runs: Vec<Ran> = Vec::new();
    for event in index.other_events()? {
        if event.kind.as_str() != "operation" || event.effective <= since {
            continue;
        }
        let bytes = event.blob.and_then(|blob| session.repo.read_blob(&blob, log::MAX_EVENT_BYTES).ok());
        let Some((_, fields)) = bytes.and_then(|bytes| envelope::decode(&bytes).ok()) else { continue };
        let text = |name: &str| fields.get(name).and_then(serde_json::Value::as_str);
        let Some(name) = text("name") else { continue };
        let word = ["outcome", "state", "event"].into_iter().find_map(text).unwrap_or_default();
        let outcome = match word {
            "succeeded" | "success" | "succeed" | "passed" => Some(Outcome::Passed),
            "failed" | "failure" | "fail" => Some(Outcome::Failed),
            _ => None,
        };
        runs.retain(|ran| ran.name != name);
        runs.push(Ran { name: crate::model::visible_line(name).into_owned(), outcome });
    }
    Ok(runs)
}

/// What is to be published, else what is to be merged.
fn ahead(
    session: &Session<'_>,
    place: &Place,
    default: Option<&(String, ObjectName)>,
) -> Result<Option<Ahead>, Failure> {
    let (Some(branch), Some(commit)) = (&place.branch, &place.commit) else { return Ok(None) };
    if let Some(upstream) = session.repo.upstream_of(branch)? {
        let count = session.repo.count_commits(commit, &[upstream])?;
        if count > 0 {
            return Ok(Some(Ahead::OfUpstream(count)));
        }
    }
    match default {
        Some((name, tip)) if name != branch => {
            let count = session.repo.count_commits(commit, &[*tip])?;
            Ok((count > 0).then(|| Ahead::OfDefault(count, name.clone())))
        }
        Some(_) | None => Ok(None),
    }
}

/// Decides, and makes the handoff that is due.
///
/// # Errors
/// When git or the log cannot be read, or the log cannot be written.
pub(super) fn evaluate(session: &Session<'_>, request: &Request, ui: &mut Ui<'_>) -> Result<Evaluated, Failure> {
    let status = session.repo.start_status(Handoff::MAX_COLLECTED_FILES)?;
    let mut index = match request.storing {
        Storing::Yes => session.prepare(ui)?,
        Storing::No => session.index()?,
    };
    let stated = Stated { since: request.since, ..Stated::default() };
    let work = Work::observe(session, &index, request.counting, stated, status)?;
    let Decision { create, reasons } = work.decide(session, request.occasion);
    let mut evaluated =
        Evaluated { created: false, reasons, stored: None, preview: None, draft: None, start: work.place.start };
    if !create {
        return Ok(evaluated);
    }
    let mut composed = work.compose(session, &index, request.occasion)?;
    if let Err(failure) = judge(session, &work.place, &mut composed.handoff, Text::None, &[]) {
        let Some(reason) = held_back(&failure) else { return Err(failure) };
        evaluated.reasons.insert(0, reason);
        if request.storing == Storing::Yes {
            evaluated.draft = Some(keep(session, &composed)?);
        }
        return Ok(evaluated);
    }
    evaluated.created = true;
    let handoff = composed.handoff;
    if request.storing == Storing::No {
        evaluated.preview = Some(document::id(&handoff).to_string());
        return Ok(evaluated);
    }
    let seen = work.last.as_ref().map(|last| last.id);
    let needless = |index: &Index| {
        let newest = work.place.branch.as_deref().map(|branch| index.newest_on_branch(branch, None)).transpose()?;
        Ok(newest.flatten().filter(|newest| Some(newest.id) != seen && newest.trigger == request.occasion))
    };
    let stored = store_unless(session, &mut index, &handoff, &needless)?;
    if let Stored::Log { novelty: super::store::Novelty::Known, .. } = &stored {
        evaluated.created = false;
        evaluated.reasons.insert(0, Reason::new("already-covered", "somebody else made it at the same time"));
        return Ok(evaluated);
    }
    follow_up(session, &mut index, &handoff, &stored, Mode::Incremental, ui);
    evaluated.stored = Some(stored);
    Ok(evaluated)
}

/// Why a handoff that is due is not stored; `None` for failures of another kind.
fn held_back(failure: &Failure) -> Option<Reason> {
    if failure.code() == Code::ScoreTooLow {
        let text = format!("git alone does not tell enough: {}", failure.message());
        return Some(Reason::new("score-too-low", text));
    }
    (failure.code() == Code::SecretFound).then(|| Reason::new("secret", failure.message()))
}

/// Keeps what there is as a draft that somebody can complete.
fn keep(session: &Session<'_>, composed: &Composed) -> io::Result<PathBuf> {
    let text = composed.template();
    let drafts = Drafts::new(&session.repo.state_dir());
    let topic = composed.handoff.topic.as_str();
    drafts.keep(secrets::mask(&text).as_bytes(), topic, session.now(), &session.env.temporary_directory())
}
