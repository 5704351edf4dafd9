//! Facts about the source history: ranges of commits, ancestry, upstream and default branch.

use gix::bstr::ByteSlice;
use gix::revision::walk::Sorting;
use gix::traverse::commit::simple::CommitTimeOrder;

use super::objects::named;
use super::{ObjectError, RefError, Repo};
use crate::model::ObjectName;

/// A commit as a handoff tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitInfo {
    /// Its object name.
    pub name: ObjectName,
    /// The first paragraph of its message on one line.
    pub subject: String,
    /// The rest of its message.
    pub body: String,
    /// The author's time in seconds since the epoch.
    pub author_seconds: i64,
}

/// Why a fact about the history could not be found out.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// A commit cannot be read.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// A ref cannot be read.
    #[error(transparent)]
    Ref(#[from] RefError),
    /// The walk failed.
    #[error("cannot walk the history")]
    Walk(#[source] Box<gix::Error>),
}

fn walk(error: gix::Error) -> HistoryError {
    HistoryError::Walk(Box::new(error))
}

impl Repo {
    /// The commits that `to` reaches and `from` does not, newest first, at most `limit` of them.
    ///
    /// The walk stops at a shallow boundary. Commits that are missing otherwise are an error.
    ///
    /// # Errors
    /// When a commit cannot be read.
    pub fn commits_between(
        &self,
        from: Option<ObjectName>,
        to: ObjectName,
        limit: usize,
    ) -> Result<Vec<CommitInfo>, HistoryError> {
        self.commits_without(from.as_slice(), to, limit)
    }

    /// The commits that `to` reaches and none of `hidden` does, newest first, at most `limit` of them.
    ///
    /// # Errors
    /// As [`Repo::commits_between`].
    pub fn commits_without(
        &self,
        hidden: &[ObjectName],
        to: ObjectName,
        limit: usize,
    ) -> Result<Vec<CommitInfo>, HistoryError> {
        let hidden = hidden.iter().map(|from| self.object_id(from)).collect::<Result<Vec<_>, _>>()?;
        let commits = self
            .gix
            .rev_walk([self.object_id(&to)?])
            .sorting(Sorting::ByCommitTime(CommitTimeOrder::NewestFirst))
            .with_hidden(hidden)
            .all()
            .map_err(walk)?;
        let mut found = Vec::new();
        for commit in commits.take(limit) {
            found.push(info(&commit.map_err(walk)?.object().map_err(walk)?)?);
        }
        Ok(found)
    }

    /// Where the branch's upstream stands here: the remote-tracking ref, or the local branch that it follows.
    ///
    /// # Errors
    /// When the ref cannot be read. A configuration that names no usable upstream is no upstream.
    pub fn upstream_of(&self, branch: &str) -> Result<Option<ObjectName>, HistoryError> {
        let Ok(full) = gix::refs::FullName::try_from(format!("refs/heads/{branch}")) else { return Ok(None) };
        let tracking = self.gix.branch_remote_tracking_ref_name(full.as_ref(), gix::remote::Direction::Fetch);
        let Some(Ok(tracking)) = tracking else { return Ok(None) };
        Ok(self.read_ref(&tracking.as_bstr().to_str_lossy())?)
    }

    /// Where a branch stands, by its short name: here, else on a remote as far as it was fetched (`origin` first).
    ///
    /// # Errors
    /// When a ref cannot be read. A text that can name no branch is none.
    pub fn branch_tip(&self, branch: &str) -> Result<Option<ObjectName>, RefError> {
        let mut remotes = self.remotes();
        remotes.sort_by_key(|remote| remote != "origin");
        let tracking = remotes.iter().map(|remote| format!("refs/remotes/{remote}/{branch}"));
        for full in std::iter::once(format!("refs/heads/{branch}")).chain(tracking) {
            if gix::refs::FullName::try_from(full.as_str()).is_ok()
                && let Some(tip) = self.read_ref(&full)?
            {
                return Ok(Some(tip));
            }
        }
        Ok(None)
    }

    /// Whether the history here ends at a boundary.
    pub fn is_shallow(&self) -> bool {
        self.gix.is_shallow().unwrap_or(false)
    }

    /// Whether a shallow clone ends at this commit, so that its parents are not here.
    pub fn is_shallow_boundary(&self, commit: &ObjectName) -> bool {
        let ends = self.gix.shallow_commits().ok().flatten();
        ends.is_some_and(|ends| ends.iter().any(|end| named(*end) == *commit))
    }

    /// The default branch, by its short name, and where it stands: what `origin/HEAD` names; else the local
    /// branch that `init.defaultBranch` names; else `main`, else `master`.
    ///
    /// # Errors
    /// When a ref cannot be read.
    pub fn default_branch(&self) -> Result<Option<(String, ObjectName)>, HistoryError> {
        const REMOTE: &str = "refs/remotes/origin/";
        if let Some(target) = self.read_symbolic(&format!("{REMOTE}HEAD"))?
            && let Some(short) = target.strip_prefix(REMOTE)
            && let Some(commit) = self.read_ref(&target)?
        {
            return Ok(Some((short.to_owned(), commit)));
        }
        let configured = self.config_string("init.defaultBranch");
        for short in configured.iter().map(String::as_str).chain(["main", "master"]) {
            let full = format!("refs/heads/{short}");
            if gix::refs::FullName::try_from(full.as_str()).is_ok()
                && let Some(commit) = self.read_ref(&full)?
            {
                return Ok(Some((short.to_owned(), commit)));
            }
        }
        Ok(None)
    }
}

fn info(commit: &gix::Commit<'_>) -> Result<CommitInfo, HistoryError> {
    let decoded = commit.decode().map_err(walk)?;
    let message = decoded.message();
    let body = message.body.map(|body| body.to_str_lossy().trim_end().to_owned());
    Ok(CommitInfo {
        name: named(commit.id),
        subject: message.summary().to_str_lossy().into_owned(),
        body: body.unwrap_or_default(),
        author_seconds: decoded.author().map(|who| who.seconds()).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::super::{Locate, Repo};

    #[test]
    fn a_range_is_what_git_log_lists() {
        let fixture = Fixture::new();
        let first = fixture.commit("one");
        fixture.git(&["checkout", "-q", "-b", "side"]);
        fixture.commit("two\n\nWhy: because\n");
        fixture.git(&["checkout", "-q", "main"]);
        fixture.commit("three");
        fixture.git(&["merge", "-q", "--no-ff", "-m", "four", "side"]);
        let repo = fixture.repo();
        let all = repo.commits_between(Some(first), fixture.name("HEAD"), 10).expect("readable");
        let mut listed: Vec<String> = all.iter().map(|commit| commit.name.to_string()).collect();
        let mut log: Vec<String> =
            fixture.git(&["log", "--format=%H", "HEAD", "--not", &first.to_string()]).lines().map(Into::into).collect();
        assert_eq!(listed[0], log[0]);
        listed.sort();
        log.sort();
        assert_eq!(listed, log);
        let two = all.iter().find(|commit| commit.subject == "two").expect("it is in the range");
        assert_eq!((two.body.as_str(), two.author_seconds), ("Why: because", 1_787_061_899));
        assert_eq!(repo.commits_between(None, fixture.name("HEAD"), 2).expect("readable").len(), 2);
    }

    #[test]
    fn ancestry_is_that_of_the_graph() {
        let fixture = Fixture::new();
        let base = fixture.commit("base");
        fixture.git(&["checkout", "-q", "-b", "side"]);
        let side = fixture.commit("side");
        fixture.git(&["checkout", "-q", "main"]);
        let main = fixture.commit("main");
        fixture.git(&["checkout", "-q", "--orphan", "alone"]);
        let alone = fixture.commit("alone");
        let repo = fixture.repo();
        assert_eq!(repo.merge_base(&side, &main).expect("readable"), Some(base));
        assert_eq!(repo.merge_base(&side, &alone).expect("readable"), None);
        let ancestor = |one, other| repo.is_ancestor(one, other).expect("readable");
        assert_eq!([ancestor(&base, &side), ancestor(&side, &base), ancestor(&side, &main)], [true, false, false]);
    }

    #[test]
    fn upstream_and_default_branch_come_from_configuration_and_refs() {
        let fixture = Fixture::new();
        let one = fixture.commit("one");
        let repo = fixture.repo();
        assert_eq!(repo.default_branch().expect("readable"), Some(("main".into(), one)));
        assert_eq!(repo.upstream_of("main").expect("readable"), None);
        fixture.git(&["update-ref", "refs/remotes/origin/trunk", "HEAD"]);
        fixture.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"]);
        fixture.git(&["config", "remote.origin.url", "../nowhere"]);
        fixture.git(&["config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"]);
        fixture.git(&["config", "branch.main.remote", "origin"]);
        fixture.git(&["config", "branch.main.merge", "refs/heads/trunk"]);
        let repo = fixture.repo();
        assert_eq!(repo.default_branch().expect("readable"), Some(("trunk".into(), one)));
        assert_eq!(repo.upstream_of("main").expect("readable"), Some(one));
    }
    #[test]
    fn a_shallow_clone_is_walked_to_its_boundary() {
        let fixture = Fixture::new();
        for n in 1..=4 {
            fixture.commit(&format!("main {n}"));
        }
        fixture.git(&["checkout", "-q", "-b", "side", "HEAD~2"]);
        fixture.commit("side");
        let url = format!("file://{}", fixture.top().display());
        let dir = fixture.outside().join("shallow");
        fixture.git_in(&fixture.outside(), &["clone", "-q", "--depth=1", "--no-single-branch", &url, "shallow"]);
        let repo = Repo::open(&Locate::at(&dir)).expect("it is one");
        let name = |revision| fixture.git_in(&dir, &["rev-parse", revision]).parse().expect("a name");
        let (main, side) = (name("origin/main"), name("origin/side"));
        assert_eq!(repo.commits_between(None, main, 9).expect("readable").len(), 1);
        assert_eq!(repo.commits_between(Some(side), main, 9).expect("readable").len(), 1);
        assert_eq!(repo.merge_base(&main, &side).expect("readable"), None);
        assert!(!repo.is_ancestor(&main, &side).expect("readable"));
    }
}
