//! Drafts: what was typed and could not be sealed, or is still being written.
//!
//! They lie in the worktree's private state. Where nothing can be written there, the temporary directory takes
//! them, and failing that the caller prints the text: nothing typed is lost.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::Builder;

use crate::model::Timestamp;

/// The drafts of one worktree.
#[derive(Debug, Clone)]
pub(super) struct Drafts {
    directory: PathBuf,
}

impl Drafts {
    /// The drafts in this private state directory.
    pub(super) fn new(state_dir: &Path) -> Self {
        Self { directory: state_dir.join("drafts") }
    }

    /// Keeps a text, readable for its owner only. The caller has masked its secrets.
    ///
    /// # Errors
    /// When neither the private state nor the temporary directory `fallback` can be written.
    pub(super) fn keep(&self, text: &[u8], topic: &str, now: Timestamp, fallback: &Path) -> io::Result<PathBuf> {
        let name = format!("{}-{}", now.minute_name(), slug(topic));
        let private = fs::create_dir_all(&self.directory).and_then(|()| write_new(&self.directory, &name, text));
        private.or_else(|_| write_new(fallback, &format!("git-handoff-{name}"), text))
    }

    /// How many drafts there are.
    pub(super) fn count(&self) -> usize {
        fs::read_dir(&self.directory).map_or(0, |entries| entries.filter_map(Result::ok).count())
    }

    /// Whether a file is one of these drafts.
    pub(super) fn holds(&self, file: &Path) -> bool {
        let same_directory = || Some(fs::canonicalize(file.parent()?).ok()? == fs::canonicalize(&self.directory).ok()?);
        same_directory().unwrap_or(false)
    }

    /// Removes the file if it is one of these drafts: it has been sealed and stands in the log.
    ///
    /// # Errors
    /// When it is one of them and cannot be removed.
    pub(super) fn sealed(&self, file: &Path) -> io::Result<()> {
        if self.holds(file) { fs::remove_file(file) } else { Ok(()) }
    }
}

/// Writes a file that did not exist before; a further one of the same name gets another ending.
fn write_new(directory: &Path, name: &str, text: &[u8]) -> io::Result<PathBuf> {
    let mut file = Builder::new().prefix(&format!("{name}-")).suffix(".md").rand_bytes(4).tempfile_in(directory)?;
    file.write_all(text)?;
    file.as_file().sync_all()?;
    Ok(file.keep()?.1)
}

/// At most 40 characters of a topic that are safe in a file name everywhere.
fn slug(topic: &str) -> String {
    let words = topic.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-");
    let cut: String = slug.chars().take(40).collect();
    if cut.is_empty() { "draft".into() } else { cut.trim_end_matches('-').into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_is_kept_counted_and_removed_once_sealed() {
        let state = tempfile::tempdir().expect("a temporary directory");
        let drafts = Drafts::new(state.path());
        let now = "2026-08-18T17:04:00+03:00".parse().expect("valid");
        assert_eq!(drafts.count(), 0);
        let path = drafts.keep(b"text", "../../Ship it: now", now, state.path()).expect("writable");
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        assert!(name.starts_with("2026-08-18-1704-ship-it-now-"), "{name}");
        assert_eq!((fs::read(&path).expect("readable"), drafts.count()), (b"text".to_vec(), 1));
        drafts.sealed(&path).expect("removable");
        assert_eq!(drafts.count(), 0);
    }

    #[test]
    fn a_file_elsewhere_is_not_removed() {
        let state = tempfile::tempdir().expect("a temporary directory");
        let file = state.path().join("mine.md");
        fs::write(&file, "x").expect("writable");
        Drafts::new(&state.path().join("state")).sealed(&file).expect("nothing to do");
        assert!(file.exists());
    }
}
