//! The reasons of a verdict: their codes, which are contract, and their sentences.

use super::{Branch, BranchFate, FileFact, FileFate, History, Level, Proof, Recorded, Since, Weight, WorkTreeThen};
use crate::model::visible_line;

/// A reason, for people and for programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What kind of reason it is.
    pub code: ReasonCode,
    /// What it does to the level.
    pub weight: Weight,
    /// The reason as one sentence, safe for a terminal.
    pub text: String,
    /// The files that it is about, all of them.
    pub paths: Vec<String>,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)?) => {
        /// The kinds of reasons. Their names are contract.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ReasonCode { $($(#[$doc])* $variant),+ }

        impl ReasonCode {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}

codes! {
    /// No commit was recorded, but there are commits now.
    NoCommitRecorded = "NO_COMMIT_RECORDED",
    /// The recorded commit is not in this repository.
    CommitMissing = "COMMIT_MISSING",
    /// HEAD does not reach the recorded commit.
    CommitNotInHistory = "COMMIT_NOT_IN_HISTORY",
    /// HEAD is older than the recorded commit.
    HeadBehind = "HEAD_BEHIND",
    /// There is no commit here yet.
    HeadUnborn = "HEAD_UNBORN",
    /// Another commit stands for the recorded one.
    CommitRewritten = "COMMIT_REWRITTEN",
    /// Commits came after it.
    CommitsSince = "COMMITS_SINCE",
    /// Much time passed between it and the newest of them.
    DaysSince = "DAYS_SINCE",
    /// Referenced files are gone.
    FileDeleted = "FILE_DELETED",
    /// Referenced files moved.
    FileMoved = "FILE_MOVED",
    /// Referenced files were changed by commits.
    FileChanged = "FILE_CHANGED",
    /// Referenced files that were gone are there again.
    FileReturned = "FILE_RETURNED",
    /// Referenced files have uncommitted changes.
    FileUncommitted = "FILE_UNCOMMITTED",
    /// Uncommitted content of then is not here.
    UncommittedLost = "UNCOMMITTED_LOST",
    /// There were uncommitted changes then.
    UncommittedThen = "UNCOMMITTED_THEN",
    /// Another branch is checked out.
    BranchDifferent = "BRANCH_DIFFERENT",
    /// The recorded branch is merged into what is checked out.
    BranchMerged = "BRANCH_MERGED",
    /// The recorded branch is not there any more.
    BranchGone = "BRANCH_GONE",
}

fn reason(code: ReasonCode, weight: Weight, text: impl Into<String>) -> Reason {
    Reason { code, weight, text: text.into(), paths: Vec::new() }
}

pub(super) fn commit_reason(commit: &Recorded) -> Option<Reason> {
    let stale = Weight::Calls(Level::Stale);
    Some(match commit {
        Recorded::NoneYet | Recorded::CheckedOut | Recorded::InHistory => return None,
        Recorded::Unknown => {
            reason(ReasonCode::NoCommitRecorded, Weight::Calls(Level::SlightlyStale), "no commit was recorded")
        }
        Recorded::Rewritten { old, new, proof } => {
            let how = match proof {
                Proof::Recorded => "as the log records",
                Proof::SameTree => "which has the same tree",
                Proof::SamePatch => "which makes the same change",
                Proof::Squash => "which makes the change of the whole branch",
            };
            let text = format!(
                "the recorded commit {} is no longer in the history of HEAD; {} stands for it there, {how}",
                old.short(),
                new.short()
            );
            reason(ReasonCode::CommitRewritten, Weight::Informs, text)
        }
        Recorded::Ahead(commit) => {
            let text = format!("HEAD is behind the recorded commit {}", commit.short());
            reason(ReasonCode::HeadBehind, stale, text)
        }
        Recorded::Elsewhere { commit, on } => {
            let place = match on {
                Some(branch) => format!("; it is on branch {}", visible_line(branch)),
                None => ", nor on its branch any more".into(),
            };
            let text = format!("the recorded commit {} is not in the history of HEAD{place}", commit.short());
            reason(ReasonCode::CommitNotInHistory, stale, text)
        }
        Recorded::Missing { commit, history } => {
            let why = match history {
                History::Whole => "",
                History::Shallow => " (the clone is shallow: 'git fetch --unshallow' may bring it)",
            };
            let text = format!("the recorded commit {} is not in this repository{why}", commit.short());
            reason(ReasonCode::CommitMissing, stale, text)
        }
        Recorded::HeadUnborn(commit) => {
            let text = format!("there is no commit here yet; recorded was {}", commit.short());
            reason(ReasonCode::HeadUnborn, stale, text)
        }
    })
}

/// Fates of files in the order in which they are told, with what one and most of them call for.
const FATES: &[(ReasonCode, Level, &str, &str)] = &[
    (ReasonCode::FileDeleted, Level::Stale, "is gone", "are gone"),
    (ReasonCode::FileMoved, Level::SlightlyStale, "moved", "moved"),
    (ReasonCode::FileChanged, Level::SlightlyStale, "changed since", "changed since"),
    (ReasonCode::FileReturned, Level::SlightlyStale, "was gone and is there again", "were gone and are there again"),
    (ReasonCode::FileUncommitted, Level::SlightlyStale, "has uncommitted changes", "have uncommitted changes"),
    (
        ReasonCode::UncommittedLost,
        Level::SlightlyStale,
        "had content then that no commit held and that is not here",
        "had content then that no commit held and that is not here",
    ),
];

/// So many changed files, if they are at least half of all, make a handoff stale.
const MANY_CHANGED: usize = 5;
/// So many files gone, if they are at least half of all, make it very stale.
const MANY_GONE: usize = 3;
/// How many files a sentence names.
const MOST_NAMED: usize = 10;

fn code_of(fate: &FileFate) -> ReasonCode {
    match fate {
        FileFate::Changed => ReasonCode::FileChanged,
        FileFate::Returned => ReasonCode::FileReturned,
        FileFate::Uncommitted => ReasonCode::FileUncommitted,
        FileFate::Lost => ReasonCode::UncommittedLost,
        FileFate::Deleted => ReasonCode::FileDeleted,
        FileFate::Moved { .. } => ReasonCode::FileMoved,
    }
}

pub(super) fn file_reasons(files: &[FileFact], referenced: usize) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for (code, level, one, several) in FATES {
        let these: Vec<&FileFact> = files.iter().filter(|file| code_of(&file.fate) == *code).collect();
        if these.is_empty() {
            continue;
        }
        let level = worst_of(*code, these.len(), these.len() * 2 >= referenced).unwrap_or(*level);
        let (noun, verb) = if these.len() == 1 { ("file", one) } else { ("files", several) };
        let text = format!("{} referenced {noun} {verb}: {}", these.len(), names(&these));
        let paths = these.iter().map(|file| file.path.clone()).collect();
        reasons.push(Reason { code: *code, weight: Weight::Calls(level), text, paths });
    }
    reasons
}

/// What many files of a kind call for, if they are most of all referenced ones.
fn worst_of(code: ReasonCode, count: usize, most: bool) -> Option<Level> {
    if most && code == ReasonCode::FileDeleted && count >= MANY_GONE {
        return Some(Level::VeryStale);
    }
    (most && code == ReasonCode::FileChanged && count >= MANY_CHANGED).then_some(Level::Stale)
}

fn names(files: &[&FileFact]) -> String {
    let named = files.iter().take(MOST_NAMED).map(|file| match &file.fate {
        FileFate::Moved { to } => format!("{} (now {})", visible_line(&file.path), visible_line(to)),
        FileFate::Changed | FileFate::Returned | FileFate::Uncommitted | FileFate::Lost | FileFate::Deleted => {
            visible_line(&file.path).into_owned()
        }
    });
    let named = named.collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(MOST_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

pub(super) fn since_reasons(commit: &Recorded, since: Since) -> Vec<Reason> {
    let weight = |steps| if steps == 0 { Weight::Informs } else { Weight::Raises(steps) };
    let steps = |many, most| u8::from(many) + u8::from(most);
    let from = match commit {
        Recorded::Elsewhere { .. } | Recorded::Missing { .. } => "where the recorded history and HEAD's part",
        Recorded::Rewritten { .. } => "the commit that stands for it",
        Recorded::NoneYet
        | Recorded::Unknown
        | Recorded::CheckedOut
        | Recorded::InHistory
        | Recorded::Ahead(_)
        | Recorded::HeadUnborn(_) => "the recorded commit",
    };
    let mut reasons = Vec::new();
    if since.commits > 0 {
        let count = match since.commits {
            1 => "1 commit".to_owned(),
            Since::MOST.. => format!("{} commits or more", Since::MOST),
            count => format!("{count} commits"),
        };
        let steps = steps(since.commits >= Since::MANY, since.commits >= Since::MOST);
        reasons.push(reason(ReasonCode::CommitsSince, weight(steps), format!("{count} since {from}")));
    }
    if since.days >= Since::LONG {
        let steps = steps(true, since.days >= Since::LONGEST);
        let text = format!("{} days from the recorded commit to the newest since", since.days);
        reasons.push(reason(ReasonCode::DaysSince, weight(steps), text));
    }
    reasons
}

pub(super) fn branch_reason(branch: &Branch) -> Option<Reason> {
    let Branch::Different { recorded, now, fate } = branch else { return None };
    let now = match now {
        Some(branch) => format!("branch {} is checked out", visible_line(branch)),
        None => "no branch is checked out".into(),
    };
    let recorded = visible_line(recorded);
    let (code, text) = match fate {
        BranchFate::Open => (ReasonCode::BranchDifferent, format!("{now}, recorded was {recorded}")),
        BranchFate::Merged => {
            (ReasonCode::BranchMerged, format!("{now}, which has all of the recorded branch {recorded}"))
        }
        BranchFate::Gone => {
            (ReasonCode::BranchGone, format!("{now}; the recorded branch {recorded} is neither here nor on a remote"))
        }
    };
    Some(reason(code, Weight::Informs, text))
}

pub(super) fn dirty_reason(then: WorkTreeThen, files: &[FileFact]) -> Option<Reason> {
    let said = files.iter().any(|file| file.fate == FileFate::Lost);
    (then == WorkTreeThen::Dirty && !said).then(|| {
        let text = "the handoff was made with uncommitted changes";
        reason(ReasonCode::UncommittedThen, Weight::Informs, text)
    })
}
