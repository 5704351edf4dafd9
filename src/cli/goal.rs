//! The goal of a worktree: what is being worked on until somebody says that it ended. Private state, one file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::git::Head;
use crate::model::{ObjectName, Timestamp};

/// An open goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Goal {
    /// What is to be reached.
    pub(super) text: String,
    /// In how many phases.
    pub(super) phases: u32,
    /// When it was started.
    pub(super) started: String,
    /// The branch that was checked out then.
    pub(super) branch: Option<String>,
    /// The commit that was checked out then.
    #[serde(default)]
    commit: Option<String>,
    /// What was noted on the way.
    #[serde(default)]
    pub(super) notes: Vec<String>,
    /// The handoff that closes it, when closing went as far as that.
    #[serde(default)]
    pub(super) handoff: Option<String>,
}

impl Goal {
    /// A goal that begins now, at what is checked out.
    pub(super) fn new(text: String, phases: u32, started: Timestamp, head: Head) -> Self {
        let Head { branch, commit } = head;
        let commit = commit.map(|commit| commit.to_string());
        Self { text, phases, started: started.to_string(), branch, commit, notes: Vec::new(), handoff: None }
    }

    /// The commit at which it began.
    pub(super) fn commit(&self) -> Option<ObjectName> {
        self.commit.as_deref()?.parse().ok()
    }

    /// The open goal of the worktree with this private state.
    ///
    /// # Errors
    /// When there is one and it cannot be read.
    pub(super) fn load(state_dir: &Path) -> io::Result<Option<Self>> {
        match fs::read(file(state_dir)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether there is a goal, without reading it.
    pub(super) fn is_open(state_dir: &Path) -> bool {
        file(state_dir).symlink_metadata().is_ok()
    }

    /// Keeps it.
    ///
    /// # Errors
    /// When the private state cannot be written.
    pub(super) fn save(&self, state_dir: &Path) -> io::Result<()> {
        super::state::write(&file(state_dir), &serde_json::to_vec(self)?)
    }

    /// It is open no more.
    ///
    /// # Errors
    /// When its file cannot be removed.
    pub(super) fn remove(state_dir: &Path) -> io::Result<()> {
        fs::remove_file(file(state_dir))
    }

    /// As `status` and `goal status` give it.
    pub(super) fn json(&self) -> Value {
        json!({
            "text": self.text,
            "phases": self.phases,
            "started": self.started,
            "branch": self.branch,
            "notes": self.notes,
        })
    }
}

fn file(state_dir: &Path) -> PathBuf {
    state_dir.join("goal.json")
}
