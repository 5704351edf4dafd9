//! The private note that `resume` leaves, from which the next `create` in this worktree takes its lineage.
//!
//! It is best effort: without it a handoff is created all the same, only unlinked.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::model::{AgentName, EventId, Summary};

/// What was resumed in this worktree and has not been continued yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Marker {
    id: String,
    topic: String,
    branch: Option<String>,
    /// The agent that resumed it; another agent in the same worktree does other work.
    agent: String,
}

impl Marker {
    /// The marker for a resumed handoff.
    pub(super) fn of(summary: &Summary, agent: &AgentName) -> Self {
        Self {
            id: summary.id.to_string(),
            topic: summary.topic.to_string(),
            branch: summary.branch.clone(),
            agent: agent.to_string(),
        }
    }

    /// The resumed handoff.
    pub(super) fn id(&self) -> Option<EventId> {
        self.id.parse().ok()
    }

    /// Whether this agent's work on this topic and branch continues what was resumed. Unrelated work is never linked. A
    /// person, or an agent that is not known, may have resumed on behalf of any.
    pub(super) fn covers(&self, agent: &AgentName, topic: &str, branch: Option<&str>) -> bool {
        if self.agent != agent.as_str() && self.agent != AgentName::UNKNOWN {
            return false;
        }
        let same_branch = self.branch.is_some() && self.branch.as_deref() == branch;
        same_branch || self.topic.to_lowercase() == topic.to_lowercase()
    }

    /// The marker of the worktree with this private state, if there is a readable one.
    pub(super) fn load(state_dir: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(Self::file(state_dir)).ok()?).ok()
    }

    /// Leaves the marker.
    ///
    /// # Errors
    /// When the private state cannot be written.
    pub(super) fn save(&self, state_dir: &Path) -> io::Result<()> {
        super::state::write(&Self::file(state_dir), &serde_json::to_vec(self)?)
    }

    /// Uses the marker up.
    ///
    /// # Errors
    /// When there is one and it cannot be removed.
    pub(super) fn remove(state_dir: &Path) -> io::Result<()> {
        match fs::remove_file(Self::file(state_dir)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn file(state_dir: &Path) -> PathBuf {
        state_dir.join("resumed.json")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marker(branch: Option<&str>) -> Marker {
        Marker { id: "0".repeat(64), topic: "Billing".into(), branch: branch.map(Into::into), agent: "codex".into() }
    }

    fn agent(name: &str) -> AgentName {
        name.parse().expect("a name")
    }

    #[test]
    fn work_on_the_same_topic_or_branch_is_linked_and_other_work_is_not() {
        let marker = marker(Some("feat"));
        assert!(marker.covers(&agent("codex"), "billing", Some("main")));
        assert!(marker.covers(&agent("codex"), "search", Some("feat")));
        assert!(!marker.covers(&agent("codex"), "search", Some("main")));
        assert!(!marker.covers(&agent("codex"), "search", None));
        assert!(!marker.covers(&agent("gemini"), "billing", Some("feat")));
    }

    #[test]
    fn two_unknown_branches_are_not_the_same_branch() {
        assert!(!marker(None).covers(&agent("codex"), "search", None));
    }

    #[test]
    fn a_marker_is_read_as_it_was_left_and_removed_once() {
        let state = tempfile::tempdir().expect("a temporary directory");
        assert_eq!(Marker::load(state.path()), None);
        marker(None).save(state.path()).expect("writable");
        assert_eq!(Marker::load(state.path()), Some(marker(None)));
        Marker::remove(state.path()).expect("removable");
        Marker::remove(state.path()).expect("nothing to do");
        assert_eq!(Marker::load(state.path()), None);
    }
}
