//! The one door to git: the only module that names gix or starts a `git` process.
//!
//! Objects, refs and configuration are read and written with gix, in this process. What gix cannot do as git does
//! it goes to a child `git` through [`Command`]: the state of the work tree, refs in a reftable repository, ref
//! updates that a `reference-transaction` hook must see, and the network. Needs git 2.31 or newer for the child.
//!
//! gix reads the user's configuration by git's own rules, which includes the process environment (`HOME`,
//! `XDG_CONFIG_HOME`, `GIT_CONFIG_*`, `GIT_CEILING_DIRECTORIES`). Which repository is meant and who the user is do
//! not come from there: the caller says so in [`Locate`].

mod ancestry;
pub mod caller;
mod changes;
mod config;
mod content;
mod equivalent;
mod history;
mod identity;
mod index;
mod notes;
mod notes_join;
mod objects;
mod operation;
mod path;
mod process;
mod refs;
mod refs_with_git;
mod remote;
mod repo;
mod revision;
mod shell;
mod sign;
mod since;
mod status;
mod turn;
mod write;

#[cfg(test)]
pub(crate) mod fixture;

pub use changes::{Changes, ChangesError};
pub use config::{ConfigError, Direction};
pub use content::{Asked, CommitFiles, OnDisk};
pub use equivalent::{Equivalent, Likeness};
pub use history::{CommitInfo, HistoryError};
pub use identity::Identity;
pub use notes::{EditNote, NotesError};
pub use notes_join::{JoinedNotes, UnionNotes};
pub use objects::{CommitObject, EntryMode, ObjectError, TreeEntry};
pub use operation::GitVersion;
pub use process::{Command, CommandError, Output, Running};
pub(crate) use refs::pause;
pub use refs::{Durability, Expected, RefError, Reflog, TurnHeld, is_branch_name};
pub use remote::{Dialling, GUARD, Remote, RemoteError, Tracked, Verdict, without_credentials};
pub use repo::{Head, Locate, OpenError, Repo};
pub use since::{Heed, Newer};
pub use status::{StatusRun, WorkTreeState};
pub(crate) use write::Refusal;
pub use write::{NewCommit, ObjectWriter, WriteError};
