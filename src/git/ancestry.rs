//! Ancestry: which commits two histories have in common.
//!
//! The walk is git's own (`paint_down_to_common`), whose answer does not depend on the commits' times; they only make it
//! short. gix's merge base is not used: it misses ancestors when commits have equal times, as a join of the log has with
//! its later parent, and as rebased commits have with each other.

use std::collections::{BinaryHeap, HashMap};

use super::{HistoryError, ObjectError, Repo};
use crate::model::ObjectName;

/// Reached from the first commit.
const ONE: u8 = 1;
/// Reached from the second commit.
const OTHER: u8 = 2;
/// Below a common ancestor: of no interest any more.
const STALE: u8 = 4;
/// Found to be a common ancestor.
const COMMON: u8 = 8;

struct Painted {
    paint: u8,
    seconds: i64,
    parents: Vec<ObjectName>,
    /// How often it waits in the queue.
    queued: usize,
}

struct Walk<'r> {
    repo: &'r Repo,
    seen: HashMap<ObjectName, Painted>,
    queue: BinaryHeap<(i64, ObjectName)>,
    /// Entries of the queue that are not stale.
    fresh: usize,
}

impl Walk<'_> {
    /// Paints a commit and queues it, unless it has the paint. A commit that is not here, as at a shallow boundary, has
    /// no parents.
    fn paint(&mut self, name: ObjectName, paint: u8) -> Result<(), HistoryError> {
        if !self.seen.contains_key(&name) {
            let (seconds, parents) = match self.repo.read_commit(&name) {
                Ok(commit) => (commit.seconds, commit.parents),
                Err(ObjectError::Missing(_)) => (0, Vec::new()),
                Err(error) => return Err(error.into()),
            };
            self.seen.insert(name, Painted { paint: 0, seconds, parents, queued: 0 });
        }
        let painted = self.seen.get_mut(&name).expect("it was just put there");
        if painted.paint & paint == paint {
            return Ok(());
        }
        let was_stale = painted.paint & STALE != 0;
        painted.paint |= paint;
        if !was_stale && painted.paint & STALE != 0 {
            self.fresh -= painted.queued;
        }
        painted.queued += 1;
        self.fresh += usize::from(painted.paint & STALE == 0);
        self.queue.push((painted.seconds, name));
        Ok(())
    }

    fn run(&mut self) -> Result<(), HistoryError> {
        while self.fresh > 0 {
            let Some((_, name)) = self.queue.pop() else { break };
            let painted = self.seen.get_mut(&name).expect("what is queued was seen");
            painted.queued -= 1;
            self.fresh -= usize::from(painted.paint & STALE == 0);
            let mut paint = painted.paint & (ONE | OTHER | STALE);
            if paint == ONE | OTHER {
                painted.paint |= COMMON;
                paint |= STALE;
            }
            for parent in painted.parents.clone() {
                self.paint(parent, paint)?;
            }
        }
        Ok(())
    }
}

impl Repo {
    fn paint_down(&self, one: &ObjectName, other: &ObjectName) -> Result<HashMap<ObjectName, Painted>, HistoryError> {
        let mut walk = Walk { repo: self, seen: HashMap::new(), queue: BinaryHeap::new(), fresh: 0 };
        // The tips themselves must be here.
        self.read_commit(one)?;
        self.read_commit(other)?;
        walk.paint(*one, ONE)?;
        walk.paint(*other, OTHER)?;
        walk.run()?;
        Ok(walk.seen)
    }

    /// The best common ancestors of two commits: those that are no ancestors of another common one. Sorted by name.
    ///
    /// # Errors
    /// When a commit cannot be read.
    pub fn merge_bases(&self, one: &ObjectName, other: &ObjectName) -> Result<Vec<ObjectName>, HistoryError> {
        if one == other {
            return Ok(vec![*one]);
        }
        let seen = self.paint_down(one, other)?;
        let is_best = |painted: &Painted| painted.paint & (COMMON | STALE) == COMMON;
        let mut found: Vec<ObjectName> =
            seen.iter().filter(|(_, painted)| is_best(painted)).map(|(name, _)| *name).collect();
        found.sort_unstable();
        let mut best = Vec::new();
        for name in &found {
            let mut others = found.iter().filter(|candidate| *candidate != name);
            let redundant = others.try_fold(false, |known, other| Ok(known || self.is_ancestor(name, other)?));
            if !redundant.map_err(|error: HistoryError| error)? {
                best.push(*name);
            }
        }
        Ok(best)
    }

    /// The best common ancestor of two commits, if they have one; of several, the one with the smallest name.
    ///
    /// # Errors
    /// When a commit cannot be read.
    pub fn merge_base(&self, one: &ObjectName, other: &ObjectName) -> Result<Option<ObjectName>, HistoryError> {
        Ok(self.merge_bases(one, other)?.first().copied())
    }

    /// Whether `other` reaches `one`. A commit is its own ancestor.
    ///
    /// # Errors
    /// When a commit cannot be read.
    pub fn is_ancestor(&self, one: &ObjectName, other: &ObjectName) -> Result<bool, HistoryError> {
        Ok(one == other || self.paint_down(one, other)?.get(one).is_some_and(|found| found.paint & OTHER != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::super::{Identity, NewCommit};
    use super::*;

    /// Commits with these parents (by number) and times.
    fn graph(repo: &Repo, shape: &[(&[usize], i64)]) -> Vec<ObjectName> {
        let (writer, identity) = (repo.writer(), Identity::new("A", "a@b"));
        let mut made: Vec<ObjectName> = Vec::new();
        for (at, (parents, seconds)) in shape.iter().enumerate() {
            let parents: Vec<ObjectName> = parents.iter().map(|parent| made[*parent]).collect();
            let tree = writer.tree(&[]).expect("writable");
            let message = format!("{at}");
            let (seconds, offset_minutes) = (1_787_061_899 + seconds, 0);
            let new =
                NewCommit { tree, parents: &parents, identity: &identity, seconds, offset_minutes, message: &message };
            made.push(writer.commit(&new).expect("writable"));
        }
        made
    }

    fn agrees_with_git(fixture: &Fixture, repo: &Repo, commits: &[ObjectName]) {
        for one in commits {
            for other in commits {
                let bases: Vec<String> =
                    repo.merge_bases(one, other).expect("readable").iter().map(ToString::to_string).collect();
                let args = ["merge-base", "--all", &one.to_string(), &other.to_string()];
                let out = fixture.command(fixture.top(), &args).output().expect("git runs");
                let text = String::from_utf8_lossy(&out.stdout).into_owned();
                let mut expected: Vec<&str> = text.lines().collect();
                expected.sort_unstable();
                assert_eq!(bases, expected, "{one} {other}");
                let is_ancestor = repo.is_ancestor(one, other).expect("readable");
                assert_eq!(is_ancestor, bases == [one.to_string()], "{one} {other}");
            }
        }
    }

    #[test]
    fn equal_and_wrong_times_do_not_change_ancestry() {
        let fixture = Fixture::new();
        let repo = fixture.repo();
        // Two joins with the time of their first parent, one below the other, beside commits whose clocks were wrong.
        let shape: [(&[usize], i64); 8] = [
            (&[], 100),
            (&[], -400),
            (&[0, 1], 100),
            (&[], -300),
            (&[2, 3], 100),
            (&[0], 101),
            (&[4, 5], 101),
            (&[2, 5], 900),
        ];
        agrees_with_git(&fixture, &repo, &graph(&repo, &shape));
    }

    #[test]
    fn of_crossing_histories_all_best_ancestors_are_found() {
        let fixture = Fixture::new();
        let repo = fixture.repo();
        let shape: [(&[usize], i64); 5] = [(&[], 1), (&[0], 5), (&[0], 3), (&[1, 2], 4), (&[2, 1], 2)];
        let made = graph(&repo, &shape);
        let mut expected = vec![made[1], made[2]];
        expected.sort_unstable();
        assert_eq!(repo.merge_bases(&made[3], &made[4]).expect("readable"), expected);
        agrees_with_git(&fixture, &repo, &made);
    }
}
