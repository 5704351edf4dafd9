//! The fixed-size rows of the cache: what scanning needs, without reading anything else.

use crate::model::{Status, Timestamp, Trigger};

use super::CacheError;

/// The bytes of a row on disk.
pub(super) const SIZE: usize = 64;
/// No position.
pub(super) const NOWHERE: u32 = u32::MAX;
/// A handoff before this row in the order closes it.
const CLOSED_BEFORE: u8 = 1;
/// It closes more earlier handoffs than the row has room for; the heap has them all.
const SPILLED: u8 = 2;
const MINUTE: i64 = 60_000;

/// What a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A handoff.
    Handoff,
    /// An event of another kind.
    Event,
    /// A commit of the log that adds nothing to the order.
    Commit,
    /// Something in the log that is not a good event.
    Anomaly,
}

const KINDS: [Kind; 4] = [Kind::Handoff, Kind::Event, Kind::Commit, Kind::Anomaly];

/// A row. Hashes and prefixes only rule out: who finds a match asks the heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) kind: Kind,
    pub(super) id: u64,
    pub(super) effective: i64,
    pub(super) created: i64,
    pub(super) offset: i16,
    pub(super) status: Status,
    pub(super) trigger: Trigger,
    pub(super) lane: u16,
    pub(super) ordinal: u32,
    pub(super) agent: u32,
    pub(super) branch: u32,
    pub(super) commit: u32,
    pub(super) heap: u32,
    pub(super) closes: [u32; 2],
    pub(super) closed_before: bool,
    pub(super) spilled: bool,
}

impl Row {
    /// A row of which only the kind is known so far.
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            id: 0,
            effective: 0,
            created: 0,
            offset: 0,
            status: Status::Completed,
            trigger: Trigger::Manual,
            lane: 0,
            ordinal: 0,
            agent: 0,
            branch: 0,
            commit: 0,
            heap: 0,
            closes: [NOWHERE; 2],
            closed_before: false,
            spilled: false,
        }
    }

    /// The minute on the author's own clock, which session names have.
    pub(super) fn local_minute(&self) -> i64 {
        local_minute(self.created, self.offset)
    }

    /// When it was made; `None` for rows that do not say so.
    pub(super) fn timestamp(&self) -> Option<Timestamp> {
        Timestamp::new(self.created, self.offset)
    }

    /// The bytes on disk. The checksum covers the position too, so that a row in a wrong place is noticed.
    pub(super) fn encode(&self, position: u32) -> [u8; SIZE] {
        let flags = u8::from(self.closed_before) * CLOSED_BEFORE + u8::from(self.spilled) * SPILLED;
        let mut bytes = Writer { bytes: [0; SIZE], at: 0 };
        bytes.put(&self.id.to_le_bytes());
        bytes.put(&self.effective.to_le_bytes());
        bytes.put(&self.created.to_le_bytes());
        bytes.put(&self.offset.to_le_bytes());
        bytes.put(&[code(&KINDS, self.kind), code(Status::ALL, self.status), code(Trigger::ALL, self.trigger), flags]);
        bytes.put(&self.lane.to_le_bytes());
        for number in [self.ordinal, self.agent, self.branch, self.commit, self.heap, self.closes[0], self.closes[1]] {
            bytes.put(&number.to_le_bytes());
        }
        let sum = checksum(&bytes.bytes[..SIZE - 4], position);
        bytes.put(&sum.to_le_bytes());
        bytes.bytes
    }

    /// The row that [`Row::encode`] wrote. [`verify`] has looked at the checksum.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, CacheError> {
        let flags = bytes[29];
        Ok(Self {
            id: u64::from_le_bytes(array(bytes, 0)),
            effective: i64::from_le_bytes(array(bytes, 8)),
            created: i64::from_le_bytes(array(bytes, 16)),
            offset: i16::from_le_bytes(array(bytes, 24)),
            kind: *KINDS.get(usize::from(bytes[26])).ok_or(CacheError::Damaged)?,
            status: *Status::ALL.get(usize::from(bytes[27])).ok_or(CacheError::Damaged)?,
            trigger: *Trigger::ALL.get(usize::from(bytes[28])).ok_or(CacheError::Damaged)?,
            lane: u16::from_le_bytes(array(bytes, 30)),
            ordinal: u32::from_le_bytes(array(bytes, 32)),
            agent: u32::from_le_bytes(array(bytes, 36)),
            branch: u32::from_le_bytes(array(bytes, 40)),
            commit: u32::from_le_bytes(array(bytes, 44)),
            heap: u32::from_le_bytes(array(bytes, 48)),
            closes: [u32::from_le_bytes(array(bytes, 52)), u32::from_le_bytes(array(bytes, 56))],
            closed_before: flags & CLOSED_BEFORE != 0,
            spilled: flags & SPILLED != 0,
        })
    }
}

/// Whether these [`SIZE`] bytes are the row of this position.
pub(super) fn verify(bytes: &[u8], position: u32) -> bool {
    u32::from_le_bytes(array(bytes, SIZE - 4)) == checksum(&bytes[..SIZE - 4], position)
}

/// The minute on a clock that is `offset` minutes east of UTC.
pub(super) fn local_minute(millis: i64, offset: i16) -> i64 {
    millis.saturating_add(i64::from(offset) * MINUTE).div_euclid(MINUTE)
}

/// A number that rules out most other texts.
pub(super) fn hash(text: &str) -> u32 {
    crc32fast::hash(text.as_bytes())
}

/// The first `N` bytes from `at`.
pub(super) fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("the slice has N bytes")
}

fn checksum(bytes: &[u8], position: u32) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(position);
    hasher.update(bytes);
    hasher.finalize()
}

fn code<T: PartialEq>(all: &[T], value: T) -> u8 {
    all.iter().position(|other| *other == value).expect("ALL has every value") as u8
}

/// Fills a row from its beginning.
struct Writer {
    bytes: [u8; SIZE],
    at: usize,
}

impl Writer {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_survives_being_written_and_read_and_no_flipped_bit_does() {
        let row = Row {
            id: 0x0123_4567_89ab_cdef,
            effective: -5,
            created: i64::MAX,
            offset: -330,
            status: Status::Interrupted,
            trigger: Trigger::AgentTransfer,
            lane: 300,
            ordinal: 70_000,
            agent: 1,
            branch: 2,
            commit: 3,
            heap: 4,
            closes: [5, NOWHERE],
            closed_before: true,
            spilled: true,
            ..Row::new(Kind::Handoff)
        };
        let bytes = row.encode(9);
        assert!(verify(&bytes, 9) && !verify(&bytes, 8));
        assert_eq!(Row::decode(&bytes).expect("valid"), row);
        for bit in 0..SIZE * 8 {
            let mut bytes = bytes;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!verify(&bytes, 9), "bit {bit}");
        }
    }
}
