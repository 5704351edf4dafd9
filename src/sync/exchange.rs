//! One round with a remote: fetch, join, publish, and again when the remote has moved meanwhile.

use std::time::Duration;

use super::{Fetched, Standing, Sync, SyncError};
use crate::git::{Verdict, pause};
use crate::log::{NOTES_REF, REF};
use crate::model::ObjectName;

/// How often a round is tried when others publish at the same time. The deadline usually comes first.
const ROUNDS: u32 = 40;
/// The longest pause between two rounds.
const LONGEST_PAUSE: Duration = Duration::from_millis(400);

/// Which way handoffs go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Both ways.
    Both,
    /// Only from the remote.
    Fetch,
    /// Only to the remote. Nothing is joined, so that a remote that has moved takes nothing.
    Push,
}

/// What a round needs of its caller.
pub trait Host {
    /// Why the caller stops a round.
    type Error;

    /// The logs are joined: brings the notes up to the log. What it adds to them is published.
    ///
    /// # Errors
    /// When the round is to stop.
    fn joined(&mut self) -> Result<(), Self::Error>;

    /// Whether the log up to this tip may leave the repository, of which the remote has what `known` reaches.
    ///
    /// # Errors
    /// When it may not.
    fn may_publish(&mut self, tip: &ObjectName, known: &[ObjectName]) -> Result<(), Self::Error>;
}

/// What became of the log or of the notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Not offered to the remote.
    Kept,
    /// The remote had it.
    Current,
    /// The remote took it.
    Sent,
    /// Others published again and again, or since the last fetch.
    Moved,
    /// The remote does not want it; its reason.
    Refused(String),
}

/// How a round ended.
#[derive(Debug)]
pub struct Exchange {
    /// What was fetched last.
    pub fetched: Fetched,
    /// Where the own side stands.
    pub own: Standing,
    /// The log.
    pub log: Part,
    /// The notes.
    pub notes: Part,
    /// Why the notes could not be joined.
    pub notes_fault: Option<SyncError>,
}

/// What a round would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preview {
    /// Where the remote stands. Its log's objects are here.
    pub theirs: Standing,
    /// Where the own side stands.
    pub own: Standing,
}

impl Sync<'_> {
    /// Shares with the remote.
    ///
    /// # Errors
    /// The outer one when the remote, git or a ref is the reason. The inner one is the caller's own: what was fetched
    /// is joined then, and nothing was published.
    pub fn exchange<H: Host>(
        &self,
        direction: Direction,
        host: &mut H,
    ) -> Result<Result<Exchange, H::Error>, SyncError> {
        let mut notes_fault = None;
        for round in 1.. {
            let fetched = match direction {
                Direction::Push => self.as_last_seen()?,
                Direction::Both | Direction::Fetch => self.fetch()?,
            };
            if direction != Direction::Push {
                notes_fault = self.join(&fetched)?.err();
                if let Err(error) = host.joined() {
                    return Ok(Err(error));
                }
            }
            let own = self.own()?;
            let kept = Exchange { fetched, own, log: Part::Kept, notes: Part::Kept, notes_fault: notes_fault.take() };
            if direction == Direction::Fetch {
                self.remember(fetched.theirs)?;
                return Ok(Ok(kept));
            }
            if let Some(tip) = own.log.filter(|tip| fetched.theirs.log != Some(*tip)) {
                let known: Vec<ObjectName> = fetched.theirs.log.into_iter().chain(fetched.lost).collect();
                if let Err(error) = host.may_publish(&tip, &known) {
                    return Ok(Err(error));
                }
            }
            // Notes that could not be joined would only be refused.
            let offered = Standing { notes: own.notes.filter(|_| kept.notes_fault.is_none()), ..own };
            let (log, notes) = self.publish(offered, fetched.theirs)?;
            let again = direction == Direction::Both && [&log, &notes].contains(&&Part::Moved);
            if !again || round >= ROUNDS || self.remote.time_left().is_zero() {
                return Ok(Ok(Exchange { log, notes, ..kept }));
            }
            pause(round, LONGEST_PAUSE);
        }
        unreachable!("the rounds are bounded")
    }

    /// What a round would do, without moving a ref. The remote's objects are fetched.
    ///
    /// # Errors
    /// When the remote cannot be reached.
    pub fn preview(&self) -> Result<Preview, SyncError> {
        let found = self.remote.look(&[REF, NOTES_REF])?;
        if found[0].is_some_and(|tip| !self.repo.exists(&tip)) {
            self.remote.fetch_objects(REF)?;
        }
        Ok(Preview { theirs: Standing { log: found[0], notes: found[1] }, own: self.own()? })
    }

    fn as_last_seen(&self) -> Result<Fetched, SyncError> {
        let [log, notes] = self.tracked();
        let theirs = Standing { log: self.repo.read_ref(&log.ours)?, notes: self.repo.read_ref(&notes.ours)? };
        Ok(Fetched { theirs, lost: None })
    }

    /// Offers the remote what it does not have.
    pub(super) fn publish(&self, own: Standing, theirs: Standing) -> Result<(Part, Part), SyncError> {
        let offer = |own: Option<ObjectName>, theirs: Option<ObjectName>, name: &'static str| {
            own.filter(|own| theirs != Some(*own)).map(|own| (own, name))
        };
        let offered = [offer(own.log, theirs.log, REF), offer(own.notes, theirs.notes, NOTES_REF)];
        let list: Vec<(ObjectName, &str)> = offered.iter().flatten().copied().collect();
        let mut verdicts = if list.is_empty() { Vec::new() } else { self.remote.push(&list)? }.into_iter();
        let mut part = |offered: Option<(ObjectName, &str)>| match offered.and_then(|_| verdicts.next()) {
            None | Some(Verdict::Current) => Part::Current,
            Some(Verdict::Taken) => Part::Sent,
            Some(Verdict::Moved) => Part::Moved,
            Some(Verdict::Refused(why)) => Part::Refused(why),
        };
        let (log, notes) = (part(offered[0]), part(offered[1]));
        let has = |part: &Part, own, theirs| match part {
            Part::Sent | Part::Current => own,
            Part::Kept | Part::Moved | Part::Refused(_) => theirs,
        };
        self.remember(Standing { log: has(&log, own.log, theirs.log), notes: has(&notes, own.notes, theirs.notes) })?;
        Ok((log, notes))
    }
}
