//! How far a handoff still fits the repository: a verdict from facts.
//!
//! The facts come from the commit graph and from content ids, so that every clone in the same state comes to the same
//! verdict: no file time, no reflog, no clock. The rules, all of them:
//!
//! - Every reason either calls for a level, or raises the level that the others call for, or only informs. The verdict
//!   is the highest level called for (FRESH when none is), raised by the strongest raise. `docs/staleness.md` has the
//!   table.
//! - A file counts when the handoff lists it or its prose names it, and it existed then. Nothing else can be missed.
//! - Commits and days raise, they call for nothing: old and untouched is not wrong, old and changed is worse.
//! - Branches inform: which of them exist depends on the clone, and a branch that was merged is no fault.

use super::ObjectName;

mod reason;

pub use reason::{Reason, ReasonCode};
use reason::{branch_reason, commit_reason, dirty_reason, file_reasons, since_reasons};

/// How far a handoff still fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Nothing that it speaks of has changed.
    Fresh,
    /// It can be continued from; something that it speaks of has changed.
    SlightlyStale,
    /// It must be checked against the repository first.
    Stale,
    /// Hardly anything can be taken over without looking.
    VeryStale,
}

impl Level {
    /// Every level, from the best to the worst.
    pub const ALL: &'static [Self] = &[Self::Fresh, Self::SlightlyStale, Self::Stale, Self::VeryStale];

    /// The name as it is shown and given in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "FRESH",
            Self::SlightlyStale => "SLIGHTLY_STALE",
            Self::Stale => "STALE",
            Self::VeryStale => "VERY_STALE",
        }
    }

    /// Whether the handoff should not be continued from without checking it: `check` and `resume --strict` exit 6.
    pub fn is_stale(self) -> bool {
        self >= Self::Stale
    }

    fn raised(self, steps: u8) -> Self {
        let at = Self::ALL.iter().position(|level| *level == self).unwrap_or_default() + usize::from(steps);
        Self::ALL[at.min(Self::ALL.len() - 1)]
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the verdict is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// How the recorded commit relates to HEAD.
    pub commit: Recorded,
    /// What came after the recorded commit, or after where its history and HEAD's part.
    pub since: Since,
    /// How the recorded branch relates to what is checked out.
    pub branch: Branch,
    /// Whether there were changes then that no commit held.
    pub then: WorkTreeThen,
    /// The files that the handoff refers to and that differ now.
    pub files: Vec<FileFact>,
    /// How many files it refers to that existed then.
    pub referenced: usize,
}

/// How the recorded commit relates to HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded {
    /// It was made before the first commit, and there is none yet.
    NoneYet,
    /// No commit was recorded, but there are commits now.
    Unknown,
    /// It is HEAD.
    CheckedOut,
    /// It is in HEAD's history.
    InHistory,
    /// It is not in HEAD's history, and another commit there is proved to stand for it.
    Rewritten {
        /// The recorded commit.
        old: ObjectName,
        /// The commit that stands for it.
        new: ObjectName,
        /// What proves it.
        proof: Proof,
    },
    /// HEAD is in its history: the work is ahead of what is checked out.
    Ahead(ObjectName),
    /// It is here, but HEAD does not reach it.
    Elsewhere {
        /// The recorded commit.
        commit: ObjectName,
        /// The recorded branch, where it still reaches the commit.
        on: Option<String>,
    },
    /// It is not in this repository.
    Missing {
        /// The recorded commit.
        commit: ObjectName,
        /// How much of the history this clone has.
        history: History,
    },
    /// There is no commit here yet.
    HeadUnborn(ObjectName),
}

/// What proves that one commit stands for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// The rewrite was recorded when it happened.
    Recorded,
    /// Both have the same tree.
    SameTree,
    /// Both make the same change.
    SamePatch,
    /// The commit makes the change that the whole branch made.
    Squash,
}

/// How much of the history a clone has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum History {
    /// All of it.
    Whole,
    /// It ends at a boundary: the clone is shallow.
    Shallow,
}

/// What came after the recorded commit on the way to HEAD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Since {
    /// The commits, without those that only touch our own files; counted up to [`Since::MOST`].
    pub commits: usize,
    /// Whole days from the recorded commit to the newest of those commits, by their committers.
    pub days: u32,
}

impl Since {
    /// From so many commits on the level is raised.
    pub const MANY: usize = 20;
    /// From so many commits on it is raised twice; no more are counted.
    pub const MOST: usize = 500;
    /// From so many days on the level is raised.
    pub const LONG: u32 = 14;
    /// From so many days on it is raised twice.
    pub const LONGEST: u32 = 90;
}

/// How the recorded branch relates to what is checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Branch {
    /// None was recorded, or it is the one checked out.
    Same,
    /// Another one, or none, is checked out.
    Different {
        /// The recorded branch.
        recorded: String,
        /// What is checked out; `None` when HEAD is detached.
        now: Option<String>,
        /// What became of the recorded one.
        fate: BranchFate,
    },
}

/// What became of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchFate {
    /// It has commits that HEAD does not have.
    Open,
    /// HEAD has all of it.
    Merged,
    /// It is neither here nor on a remote as far as this clone knows.
    Gone,
}

/// Whether there were changes, when the handoff was made, that no commit held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkTreeThen {
    /// None, or it is not known.
    Clean,
    /// Some.
    Dirty,
}

/// A referenced file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFact {
    /// Its path then.
    pub path: String,
    /// What became of it.
    pub fate: FileFate,
}

/// What became of a referenced file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileFate {
    /// A commit changed it.
    Changed,
    /// It was gone then and is there again.
    Returned,
    /// It has other content in the work tree than in HEAD.
    Uncommitted,
    /// Its content then was in no commit, and is not here.
    Lost,
    /// It is gone.
    Deleted,
    /// It is at another path.
    Moved {
        /// The path now.
        to: String,
    },
}

/// How far a handoff still fits, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The level.
    pub level: Level,
    /// The reasons, the gravest first; those that only inform come last.
    pub reasons: Vec<Reason>,
}

/// What a reason does to the level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Nothing.
    Informs,
    /// It raises what the others call for by so many levels.
    Raises(u8),
    /// The level is at least this.
    Calls(Level),
}

/// Judges the facts. The same facts always give the same verdict.
pub fn judge(facts: &Facts) -> Verdict {
    let mut reasons: Vec<Reason> = Vec::new();
    reasons.extend(commit_reason(&facts.commit));
    reasons.extend(file_reasons(&facts.files, facts.referenced));
    reasons.extend(since_reasons(&facts.commit, facts.since));
    reasons.extend(branch_reason(&facts.branch));
    reasons.extend(dirty_reason(facts.then, &facts.files));
    // Stable: among equals the order above stays.
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.weight));
    let called = reasons.iter().filter_map(|reason| match reason.weight {
        Weight::Calls(level) => Some(level),
        Weight::Raises(_) | Weight::Informs => None,
    });
    let raise = reasons.iter().filter_map(|reason| match reason.weight {
        Weight::Raises(steps) => Some(steps),
        Weight::Calls(_) | Weight::Informs => None,
    });
    let level = called.max().unwrap_or(Level::Fresh).raised(raise.max().unwrap_or(0));
    Verdict { level, reasons }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn untouched() -> Facts {
        Facts {
            commit: Recorded::CheckedOut,
            since: Since::default(),
            branch: Branch::Same,
            then: WorkTreeThen::Clean,
            files: Vec::new(),
            referenced: 4,
        }
    }

    fn name(digit: u8) -> ObjectName {
        ObjectName::from_bytes(&[digit; 20]).expect("20 bytes")
    }

    fn file(path: &str, fate: FileFate) -> FileFact {
        FileFact { path: path.into(), fate }
    }

    fn shown(facts: &Facts) -> (Level, Vec<&'static str>) {
        let verdict = judge(facts);
        (verdict.level, verdict.reasons.iter().map(|reason| reason.code.as_str()).collect())
    }

    #[test]
    fn nothing_changed_is_fresh_without_a_reason() {
        assert_eq!(judge(&untouched()), Verdict { level: Level::Fresh, reasons: Vec::new() });
    }

    #[test]
    fn each_fate_of_a_file_has_its_level_and_names_the_file() {
        let verdict = |fate| {
            let verdict = judge(&Facts { files: vec![file("a.txt", fate)], ..untouched() });
            let [reason] = verdict.reasons.as_slice() else { panic!("one reason: {verdict:?}") };
            assert_eq!(reason.paths, ["a.txt"]);
            (verdict.level, reason.text.clone())
        };
        let to = "b.txt".to_owned();
        for (fate, level, text) in [
            (FileFate::Changed, Level::SlightlyStale, "1 referenced file changed since: a.txt"),
            (FileFate::Returned, Level::SlightlyStale, "1 referenced file was gone and is there again: a.txt"),
            (FileFate::Uncommitted, Level::SlightlyStale, "1 referenced file has uncommitted changes: a.txt"),
            (
                FileFate::Lost,
                Level::SlightlyStale,
                "1 referenced file had content then that no commit held and that is not here: a.txt",
            ),
            (FileFate::Moved { to }, Level::SlightlyStale, "1 referenced file moved: a.txt (now b.txt)"),
            (FileFate::Deleted, Level::Stale, "1 referenced file is gone: a.txt"),
        ] {
            assert_eq!(verdict(fate), (level, text.to_owned()));
        }
    }

    #[test]
    fn most_of_the_files_changed_or_gone_is_worse_than_one() {
        let all = |fate: FileFate, count: usize| {
            let files = (0..count).map(|n| file(&format!("{n}.rs"), fate.clone())).collect();
            judge(&Facts { files, referenced: count * 2, ..untouched() }).level
        };
        assert_eq!([all(FileFate::Changed, 4), all(FileFate::Changed, 5)], [Level::SlightlyStale, Level::Stale]);
        assert_eq!([all(FileFate::Deleted, 2), all(FileFate::Deleted, 3)], [Level::Stale, Level::VeryStale]);
    }

    #[test]
    fn commits_and_days_raise_what_the_rest_calls_for() {
        let level = |commits, days, fate: Option<FileFate>| {
            let files = fate.into_iter().map(|fate| file("a", fate)).collect();
            let facts = Facts { commit: Recorded::InHistory, since: Since { commits, days }, files, ..untouched() };
            judge(&facts).level
        };
        assert_eq!(level(19, 13, None), Level::Fresh);
        assert_eq!([level(20, 0, None), level(1, 14, None), level(499, 89, None)], [Level::SlightlyStale; 3]);
        assert_eq!([level(500, 0, None), level(1, 90, None)], [Level::Stale; 2]);
        assert_eq!(level(20, 0, Some(FileFate::Changed)), Level::Stale);
        assert_eq!(level(60, 0, Some(FileFate::Deleted)), Level::VeryStale);
        assert_eq!(level(500, 99, Some(FileFate::Deleted)), Level::VeryStale);
    }

    #[test]
    fn what_became_of_the_commit_is_said_once_with_its_level() {
        let (old, new) = (name(1), name(2));
        let level = |commit| shown(&Facts { commit, ..untouched() });
        assert_eq!(level(Recorded::NoneYet), (Level::Fresh, vec![]));
        assert_eq!(level(Recorded::Unknown), (Level::SlightlyStale, vec!["NO_COMMIT_RECORDED"]));
        for proof in [Proof::Recorded, Proof::SameTree, Proof::SamePatch, Proof::Squash] {
            assert_eq!(level(Recorded::Rewritten { old, new, proof }), (Level::Fresh, vec!["COMMIT_REWRITTEN"]));
        }
        assert_eq!(level(Recorded::Ahead(old)), (Level::Stale, vec!["HEAD_BEHIND"]));
        assert_eq!(level(Recorded::Elsewhere { commit: old, on: None }), (Level::Stale, vec!["COMMIT_NOT_IN_HISTORY"]));
        let missing = Recorded::Missing { commit: old, history: History::Shallow };
        assert_eq!(level(missing), (Level::Stale, vec!["COMMIT_MISSING"]));
        assert_eq!(level(Recorded::HeadUnborn(old)), (Level::Stale, vec!["HEAD_UNBORN"]));
    }

    #[test]
    fn branches_inform_and_come_after_what_counts() {
        let branch = |fate| Branch::Different { recorded: "feat".into(), now: None, fate };
        for (fate, code) in [
            (BranchFate::Open, "BRANCH_DIFFERENT"),
            (BranchFate::Merged, "BRANCH_MERGED"),
            (BranchFate::Gone, "BRANCH_GONE"),
        ] {
            assert_eq!(shown(&Facts { branch: branch(fate), ..untouched() }), (Level::Fresh, vec![code]));
        }
        let facts = Facts {
            branch: branch(BranchFate::Gone),
            then: WorkTreeThen::Dirty,
            commit: Recorded::InHistory,
            since: Since { commits: 25, days: 0 },
            files: vec![file("a", FileFate::Changed), file("b", FileFate::Deleted)],
            ..untouched()
        };
        let expected = vec!["FILE_DELETED", "FILE_CHANGED", "COMMITS_SINCE", "BRANCH_GONE", "UNCOMMITTED_THEN"];
        assert_eq!(shown(&facts), (Level::VeryStale, expected));
    }

    #[test]
    fn a_long_list_of_files_is_cut_in_the_text_and_whole_in_the_data() {
        let files = (0..12).map(|n| file(&format!("{n}\u{1b}.rs"), FileFate::Changed)).collect();
        let verdict = judge(&Facts { files, referenced: 99, ..untouched() });
        let reason = &verdict.reasons[0];
        assert!(reason.text.ends_with(" and 2 more") && !reason.text.contains('\u{1b}'), "{}", reason.text);
        assert_eq!(reason.paths.len(), 12);
    }
}
