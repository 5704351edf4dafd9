//! Files of handoffs that the log may not know, found without reading every file each time.
//!
//! A directory's own time changes whenever a name in it is added or removed. While it is the one that was noted when
//! the directory was last looked through, nothing new stands there.

use std::path::Path;

use crate::model::{EventId, Lane, Lanes};

use super::refresh::open_tree;
use super::stamps::{DirStamp, Stamps};
use super::tree::Tree;
use super::{Effect, Finding, ViewError};
use crate::views::cache::Index;

/// How much of a file is read to find the id that it gives itself, which stands in its metadata.
const BEGINNING: u64 = 8 * 1024;

/// Whether what earlier looks noted may be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Where a directory has not changed since.
    Quick,
    /// Every file is looked at.
    Thorough,
}

/// The files in the lanes, by path and in a fixed order, that may hold handoffs which this index does not know: those
/// that do not give themselves an id that it knows. Directories that lead out of the work tree have none.
///
/// # Errors
/// When the work tree cannot be entered or the index is damaged.
pub fn unknown_files(
    work_dir: &Path,
    state_dir: &Path,
    lanes: &Lanes,
    index: &Index,
    look: Look,
) -> Result<Vec<String>, ViewError> {
    let tree = open_tree(work_dir, Effect::Rehearses)?;
    let stamps = Stamps::load(state_dir, lanes);
    // A log that lost something makes files unknown that were not.
    let look = if stamps.are_of_a_part_of(index)? { look } else { Look::Thorough };
    let mut found = Vec::new();
    for lane in lanes.all() {
        let dir = handoffs_dir(&lane);
        let Some(modified) = tree.dir_modified(&dir) else { continue };
        match stamps.dirs.get(&dir).filter(|stamp| look == Look::Quick && stamp.modified == modified) {
            Some(stamp) => found.extend(stamp.unknown.iter().cloned()),
            None => found.extend(look_through(&tree, index, &dir)?),
        }
    }
    Ok(found)
}

/// The bytes of a file of the work tree; `None` when there is none.
///
/// # Errors
/// When it leads out of the work tree or cannot be read.
pub fn read_file(work_dir: &Path, path: &str) -> Result<Option<Vec<u8>>, Finding> {
    let failed = |error| Finding::Failed { path: path.into(), error };
    Tree::new(work_dir, Effect::Rehearses).map_err(failed)?.read(path)
}

/// Notes the state of a directory. `before` is its time before this process wrote into it, where a note that fits it
/// may be believed.
pub(super) fn stamp(
    stamps: &mut Stamps,
    tree: &Tree,
    index: &Index,
    dir: &str,
    before: Option<Option<u128>>,
) -> Result<(), ViewError> {
    let Some(modified) = tree.dir_modified(dir) else {
        stamps.dirs.remove(dir);
        return Ok(());
    };
    let believed = stamps.dirs.get(dir).filter(|stamp| before == Some(Some(stamp.modified)));
    let unknown = match believed {
        Some(stamp) => retain_unknown(tree, index, stamp.unknown.clone())?,
        None => look_through(tree, index, dir)?,
    };
    stamps.dirs.insert(dir.into(), DirStamp { modified, unknown });
    Ok(())
}

/// The directory of a lane's handoff files.
pub(super) fn handoffs_dir(lane: &Lane) -> String {
    format!("{}/handoffs", lane.dir)
}

fn look_through(tree: &Tree, index: &Index, dir: &str) -> Result<Vec<String>, ViewError> {
    let names = tree.names(dir).unwrap_or_default();
    retain_unknown(tree, index, names.iter().filter(|name| name.ends_with(".md")).map(|name| format!("{dir}/{name}")))
}

fn retain_unknown(
    tree: &Tree,
    index: &Index,
    paths: impl IntoIterator<Item = String>,
) -> Result<Vec<String>, ViewError> {
    let mut unknown = Vec::new();
    for path in paths {
        let Some(bytes) = tree.beginning(&path, BEGINNING) else { continue };
        let known = claimed(&bytes).map(|id| index.find(&id)).transpose()?.flatten().is_some();
        if !known || is_conflicted(&String::from_utf8_lossy(&bytes)) {
            unknown.push(path);
        }
    }
    Ok(unknown)
}

/// The id that a file gives itself.
fn claimed(bytes: &[u8]) -> Option<EventId> {
    let text = String::from_utf8_lossy(bytes);
    let value = text.lines().find_map(|line| line.strip_prefix("handoff_id:"))?;
    value.trim().trim_matches(['"', '\'']).parse().ok()
}

/// Whether a merge left both sides in a text.
pub(super) fn is_conflicted(text: &str) -> bool {
    let begins = |marker: &str| text.lines().any(|line| line.starts_with(marker));
    begins("<<<<<<< ") && begins(">>>>>>> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_that_a_file_gives_itself_is_found_without_parsing_it() {
        let id = EventId::of(b"x");
        assert_eq!(claimed(format!("# Session Handoff\n\nhandoff_id: \"{id}\"\n").as_bytes()), Some(id));
        assert_eq!(claimed(b"handoff_id: soon\n"), None);
    }

    #[test]
    fn a_text_with_both_sides_of_a_merge_is_conflicted() {
        assert!(is_conflicted("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n"));
        assert!(!is_conflicted("a\n=======\nb <<<<<<< HEAD\n"));
    }
}
