//! What this work tree's files stand for, so that a refresh can tell what is new and what somebody changed.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::model::{EventId, Lanes};

use super::super::cache::{CacheError, Index};
use super::tree::Tree;
use super::write::replace_private;

const FORMAT: u32 = 1;

/// The stamps of one work tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Stamps {
    format: u32,
    /// The lanes, on which paths depend.
    lanes: String,
    /// The log's tip and the number of rows of the index that the files stand for.
    basis: Option<String>,
    rows: u32,
    /// Ids at some positions, denser towards the end: what lies before the last one that still fits is unchanged.
    checkpoints: Vec<(u32, String)>,
    /// What was written into the indexes.
    pub(super) files: BTreeMap<String, Stamp>,
    /// The directories of handoff files as they were when they were last looked through.
    #[serde(default)]
    pub(super) dirs: BTreeMap<String, DirStamp>,
}

/// What is known of a directory of handoff files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DirStamp {
    /// When a name in it was last added or removed, in nanoseconds since the epoch.
    pub(super) modified: u128,
    /// The files in it that may hold handoffs which the log does not know.
    pub(super) unknown: Vec<String>,
}

/// What is known of a file as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) size: u64,
    /// Nanoseconds since the epoch.
    pub(super) modified: u128,
    /// Hash of the content; absent for lists, which may be large.
    pub(super) hash: Option<String>,
    /// How many lines of the log's handoffs a list has.
    pub(super) lines: u32,
    /// How many lines it has that only the file knows.
    pub(super) file_only: u32,
}

impl Stamp {
    /// The stamp of a file that was just written.
    pub(super) fn of(metadata: &Metadata, content: Option<&[u8]>) -> Self {
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self {
            size: metadata.len(),
            modified: modified.map_or(0, |since| since.as_nanos()),
            hash: content.map(digest),
            lines: 0,
            file_only: 0,
        }
    }

    /// Whether nobody has touched the file since.
    pub(super) fn fits(&self, metadata: Option<&Metadata>) -> bool {
        let now = metadata.map(|metadata| Self::of(metadata, None));
        now.is_some_and(|now| now.size == self.size && now.modified == self.modified && now.modified != 0)
    }
}

impl Stamps {
    /// The stamps before the first refresh.
    fn none(lanes: String) -> Self {
        Self {
            format: FORMAT,
            lanes,
            basis: None,
            rows: 0,
            checkpoints: Vec::new(),
            files: BTreeMap::new(),
            dirs: BTreeMap::new(),
        }
    }

    /// The stamps that were saved, as far as they can be used.
    pub(super) fn load(dir: &Path, lanes: &Lanes) -> Self {
        let lanes = format!("{:?} {:?}", lanes.all(), lanes.custom().collect::<Vec<_>>());
        let saved = fs::read(path(dir)).ok().and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        saved.filter(|stamps| stamps.format == FORMAT && stamps.lanes == lanes).unwrap_or_else(|| Self::none(lanes))
    }

    /// Whether they were made for this state of the log.
    pub(super) fn are_of(&self, index: &Index) -> bool {
        self.rows == index.len() && self.basis == index.basis().map(|name| name.to_string())
    }

    /// Whether they were made for this log or for what it was earlier.
    pub(super) fn are_of_a_part_of(&self, index: &Index) -> Result<bool, CacheError> {
        match self.basis.as_deref().map(str::parse) {
            Some(Ok(basis)) => Ok(index.known(&basis)?.is_some()),
            Some(Err(_)) => Ok(false),
            None => Ok(self.rows == 0),
        }
    }

    /// Whether a list is as it was written.
    pub(super) fn fit_list(&self, tree: &Tree, path: &str) -> bool {
        self.files.get(path).is_some_and(|stamp| stamp.fits(tree.metadata(path).as_ref()))
    }

    /// Whether an index holds what was written.
    pub(super) fn fit_index(&self, tree: &Tree, path: &str) -> bool {
        let written = self.files.get(path).and_then(|stamp| stamp.hash.as_ref());
        let now = tree.read(path).ok().flatten().map(|bytes| digest(&bytes));
        written.is_some() && written == now.as_ref()
    }

    /// Saves them if they say something new.
    pub(super) fn save(&self, dir: &Path) -> io::Result<()> {
        let bytes = serde_json::to_vec(self).expect("strings and numbers can always be written as JSON");
        match fs::read(path(dir)) {
            Ok(old) if old == bytes => Ok(()),
            _ => replace_private(&path(dir), &bytes),
        }
    }

    /// The position behind the last row of which it is sure that it and all before it are as they were.
    pub(super) fn unchanged(&self, index: &Index) -> Result<u32, CacheError> {
        for (position, id) in &self.checkpoints {
            if *position < index.len() && index.id_at(*position)?.is_some_and(|now| now.to_string() == *id) {
                return Ok(position + 1);
            }
        }
        Ok(0)
    }

    /// From now on they stand for this index.
    pub(super) fn stand_for(&mut self, index: &Index) -> Result<(), CacheError> {
        self.basis = index.basis().map(|name| name.to_string());
        self.rows = index.len();
        self.checkpoints.clear();
        let mut back = 1;
        while let Some(position) = index.len().checked_sub(back) {
            if let Some(id) = index.id_at(position)? {
                self.checkpoints.push((position, id.to_string()));
            }
            back = if back < 8 { back + 1 } else { back.saturating_mul(2) };
        }
        Ok(())
    }
}

fn path(dir: &Path) -> PathBuf {
    dir.join("views.json")
}

/// A short hash of a content.
pub(super) fn digest(bytes: &[u8]) -> String {
    EventId::of(bytes).short()
}

/// Keeps a copy of what stood in a file of the work tree in the private state `dir`, and says where.
///
/// # Errors
/// When the private state cannot be written.
pub fn keep(dir: &Path, path: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    let kept = kept_as(dir, path, bytes);
    kept.parent().map_or(Ok(()), fs::create_dir_all)?;
    replace_private(&kept, bytes)?;
    Ok(kept)
}

/// Where [`keep`] keeps it.
pub(super) fn kept_as(dir: &Path, path: &str, bytes: &[u8]) -> PathBuf {
    let name = path.trim_start_matches('.').replace('/', "-");
    dir.join("kept").join(format!("{name}.{}", digest(bytes)))
}
