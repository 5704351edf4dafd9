//! How far a handoff still fits this repository: the facts, gathered for [`crate::model::staleness`].
//!
//! Only what the graph, the content ids and the referenced files in the work tree say is a fact. Uncommitted changes
//! of other files are none: they are not what the handoff speaks of, and looking for them would cost `resume` more
//! than all the rest.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::error::{Code, Failure};
use super::session::Session;
use crate::git::{Asked, ChangesError, CommitFiles, Head, Likeness, OnDisk};
use crate::model::score;
use crate::model::staleness::{
    Branch, BranchFate, Facts, FileFact, FileFate, History, Proof, Recorded, Since, Verdict, WorkTreeThen, judge,
};
use crate::model::{Change, FileEntry, Handoff, ObjectName, Summary, paths, visible_line};
use crate::views::cache::Index;

/// How many commits of HEAD's history are looked at for one that stands for the recorded commit.
const MAX_CANDIDATES: usize = 200;

/// How many referenced files are looked at: those that the handoff lists first.
const MAX_FILES: usize = 1000;

/// How a handoff stands here.
pub(super) enum Standing {
    /// It could be judged.
    Judged {
        /// How the recorded commit relates to HEAD.
        commit: Recorded,
        /// The verdict.
        verdict: Verdict,
    },
    /// What git holds could not be read far enough.
    Unknown(String),
}

impl Standing {
    /// Judges a handoff here. What cannot be read makes the standing unknown: the handoff can be read all the same.
    pub(super) fn of(session: &Session<'_>, index: &Index, handoff: &Handoff, head: &Head) -> Self {
        match gather(session, index, handoff, head) {
            Ok(facts) => Self::Judged { verdict: judge(&facts), commit: facts.commit },
            Err(failure) => Self::Unknown(failure.message().to_owned()),
        }
    }

    /// Whether the handoff should not be continued from without checking it. What is unknown is not vouched for.
    pub(super) fn is_stale(&self) -> bool {
        match self {
            Self::Judged { verdict, .. } => verdict.level.is_stale(),
            Self::Unknown(_) => true,
        }
    }

    /// The level; `UNKNOWN` where it could not be judged.
    pub(super) fn level_name(&self) -> &'static str {
        match self {
            Self::Judged { verdict, .. } => verdict.level.as_str(),
            Self::Unknown(_) => "UNKNOWN",
        }
    }

    /// The reasons as sentences, the gravest first.
    pub(super) fn sentences(&self) -> Vec<String> {
        match self {
            Self::Judged { verdict, .. } => verdict.reasons.iter().map(|reason| reason.text.clone()).collect(),
            Self::Unknown(why) => vec![visible_line(why).into_owned()],
        }
    }

    /// How the recorded commit relates to HEAD, as a part of a sentence.
    pub(super) fn commit_sentence(&self) -> &'static str {
        let Self::Judged { commit, .. } = self else { return "the history cannot be read far enough to compare" };
        match commit {
            Recorded::NoneYet | Recorded::Unknown => "no commit was recorded",
            Recorded::CheckedOut => "the recorded commit is checked out",
            Recorded::InHistory => "the recorded commit is in the history of HEAD",
            Recorded::Rewritten { .. } => "another commit in the history of HEAD stands for the recorded one",
            Recorded::Ahead(_) | Recorded::Elsewhere { .. } => "the recorded commit is not in the history of HEAD",
            Recorded::Missing { .. } => "the recorded commit is not in this repository",
            Recorded::HeadUnborn(_) => "there is no commit here yet",
        }
    }

    /// `{level, reasons: [{code, text, paths}]}`.
    pub(super) fn json(&self) -> Value {
        let reasons: Vec<Value> = match self {
            Self::Judged { verdict, .. } => verdict
                .reasons
                .iter()
                .map(|reason| json!({"code": reason.code.as_str(), "text": reason.text, "paths": reason.paths}))
                .collect(),
            Self::Unknown(why) => vec![json!({"code": "UNREADABLE", "text": why, "paths": []})],
        };
        json!({"level": self.level_name(), "reasons": reasons})
    }
}

/// The failure with which a command ends that has shown a stale handoff.
pub(super) fn refusal(summary: &Summary, standing: &Standing) -> Failure {
    let why = standing.sentences().into_iter().next().unwrap_or_else(|| "it is old".into());
    Failure::new(Code::Stale, format!("handoff {} is {}: {why}", summary.id.short(), standing.level_name()))
        .hint(
            "compare what it says with the repository before you go on from it; docs/staleness.md explains each reason",
        )
        .detail("id", summary.id.to_string())
        .detail("level", standing.level_name())
}

fn gather(session: &Session<'_>, index: &Index, handoff: &Handoff, head: &Head) -> Result<Facts, Failure> {
    let commit = recorded(session, index, handoff, head)?;
    let since = since(session, &commit, handoff, head)?;
    let branch = branch(session, handoff, head)?;
    let dirty = handoff.metadata.dirty == Some(true);
    let (files, referenced) = Comparison::new(session, handoff, head, &commit)?.run()?;
    let then = if dirty { WorkTreeThen::Dirty } else { WorkTreeThen::Clean };
    Ok(Facts { commit, since, branch, then, files, referenced })
}

fn recorded(session: &Session<'_>, index: &Index, handoff: &Handoff, head: &Head) -> Result<Recorded, Failure> {
    let repo = &session.repo;
    let (old, head) = match (handoff.metadata.commit, head.commit) {
        (None, None) => return Ok(Recorded::NoneYet),
        (None, Some(_)) => return Ok(Recorded::Unknown),
        (Some(old), None) => return Ok(Recorded::HeadUnborn(old)),
        (Some(old), Some(head)) if old == head => return Ok(Recorded::CheckedOut),
        (Some(old), Some(head)) => (old, head),
    };
    let known = repo.exists(&old);
    let base = if known { repo.merge_base(&old, &head)? } else { None };
    if base == Some(old) {
        return Ok(Recorded::InHistory);
    }
    if let Some(new) = rewritten_to(session, index, &old, &head)? {
        return Ok(Recorded::Rewritten { old, new, proof: Proof::Recorded });
    }
    if !known {
        let history = if repo.is_shallow() { History::Shallow } else { History::Whole };
        return Ok(Recorded::Missing { commit: old, history });
    }
    if base == Some(head) {
        return Ok(Recorded::Ahead(old));
    }
    let ignored = |path: &str| session.is_view(path);
    if let Some(found) = repo.equivalent_of(&old, base, &head, MAX_CANDIDATES, &ignored)? {
        let proof = match found.likeness {
            Likeness::Tree => Proof::SameTree,
            Likeness::Patch => Proof::SamePatch,
            Likeness::Range => Proof::Squash,
        };
        return Ok(Recorded::Rewritten { old, new: found.commit, proof });
    }
    let tip = handoff.metadata.branch.as_deref().map(|branch| repo.branch_tip(branch)).transpose()?.flatten();
    let reached = tip.map(|tip| repo.is_ancestor(&old, &tip)).transpose()?.unwrap_or(false);
    Ok(Recorded::Elsewhere { commit: old, on: handoff.metadata.branch.clone().filter(|_| reached) })
}

/// The commit in HEAD's history that the log says this one became.
fn rewritten_to(
    session: &Session<'_>,
    index: &Index,
    old: &ObjectName,
    head: &ObjectName,
) -> Result<Option<ObjectName>, Failure> {
    if index.other_event_count() == 0 {
        return Ok(None);
    }
    // The latest rewrite comes last.
    for new in session.rewrites(index)?.successors(old).into_iter().rev() {
        if session.repo.exists(&new) && session.repo.is_ancestor(&new, head)? {
            return Ok(Some(new));
        }
    }
    Ok(None)
}

/// What came after the recorded commit, its stand-in, or the point where its history and HEAD's part.
fn since(session: &Session<'_>, commit: &Recorded, handoff: &Handoff, head: &Head) -> Result<Since, Failure> {
    let repo = &session.repo;
    let Some(head) = head.commit else { return Ok(Since::default()) };
    let from = match commit {
        Recorded::InHistory => handoff.metadata.commit,
        Recorded::Rewritten { new, .. } => Some(*new),
        Recorded::Elsewhere { commit, .. } => repo.merge_base(commit, &head)?,
        Recorded::NoneYet
        | Recorded::Unknown
        | Recorded::CheckedOut
        | Recorded::Ahead(_)
        | Recorded::Missing { .. }
        | Recorded::HeadUnborn(_) => None,
    };
    let Some(from) = from else { return Ok(Since::default()) };
    let newer = repo.commits_since(&from, &head, Since::MOST, &|path| session.heeds(path))?;
    let then = repo.read_commit(&from)?.seconds;
    let days = newer.newest.map_or(0, |newest| newest.saturating_sub(then) / (24 * 60 * 60));
    Ok(Since { commits: newer.commits, days: u32::try_from(days).unwrap_or(0) })
}

fn branch(session: &Session<'_>, handoff: &Handoff, head: &Head) -> Result<Branch, Failure> {
    let Some(recorded) = handoff.metadata.branch.clone() else { return Ok(Branch::Same) };
    if head.branch.as_deref() == Some(recorded.as_str()) {
        return Ok(Branch::Same);
    }
    let fate = match (session.repo.branch_tip(&recorded)?, head.commit) {
        (None, _) => BranchFate::Gone,
        (Some(tip), Some(head)) if session.repo.is_ancestor(&tip, &head)? => BranchFate::Merged,
        (Some(_), _) => BranchFate::Open,
    };
    Ok(Branch::Different { recorded, now: head.branch.clone(), fate })
}

/// What a referenced file held when the handoff was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// It was not there.
    Absent,
    /// This content.
    Blob(ObjectName),
    /// Something that no commit held, and of which the handoff does not say what.
    Open,
}

/// A referenced file, then and now.
struct Compared {
    path: String,
    then: Then,
    /// What the recorded commit has; unknown where that commit is not here.
    recorded: Option<OnDisk>,
    /// What HEAD has.
    head: Option<ObjectName>,
}

/// The referenced files of one handoff, looked up at the recorded commit, at HEAD and in the work tree.
struct Comparison<'s, 'e> {
    session: &'s Session<'e>,
    /// The commit whose files are those of then.
    base: Option<ObjectName>,
    head: Option<ObjectName>,
    files: Vec<Compared>,
}

impl<'s, 'e> Comparison<'s, 'e> {
    fn new(session: &'s Session<'e>, handoff: &Handoff, head: &Head, commit: &Recorded) -> Result<Self, Failure> {
        let base = match commit {
            Recorded::Missing { .. } => None,
            Recorded::Rewritten { old, new, .. } => Some(if session.repo.exists(old) { *old } else { *new }),
            Recorded::HeadUnborn(old) => Some(*old).filter(|old| session.repo.exists(old)),
            Recorded::NoneYet
            | Recorded::Unknown
            | Recorded::CheckedOut
            | Recorded::InHistory
            | Recorded::Ahead(_)
            | Recorded::Elsewhere { .. } => handoff.metadata.commit,
        };
        let known = !matches!(commit, Recorded::Missing { .. });
        let at_base = Lookup::at(session, base)?;
        let at_head = if head.commit == base { None } else { Some(Lookup::at(session, head.commit)?) };
        let mut files = BTreeMap::new();
        for (path, entry) in named(session, handoff) {
            let (path, recorded) = at_base.spelled(&path)?;
            let then = match entry {
                Some(entry) => then(entry, recorded, handoff),
                None => recorded.map(Then::Blob),
            };
            let Some(then) = then else { continue };
            let head = match &at_head {
                Some(lookup) => lookup.blob(&path)?,
                None => recorded,
            };
            let recorded = known.then(|| on_disk(recorded));
            files.entry(path.clone()).or_insert(Compared { path, then, recorded, head });
        }
        Ok(Self { session, base, head: head.commit, files: files.into_values().collect() })
    }

    /// The files that differ, and how many there are in all.
    fn run(self) -> Result<(Vec<FileFact>, usize), Failure> {
        let asked: Vec<Asked> = self.files.iter().map(Compared::asked).collect();
        let found = self.session.repo.on_disk(&asked)?;
        let mut facts = Vec::new();
        for (at, file) in self.files.iter().enumerate() {
            let now = found.as_ref().map_or_else(|| on_disk(file.head), |found| found[at]);
            facts.extend(file.fate(now).map(|fate| FileFact { path: file.path.clone(), fate }));
        }
        self.follow_renames(&mut facts)?;
        let referenced = self.files.iter().filter(|file| file.then != Then::Absent).count();
        Ok((facts, referenced))
    }

    /// Turns what is gone into what moved, where a file with its content, or most of it, is elsewhere.
    fn follow_renames(&self, facts: &mut [FileFact]) -> Result<(), Failure> {
        let gone = |fact: &&mut FileFact| fact.fate == FileFate::Deleted;
        let mut moved: Option<Vec<FileEntry>> = None;
        for fact in facts.iter_mut().filter(gone) {
            let Some(file) = self.files.iter().find(|file| file.path == fact.path) else { continue };
            let to = match (file.head, self.head) {
                (Some(blob), _) => self.moved_in_index(&blob)?,
                (None, Some(head)) => {
                    let changes = match &mut moved {
                        Some(changes) => changes,
                        None => moved
                            .insert(self.session.repo.changes_between(self.base.as_ref(), &head, usize::MAX)?.files),
                    };
                    moved_to(changes, file)
                }
                (None, None) => None,
            };
            if let Some(to) = to.filter(|to| !self.session.is_view(to)) {
                fact.fate = FileFate::Moved { to };
            }
        }
        Ok(())
    }

    /// Where the index has a blob that HEAD has elsewhere: a move that is not committed yet.
    fn moved_in_index(&self, blob: &ObjectName) -> Result<Option<String>, ChangesError> {
        let at_head = Lookup::at(self.session, self.head)?;
        for path in self.session.repo.indexed_at(blob)? {
            if at_head.blob(&path)?.is_none() {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }
}

/// Where a change says that a file went: by its name, else by its content.
fn moved_to(changes: &[FileEntry], file: &Compared) -> Option<String> {
    let by_name = changes
        .iter()
        .find(|change| change.change == Some(Change::Renamed) && change.from.as_deref() == Some(file.path.as_str()));
    let by_content = || match file.then {
        Then::Blob(blob) => {
            changes.iter().find(|change| change.blob == Some(blob) && change.change == Some(Change::Added))
        }
        Then::Absent | Then::Open => None,
    };
    by_name.or_else(by_content).map(|change| change.path.clone())
}

impl Compared {
    fn asked(&self) -> Asked {
        let other = match (self.then, self.recorded) {
            (Then::Blob(blob), _) | (Then::Absent | Then::Open, Some(OnDisk::Blob(blob))) => Some(blob),
            (Then::Absent | Then::Open, Some(OnDisk::Absent | OnDisk::Other) | None) => None,
        };
        Asked { path: self.path.clone(), committed: self.head, other }
    }

    /// What became of it, when `now` is what stands there; nothing when it is as it was.
    fn fate(&self, now: OnDisk) -> Option<FileFate> {
        let committed = now == on_disk(self.head);
        let changed = if committed { FileFate::Changed } else { FileFate::Uncommitted };
        match (self.then, now) {
            (Then::Absent, OnDisk::Absent) => None,
            (Then::Absent, OnDisk::Blob(_) | OnDisk::Other) => Some(FileFate::Returned),
            (Then::Blob(then), OnDisk::Blob(now)) if then == now => None,
            // What the handoff saw was never committed, and here is what the recorded commit has. That may be nothing:
            // a scratch file that was not tracked, or work that never left its work tree.
            (Then::Blob(_) | Then::Open, _) if self.recorded == Some(now) => Some(FileFate::Lost),
            (Then::Blob(_) | Then::Open, OnDisk::Absent) => Some(FileFate::Deleted),
            // Still open: whether it is the same content, the handoff does not say.
            (Then::Open, _) if !committed => None,
            (Then::Blob(_) | Then::Open, OnDisk::Blob(_) | OnDisk::Other) => Some(changed),
        }
    }
}

fn on_disk(blob: Option<ObjectName>) -> OnDisk {
    blob.map_or(OnDisk::Absent, OnDisk::Blob)
}

/// What an entry of the file list says of the file then; nothing when it says nothing that could be missed.
fn then(entry: &FileEntry, recorded: Option<ObjectName>, handoff: &Handoff) -> Option<Then> {
    match (entry.change, entry.blob) {
        (_, Some(blob)) => Some(Then::Blob(blob)),
        (Some(Change::Deleted), None) => Some(Then::Absent),
        // What the tool collected without a blob was not committed.
        (Some(_), None) if handoff.metadata.dirty == Some(true) => Some(Then::Open),
        (Some(_) | None, None) => recorded.map(Then::Blob),
    }
}

/// The files that a handoff refers to, in normal form: those that it lists, with their entries, then those that its
/// prose names.
fn named<'h>(session: &Session<'_>, handoff: &'h Handoff) -> Vec<(String, Option<&'h FileEntry>)> {
    let content = &handoff.content;
    let listed = content.files_changed.iter().filter(|entry| !entry.path.ends_with('/')).map(|entry| {
        let path = paths::entry(&entry.path).map_or_else(|| paths::normal_form(&entry.path), |read| read.path);
        (path, Some(entry))
    });
    let prose = score::named_in(content).into_iter().map(|reference| (reference.path, None));
    let mut seen = BTreeSet::new();
    let counts = |path: &String| !paths::leads_outside(path) && !session.is_view(path);
    listed.chain(prose).filter(|(path, _)| counts(path) && seen.insert(path.clone())).take(MAX_FILES).collect()
}

/// The files of a commit, or of none.
struct Lookup<'s> {
    files: Option<CommitFiles<'s>>,
    known: RefCell<BTreeMap<String, Option<ObjectName>>>,
}

impl<'s> Lookup<'s> {
    fn at(session: &'s Session<'_>, commit: Option<ObjectName>) -> Result<Self, ChangesError> {
        let files = commit.map(|commit| session.repo.files_at(&commit)).transpose()?;
        Ok(Self { files, known: RefCell::default() })
    }

    fn blob(&self, path: &str) -> Result<Option<ObjectName>, ChangesError> {
        let Some(files) = &self.files else { return Ok(None) };
        if let Some(known) = self.known.borrow().get(path) {
            return Ok(*known);
        }
        let blob = files.blob(path)?;
        self.known.borrow_mut().insert(path.to_owned(), blob);
        Ok(blob)
    }

    /// The path with the accents that the commit has, and the blob there.
    fn spelled(&self, path: &str) -> Result<(String, Option<ObjectName>), ChangesError> {
        for spelling in paths::spellings(path) {
            if let Some(blob) = self.blob(&spelling)? {
                return Ok((spelling, Some(blob)));
            }
        }
        Ok((path.to_owned(), None))
    }
}
