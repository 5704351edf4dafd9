//! What is read only for the rows that are shown: names in full and the texts of the summary.
//!
//! Entries are never changed, so that rows can be put into a new order without touching them.

use std::cell::RefCell;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use serde::{Deserialize, Serialize};

use crate::model::{Anomaly, AnomalyKind, Completeness, EventId, EventKind, Link, ObjectName, Status, Summary};

use super::CacheError;
use super::row::{Row, array};

/// What every entry begins with, whatever its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) id: EventId,
    pub(super) commit: Option<ObjectName>,
    pub(super) blob: Option<ObjectName>,
    pub(super) closes: Vec<EventId>,
}

impl Identity {
    /// The other ids that it closes, each once.
    pub(super) fn closes_once(&self) -> Vec<EventId> {
        let mut once: Vec<EventId> = Vec::with_capacity(self.closes.len());
        for id in &self.closes {
            if *id != self.id && !once.contains(id) {
                once.push(*id);
            }
        }
        once
    }

    /// The id of rows that stand for no event.
    pub(super) fn no_event() -> EventId {
        EventId::from_bytes([0; 32])
    }
}

/// Append-only bytes: those on disk and those added since.
#[derive(Debug, Default)]
pub(super) struct Heap {
    file: Option<File>,
    base: u64,
    tail: Vec<u8>,
    /// The part of the file that was read last. Neighbours are asked for together, the newest first.
    window: RefCell<Window>,
}

/// Bytes of a file and where they begin.
#[derive(Debug, Default)]
struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// How much is read at once.
    const SIZE: u64 = 16 * 1024;

    fn get(&self, at: u64, length: u64) -> Option<&[u8]> {
        let start = usize::try_from(at.checked_sub(self.start)?).ok()?;
        self.bytes.get(start..start.checked_add(usize::try_from(length).ok()?)?)
    }
}

impl Heap {
    /// The first `length` bytes of a file.
    pub(super) fn open(file: File, length: u64) -> Self {
        Self { file: Some(file), base: length, tail: Vec::new(), window: RefCell::default() }
    }

    /// How many bytes there are.
    pub(super) fn len(&self) -> u64 {
        self.base + self.tail.len() as u64
    }

    /// The bytes from `start` on, which were added since the heap was opened.
    pub(super) fn bytes_from(&self, start: u64) -> Result<&[u8], CacheError> {
        let start = start.checked_sub(self.base).ok_or(CacheError::Damaged)?;
        self.tail.get(start as usize..).ok_or(CacheError::Damaged)
    }

    /// Adds an entry and says where it is; `None` when the heap is full.
    pub(super) fn put(&mut self, identity: &Identity, rest: &[u8]) -> Option<u32> {
        let at = u32::try_from(self.len()).ok()?;
        let mut entry = identity.id.as_bytes().to_vec();
        for name in [identity.commit, identity.blob] {
            let name = name.as_ref().map_or(&[][..], ObjectName::as_bytes);
            entry.push(name.len() as u8);
            entry.extend_from_slice(name);
        }
        let closes = &identity.closes[..identity.closes.len().min(usize::from(u16::MAX))];
        entry.extend_from_slice(&(closes.len() as u16).to_le_bytes());
        closes.iter().for_each(|id| entry.extend_from_slice(id.as_bytes()));
        entry.extend_from_slice(rest);
        self.tail.extend_from_slice(&crc32fast::hash(&entry).to_le_bytes());
        self.tail.extend_from_slice(&(entry.len() as u32).to_le_bytes());
        self.tail.extend_from_slice(&entry);
        Some(at)
    }

    /// The entry at this place: its identity and the rest.
    pub(super) fn get(&self, row: &Row) -> Result<(Identity, Vec<u8>), CacheError> {
        let entry = self.entry(u64::from(row.heap))?;
        let (identity, rest) = read_identity(&entry).ok_or(CacheError::Damaged)?;
        let matches = prefix(&identity.id) == row.id && commit_prefix(identity.commit.as_ref()) == row.commit;
        if matches { Ok((identity, rest.to_vec())) } else { Err(CacheError::Damaged) }
    }

    fn entry(&self, at: u64) -> Result<Vec<u8>, CacheError> {
        let head = self.bytes(at, 8)?;
        let length = u64::from(u32::from_le_bytes(array(&head, 4)));
        let entry = self.bytes(at + 8, length)?;
        let sound = crc32fast::hash(&entry) == u32::from_le_bytes(array(&head, 0));
        if sound { Ok(entry) } else { Err(CacheError::Damaged) }
    }

    fn bytes(&self, at: u64, length: u64) -> Result<Vec<u8>, CacheError> {
        if at >= self.base {
            let at = (at - self.base) as usize;
            return self.tail.get(at..at + length as usize).map(<[u8]>::to_vec).ok_or(CacheError::Damaged);
        }
        if at + length > self.base {
            return Err(CacheError::Damaged);
        }
        let mut window = self.window.borrow_mut();
        if window.get(at, length).is_none() {
            *window = self.window_up_to(at, length)?;
        }
        window.get(at, length).map(<[u8]>::to_vec).ok_or(CacheError::Damaged)
    }

    /// A window that ends a little behind these bytes, so that it holds what will be asked for next.
    fn window_up_to(&self, at: u64, length: u64) -> Result<Window, CacheError> {
        let end = (at + length + Window::SIZE / 4).min(self.base);
        let start = end.saturating_sub(Window::SIZE).min(at);
        let mut bytes = vec![0; (end - start) as usize];
        let mut file = self.file.as_ref().ok_or(CacheError::Damaged)?;
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut bytes)?;
        Ok(Window { start, bytes })
    }
}

/// The part of an id that a row holds; ids compare as their prefixes do.
pub(super) fn prefix(id: &EventId) -> u64 {
    u64::from_be_bytes(array(id.as_bytes(), 0))
}

/// The part of a commit's name that a row holds.
pub(super) fn commit_prefix(commit: Option<&ObjectName>) -> u32 {
    commit.map_or(0, |name| u32::from_be_bytes(array(name.as_bytes(), 0)))
}

fn read_identity(entry: &[u8]) -> Option<(Identity, &[u8])> {
    let (id, rest) = entry.split_at_checked(32)?;
    let (commit, rest) = read_name(rest)?;
    let (blob, rest) = read_name(rest)?;
    let (count, rest) = rest.split_at_checked(2)?;
    let (closes, rest) = rest.split_at_checked(32 * usize::from(u16::from_le_bytes(array(count, 0))))?;
    let closes = closes.chunks_exact(32).map(|id| EventId::from_bytes(array(id, 0))).collect();
    Some((Identity { id: EventId::from_bytes(array(id, 0)), commit, blob, closes }, rest))
}

fn read_name(bytes: &[u8]) -> Option<(Option<ObjectName>, &[u8])> {
    let (length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(*length))?;
    if name.is_empty() { Some((None, rest)) } else { ObjectName::from_bytes(name).map(|name| (Some(name), rest)) }
}

/// The texts of a summary as they are stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    a: String,
    t: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    m: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    g: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    c: Option<String>,
    k: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    p: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    x: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    o: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<String>,
}

/// The rest of a handoff's entry.
pub(super) fn write_summary(summary: &Summary) -> Vec<u8> {
    let text = |link: &Link| link.to_string();
    let stored = Stored {
        a: summary.agent.to_string(),
        t: summary.topic.to_string(),
        m: summary.model.clone(),
        s: summary.agent_session.clone(),
        g: summary.goal_status.map(|status| status.to_string()),
        b: summary.branch.clone(),
        c: summary.commit.map(|name| name.to_string()),
        k: summary.completeness.to_string(),
        p: summary.previous.as_ref().map(text),
        r: summary.resumed_from.as_ref().map(text),
        x: summary.supersedes.iter().map(text).collect(),
        o: summary.objective.clone(),
        n: summary.next_action.clone(),
    };
    serde_json::to_vec(&stored).expect("strings can always be written as JSON")
}

/// The summary that [`write_summary`] wrote.
pub(super) fn read_summary(row: &Row, identity: Identity, rest: &[u8]) -> Result<Summary, CacheError> {
    let stored: Stored = serde_json::from_slice(rest).map_err(|_| CacheError::Damaged)?;
    let link = |text: String| Link::from(text.as_str());
    Ok(Summary {
        id: identity.id,
        blob: identity.blob,
        recorded_in: identity.commit,
        effective: row.effective,
        ordinal: row.ordinal,
        created: row.timestamp().ok_or(CacheError::Damaged)?,
        agent: stored.a.parse().map_err(|_| CacheError::Damaged)?,
        model: stored.m,
        agent_session: stored.s,
        topic: stored.t.parse().map_err(|_| CacheError::Damaged)?,
        status: row.status,
        trigger: row.trigger,
        goal_status: optional::<Status>(stored.g)?,
        branch: stored.b,
        commit: optional(stored.c)?,
        completeness: stored.k.parse::<Completeness>().map_err(|_| CacheError::Damaged)?,
        previous: stored.p.map(link),
        resumed_from: stored.r.map(link),
        supersedes: stored.x.into_iter().map(link).collect(),
        objective: stored.o,
        next_action: stored.n,
    })
}

fn optional<T: std::str::FromStr>(text: Option<String>) -> Result<Option<T>, CacheError> {
    text.map(|text| text.parse().map_err(|_| CacheError::Damaged)).transpose()
}

/// The rest of another event's entry: the name of its kind.
pub(super) fn read_kind(rest: &[u8]) -> Result<EventKind, CacheError> {
    std::str::from_utf8(rest).map(EventKind::from_folder).map_err(|_| CacheError::Damaged)
}

#[derive(Serialize, Deserialize)]
enum StoredAnomaly {
    Missing,
    Mismatch,
    Unreadable(String),
    Oversized(u64),
    Foreign,
}

/// The rest of an anomaly's entry.
pub(super) fn write_anomaly(anomaly: &Anomaly) -> Vec<u8> {
    let kind = match &anomaly.kind {
        AnomalyKind::Missing => StoredAnomaly::Missing,
        AnomalyKind::Mismatch => StoredAnomaly::Mismatch,
        AnomalyKind::Unreadable(why) => StoredAnomaly::Unreadable(why.clone()),
        AnomalyKind::Oversized(bytes) => StoredAnomaly::Oversized(*bytes),
        AnomalyKind::Foreign => StoredAnomaly::Foreign,
    };
    serde_json::to_vec(&(&anomaly.path, anomaly.commit.map(|name| name.to_string()), kind))
        .expect("strings can always be written as JSON")
}

/// The anomaly that [`write_anomaly`] wrote.
pub(super) fn read_anomaly(rest: &[u8]) -> Result<Anomaly, CacheError> {
    let (path, commit, kind) = serde_json::from_slice(rest).map_err(|_| CacheError::Damaged)?;
    let kind = match kind {
        StoredAnomaly::Missing => AnomalyKind::Missing,
        StoredAnomaly::Mismatch => AnomalyKind::Mismatch,
        StoredAnomaly::Unreadable(why) => AnomalyKind::Unreadable(why),
        StoredAnomaly::Oversized(bytes) => AnomalyKind::Oversized(bytes),
        StoredAnomaly::Foreign => AnomalyKind::Foreign,
    };
    Ok(Anomaly { commit: optional(commit)?, path, kind })
}
