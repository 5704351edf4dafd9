//! How many commits came after one, not counting those that only touch certain files.

use std::collections::{BinaryHeap, HashMap};

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

/// Whether a change at a path makes its commit count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heed {
    /// It does.
    Counts,
    /// It does not; for a directory neither does anything below it.
    Ignored,
    /// It is a directory in which some files count and some do not.
    LookInside,
}

impl Repo {
    /// Counts the commits that `to` reaches and `from` does not, up to `limit`, without those that touch only what
    /// `heed` ignores. A commit that touches nothing counts.
    ///
    /// It walks from the newest to the oldest, by committer, and stops at the limit: what it costs does not depend on
    /// how far behind `from` is. A parent that is not here, as beyond a shallow boundary, is none.
    ///
    /// # Errors
    /// When a commit cannot be read.
    pub fn commits_since(
        &self,
        from: &ObjectName,
        to: &ObjectName,
        limit: usize,
        heed: &dyn Fn(&str) -> Heed,
    ) -> Result<Newer, HistoryError> {
        let mut walk = Walk { repo: self, met: HashMap::new(), queue: BinaryHeap::new(), wanted: 0 };
        walk.meet(from, Side::Excluded)?;
        walk.meet(to, Side::Wanted)?;
        let mut newer = Newer::default();
        while walk.wanted > 0 && newer.commits < limit {
            let Some((seconds, first_parent, tree)) = walk.next()? else { continue };
            if self.touches_only_ignored(first_parent, tree, heed)? {
                continue;
            }
            newer.newest = newer.newest.or(Some(seconds));
            newer.commits += 1;
        }
        Ok(newer)
    }

    fn touches_only_ignored(
        &self,
        old: Option<ObjectName>,
        new: ObjectName,
        heed: &dyn Fn(&str) -> Heed,
    ) -> Result<bool, ObjectError> {
        Ok(old != Some(new) && self.differs_only_in_ignored(old, Some(new), "", heed)?)
    }

    /// Whether everything that differs between two trees is ignored. Stops at the first file that is not.
    fn differs_only_in_ignored(
        &self,
        old: Option<ObjectName>,
        new: Option<ObjectName>,
        prefix: &str,
        heed: &dyn Fn(&str) -> Heed,
    ) -> Result<bool, ObjectError> {
        let read = |tree: Option<ObjectName>| tree.map(|tree| self.read_tree(&tree)).transpose();
        let (old, new) = (read(old)?.unwrap_or_default(), read(new)?.unwrap_or_default());
        let sides: [HashMap<&[u8], &TreeEntry>; 2] =
            [&old, &new].map(|entries| entries.iter().map(|entry| (entry.name.as_slice(), entry)).collect());
        let differs = |entry: &&TreeEntry| {
            let name = entry.name.as_slice();
            sides[0].get(name) != sides[1].get(name)
        };
        for entry in old.iter().chain(&new).filter(differs) {
            let path = format!("{prefix}{}", String::from_utf8_lossy(&entry.name));
            match heed(&path) {
                Heed::Ignored => continue,
                Heed::Counts => return Ok(false),
                Heed::LookInside => {}
            }
            let both = [0, 1].map(|side| sides[side].get(entry.name.as_slice()).copied());
            if both.iter().flatten().any(|entry| entry.mode != EntryMode::Tree) {
                return Ok(false);
            }
            let [old, new] = both.map(|entry| entry.map(|entry| entry.object));
            if !self.differs_only_in_ignored(old, new, &format!("{path}/"), heed)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// On which side of the question a commit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Wanted,
    Excluded,
}

/// A commit that the walk has met.
struct Met {
    side: Side,
    seconds: i64,
    tree: ObjectName,
    parents: Vec<ObjectName>,
    queued: bool,
}

/// A walk from the newest commits to the oldest that tells what one side reaches and the other does not.
struct Walk<'r> {
    repo: &'r Repo,
    met: HashMap<ObjectName, Met>,
    queue: BinaryHeap<(i64, ObjectName)>,
    /// How many queued commits are wanted.
    wanted: usize,
}

impl Walk<'_> {
    fn meet(&mut self, name: &ObjectName, side: Side) -> Result<(), ObjectError> {
        if let Some(met) = self.met.get_mut(name) {
            // Excluded once is excluded for good.
            if side == Side::Excluded && met.side == Side::Wanted {
                met.side = side;
                self.wanted -= usize::from(met.queued);
            }
            return Ok(());
        }
        let commit = match self.repo.read_commit(name) {
            Err(ObjectError::Missing(_)) => return Ok(()),
            commit => commit?,
        };
        self.queue.push((commit.seconds, *name));
        self.wanted += usize::from(side == Side::Wanted);
        let (seconds, tree, parents) = (commit.seconds, commit.tree, commit.parents);
        self.met.insert(*name, Met { side, seconds, tree, parents, queued: true });
        Ok(())
    }

    /// Takes the newest commit from the queue; when it is wanted: its time, its first parent's tree and its own.
    fn next(&mut self) -> Result<Option<(i64, Option<ObjectName>, ObjectName)>, ObjectError> {
        let Some((_, name)) = self.queue.pop() else { return Ok(None) };
        let Some(met) = self.met.get_mut(&name) else { return Ok(None) };
        met.queued = false;
        let (side, seconds, tree, parents) = (met.side, met.seconds, met.tree, met.parents.clone());
        self.wanted -= usize::from(side == Side::Wanted);
        for parent in &parents {
            self.meet(parent, side)?;
        }
        let first = parents.first().and_then(|parent| self.met.get(parent)).map(|parent| parent.tree);
        Ok((side == Side::Wanted).then_some((seconds, first, tree)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    #[test]
    fn commits_that_only_touch_ignored_files_do_not_count() {
        let fixture = Fixture::new();
        let from = fixture.commit("one");
        let repo = fixture.repo();
        let count = |fixture: &Fixture, limit| {
            let heed = |path: &str| match path {
                ".own/deep" => Heed::Ignored,
                ".own" => Heed::LookInside,
                _ => Heed::Counts,
            };
            repo.commits_since(&from, &fixture.name("HEAD"), limit, &heed).expect("readable").commits
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

    #[test]
    fn both_sides_of_a_merge_count_and_what_was_there_before_does_not() {
        let fixture = Fixture::new();
        fixture.commit("base");
        fixture.git(&["checkout", "-q", "-b", "side"]);
        fixture.commit("side 1");
        fixture.commit("side 2");
        fixture.git(&["checkout", "-q", "main"]);
        fixture.commit("main 1");
        fixture.git(&["merge", "-q", "--no-ff", "-m", "merge", "side"]);
        fixture.commit("after");
        let repo = fixture.repo();
        for from in ["main~1", "main~2", "side", "side~1", "main~3", "main"] {
            let expected = fixture.git(&["rev-list", "--count", "main", &format!("^{from}")]);
            let newer = repo.commits_since(&fixture.name(from), &fixture.name("main"), 99, &|_| Heed::Counts);
            assert_eq!(newer.expect("readable").commits.to_string(), expected, "{from}");
        }
    }
}
