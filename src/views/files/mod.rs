//! The files that agents and people read in the work tree: handoffs, their indexes, and the index over all agents.
//!
//! They are a function of the log alone, so that they have the same bytes on every clone. They stand where people
//! and other tools write too, so that nothing is replaced that was not provably generated: it is kept and reported.

mod exclude;
mod handoffs;
mod lines;
mod listing;
mod markdown;
mod refresh;
mod stamps;
mod survey;
#[cfg(test)]
mod tests;
mod tree;
pub(in crate::views) mod write;

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use crate::model::{EventId, Handoff, Lanes, SessionName, Summary};

use super::cache::{CacheError, Index};

pub use exclude::remove as remove_exclude_lines;
pub use refresh::{are_behind, refresh};
pub use stamps::keep as keep_copy;
pub use survey::{Look, read_file, unknown_files};

/// The index over all lanes.
pub const ALL_INDEX: &str = ".session-transfer/INDEX.md";

/// An error of somebody else's function.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Whether there are files in the work tree, and what git is to see of them (`handoff.layout`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// There are, and `info/exclude` names them.
    #[default]
    Exclude,
    /// There are, and the user tracks them.
    Track,
    /// There are none.
    Off,
}

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Everything.
    Full,
    /// What the log gained since the last refresh, and whether the indexes are as that left them.
    Incremental,
}

/// Whether a refresh changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It does.
    Writes,
    /// It only finds out what it would do.
    Rehearses,
}

/// The names that a rendered handoff shows, which come from the log's order and not from the document.
#[derive(Debug, Clone, PartialEq)]
pub struct FileNames {
    /// The content id.
    pub id: EventId,
    /// Its own name.
    pub session: SessionName,
    /// The name of the handoff that it continues, where the log knows it.
    pub previous: Option<SessionName>,
    /// The file of the handoff that its session was resumed from, where the log knows it.
    pub resumed_from: Option<String>,
}

/// Which document a file in the work tree holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedFile {
    /// The id that its content has.
    pub id: EventId,
    /// The id that it gives itself.
    pub claimed: Option<EventId>,
}

/// A row of the index's table of queued work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Continuation {
    /// Its name, or the first digits of its id.
    pub name: String,
    /// What it is about.
    pub topic: String,
    /// `ready`, `waiting` or `stopped`.
    pub state: String,
    /// What it waits on, or why it stopped.
    pub waits_on: Option<String>,
}

/// What a refresh needs.
pub struct Refresh<'a> {
    /// The top of the work tree.
    pub work_dir: &'a Path,
    /// The private state of this work tree.
    pub state_dir: &'a Path,
    /// `info/exclude` of the repository.
    pub exclude_file: &'a Path,
    /// What git is to see.
    pub layout: Layout,
    /// How much is looked at.
    pub mode: Mode,
    /// Whether anything is changed.
    pub effect: Effect,
    /// The directories of the agents.
    pub lanes: &'a Lanes,
    /// The queued work that the index over all lanes shows, as the log that is shown has it.
    pub continuations: &'a dyn Fn(&Index) -> Result<Vec<Continuation>, BoxError>,
    /// Loads the index. It is called when no other refresh of this work tree can run, so that the last of many
    /// leaves the views right.
    pub fresh: &'a dyn Fn() -> Result<Index, BoxError>,
    /// Loads a document.
    pub document: &'a dyn Fn(&Summary) -> Result<Handoff, BoxError>,
    /// Renders a document as Markdown.
    pub render: &'a dyn Fn(&Handoff, &FileNames) -> String,
    /// Reads a file; `None` when it cannot be a handoff.
    pub parse: &'a dyn Fn(&str) -> Option<ParsedFile>,
}

/// Why nothing was refreshed.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The work tree cannot be entered.
    #[error("the work tree {path} cannot be read", path = path.display())]
    WorkTree {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The private state cannot be written.
    #[error("the private state in {path} cannot be written", path = path.display())]
    State {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Other processes refreshed the views all the time.
    #[error("other processes are still refreshing the views; run `git handoff recover` later")]
    Busy,
    /// The metadata cache failed in the middle.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The queue could not be read.
    #[error("the queue could not be read")]
    Queue(#[source] BoxError),
    /// The index could not be loaded.
    #[error("the log's index could not be loaded")]
    Index(#[source] BoxError),
}

/// What a refresh did.
#[derive(Debug, Default)]
pub struct RefreshReport {
    /// How many files were written.
    pub written: usize,
    /// What somebody should know.
    pub findings: Vec<Finding>,
}

impl RefreshReport {
    /// Whether every view now stands for the log.
    pub fn is_complete(&self) -> bool {
        !self.findings.iter().any(Finding::is_failure)
    }
}

/// Something that a refresh met. Paths are relative to the top of the work tree; where a copy was kept is absolute.
#[derive(Debug, thiserror::Error)]
pub enum Finding {
    /// A person edited a handoff's file.
    #[error("{path} was edited and is kept; `git handoff edit --from {path}` records the change")]
    Edited {
        /// The file.
        path: String,
    },
    /// A handoff's file was no handoff any more.
    #[error("{path} could not be read as a handoff and was rebuilt; what was there is in {kept}", kept = kept.display())]
    Corrupt {
        /// The file.
        path: String,
        /// The copy.
        kept: PathBuf,
    },
    /// A person's version of a handoff had to leave its file, and there is no room for it where the handoff is now.
    #[error("the edited handoff that stood in {path} is now in {kept}", kept = kept.display())]
    Displaced {
        /// Where it stood.
        path: String,
        /// The copy.
        kept: PathBuf,
    },
    /// The file that a handoff should have holds another one, which the log does not know.
    #[error("{path} holds a handoff that the log does not know and is kept; handoff {wanted_by} has no file", wanted_by = wanted_by.short())]
    Occupied {
        /// The file.
        path: String,
        /// The handoff whose file it should be.
        wanted_by: EventId,
    },
    /// A file of somebody else's stands where an index should.
    #[error("{path} is no index of git handoff and is kept; move it away, or set handoff.layout to off")]
    NotOurs {
        /// The file.
        path: String,
    },
    /// An index held what was not generated.
    #[error("{path} held what was not generated and was rebuilt; what was there is in {kept}", kept = kept.display())]
    Foreign {
        /// The file.
        path: String,
        /// The copy.
        kept: PathBuf,
    },
    /// A list had lines that are no records. They are left out.
    #[error("{path} had lines that are no records ({}), which are left out; what was there is in {kept}", numbers(lines), kept = kept.display())]
    Skipped {
        /// The file.
        path: String,
        /// Their numbers, from 1.
        lines: Vec<usize>,
        /// The copy.
        kept: PathBuf,
    },
    /// A list names handoffs that the log does not know. Their lines stay.
    #[error(
        "{path} lists handoffs that are not in the log ({lines}); their lines stay, and `git handoff recover` takes in those whose files are there"
    )]
    FileOnly {
        /// The file.
        path: String,
        /// How many there are.
        lines: usize,
    },
    /// A handoff has another name since logs were joined.
    #[error("{from} is now {to}")]
    Renamed {
        /// The old path.
        from: String,
        /// The new path.
        to: String,
    },
    /// A link leads out of the work tree.
    #[error("{path} leads out of the work tree, to {resolved}, and is not written", resolved = resolved.display())]
    Refused {
        /// The path.
        path: String,
        /// Where it leads.
        resolved: PathBuf,
    },
    /// A file could not be read or written.
    #[error("{path} could not be refreshed: {error}")]
    Failed {
        /// The path.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// The document of a handoff could not be loaded, so that its file could not be written.
    #[error("handoff {id} could not be loaded: {error}", id = id.short())]
    Unloadable {
        /// Its id.
        id: EventId,
        /// Why.
        error: BoxError,
    },
}

impl Finding {
    /// The kind, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Edited { .. } => "edited",
            Self::Corrupt { .. } => "corrupt",
            Self::Displaced { .. } => "displaced",
            Self::Occupied { .. } => "occupied",
            Self::Foreign { .. } => "foreign",
            Self::NotOurs { .. } => "not_ours",
            Self::Skipped { .. } => "skipped",
            Self::FileOnly { .. } => "file_only",
            Self::Renamed { .. } => "renamed",
            Self::Refused { .. } => "refused",
            Self::Failed { .. } => "failed",
            Self::Unloadable { .. } => "unloadable",
        }
    }

    /// The file that it is about.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Edited { path }
            | Self::Corrupt { path, .. }
            | Self::Displaced { path, .. }
            | Self::Occupied { path, .. }
            | Self::Foreign { path, .. }
            | Self::NotOurs { path }
            | Self::Skipped { path, .. }
            | Self::FileOnly { path, .. }
            | Self::Renamed { from: path, .. }
            | Self::Refused { path, .. }
            | Self::Failed { path, .. } => Some(path),
            Self::Unloadable { .. } => None,
        }
    }

    /// Where a copy of what had to give way is.
    pub fn kept(&self) -> Option<&Path> {
        match self {
            Self::Corrupt { kept, .. }
            | Self::Displaced { kept, .. }
            | Self::Foreign { kept, .. }
            | Self::Skipped { kept, .. } => Some(kept),
            Self::Edited { .. }
            | Self::NotOurs { .. }
            | Self::Occupied { .. }
            | Self::FileOnly { .. }
            | Self::Renamed { .. }
            | Self::Refused { .. }
            | Self::Failed { .. }
            | Self::Unloadable { .. } => None,
        }
    }

    /// Whether a view does not stand for the log because of it.
    fn is_failure(&self) -> bool {
        match self {
            Self::NotOurs { .. } | Self::Refused { .. } | Self::Failed { .. } | Self::Unloadable { .. } => true,
            Self::Edited { .. }
            | Self::Displaced { .. }
            | Self::Corrupt { .. }
            | Self::Occupied { .. }
            | Self::Foreign { .. }
            | Self::Skipped { .. }
            | Self::FileOnly { .. }
            | Self::Renamed { .. } => false,
        }
    }
}

/// The first few of these line numbers.
fn numbers(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(10).map(ToString::to_string).collect();
    let more = if lines.len() > shown.len() { ", …" } else { "" };
    let word = if lines.len() == 1 { "line" } else { "lines" };
    format!("{word} {}{more}", shown.join(", "))
}
