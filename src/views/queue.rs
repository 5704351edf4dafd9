//! The folded queue, kept between processes so that reading it costs the same however many events made it.
//!
//! It is disposable: one that is damaged, of another version, or does not fit the log is folded again from the log.

mod pack;

use std::fs::{self, TryLockError};
use std::io;
use std::path::Path;

use crate::model::queue::{Place, Queue};

use super::files::write::{open_lock, replace_private};
use pack::Pack;

const FORMAT: u32 = 1;
const FILE: &str = "queue";
const LOCK: &str = "queue.lock";

/// The queue, and how much of the log is in it.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// The queue.
    pub queue: Queue,
    /// How many events that are no handoffs were seen.
    pub events: u32,
    /// The last of them.
    pub last: Option<Place>,
}

impl Snapshot {
    /// The snapshot that was saved in this directory, if it can be used.
    pub fn load(dir: &Path) -> Option<Self> {
        let bytes = fs::read(dir.join(FILE)).ok()?;
        let (sum, mut packed) = bytes.split_at_checked(4)?;
        if crc32fast::hash(packed).to_le_bytes() != sum {
            return None;
        }
        let from = &mut packed;
        if u32::unpack(from)? != FORMAT {
            return None;
        }
        let (events, last) = (Pack::unpack(from)?, Pack::unpack(from)?);
        Some(Self { queue: Queue::from_parts(Pack::unpack(from)?), events, last })
    }

    /// Saves it for the next process, unless another process is saving one.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn save(&self, dir: &Path) -> io::Result<()> {
        let mut packed = vec![0; 4];
        FORMAT.pack(&mut packed);
        self.events.pack(&mut packed);
        self.last.pack(&mut packed);
        self.queue.parts().pack(&mut packed);
        let sum = crc32fast::hash(&packed[4..]);
        packed[..4].copy_from_slice(&sum.to_le_bytes());
        fs::create_dir_all(dir)?;
        match open_lock(&dir.join(LOCK))?.try_lock() {
            Ok(()) => replace_private(&dir.join(FILE), &packed),
            Err(TryLockError::WouldBlock) => Ok(()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::queue::{Accepted, Action, NewItem, Prerequisite, QueueEvent};
    use crate::model::{By, EventId, Origin};

    fn queue() -> Queue {
        let origin = Origin {
            created: "2026-08-18T17:04:00.250+03:00".parse().expect("a time"),
            by: By { agent: "codex".parse().ok(), agent_session: None, identity: "Kim".into() },
        };
        let new = NewItem {
            handoff: EventId::of(b"h"),
            topic: "back up".parse().expect("a topic"),
            name: "the phone 📱".parse().ok(),
            agent: None,
            after: vec![Prerequisite::Approval, Prerequisite::Operation("disk".parse().expect("a name"))],
            accepted: Accepted { partial: true, superseded: false },
            copy: 0,
        };
        let event = QueueEvent { id: EventId::of(b"c"), effective: 7, origin, action: Action::Add(Box::new(new)) };
        let mut queue = Queue::default();
        queue.extend([event]).expect("the first event is in order");
        queue
    }

    #[test]
    fn what_is_loaded_is_what_was_saved() {
        let dir = tempfile::tempdir().expect("a directory");
        let snapshot = Snapshot { queue: queue(), events: 3, last: Some((7, EventId::of(b"c"))) };
        snapshot.save(dir.path()).expect("writable");
        let loaded = Snapshot::load(dir.path()).expect("it was saved");
        assert_eq!((loaded.queue, loaded.events, loaded.last), (snapshot.queue, snapshot.events, snapshot.last));
    }

    #[test]
    fn a_snapshot_with_any_byte_changed_or_missing_is_not_used() {
        let dir = tempfile::tempdir().expect("a directory");
        let snapshot = Snapshot { queue: queue(), events: 3, last: None };
        snapshot.save(dir.path()).expect("writable");
        let bytes = fs::read(dir.path().join(FILE)).expect("it was saved");
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x40;
            fs::write(dir.path().join(FILE), &damaged).expect("writable");
            assert!(Snapshot::load(dir.path()).is_none(), "byte {at}");
            fs::write(dir.path().join(FILE), &bytes[..at]).expect("writable");
            assert!(Snapshot::load(dir.path()).is_none(), "length {at}");
        }
    }
}
