//! What the hooks remember between two commits, so that a commit after which nothing is due costs next to nothing.
//!
//! It holds only while branch and log stand where they stood; without it everything is worked out again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::model::ObjectName;

/// The state of one worktree between two commits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Watch {
    /// The branch.
    pub(super) branch: Option<String>,
    /// The tip of the log.
    log: Option<String>,
    /// The commit from which the branch's work counts.
    since: Option<String>,
    /// Whether a draft was made of this work already.
    #[serde(default)]
    pub(super) drafted: bool,
}

impl Watch {
    /// The state for this branch and log, which counts from this commit.
    pub(super) fn new(branch: Option<String>, log: Option<ObjectName>, since: Option<ObjectName>) -> Self {
        let text = |name: Option<ObjectName>| name.map(|name| name.to_string());
        Self { branch, log: text(log), since: text(since), drafted: false }
    }

    /// What was remembered, if it still holds for this branch and log.
    pub(super) fn load(state_dir: &Path, branch: Option<&str>, log: Option<&ObjectName>) -> Option<Self> {
        let watch: Self = serde_json::from_slice(&fs::read(file(state_dir)).ok()?).ok()?;
        let holds = watch.branch.as_deref() == branch && watch.log == log.map(ToString::to_string);
        holds.then_some(watch)
    }

    /// The commit from which the branch's work counts.
    pub(super) fn since(&self) -> Option<ObjectName> {
        self.since.as_deref()?.parse().ok()
    }

    /// Remembers it.
    ///
    /// # Errors
    /// When the private state cannot be written.
    pub(super) fn save(&self, state_dir: &Path) -> io::Result<()> {
        super::state::write(&file(state_dir), &serde_json::to_vec(self)?)
    }
}

fn file(state_dir: &Path) -> PathBuf {
    state_dir.join("watch.json")
}
