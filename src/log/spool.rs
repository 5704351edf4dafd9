//! The spool: handoffs sealed in the work tree because git's directory could not be written, until it can be.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::read::own_time;
use super::{Append, AppendError, Description, Log, MAX_EVENT_BYTES, NewEvent, Stamp, codec, is_kind};
use crate::git::{Refusal, Repo};
use crate::model::{Anomaly, AnomalyKind, Entry, EventId, EventKind, LogCommit, ObjectName, visible_line};

/// Where it is, relative to the top of the work tree.
const DIR: [&str; 2] = [".session-transfer", "spool"];

/// Why the spool could not be used.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// The directory, or one above it, is a symbolic link to somewhere outside the work tree.
    #[error("{} leads out of the work tree", .0.display())]
    LeadsOutside(PathBuf),
    /// A file or directory cannot be read or written.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> SpoolError {
    let path = path.to_owned();
    move |source| SpoolError::Io { path, source }
}

/// The spool of a work tree. It need not exist yet.
#[derive(Debug, Clone)]
pub struct Spool {
    top: PathBuf,
}

/// A file in the spool.
#[derive(Debug, Clone, PartialEq)]
pub struct Spooled {
    /// The file, absolute.
    pub path: PathBuf,
    /// What it holds, as if a commit without a name held it: one good event or one anomaly.
    pub commit: LogCommit,
}

/// What the caller knows of the log when the spool is taken in.
pub struct TakeIn<'a> {
    /// The tip up to which the caller has read the log.
    pub seen: Option<ObjectName>,
    /// Whether the log up to there holds an event.
    pub is_known: &'a dyn Fn(&EventId) -> bool,
    /// What the commit of an event says to people.
    pub describe: &'a dyn Fn(&Entry) -> Description,
    /// Whether an event may be taken in. One that may not stays where it is; to say so is the caller's.
    pub accept: &'a dyn Fn(&Path, &Entry) -> bool,
}

/// What was taken in.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TakenIn {
    /// The events that are in the log now and were not before.
    pub recorded: Vec<EventId>,
    /// The events that were in the log already.
    pub known: Vec<EventId>,
    /// Files that are damaged, edited or not ours. They stay where they are.
    pub anomalies: Vec<Anomaly>,
}

impl Spool {
    /// The spool of a repository's work tree; `None` in a bare repository.
    pub fn of(repo: &Repo) -> Option<Self> {
        repo.work_dir().map(|top| Self { top: top.into() })
    }

    /// The directory, absolute.
    pub fn dir(&self) -> PathBuf {
        DIR.iter().fold(self.top.clone(), |path, part| path.join(part))
    }

    /// Seals an event in the spool, on the disk when this returns, and returns its file.
    ///
    /// # Errors
    /// See [`SpoolError`].
    pub fn write(&self, event: &NewEvent) -> Result<PathBuf, SpoolError> {
        self.check_links()?;
        let dir = self.dir();
        fs::create_dir_all(&dir).map_err(failed(&dir))?;
        // What waits here belongs to nobody's commit; `info/exclude` may be out of reach.
        let ignore = dir.join(".gitignore");
        if !ignore.exists() {
            fs::write(&ignore, "*\n").map_err(failed(&ignore))?;
        }
        let path = dir.join(file_name(event.kind(), &event.id()));
        let mut file = tempfile::NamedTempFile::new_in(&dir).map_err(failed(&dir))?;
        file.write_all(event.bytes()).and_then(|()| file.as_file().sync_all()).map_err(failed(&path))?;
        file.persist(&path).map_err(|error| failed(&path)(error.error))?;
        // The name must last as well, on systems on which a directory can be synced.
        match fs::File::open(&dir).and_then(|dir| dir.sync_all()) {
            Err(error) if error.kind() != io::ErrorKind::InvalidInput && cfg!(unix) => Err(failed(&dir)(error)),
            Ok(()) | Err(_) => Ok(path),
        }
    }

    /// Everything in the spool, by file name. Files that do not end in `.json` are not looked at.
    ///
    /// # Errors
    /// When the directory cannot be read. An absent one is empty.
    pub fn read(&self) -> Result<Vec<Spooled>, SpoolError> {
        self.check_links()?;
        let dir = self.dir();
        let listed = match fs::read_dir(&dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            listed => listed.and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(failed(&dir))?,
        };
        let mut paths: Vec<PathBuf> = listed.into_iter().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
        paths.sort();
        Ok(paths.into_iter().map(spooled).collect())
    }

    /// Refuses a spool that lies elsewhere: whoever wrote the repository may have put a link there.
    fn check_links(&self) -> Result<(), SpoolError> {
        let mut path = self.top.clone();
        for part in DIR {
            path.push(part);
            let is_link = path.symlink_metadata().is_ok_and(|data| data.is_symlink());
            let inside = || path.canonicalize().is_ok_and(|real| real.starts_with(&self.top));
            if is_link && !inside() {
                return Err(SpoolError::LeadsOutside(path));
            }
        }
        Ok(())
    }
}

impl Log<'_> {
    /// Records what waits in the spool, one commit an event, and removes each file once the log holds its event.
    ///
    /// One process does so at a time; a lock that the system releases with the process keeps the others waiting.
    ///
    /// # Errors
    /// [`AppendError::Decision`] when the spool cannot be used; else as for [`Log::append`].
    pub fn take_in_spool(
        &self,
        stamp: &Stamp,
        spool: &Spool,
        caller: &TakeIn<'_>,
    ) -> Result<TakenIn, AppendError<TakeInError>> {
        let refused = |error: SpoolError| AppendError::Decision(TakeInError::Spool(error));
        let mut taken = TakenIn::default();
        if spool.read().map_err(refused)?.is_empty() {
            return Ok(taken);
        }
        let _lock = self.lock_spool()?;
        for Spooled { path, commit } in spool.read().map_err(refused)? {
            taken.anomalies.extend(commit.anomalies);
            for entry in commit.entries.into_iter().filter(|entry| (caller.accept)(&path, entry)) {
                let known = self.take_in_one(stamp, &path, &entry, caller)?;
                if known { &mut taken.known } else { &mut taken.recorded }.push(entry.id);
                taken.anomalies.extend(fs::remove_file(&path).err().map(|error| {
                    let reason = format!("the log holds it, but its file cannot be removed: {error}");
                    anomaly(&path, AnomalyKind::Unreadable(reason))
                }));
            }
        }
        Ok(taken)
    }

    /// The ids of the events that `tip` reaches and `seen` does not.
    pub fn ids_since(&self, tip: Option<ObjectName>, seen: Option<ObjectName>) -> HashSet<EventId> {
        let mut ids = HashSet::new();
        let known = |name: &ObjectName| (Some(*name) == seen).then_some(0);
        self.visit_since(tip.as_slice(), &known, &mut |commit| {
            ids.extend(commit.entries.iter().map(|entry| entry.id));
        });
        ids
    }

    /// Records one event unless the log holds it; returns whether it did.
    fn take_in_one(
        &self,
        stamp: &Stamp,
        path: &Path,
        entry: &Entry,
        caller: &TakeIn<'_>,
    ) -> Result<bool, AppendError<TakeInError>> {
        let description = (caller.describe)(entry);
        let appended = self.append(stamp, |tip| {
            if (caller.is_known)(&entry.id) || self.ids_since(tip, caller.seen).contains(&entry.id) {
                return Err(TakeInError::Known);
            }
            let bytes = bytes(path).map_err(TakeInError::Changed)?;
            if EventId::of(&bytes) != entry.id {
                return Err(TakeInError::Changed(AnomalyKind::Mismatch));
            }
            let events = vec![NewEvent::new(entry.kind.clone(), bytes)];
            Ok(Append { events, description: description.clone() })
        });
        match appended {
            Ok(_) => Ok(false),
            Err(AppendError::Decision(TakeInError::Known)) => Ok(true),
            Err(error) => Err(error),
        }
    }

    fn lock_spool(&self) -> Result<fs::File, AppendError<TakeInError>> {
        let dir = self.repo.state_dir();
        let lock = || {
            fs::create_dir_all(&dir)?;
            let file = fs::File::create(dir.join("spool.flock"))?;
            file.lock()?;
            Ok(file)
        };
        lock().map_err(|error| match Refusal::of(&error) {
            Some(Refusal::NotWritable) => AppendError::NotWritable(error),
            Some(Refusal::Full) => AppendError::StorageFull(error),
            None => AppendError::Decision(TakeInError::Spool(failed(&dir)(error))),
        })
    }
}

/// Why an event of the spool was not recorded.
#[derive(Debug, thiserror::Error)]
pub enum TakeInError {
    /// The log holds it.
    #[error("the log holds the event already")]
    Known,
    /// Its file was changed while it was being taken in.
    #[error("the file was changed while it was being taken in: {0}")]
    Changed(AnomalyKind),
    /// The spool cannot be used.
    #[error(transparent)]
    Spool(#[from] SpoolError),
}

/// `<id>.json`, or `<id>.<kind>.json` for what is not a handoff.
fn file_name(kind: &EventKind, id: &EventId) -> String {
    match kind {
        EventKind::Handoff => format!("{id}.json"),
        EventKind::Other(kind) => format!("{id}.{kind}.json"),
    }
}

/// The kind and id that a file name says.
fn named(name: &str) -> Option<(EventKind, EventId)> {
    let stem = name.strip_suffix(".json")?;
    let (id, kind) = stem.split_once('.').unwrap_or((stem, "handoff"));
    let (id, kind) = (id.parse().ok()?, EventKind::from_folder(Some(kind).filter(|kind| is_kind(kind))?));
    (file_name(&kind, &id) == name).then_some((kind, id))
}

fn spooled(path: PathBuf) -> Spooled {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let read = named(&name).ok_or(AnomalyKind::Foreign).and_then(|(kind, id)| {
        let event = codec::decode(&kind, &id, &bytes(&path)?)?;
        Ok(Entry { id, kind, blob: None, event })
    });
    let mut commit = LogCommit { name: None, effective: 0, entries: Vec::new(), anomalies: Vec::new() };
    match read {
        Ok(entry) => commit.entries.push(entry),
        Err(kind) => commit.anomalies.push(anomaly(&path, kind)),
    }
    commit.effective = own_time(&commit.entries, 0);
    Spooled { path, commit }
}

fn anomaly(path: &Path, kind: AnomalyKind) -> Anomaly {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    Anomaly { commit: None, path: format!("{}/{}/{}", DIR[0], DIR[1], visible_line(&name)), kind }
}

/// The bytes of an ordinary file that is not too large.
fn bytes(path: &Path) -> Result<Vec<u8>, AnomalyKind> {
    let unreadable = |error: io::Error| AnomalyKind::Unreadable(error.to_string());
    let data = path.symlink_metadata().map_err(unreadable)?;
    if !data.is_file() {
        return Err(AnomalyKind::Foreign);
    }
    if data.len() > MAX_EVENT_BYTES {
        return Err(AnomalyKind::Oversized(data.len()));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(unreadable)?;
    file.take(MAX_EVENT_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::REF;
    use super::super::fixture::{append, handoff, stamp};
    use super::*;
    use crate::git::fixture::Fixture;

    fn take_in(fixture: &Fixture, seen: Option<ObjectName>, is_known: &dyn Fn(&EventId) -> bool) -> TakenIn {
        let repo = fixture.repo();
        let spool = Spool::of(&repo).expect("there is a work tree");
        let describe = |entry: &Entry| Description { subject: format!("spooled {}", entry.id), trailers: Vec::new() };
        Log::new(&repo)
            .take_in_spool(&stamp(50), &spool, &TakeIn { seen, is_known, describe: &describe, accept: &|_, _| true })
            .expect("the log can be written")
    }

    fn spool(fixture: &Fixture) -> Spool {
        Spool::of(&fixture.repo()).expect("there is a work tree")
    }

    #[test]
    fn what_is_spooled_is_read_as_an_event_without_a_commit() {
        let fixture = Fixture::new();
        let spool = spool(&fixture);
        assert_eq!(spool.read().expect("an absent spool is empty"), []);
        let claim = NewEvent::new(EventKind::from_folder("claim"), b"{}".to_vec());
        let (one, two) = (spool.write(&handoff(1)).expect("writable"), spool.write(&claim).expect("writable"));
        assert_eq!(spool.write(&handoff(1)).expect("writable"), one);
        let read = spool.read().expect("readable");
        let found: Vec<_> = read.iter().map(|file| (file.path.clone(), file.commit.entries[0].id)).collect();
        let mut expected = vec![(one, handoff(1).id()), (two, claim.id())];
        expected.sort();
        assert_eq!(found, expected);
        assert_eq!(fixture.git(&["status", "--porcelain"]), "");
    }

    #[test]
    fn the_log_takes_in_each_event_once_and_then_the_file_goes() {
        let fixture = Fixture::new();
        let spool = spool(&fixture);
        let events = [handoff(1), handoff(2), handoff(3)];
        events.iter().for_each(|event| drop(spool.write(event).expect("writable")));
        // One that the caller knows, one that somebody recorded since the caller looked.
        append(&Log::new(&fixture.repo()), 2);
        let taken = take_in(&fixture, None, &|id| *id == events[0].id());
        let mut known = vec![events[0].id(), events[1].id()];
        known.sort();
        assert_eq!(taken, TakenIn { recorded: vec![events[2].id()], known, anomalies: vec![] });
        assert_eq!(spool.read().expect("readable"), []);
        let subject = format!("spooled {}", events[2].id());
        assert_eq!(fixture.git(&["log", "--format=%s", REF]), format!("{subject}\nhandoff 2"));
        assert_eq!(take_in(&fixture, None, &|_| false), TakenIn::default());
    }

    #[test]
    fn processes_side_by_side_do_not_store_it_twice() {
        let fixture = Fixture::new();
        (0..6).for_each(|n| drop(spool(&fixture).write(&handoff(n)).expect("writable")));
        std::thread::scope(|scope| {
            (0..4).for_each(|_| drop(scope.spawn(|| take_in(&fixture, None, &|_| false))));
        });
        assert_eq!(fixture.git(&["rev-list", "--count", REF]), "6");
    }

    #[test]
    fn damaged_and_foreign_files_are_reported_and_stay() {
        let fixture = Fixture::new();
        let spool = spool(&fixture);
        let good = spool.write(&handoff(1)).expect("writable");
        let edited = spool.write(&handoff(2)).expect("writable");
        fs::write(&edited, handoff(3).bytes()).expect("writable");
        fs::write(spool.dir().join("notes.json"), "{}").expect("writable");
        fs::write(spool.dir().join("half.tmp"), "{").expect("writable");
        let taken = take_in(&fixture, None, &|_| false);
        assert_eq!(taken.recorded, [handoff(1).id()]);
        let mut kinds: Vec<_> =
            taken.anomalies.iter().map(|anomaly| (anomaly.kind.clone(), anomaly.path.clone())).collect();
        kinds.sort_by_key(|(_, path)| path.ends_with("notes.json"));
        let name = edited.file_name().expect("it has one").to_string_lossy().into_owned();
        assert_eq!(
            kinds,
            [
                (AnomalyKind::Mismatch, format!(".session-transfer/spool/{name}")),
                (AnomalyKind::Foreign, ".session-transfer/spool/notes.json".into()),
            ]
        );
        assert_eq!([good.exists(), edited.exists()], [false, true]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_work_tree_is_refused() {
        let fixture = Fixture::new();
        std::os::unix::fs::symlink(fixture.outside(), fixture.top().join(".session-transfer")).expect("it can be made");
        let spool = spool(&fixture);
        assert!(matches!(spool.write(&handoff(1)), Err(SpoolError::LeadsOutside(_))));
        assert!(matches!(spool.read(), Err(SpoolError::LeadsOutside(_))));
        assert!(!fixture.outside().join("spool").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_a_link_is_not_followed() {
        let fixture = Fixture::new();
        let spool = spool(&fixture);
        let path = spool.write(&handoff(1)).expect("writable");
        fs::rename(&path, fixture.outside().join("secret")).expect("it can be moved");
        std::os::unix::fs::symlink(fixture.outside().join("secret"), &path).expect("it can be made");
        assert_eq!(spool.read().expect("readable")[0].commit.anomalies[0].kind, AnomalyKind::Foreign);
    }
}
