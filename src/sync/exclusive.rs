//! An append that counts only once the remote has it, so that of all clones one wins.

use std::convert::Infallible;
use std::time::Duration;

use super::{Host, Part, Standing, Sync, SyncError};
use crate::git::{RemoteError, pause};
use crate::log::{Append, AppendError, Appended, Log};
use crate::model::ObjectName;

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(300);

/// How an exclusive append ended.
#[derive(Debug)]
pub enum Exclusive<D, H> {
    /// The remote has it, and so has the own log.
    Won(Appended),
    /// The decision on the joined logs was against it: it could not be, or somebody else was faster.
    Lost(D),
    /// The caller keeps the log at home.
    Withheld(H),
    /// The remote cannot be reached, took nothing within the deadline, or gave no answer: should it have taken the event
    /// all the same, the next fetch brings it.
    Unreachable(RemoteError),
    /// The remote does not take the log; its reason.
    Refused(String),
}

impl Sync<'_> {
    /// Fetches, joins, decides on the joined log, and offers the event to the remote before the own log takes it. When
    /// somebody else was faster, it all begins again, until the deadline of the remote.
    ///
    /// The events must be unlike those of every other clone (by a random number in them), also where two decide in the
    /// same second: otherwise two clones could believe to have made the same event.
    ///
    /// # Errors
    /// When git, a ref or an object is the reason.
    pub fn exclusive<D, H: Host>(
        &self,
        host: &mut H,
        mut decide: impl FnMut(Option<ObjectName>) -> Result<Append, D>,
    ) -> Result<Exclusive<D, H::Error>, SyncError> {
        for attempt in 1.. {
            let fetched = match self.fetch() {
                Err(SyncError::Remote(error)) => return Ok(Exclusive::Unreachable(error)),
                fetched => fetched?,
            };
            // Notes have no say in what an event is decided on.
            drop(self.join(&fetched)?);
            let own = self.own()?;
            if let Err(error) = host.joined() {
                return Ok(Exclusive::Withheld(error));
            }
            let append = match decide(own.log) {
                Err(error) => return Ok(Exclusive::Lost(error)),
                Ok(append) => append,
            };
            let written = Log::new(self.repo).write_on(own.log, &self.stamp, &append).map_err(undecided)?;
            let known: Vec<ObjectName> = fetched.theirs.log.into_iter().chain(fetched.lost).collect();
            if let Err(error) = host.may_publish(&written.tip, &known) {
                return Ok(Exclusive::Withheld(error));
            }
            let offered = Standing { log: Some(written.tip), notes: fetched.theirs.notes };
            match self.publish(offered, fetched.theirs) {
                Err(SyncError::Remote(error)) => return Ok(Exclusive::Unreachable(error)),
                Err(other) => return Err(other),
                Ok((Part::Sent, _)) => {
                    Log::new(self.repo).take_in_logs(&self.stamp, &[written.tip])?;
                    return Ok(Exclusive::Won(written));
                }
                Ok((Part::Refused(why), _)) => return Ok(Exclusive::Refused(why)),
                // What the remote has already is somebody else's, for nobody else has seen our commit.
                Ok((Part::Moved | Part::Current | Part::Kept, _)) => {}
            }
            if self.remote.time_left().is_zero() {
                let remote = self.remote.name().to_owned();
                return Ok(Exclusive::Unreachable(RemoteError::TimedOut { remote, after: self.remote.patience() }));
            }
            pause(attempt, LONGEST_PAUSE);
        }
        unreachable!("the deadline comes before the numbers run out")
    }
}

/// Writing what was decided does not decide again.
fn undecided(error: AppendError<Infallible>) -> SyncError {
    SyncError::Log(match error {
        AppendError::Decision(never) => match never {},
        AppendError::Contended { after, source } => AppendError::Contended { after, source },
        AppendError::NotWritable(source) => AppendError::NotWritable(source),
        AppendError::StorageFull(source) => AppendError::StorageFull(source),
        AppendError::Event { id, kind } => AppendError::Event { id, kind },
        AppendError::Write(source) => AppendError::Write(source),
        AppendError::Ref(source) => AppendError::Ref(source),
    })
}
