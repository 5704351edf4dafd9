//! When the log's newest commit cannot be read, as after a power cut or a damaged disk: where it can go on from.

use super::{AppendError, Log, REF, Stamp};
use crate::git::{NewCommit, RefError};
use crate::model::ObjectName;
use std::convert::Infallible;

/// From where the log goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rescued {
    /// The tip that cannot be read.
    pub broken: ObjectName,
    /// The tip from which the log goes on: an earlier one, or an empty commit where no earlier one can be read.
    pub tip: ObjectName,
    /// Whether it is an earlier one.
    pub earlier: bool,
}

impl Log<'_> {
    /// The log's tip, if it cannot be read.
    ///
    /// # Errors
    /// When the ref cannot be read.
    pub fn broken_tip(&self) -> Result<Option<ObjectName>, RefError> {
        Ok(self.repo.read_ref(REF)?.filter(|tip| !self.is_readable(tip)))
    }

    /// Moves the log from a tip that cannot be read to the newest of its earlier tips that can. `None` when the tip is
    /// sound.
    ///
    /// # Errors
    /// As for [`Log::append`].
    pub fn rescue(
        &self,
        stamp: &Stamp,
        remembered: Option<ObjectName>,
    ) -> Result<Option<Rescued>, AppendError<Infallible>> {
        let Some(broken) = self.broken_tip()? else { return Ok(None) };
        let mut earlier = self.repo.reflog_of(REF);
        earlier.extend(remembered);
        let earlier = earlier.into_iter().find(|tip| *tip != broken && self.is_readable(tip));
        let tip = match earlier {
            Some(tip) => tip,
            None => {
                let writer = self.repo.writer();
                let beginning = writer.commit(&NewCommit {
                    tree: writer.tree(&[])?,
                    parents: &[],
                    identity: &stamp.identity,
                    seconds: stamp.now.seconds(),
                    offset_minutes: stamp.now.offset_minutes(),
                    message: "begin again: the log before could not be read\n",
                })?;
                writer.make_durable()?;
                beginning
            }
        };
        self.advance(Some(broken), &tip, stamp, "recover: the tip could not be read")?;
        Ok(Some(Rescued { broken, tip, earlier: earlier.is_some() }))
    }

    fn is_readable(&self, tip: &ObjectName) -> bool {
        self.repo.read_commit(tip).is_ok_and(|commit| self.repo.read_tree(&commit.tree).is_ok())
    }
}
