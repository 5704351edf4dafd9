//! What git tells about the place where a handoff is made: branch, commit, what changed since the last handoff.

use super::error::Failure;
use super::session::Session;
use crate::git::{Asked, CommitInfo, Head, OnDisk, StatusRun, WorkTreeState};
use crate::model::score::Revision;
use crate::model::{FileEntry, Handoff, ObjectName, paths};
use crate::views::cache::Index;

/// How many commits of the range are told of.
const MAX_COMMITS: usize = 200;

/// Branch and commit as the caller states them, where the caller knows better than HEAD.
#[derive(Debug, Clone, Default)]
pub(super) struct Stated {
    /// The branch.
    pub(super) branch: Option<String>,
    /// The commit.
    pub(super) commit: Option<ObjectName>,
    /// Where the branch's work begins, should nothing but the newest commit alone be known of it.
    pub(super) since: Option<ObjectName>,
    /// Where the work begins, whatever handoffs there are, as far as that is in its history.
    pub(super) from: Option<ObjectName>,
}

/// The place.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The branch.
    pub(super) branch: Option<String>,
    /// The source commit.
    pub(super) commit: Option<ObjectName>,
    /// Where in the work tree the user stands; unknown without a work tree.
    pub(super) working_directory: Option<String>,
    /// What no commit holds, without our own files.
    pub(super) worktree: WorkTreeState,
    /// The last commit that does not belong to the work; the beginning of history when there is none.
    pub(super) start: Option<ObjectName>,
    /// The commits since the last handoff of the branch, newest first.
    pub(super) commits: Vec<CommitInfo>,
    /// The files that they and the uncommitted changes touched, without our own.
    pub(super) files: Vec<FileEntry>,
    /// How many more files there were.
    pub(super) files_omitted: u64,
}

impl Place {
    /// Looks around. `status` was started earlier, so that git worked meanwhile.
    ///
    /// # Errors
    /// When git cannot be read.
    pub(super) fn observe(
        session: &Session<'_>,
        index: &Index,
        stated: Stated,
        status: StatusRun,
    ) -> Result<Self, Failure> {
        let head = session.head()?;
        let branch = stated.branch.or_else(|| head.branch.clone());
        let commit = stated.commit.or(head.commit);
        let range = range(session, index, &head, branch.as_deref(), commit)?
            .or_since(session, stated.since, commit)?
            .or_from(session, stated.from, commit)?;
        let (commits, mut changes) = match commit {
            Some(commit) => (
                session.repo.commits_between(range.start, commit, range.at_most)?,
                match session.repo.changes_between(range.start.as_ref(), &commit, usize::MAX) {
                    // In a clone without trees git itself would have to fetch them all: the handoff goes without the list.
                    Err(_) if session.repo.is_partial() => crate::git::Changes::default(),
                    changes => changes?,
                },
            ),
            None => (Vec::new(), crate::git::Changes::default()),
        };
        let mut worktree = status.finish()?;
        worktree.changes.retain(|file| !paths::is_own_view(&file.path));
        worktree.untracked.retain(|path| !session.is_ours(path));
        changes.files.retain(|file| !paths::is_own_view(&file.path));
        let (mut files, files_omitted) = touched(changes.files, &worktree);
        fill_in_blobs(session, &mut files, head.commit)?;
        Ok(Self {
            branch,
            commit,
            working_directory: session.repo.prefix_of(&session.cwd),
            worktree,
            start: range.start,
            commits,
            files,
            files_omitted,
        })
    }

    /// What the score may say about the revision.
    pub(super) fn revision(&self) -> Revision {
        if self.commit.is_some() { Revision::Known } else { Revision::Unborn }
    }

    /// The place in one or two sentences: the current state as far as git knows it.
    pub(super) fn description(&self) -> String {
        let branch =
            self.branch.as_deref().map_or_else(|| "On no branch".into(), |branch| format!("On branch {branch}"));
        let commit = match (self.commit, self.commits.first()) {
            (Some(commit), Some(newest)) => format!(" at {} ({})", commit.short(), newest.subject),
            (Some(commit), None) => format!(" at {}", commit.short()),
            (None, _) => ", before the first commit".into(),
        };
        let names: Vec<&str> = self.worktree.changes.iter().map(|file| file.path.as_str()).collect();
        let names: Vec<&str> = names.into_iter().chain(self.worktree.untracked.iter().map(String::as_str)).collect();
        let open = match names.len() as u64 + self.worktree.omitted {
            0 => "No uncommitted changes.".to_owned(),
            count => {
                let shown = names.iter().take(10).copied().collect::<Vec<_>>().join(", ");
                let rest = if count > 10 { format!(" and {} more", count - 10) } else { String::new() };
                format!("Uncommitted: {shown}{rest}.")
            }
        };
        format!("From git: {branch}{commit}. {open}")
    }

    /// The commits as completed steps, oldest first.
    pub(super) fn steps(&self) -> Vec<String> {
        self.commits.iter().rev().map(|commit| format!("{} ({})", commit.subject, commit.name.short())).collect()
    }
}

/// Where the branch's work begins as things stand, for those who only count it.
///
/// # Errors
/// When git cannot be read.
pub(super) fn start(session: &Session<'_>, index: &Index, head: &Head) -> Result<Option<ObjectName>, Failure> {
    Ok(range(session, index, head, head.branch.as_deref(), head.commit)?.start)
}

/// Where the work of this handoff begins.
struct Range {
    /// The last commit that does not belong to it; the beginning of history when there is none.
    start: Option<ObjectName>,
    /// How many commits belong to it at most.
    at_most: usize,
}

impl Range {
    /// Begins where the caller says, if that is in the history and anything was committed since.
    fn or_from(
        self,
        session: &Session<'_>,
        from: Option<ObjectName>,
        commit: Option<ObjectName>,
    ) -> Result<Self, Failure> {
        match (from, commit) {
            (Some(from), Some(commit))
                if from != commit && session.repo.exists(&from) && session.repo.is_ancestor(&from, &commit)? =>
            {
                Ok(Self { start: Some(from), at_most: MAX_COMMITS })
            }
            _ => Ok(self),
        }
    }

    /// Begins at another commit, where only the newest one was known to belong to the work.
    fn or_since(
        self,
        session: &Session<'_>,
        since: Option<ObjectName>,
        commit: Option<ObjectName>,
    ) -> Result<Self, Failure> {
        match (since, commit) {
            (Some(since), Some(commit))
                if self.at_most == 1
                    && since != commit
                    && session.repo.exists(&since)
                    && session.repo.is_ancestor(&since, &commit)? =>
            {
                Ok(Self { start: Some(since), at_most: MAX_COMMITS })
            }
            _ => Ok(self),
        }
    }
}

/// The range since the last handoff of this branch; for the branch's first handoff since it left its upstream, else
/// the default branch; on the default branch what is unpublished, else the newest commit alone.
fn range(
    session: &Session<'_>,
    index: &Index,
    head: &Head,
    branch: Option<&str>,
    commit: Option<ObjectName>,
) -> Result<Range, Failure> {
    let repo = &session.repo;
    let Some(commit) = commit else { return Ok(Range { start: None, at_most: 0 }) };
    let since = |start| Range { start: Some(start), at_most: MAX_COMMITS };
    let last = branch.map(|branch| index.newest_on_branch(branch, None)).transpose()?.flatten();
    let last = last.and_then(|last| last.commit);
    if let Some(last) = &last {
        // After a rewrite that git told us of, what the recorded commit became stands for it.
        for successor in session.rewrites(index)?.successors(last).iter().rev() {
            if repo.exists(successor) && repo.is_ancestor(successor, &commit)? {
                return Ok(since(*successor));
            }
        }
    }
    if let Some(last) = last.filter(|last| repo.exists(last)) {
        // After a rewrite the recorded commit is not in this history: what both share is.
        if let Some(base) = repo.merge_base(&last, &commit)? {
            return Ok(since(base));
        }
    }
    let upstream = branch.map(|branch| repo.upstream_of(branch)).transpose()?.flatten();
    let default = repo.default_branch()?.filter(|(name, _)| Some(name.as_str()) != head.branch.as_deref());
    for base in upstream.into_iter().chain(default.map(|(_, tip)| tip)) {
        match repo.merge_base(&base, &commit)? {
            Some(base) if base != commit => return Ok(since(base)),
            Some(_) | None => {}
        }
    }
    let parent = repo.read_commit(&commit)?.parents.first().copied();
    Ok(Range { start: parent.filter(|parent| repo.exists(parent)), at_most: 1 })
}

/// Says what uncommitted files hold, so that it can be told later whether they still do. Nothing is stored of it.
fn fill_in_blobs(session: &Session<'_>, files: &mut [FileEntry], head: Option<ObjectName>) -> Result<(), Failure> {
    let open = |file: &FileEntry| file.blob.is_none() && file.change != Some(crate::model::Change::Deleted);
    let mut open: Vec<&mut FileEntry> = files.iter_mut().filter(|file| open(file)).collect();
    let asked: Vec<Asked> = open
        .iter()
        .map(|file| Asked { path: file.path.clone(), committed: session.blob_at(head, &file.path), other: None })
        .collect();
    for (file, found) in open.iter_mut().zip(session.repo.on_disk(&asked)?.unwrap_or_default()) {
        if let OnDisk::Blob(blob) = found {
            file.blob = Some(blob);
        }
    }
    Ok(())
}

/// The files of the range and of the work tree, each once, and how many more there are. What is uncommitted counts
/// last.
fn touched(committed: Vec<FileEntry>, worktree: &WorkTreeState) -> (Vec<FileEntry>, u64) {
    let mut files = committed;
    let untracked = worktree.untracked.iter().map(|path| FileEntry {
        path: path.clone(),
        change: Some(crate::model::Change::Added),
        note: Some("not tracked yet".into()),
        ..FileEntry::default()
    });
    for open in worktree.changes.iter().cloned().chain(untracked) {
        files.retain(|file| file.path != open.path);
        files.push(open);
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    let omitted = files.len().saturating_sub(Handoff::MAX_COLLECTED_FILES) as u64 + worktree.omitted;
    files.truncate(Handoff::MAX_COLLECTED_FILES);
    (files, omitted)
}
