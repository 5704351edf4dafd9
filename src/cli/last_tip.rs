//! The tip of the log that was seen last here, by which a log that was rewound or deleted is noticed.
//!
//! It is best effort: without it the log is believed as it stands.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::Failure;
use super::session::Session;
use crate::model::ObjectName;
use crate::views::cache::Index;

fn file(shared_state_dir: &Path) -> PathBuf {
    shared_state_dir.join("last-tip")
}

fn write(dir: &Path, tip: &ObjectName) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    let mut new = tempfile::NamedTempFile::new_in(dir)?;
    writeln!(new, "{tip}")?;
    new.persist(file(dir)).map(drop).map_err(|error| error.error)
}

impl Session<'_> {
    /// The tip that was seen last here.
    pub(super) fn last_tip(&self) -> Option<ObjectName> {
        fs::read_to_string(file(&self.repo.shared_state_dir())).ok()?.trim().parse().ok()
    }

    /// From now on this is the tip that was seen last.
    pub(super) fn remember_tip(&self, tip: Option<ObjectName>) {
        if let Some(tip) = tip.filter(|tip| self.last_tip().as_ref() != Some(tip)) {
            // Without the note a rewind goes unnoticed; nothing else depends on it.
            drop(write(&self.repo.shared_state_dir(), &tip));
        }
    }

    /// The tip that was seen last, when the log as this index has it does not reach it any more.
    ///
    /// # Errors
    /// When the index is damaged.
    pub(super) fn lost_tip(&self, index: &Index) -> Result<Option<ObjectName>, Failure> {
        let Some(tip) = self.last_tip().filter(|tip| index.basis() != Some(*tip)) else { return Ok(None) };
        Ok(index.known(&tip)?.is_none().then_some(tip))
    }
}
