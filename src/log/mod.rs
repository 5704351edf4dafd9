//! The event log over git: the only truth.
//!
//! One ref, one commit an append, and in the commit's tree only that append's events, at `<kind>/<id>.json`. The
//! module writes events that others have decided on and reads back whatever is there; what cannot be read becomes
//! an [`Anomaly`](crate::model::Anomaly) and never stops the rest. What the events mean is not its business.

mod append;
pub mod approval;
mod codec;
pub mod envelope;
mod join;
mod order;
pub mod queue;
mod read;
mod rescue;
pub mod rewrite;
mod spool;
mod waiver;

#[cfg(test)]
mod fixture;

pub use append::{Append, AppendError, Appended, Description, NewEvent, Stamp};
pub use join::{JoinError, Joined};
pub use order::effective;
pub use read::{Tips, Walk};
pub use rescue::Rescued;
pub use spool::{Spool, SpoolError, Spooled, TakeIn, TakeInError, TakenIn};
pub use waiver::{WAIVER, waived, waiver};

use crate::git::Repo;

/// The log.
pub const REF: &str = "refs/handoffs/log";
/// The notes that show handoffs on source commits.
pub const NOTES_REF: &str = "refs/notes/handoffs";
/// Where fetched logs (`<remote>/log`) and notes (`<remote>/notes`) stand.
pub const REMOTES: &str = "refs/handoffs-remote/";

/// The most bytes that an event may have: a handoff's limit, and room for what later versions add to it.
pub const MAX_EVENT_BYTES: u64 = (crate::model::Handoff::MAX_BYTES + 64 * 1024) as u64;

/// The log of a repository.
#[derive(Debug, Clone, Copy)]
pub struct Log<'r> {
    repo: &'r Repo,
    signing: Signing,
}

/// Whether the commits of the log carry the user's signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signing {
    /// They do not.
    Unsigned,
    /// They do, made by git with the user's settings.
    Signed,
}

impl<'r> Log<'r> {
    /// The log of this repository. It need not exist yet.
    pub fn new(repo: &'r Repo) -> Self {
        Self { repo, signing: Signing::Unsigned }
    }

    /// The same log, whose appends are signed or not.
    #[must_use]
    pub fn signing(self, signing: Signing) -> Self {
        Self { signing, ..self }
    }
}

/// The folder of a kind of events: a word that is a valid name on every system.
fn is_kind(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}
