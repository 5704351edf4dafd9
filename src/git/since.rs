//! How many commits came after one, not counting those that only touch certain files.

use std::collections::BTreeMap;

use gix::revision::walk::Sorting;
use gix::traverse::commit::simple::CommitTimeOrder;

use super::history::walk;
use super::objects::named;
use super::{EntryMode, HistoryError, ObjectError, Repo, TreeEntry};
use crate::model::ObjectName;

/// What came after a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Newer {
    /// How many commits, up to the limit of the question.
    pub commits: usize,
    /// When the newest of them was committed, in seconds since the epoch.
    pub newest: Option<i64>,
}

impl Repo {
    /// Counts the commits that `to` reaches and `from` does not, up to `limit`, without those that touch only files
    /// that `ignored` names. A commit that touches nothing counts.
    ///
    /// # Errors
    /// When a commit cannot be read. A parent beyond a shallow boundary is none.
    pub fn commits_since(
        &self,
        from: &ObjectName,
        to: &ObjectName,
        limit: usize,
        ignored: &dyn Fn(&str) -> bool,
    ) -> Result<Newer, HistoryError> {
        let mut newer = Newer::default();
        if from == to {
            return Ok(newer);
        }
        let commits = self
            .gix
            .rev_walk([self.object_id(to)?])
            .sorting(Sorting::ByCommitTime(CommitTimeOrder::NewestFirst))
            .with_hidden([self.object_id(from)?])
            .all()
            .map_err(walk)?;
        for commit in commits {
            let commit = self.read_commit(&named(commit.map_err(walk)?.id))?;
            let parent = commit.parents.first().and_then(|parent| self.read_commit(parent).ok());
            if self.touches_only(parent.map(|parent| parent.tree), commit.tree, ignored)? {
                continue;
            }
            newer.newest = newer.newest.or(Some(commit.seconds));
            newer.commits += 1;
            if newer.commits == limit {
                break;
            }
        }
        Ok(newer)
    }

    fn touches_only(
        &self,
        old: Option<ObjectName>,
        new: ObjectName,
        ignored: &dyn Fn(&str) -> bool,
    ) -> Result<bool, ObjectError> {
        Ok(old != Some(new) && self.differs_only(old, Some(new), "", ignored)?)
    }

    /// Whether everything that differs between two trees is ignored. Stops at the first file that is not.
    fn differs_only(
        &self,
        old: Option<ObjectName>,
        new: Option<ObjectName>,
        prefix: &str,
        ignored: &dyn Fn(&str) -> bool,
    ) -> Result<bool, ObjectError> {
        for (name, [old, new]) in self.differing(old, new)? {
            let path = format!("{prefix}{}", String::from_utf8_lossy(&name));
            if ignored(&path) {
                continue;
            }
            let directory = |entry: &Option<TreeEntry>| entry.as_ref().is_none_or(|it| it.mode == EntryMode::Tree);
            if !directory(&old) || !directory(&new) {
                return Ok(false);
            }
            let tree = |entry: Option<TreeEntry>| entry.map(|it| it.object);
            if !self.differs_only(tree(old), tree(new), &format!("{path}/"), ignored)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The entries in which two trees differ, by name, with both sides.
    fn differing(
        &self,
        old: Option<ObjectName>,
        new: Option<ObjectName>,
    ) -> Result<BTreeMap<Vec<u8>, [Option<TreeEntry>; 2]>, ObjectError> {
        let mut entries: BTreeMap<Vec<u8>, [Option<TreeEntry>; 2]> = BTreeMap::new();
        for (side, tree) in [old, new].into_iter().enumerate() {
            for entry in tree.map(|tree| self.read_tree(&tree)).transpose()?.into_iter().flatten() {
                let name = entry.name.clone();
                entries.entry(name).or_default()[side] = Some(entry);
            }
        }
        entries.retain(|_, [old, new]| old != new);
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;

    #[test]
    fn commits_that_only_touch_ignored_files_do_not_count() {
        let fixture = Fixture::new();
        let from = fixture.commit("one");
        let repo = fixture.repo();
        let count = |fixture: &Fixture, limit| {
            let ignored = |path: &str| path.starts_with(".own/");
            repo.commits_since(&from, &fixture.name("HEAD"), limit, &ignored).expect("readable").commits
        };
        assert_eq!(count(&fixture, 9), 0);
        fixture.write(".own/deep/a", "a");
        fixture.commit("own");
        assert_eq!(count(&fixture, 9), 0);
        fixture.commit("empty");
        fixture.write(".own/deep/a", "b");
        fixture.write("src/deep/a", "b");
        fixture.commit("both");
        fixture.write(".own/deep/a", "c");
        fixture.commit("own");
        assert_eq!([count(&fixture, 9), count(&fixture, 1)], [2, 1]);
    }
}
