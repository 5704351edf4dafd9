//! The files of the cache: a small head that says what of the others counts, and how it is replaced.
//!
//! Rows and texts are only ever appended behind what a head counts, so that a reader with an older head is never
//! disturbed. A new order goes to a file of a new generation.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::model::Lanes;
use crate::views::files::write::{open_lock, replace_private};

use super::heap::Heap;
use super::maps::Maps;
use super::row::SIZE;
use super::table::Table;
use super::{CacheError, Index, State};

const FORMAT: u32 = 1;
const HEAD: &str = "head";
const LOCK: &str = "lock";
const ROWS: &str = "rows";
const HEAP: &str = "heap";

/// What came of an attempt to save.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saved {
    /// It is written.
    Written,
    /// There was nothing new.
    Unchanged,
    /// Another process is writing, or has written, one; the next process that comes adds what is missing.
    Overtaken,
    /// It holds what no log has.
    Overlaid,
}

/// Where an index comes from, and how much of it stands there.
#[derive(Debug, Default)]
pub(super) struct Origin {
    /// The bytes of the head; `None` for an index that does not come from files.
    head: Option<Vec<u8>>,
    generation: [u64; 2],
    rows: u32,
    heap: u64,
    /// How many of the rows on disk are still in their places.
    kept: u32,
}

impl Origin {
    /// Only so many rows are left.
    pub(super) fn popped(&mut self, rows: u32) {
        self.kept = self.kept.min(rows);
    }
}

#[derive(Serialize, Deserialize)]
struct Head {
    format: u32,
    lanes: u32,
    /// Of the rows and of the heap.
    generation: [u64; 2],
    rows: u32,
    heap: u64,
    basis: Option<String>,
    slack: i64,
    forward: Vec<(String, u32)>,
    counts: Vec<[u32; 2]>,
    anomalies: u32,
    events: u32,
}

impl Head {
    fn of(index: &Index, generation: [u64; 2]) -> Self {
        let state = &index.state;
        Self {
            format: FORMAT,
            lanes: fingerprint(&index.lane_of),
            generation,
            rows: index.table.len(),
            heap: index.heap.len(),
            basis: state.basis.map(|name| name.to_string()),
            slack: state.slack,
            forward: state.forward.iter().map(|(id, count)| (id.to_string(), *count)).collect(),
            counts: state.lanes.clone(),
            anomalies: state.anomalies,
            events: state.events,
        }
    }

    fn encode(&self) -> Vec<u8> {
        let json = serde_json::to_vec(self).expect("numbers and strings can always be written as JSON");
        [&crc32fast::hash(&json).to_le_bytes()[..], &json].concat()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (sum, json) = bytes.split_at_checked(4)?;
        if crc32fast::hash(json).to_le_bytes() != sum {
            return None;
        }
        serde_json::from_slice(json).ok().filter(|head: &Self| head.format == FORMAT)
    }

    fn state(&self) -> Option<State> {
        let forward = self.forward.iter().map(|(id, count)| Some((id.parse().ok()?, *count)));
        Some(State {
            basis: self.basis.as_ref().map(|name| name.parse()).transpose().ok()?,
            slack: self.slack,
            forward: forward.collect::<Option<_>>()?,
            lanes: self.counts.clone(),
            anomalies: self.anomalies,
            events: self.events,
            overlaid: false,
        })
    }
}

/// A number that changes with the lanes, on which names and counts depend.
fn fingerprint(lanes: &Lanes) -> u32 {
    crc32fast::hash(format!("{:?} {:?}", lanes.all(), lanes.custom().collect::<Vec<_>>()).as_bytes())
}

/// The index that was saved, if all of it can be used.
pub(super) fn load(dir: &Path, lanes: &Lanes) -> Option<Index> {
    // A writer may remove the generation that the head named a moment ago.
    (0..3).find_map(|_| load_once(dir, lanes))
}

fn load_once(dir: &Path, lanes: &Lanes) -> Option<Index> {
    let bytes = fs::read(dir.join(HEAD)).ok()?;
    let head = Head::decode(&bytes)?;
    let state = head.state()?;
    let all = lanes.all();
    if head.lanes != fingerprint(lanes) || state.lanes.len() != all.len() {
        return None;
    }
    let rows = open(dir, ROWS, head.generation[0], u64::from(head.rows) * SIZE as u64)?;
    let heap = open(dir, HEAP, head.generation[1], head.heap)?;
    let origin =
        Origin { head: Some(bytes), generation: head.generation, rows: head.rows, heap: head.heap, kept: head.rows };
    Some(Index {
        lanes: all,
        lane_of: lanes.clone(),
        table: Table::open(rows, head.rows),
        heap: Heap::open(heap, head.heap),
        maps: Maps::default(),
        origin,
        state,
    })
}

/// A file that has at least so many bytes.
fn open(dir: &Path, name: &str, generation: u64, length: u64) -> Option<File> {
    let file = File::open(path(dir, name, generation)).ok()?;
    (file.metadata().ok()?.len() >= length).then_some(file)
}

fn path(dir: &Path, name: &str, generation: u64) -> PathBuf {
    dir.join(format!("{name}.{generation}"))
}

/// Writes what is new.
pub(super) fn save(index: &mut Index, dir: &Path) -> Result<Saved, CacheError> {
    if index.state.overlaid {
        return Ok(Saved::Overlaid);
    }
    fs::create_dir_all(dir)?;
    let lock = open_lock(&dir.join(LOCK))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Saved::Overtaken),
        Err(TryLockError::Error(error)) => return Err(error.into()),
    }
    let current = match fs::read(dir.join(HEAD)) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    if index.origin.head.is_some() && index.origin.head != current {
        return Ok(Saved::Overtaken);
    }
    let generation = generations(index, dir)?;
    let head = Head::of(index, generation);
    let bytes = head.encode();
    if Some(&bytes) == index.origin.head.as_ref() {
        return Ok(Saved::Unchanged);
    }
    write(index, dir, generation)?;
    replace_private(&dir.join(HEAD), &bytes)?;
    index.origin = Origin { head: Some(bytes), generation, rows: head.rows, heap: head.heap, kept: head.rows };
    remove_others(dir, generation);
    Ok(Saved::Written)
}

/// The generations to write: those that are there if it is enough to append.
fn generations(index: &Index, dir: &Path) -> Result<[u64; 2], CacheError> {
    let [rows, heap] = index.origin.generation;
    if index.origin.head.is_none() {
        let newest = files(dir)?.into_iter().map(|(_, generation)| generation).max().unwrap_or(0);
        return Ok([newest + 1, newest + 1]);
    }
    let appends = index.origin.kept == index.origin.rows;
    Ok([if appends { rows } else { rows + 1 }, heap])
}

fn write(index: &Index, dir: &Path, [rows, heap]: [u64; 2]) -> Result<(), CacheError> {
    let origin = &index.origin;
    let kept_heap = if heap == origin.generation[1] { origin.heap } else { 0 };
    append(&path(dir, HEAP, heap), kept_heap, index.heap.bytes_from(kept_heap)?)?;
    let kept_rows = if rows == origin.generation[0] { origin.rows } else { 0 };
    append(&path(dir, ROWS, rows), u64::from(kept_rows) * SIZE as u64, &index.table.bytes_from(kept_rows)?)?;
    Ok(())
}

/// Writes behind the bytes that count. What stands there is of a writer that did not finish.
fn append(path: &Path, length: u64, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    file.set_len(length)?;
    file.seek(SeekFrom::Start(length))?;
    file.write_all(bytes)
}

/// Removes the files of other generations. What cannot be removed now is removed the next time.
fn remove_others(dir: &Path, [rows, heap]: [u64; 2]) {
    for (name, generation) in files(dir).unwrap_or_default() {
        let current = if name == ROWS { rows } else { heap };
        if generation != current {
            fs::remove_file(path(dir, name, generation)).ok();
        }
    }
}

/// The files of rows and texts, with their generations.
fn files(dir: &Path) -> Result<Vec<(&'static str, u64)>, CacheError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name();
        let Some((kind, generation)) = name.to_str().and_then(|name| name.split_once('.')) else { continue };
        let kind = [ROWS, HEAP].into_iter().find(|known| *known == kind);
        if let (Some(kind), Ok(generation)) = (kind, generation.parse()) {
            found.push((kind, generation));
        }
    }
    Ok(found)
}
