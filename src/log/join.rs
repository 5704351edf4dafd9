//! Joining two logs. It cannot conflict: a join holds no events of its own, only the two parents.

use super::{AppendError, Log, Stamp};
use crate::git::{HistoryError, Identity, NewCommit, ObjectError, WriteError};
use crate::model::ObjectName;

/// Why two logs could not be joined.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The graph cannot be walked, as when a commit is missing.
    #[error("cannot compare the two logs")]
    History(#[from] HistoryError),
    /// A tip cannot be read.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// The join cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// The tip that holds both logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// The own log holds the other one already.
    Own(ObjectName),
    /// The other log holds the own one.
    FastForward(ObjectName),
    /// A commit with both as its parents.
    Merge(ObjectName),
}

impl Joined {
    /// The tip.
    pub fn tip(self) -> ObjectName {
        match self {
            Self::Own(tip) | Self::FastForward(tip) | Self::Merge(tip) => tip,
        }
    }
}

impl Log<'_> {
    /// The tip that holds both logs, written and on the disk. The ref is not moved.
    ///
    /// A merge commit is a pure function of its parents (sorted, with a fixed identity, message and empty tree, and
    /// the later parent's time), so that clones which join the same pair make the same commit.
    ///
    /// # Errors
    /// See [`JoinError`].
    pub fn join(&self, own: &ObjectName, other: &ObjectName) -> Result<Joined, JoinError> {
        let base = self.repo.merge_base(own, other)?;
        if base.as_ref() == Some(other) || own == other {
            return Ok(Joined::Own(*own));
        }
        if base.as_ref() == Some(own) {
            return Ok(Joined::FastForward(*other));
        }
        let mut parents = [*own, *other];
        parents.sort_unstable();
        let seconds = self.repo.read_commit(own)?.seconds.max(self.repo.read_commit(other)?.seconds);
        let writer = self.repo.writer();
        let identity = Identity::new(Identity::FALLBACK_NAME, Identity::FALLBACK_EMAIL);
        let commit = writer.commit(&NewCommit {
            tree: writer.tree(&[])?,
            parents: &parents,
            identity: &identity,
            seconds,
            offset_minutes: 0,
            message: "join\n",
        })?;
        writer.make_durable()?;
        Ok(Joined::Merge(commit))
    }

    /// Takes these logs into the own one, in a fixed order, and moves the ref once. Returns the tips before and
    /// after, when it moved.
    ///
    /// # Errors
    /// [`AppendError::Decision`] when two logs cannot be joined; else as for [`Log::append`].
    pub fn take_in_logs(
        &self,
        stamp: &Stamp,
        others: &[ObjectName],
    ) -> Result<Option<(Option<ObjectName>, ObjectName)>, AppendError<JoinError>> {
        let mut others = others.to_vec();
        others.sort_unstable();
        self.retry(|| {
            let seen = self.repo.read_ref(super::REF)?;
            let mut tip = seen;
            for other in &others {
                tip = Some(match tip {
                    Some(own) => self.join(&own, other).map_err(AppendError::Decision)?.tip(),
                    None => *other,
                });
            }
            match tip.filter(|_| tip != seen) {
                Some(new) => {
                    self.advance(seen, &new, stamp, "join")?;
                    Ok(Some((seen, new)))
                }
                None => Ok(None),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{append, stamp};
    use super::super::{Log, REF};
    use super::*;
    use crate::git::fixture::Fixture;

    /// Two clones with a common beginning and an own end each, the second fetched into the first.
    fn diverged() -> (Fixture, Fixture) {
        let (one, two) = (Fixture::new(), Fixture::new());
        append(&Log::new(&one.repo()), 1);
        two.git(&["fetch", "-q", &one.top().to_string_lossy(), &format!("{REF}:{REF}")]);
        append(&Log::new(&one.repo()), 2);
        append(&Log::new(&two.repo()), 3);
        for (here, there) in [(&one, &two), (&two, &one)] {
            let refspec = format!("{REF}:refs/handoffs-remote/origin/log");
            here.git(&["fetch", "-q", &there.top().to_string_lossy(), &refspec]);
        }
        (one, two)
    }

    #[test]
    fn clones_that_join_the_same_pair_make_the_same_commit() {
        let (one, two) = diverged();
        for fixture in [&one, &two] {
            let repo = fixture.repo();
            let log = Log::new(&repo);
            let tips = log.tips().expect("readable");
            let moved = log.take_in_logs(&stamp(60), &[tips.remotes[0].1]).expect("writable");
            assert_eq!(moved, Some((tips.own, fixture.name(REF))));
            assert_eq!(log.take_in_logs(&stamp(70), &[tips.remotes[0].1]).expect("writable"), None);
            fixture.git(&["fsck", "--strict"]);
        }
        assert_eq!(one.name(REF), two.name(REF));
        assert_eq!(
            one.git(&["log", "-1", "--format=%an <%ae> %ad %s", "--date=raw", REF]),
            "git-handoff <git-handoff@localhost> 1787061843 +0000 join"
        );
        assert_eq!(one.git(&["ls-tree", REF]), "");
        let read = |fixture: &Fixture| {
            let mut commits = Log::new(&fixture.repo()).commits_since(&[fixture.name(REF)], &|_| None).commits;
            commits.sort_by_key(|commit| (commit.effective, commit.name));
            commits
        };
        assert_eq!(read(&one), read(&two));
        assert_eq!(read(&one).iter().map(|commit| commit.entries.len()).collect::<Vec<_>>(), [1, 1, 1, 0]);
    }

    #[test]
    fn a_log_that_holds_the_other_is_taken_as_it_is() {
        let fixture = Fixture::new();
        let repo = fixture.repo();
        let log = Log::new(&repo);
        let (one, two) = (append(&log, 1).tip, append(&log, 2).tip);
        let join = |own, other| log.join(own, other).expect("readable");
        assert_eq!(
            [join(&one, &two), join(&two, &one), join(&one, &one)],
            [Joined::FastForward(two), Joined::Own(two), Joined::Own(one)]
        );
        fixture.git(&["update-ref", "-d", REF]);
        assert_eq!(log.take_in_logs(&stamp(9), &[two]).expect("writable"), Some((None, two)));
    }
}
