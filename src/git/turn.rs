//! One process of ours at a time moves refs, and says before what it is about to do.
//!
//! A ref's `.lock` file does not tell who made it, so that nobody may remove one that stays behind. A process that
//! moves a ref therefore holds the turn, a lock that the system releases with the process, and notes in the turn's
//! file which ref it moves to what. Whoever takes the turn and finds such a note knows that its writer died in the
//! middle; a `.lock` file that holds just what the note says, or that stays empty and untouched, is that process's.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::refs::pause;
use crate::model::ObjectName;

/// How long to wait for the turn.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long an empty `.lock` file must stay as it is before it counts as abandoned. git holds one for milliseconds.
const ABANDONED: Duration = Duration::from_secs(2);

/// The right to move refs, held until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    file: File,
}

impl Turn {
    /// Waits for the turn. Before it returns, what a killed predecessor left behind is gone.
    ///
    /// `None` where the private state cannot be written: refs are then moved without a turn, as by any git.
    ///
    /// # Errors
    /// When another process holds it for too long.
    pub(super) fn take(state_dir: &Path, common_dir: &Path) -> io::Result<Option<Self>> {
        let open = || {
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(state_dir.join("refs.flock"))
        };
        let opened = open().or_else(|_| fs::create_dir_all(state_dir).and_then(|()| open()));
        let Ok(file) = opened else { return Ok(None) };
        let begin = Instant::now();
        for attempt in 1.. {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if begin.elapsed() < PATIENCE => {
                    pause(attempt, Duration::from_millis(16))
                }
                Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::TimedOut.into()),
                // A file system without such locks: nothing can be said about predecessors either.
                Err(TryLockError::Error(_)) => return Ok(None),
            }
        }
        let mut turn = Self { file };
        turn.clean_up(common_dir)?;
        Ok(Some(turn))
    }

    /// Notes that the ref is about to be moved to `new`, or that nothing is under way any more.
    pub(super) fn note(&mut self, name: &str, new: Option<&ObjectName>) -> io::Result<()> {
        self.write(&new.map_or_else(String::new, |new| format!("{new} {name}\n")))
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.file.rewind()?;
        self.file.set_len(0)?;
        self.file.write_all(text.as_bytes())
    }

    /// Removes the `.lock` file of a predecessor that died, if there is one and it is provably its.
    fn clean_up(&mut self, common_dir: &Path) -> io::Result<()> {
        let mut text = String::new();
        self.file.rewind()?;
        self.file.read_to_string(&mut text)?;
        if text.is_empty() {
            return Ok(());
        }
        let noted =
            text.trim_end().split_once(' ').filter(|(_, name)| name.starts_with("refs/") && !name.contains(".."));
        if let Some((new, name)) = noted {
            let lock = common_dir.join(format!("{name}.lock"));
            if is_abandoned(&lock, new) {
                fs::remove_file(&lock).or_else(absent_is_fine)?;
            }
        }
        self.write("")
    }
}

/// Whether a lock file is that of a dead process which wanted to write `new` into it.
fn is_abandoned(lock: &PathBuf, new: &str) -> bool {
    let Ok(content) = fs::read(lock) else { return false };
    if content.trim_ascii_end() == new.as_bytes() {
        return true;
    }
    if !new.as_bytes().starts_with(&content) {
        return false;
    }
    let state = || fs::metadata(lock).and_then(|data| Ok((data.len(), data.modified()?, data.created().ok()))).ok();
    let begin = (Instant::now(), state());
    while begin.0.elapsed() < ABANDONED {
        std::thread::sleep(Duration::from_millis(20));
        if state() != begin.1 {
            return false;
        }
    }
    begin.1.is_some()
}

fn absent_is_fine(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &str = "3f786850e387550fdab836ed7e6dc881de23001b";

    /// A directory in which a process died while it moved `refs/a` to [`NEW`], and its lock file with this content.
    fn after_a_death(content: &str) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut turn = Turn::take(dir.path(), dir.path()).expect("free").expect("writable");
        turn.note("refs/a", NEW.parse().ok().as_ref()).expect("writable");
        drop(turn);
        let lock = dir.path().join("refs/a.lock");
        fs::create_dir(dir.path().join("refs")).expect("writable");
        fs::write(&lock, content).expect("writable");
        (dir, lock)
    }

    #[test]
    fn the_lock_of_a_process_that_died_is_removed() {
        for content in [&format!("{NEW}\n"), "", &NEW[..7]] {
            let (dir, lock) = after_a_death(content);
            drop(Turn::take(dir.path(), dir.path()).expect("free"));
            assert!(!lock.exists(), "{content:?}");
        }
    }

    #[test]
    fn a_lock_that_may_be_somebody_elses_stays() {
        let (dir, lock) = after_a_death("something else\n");
        drop(Turn::take(dir.path(), dir.path()).expect("free"));
        assert!(lock.exists());
        // And without a note of a death nothing is looked at.
        fs::write(&lock, "").expect("writable");
        drop(Turn::take(dir.path(), dir.path()).expect("free"));
        assert!(lock.exists());
    }

    #[test]
    fn a_turn_that_ended_well_leaves_no_note() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut turn = Turn::take(dir.path(), dir.path()).expect("free").expect("writable");
        turn.note("refs/a", NEW.parse().ok().as_ref()).expect("writable");
        turn.note("refs/a", None).expect("writable");
        assert_eq!(fs::read(dir.path().join("refs.flock")).expect("readable"), b"");
    }
}
