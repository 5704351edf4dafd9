//! Sharing over ordinary git remotes: fetch, join, publish.
//!
//! The remote's log and notes are fetched to `refs/handoffs-remote/<remote>/…`, joined with the own ones, and what comes
//! out is pushed without force. Joining cannot conflict, and every join is a pure function of what is joined, so that all
//! clones end with the same history whatever the order in which they meet. Every step leaves a state from which the same
//! command goes on.

mod exchange;
mod exclusive;

use crate::git::{
    CommandError, Durability, Expected, HistoryError, JoinedNotes, NotesError, ObjectError, RefError, Reflog, Remote,
    RemoteError, Repo, Tracked, UnionNotes,
};
use crate::log::{AppendError, JoinError, Log, NOTES_REF, REF, REMOTES, Stamp};
use crate::model::ObjectName;

pub use exchange::{Direction, Exchange, Host, Part, Preview};
pub use exclusive::Exclusive;

/// How often notes are joined again when somebody moves them meanwhile.
const ATTEMPTS: u32 = 20;

/// Where a log and its notes stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    /// The log's tip.
    pub log: Option<ObjectName>,
    /// The notes' tip.
    pub notes: Option<ObjectName>,
}

/// What was fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fetched {
    /// Where the remote stands.
    pub theirs: Standing,
    /// A tip that the remote's log had and does not hold any more: it was deleted or set back.
    pub lost: Option<ObjectName>,
}

/// Why logs could not be shared.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// The remote is the reason.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// What stands where the remote's log should be is no commit.
    #[error("refs/handoffs/log of the remote '{remote}' is no log: {source}")]
    NotALog {
        /// The remote's name.
        remote: String,
        /// What is wrong with it.
        source: ObjectError,
    },
    /// The logs cannot be joined here.
    #[error(transparent)]
    Log(#[from] AppendError<JoinError>),
    /// The notes cannot be joined here.
    #[error(transparent)]
    Notes(#[from] NotesError),
    /// A ref cannot be read or moved.
    #[error(transparent)]
    Ref(#[from] RefError),
    /// The graph cannot be walked.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// git gave no answer.
    #[error(transparent)]
    Command(#[from] CommandError),
}

/// A repository and the remote that it shares with.
pub struct Sync<'a> {
    /// The repository.
    pub repo: &'a Repo,
    /// The remote. Its deadline holds for everything that is done with this value.
    pub remote: Remote<'a>,
    /// Who moves refs, and when.
    pub stamp: Stamp,
    /// Makes one note of two.
    pub union: &'a UnionNotes<'a>,
}

/// Makes an ordinary `git fetch` bring the remote's log; whether that is new.
///
/// The refspec is a pattern because git refuses to fetch anything from a remote that lacks a ref that is named in full.
///
/// # Errors
/// When the configuration cannot be written.
pub fn set_up(repo: &Repo, remote: &str) -> Result<bool, CommandError> {
    repo.add_fetch_refspec(remote, &fetch_refspec(remote))
}

/// The refspec that [`set_up`] adds.
pub fn fetch_refspec(remote: &str) -> String {
    format!("+{REF}*:{REMOTES}{remote}/log*")
}

/// Where the log of a remote was when it was last seen.
pub fn log_of(remote: &str) -> String {
    format!("{REMOTES}{remote}/log")
}

/// Where the log of a remote was when this repository last shared with it. An ordinary fetch does not move it.
pub fn last_of(remote: &str) -> String {
    format!("{REMOTES}{remote}/last")
}

/// The log and the notes that hold both sides, written and on the disk. No ref is moved.
///
/// # Errors
/// When they cannot be joined.
pub fn join(repo: &Repo, own: Standing, theirs: Standing, union: &UnionNotes<'_>) -> Result<Standing, SyncError> {
    let log = match (own.log, theirs.log) {
        (Some(own), Some(theirs)) => Some(Log::new(repo).join(&own, &theirs).map_err(AppendError::Decision)?.tip()),
        (own, theirs) => own.or(theirs),
    };
    let notes = match (own.notes, theirs.notes) {
        (Some(own), Some(theirs)) => Some(repo.join_notes(&own, &theirs, union)?.tip()),
        (own, theirs) => own.or(theirs),
    };
    Ok(Standing { log, notes })
}

impl Sync<'_> {
    /// Where this repository stands.
    ///
    /// # Errors
    /// When the refs cannot be read.
    pub fn own(&self) -> Result<Standing, SyncError> {
        Ok(Standing { log: self.repo.read_ref(REF)?, notes: self.repo.read_ref(NOTES_REF)? })
    }

    fn tracked(&self) -> [Tracked; 2] {
        let name = self.remote.name();
        [
            Tracked { theirs: REF.into(), ours: log_of(name) },
            Tracked { theirs: NOTES_REF.into(), ours: format!("{REMOTES}{name}/notes") },
        ]
    }

    /// Brings the remote's log and notes. The own ones stay as they are.
    ///
    /// # Errors
    /// When the remote cannot be reached or does not answer in time.
    pub fn fetch(&self) -> Result<Fetched, SyncError> {
        let tracked = self.tracked();
        let before = [self.repo.read_ref(&last_of(self.remote.name()))?, self.repo.read_ref(&tracked[0].ours)?];
        let found = self.remote.fetch(&tracked)?;
        let theirs = Standing { log: found[0], notes: found[1] };
        if let Some(Err(source)) = theirs.log.map(|log| self.repo.read_commit(&log)) {
            return Err(SyncError::NotALog { remote: self.remote.name().to_owned(), source });
        }
        let mut lost = None;
        for tip in before.into_iter().flatten() {
            let held = match &theirs.log {
                Some(log) => self.repo.exists(&tip) && self.repo.is_ancestor(&tip, log)?,
                None => false,
            };
            lost = if held { lost } else { Some(tip) };
        }
        Ok(Fetched { theirs, lost })
    }

    /// Joins what was fetched, and what the remote has lost, into the own log and notes. Notes that cannot be joined do
    /// not keep the logs apart: the inner answer says what is wrong with them.
    ///
    /// # Errors
    /// When the logs cannot be joined or the refs cannot be moved.
    pub fn join(&self, fetched: &Fetched) -> Result<Result<(), SyncError>, SyncError> {
        let logs: Vec<ObjectName> =
            fetched.theirs.log.into_iter().chain(fetched.lost.filter(|tip| self.repo.exists(tip))).collect();
        Log::new(self.repo).take_in_logs(&self.stamp, &logs)?;
        Ok(fetched.theirs.notes.map_or(Ok(()), |theirs| self.join_notes(theirs)))
    }

    fn join_notes(&self, theirs: ObjectName) -> Result<(), SyncError> {
        for attempt in 1.. {
            let own = self.repo.read_ref(NOTES_REF)?;
            let joined = match own {
                Some(own) => self.repo.join_notes(&own, &theirs, self.union)?,
                None => JoinedNotes::Theirs(theirs),
            };
            if own == Some(joined.tip()) {
                break;
            }
            match self.repo.compare_and_swap(NOTES_REF, Expected::from(own), &joined.tip(), &self.reflog("join")) {
                Err(RefError::Moved(_) | RefError::Locked { .. }) if attempt < ATTEMPTS => {
                    crate::git::pause(attempt, std::time::Duration::from_millis(200));
                }
                done => {
                    done?;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Takes note of what the remote has now.
    fn remember(&self, theirs: Standing) -> Result<(), SyncError> {
        let name = self.remote.name();
        let [log, notes] = self.tracked();
        for (name, tip) in [(log.ours, theirs.log), (last_of(name), theirs.log), (notes.ours, theirs.notes)] {
            let seen = self.repo.read_ref(&name)?;
            let Some(new) = tip.filter(|new| seen != Some(*new)) else { continue };
            match self.repo.compare_and_swap(&name, Expected::from(seen), &new, &self.reflog("sync")) {
                // Somebody else fetched or pushed meanwhile, and knows better.
                Ok(()) | Err(RefError::Moved(_)) => {}
                Err(other) => return Err(other.into()),
            }
        }
        Ok(())
    }

    fn reflog<'s>(&'s self, message: &'s str) -> Reflog<'s> {
        Reflog {
            durability: Durability::Process,
            identity: &self.stamp.identity,
            seconds: self.stamp.now.seconds(),
            offset_minutes: self.stamp.now.offset_minutes(),
            message,
        }
    }
}
