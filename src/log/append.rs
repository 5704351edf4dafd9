//! Appending to the log: write the objects, bring them to the disk, move the ref if it is still where it was.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::time::{Duration, Instant};

use super::read::own_time;
use super::{Log, REF, Signing, codec, effective};
use crate::git::{
    Durability, EntryMode, Expected, Identity, NewCommit, ObjectWriter, RefError, Reflog, TreeEntry, WriteError, pause,
};
use crate::model::{AnomalyKind, Entry, EventId, EventKind, LogCommit, ObjectName, Timestamp, cut, visible_line};

/// How long an append goes on trying while others move the ref or hold its lock.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
/// The most characters of a subject and of a trailer's value.
const MAX_LINE: usize = 300;

/// Who appends, and when.
#[derive(Debug, Clone)]
pub struct Stamp {
    /// Author and committer of the log's commit.
    pub identity: Identity,
    /// The moment.
    pub now: Timestamp,
}

impl Stamp {
    /// What a reflog says of an update that is made now, for this reason; for a ref that can be made again.
    pub fn reflog<'a>(&'a self, message: &'a str) -> Reflog<'a> {
        let Self { identity, now } = self;
        Reflog {
            identity,
            seconds: now.seconds(),
            offset_minutes: now.offset_minutes(),
            message,
            durability: Durability::Process,
        }
    }
}

/// An event that is to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    kind: EventKind,
    id: EventId,
    bytes: Vec<u8>,
}

impl NewEvent {
    /// The event that this canonical JSON is.
    pub fn new(kind: EventKind, canonical: Vec<u8>) -> Self {
        Self { kind, id: EventId::of(&canonical), bytes: canonical }
    }

    /// Its kind.
    pub fn kind(&self) -> &EventKind {
        &self.kind
    }

    /// Its id.
    pub fn id(&self) -> EventId {
        self.id
    }

    /// The canonical JSON.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// What the commit says to people who read the log with git. Line ends and control characters are made harmless.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Description {
    /// The subject line.
    pub subject: String,
    /// Trailers (`Handoff-Id`, …), in order.
    pub trailers: Vec<(String, String)>,
}

/// What is to be recorded in one commit: at least one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// The events.
    pub events: Vec<NewEvent>,
    /// What people read.
    pub description: Description,
}

/// What was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Appended {
    /// The new commit, which is the log's tip.
    pub tip: ObjectName,
    /// The tip before.
    pub parent: Option<ObjectName>,
    /// The events, as reading them gives them.
    pub entries: Vec<Entry>,
    own: i64,
}

impl Appended {
    /// The commit as a walk would find it, for a caller who knows the effective time of the parent.
    pub fn into_commit(self, parent: Option<i64>) -> LogCommit {
        let effective = effective(self.own, parent);
        LogCommit { name: Some(self.tip), effective, entries: self.entries, anomalies: Vec::new() }
    }
}

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum AppendError<E: Error + 'static> {
    /// The decision was against it.
    #[error(transparent)]
    Decision(E),
    /// Others kept moving the ref, or held its lock, for longer than the attempts went on.
    #[error("the log was busy for {} s", after.as_secs())]
    Contended {
        /// How long it was tried.
        after: Duration,
        /// The last refusal.
        #[source]
        source: RefError,
    },
    /// The repository does not take files from this process.
    #[error("the repository cannot be written")]
    NotWritable(#[source] io::Error),
    /// The disk is full.
    #[error("there is no space left for the repository")]
    StorageFull(#[source] io::Error),
    /// An event that could not be read back.
    #[error("the event {id} is not one: {kind}")]
    Event {
        /// The event.
        id: EventId,
        /// What is wrong with it.
        kind: AnomalyKind,
    },
    /// An object cannot be written.
    #[error("cannot record in the log")]
    Write(#[source] WriteError),
    /// The ref cannot be read or moved; a hook may have refused.
    #[error("cannot record in the log")]
    Ref(#[source] RefError),
}

impl<E: Error + 'static> From<WriteError> for AppendError<E> {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::NotWritable(source) => Self::NotWritable(source),
            WriteError::StorageFull(source) => Self::StorageFull(source),
            other @ (WriteError::Sync { .. } | WriteError::Object(_) | WriteError::Git(_) | WriteError::Signing(_)) => {
                Self::Write(other)
            }
        }
    }
}

impl<E: Error + 'static> From<RefError> for AppendError<E> {
    fn from(error: RefError) -> Self {
        match error {
            RefError::NotWritable(source) => Self::NotWritable(source),
            RefError::StorageFull(source) => Self::StorageFull(source),
            other @ (RefError::Moved(_)
            | RefError::Locked { .. }
            | RefError::Vetoed { .. }
            | RefError::Name(_)
            | RefError::Object(_)
            | RefError::Command(_)
            | RefError::Sync(_)
            | RefError::Git { .. }) => Self::Ref(other),
        }
    }
}

impl Log<'_> {
    /// Records what `decide` decides on the present tip. When somebody else moves the log meanwhile, `decide` is
    /// asked again on the new tip, for up to ten seconds.
    ///
    /// Everything is on the disk when this returns. Should the process die before, the log is as it was.
    ///
    /// # Errors
    /// See [`AppendError`].
    pub fn append<E: Error + 'static>(
        &self,
        stamp: &Stamp,
        mut decide: impl FnMut(Option<ObjectName>) -> Result<Append, E>,
    ) -> Result<Appended, AppendError<E>> {
        self.retry(|| {
            let _turn = self.repo.take_turn(REF)?;
            let parent = self.repo.read_ref(REF)?;
            let append = decide(parent).map_err(AppendError::Decision)?;
            let written = self.write_on(parent, stamp, &append)?;
            self.advance(parent, &written.tip, stamp, &line(&append.description.subject))?;
            Ok(written)
        })
    }

    /// Writes the commit of an append onto this parent and brings it to the disk, but does not move the log: for an
    /// append that somebody else has to accept first.
    ///
    /// # Errors
    /// See [`AppendError`]; never a decision.
    pub fn write_on<E: Error + 'static>(
        &self,
        parent: Option<ObjectName>,
        stamp: &Stamp,
        append: &Append,
    ) -> Result<Appended, AppendError<E>> {
        let entries = checked(append)?;
        let writer = self.repo.writer();
        let (tip, entries) = write(&writer, append, entries, parent, stamp, self.signing)?;
        writer.make_durable()?;
        let own = own_time(&entries, stamp.now.seconds());
        Ok(Appended { tip, parent, entries, own })
    }

    /// Writes events as a history of their own, oldest first, and returns its tip, on the disk and with no ref that
    /// leads to it. Joining it with the log puts every event at the place of its own time, however late it comes.
    ///
    /// # Errors
    /// See [`AppendError`].
    pub fn write_apart(
        &self,
        stamp: &Stamp,
        appends: impl IntoIterator<Item = Append>,
    ) -> Result<Option<ObjectName>, AppendError<Infallible>> {
        let writer = self.repo.writer();
        let mut tip = None;
        for append in appends {
            let entries = checked(&append)?;
            tip = Some(write(&writer, &append, entries, tip, stamp, self.signing)?.0);
        }
        writer.make_durable()?;
        Ok(tip)
    }

    /// Moves the log from a tip that was seen to a new one.
    pub(super) fn advance(
        &self,
        seen: Option<ObjectName>,
        new: &ObjectName,
        stamp: &Stamp,
        message: &str,
    ) -> Result<(), RefError> {
        let reflog = Reflog { durability: Durability::PowerCut, ..stamp.reflog(message) };
        self.repo.compare_and_swap(REF, Expected::from(seen), new, &reflog)
    }

    /// Tries until it works, fails for good, or has taken too long.
    pub(super) fn retry<T, E: Error + 'static>(
        &self,
        mut attempt: impl FnMut() -> Result<T, AppendError<E>>,
    ) -> Result<T, AppendError<E>> {
        let begin = Instant::now();
        for number in 1.. {
            match attempt() {
                Err(AppendError::Ref(source @ (RefError::Moved(_) | RefError::Locked { .. }))) => {
                    if begin.elapsed() >= PATIENCE {
                        return Err(AppendError::Contended { after: PATIENCE, source });
                    }
                    pause(number, LONGEST_PAUSE);
                }
                done => return done,
            }
        }
        unreachable!("the numbers do not run out within ten seconds")
    }
}

/// The events as reading them will give them; one that could not be read must not be written.
fn checked<E: Error + 'static>(append: &Append) -> Result<Vec<Entry>, AppendError<E>> {
    let entry = |event: &NewEvent| {
        let (id, kind) = (event.id, event.kind.clone());
        let size = event.bytes.len() as u64;
        let decoded = match (super::is_kind(kind.as_str()), size <= super::MAX_EVENT_BYTES) {
            (false, _) => Err(AnomalyKind::Foreign),
            (true, false) => Err(AnomalyKind::Oversized(size)),
            (true, true) => codec::decode(&kind, &id, &event.bytes),
        };
        match decoded {
            Ok(content) => Ok(Entry { id, kind, blob: None, event: content }),
            Err(kind) => Err(AppendError::Event { id, kind }),
        }
    };
    append.events.iter().map(entry).collect()
}

/// Writes the objects of an append and completes its entries with the names of their blobs.
fn write(
    writer: &ObjectWriter<'_>,
    append: &Append,
    mut entries: Vec<Entry>,
    parent: Option<ObjectName>,
    stamp: &Stamp,
    signing: Signing,
) -> Result<(ObjectName, Vec<Entry>), WriteError> {
    let mut folders: BTreeMap<&str, BTreeMap<EventId, ObjectName>> = BTreeMap::new();
    for (event, entry) in append.events.iter().zip(&mut entries) {
        let blob = writer.blob(&event.bytes)?;
        entry.blob = Some(blob);
        folders.entry(event.kind.as_str()).or_default().insert(event.id, blob);
    }
    let mut root = Vec::with_capacity(folders.len());
    for (kind, files) in folders {
        let file = |(id, object): (EventId, ObjectName)| TreeEntry {
            name: format!("{id}.json").into_bytes(),
            mode: EntryMode::File,
            object,
        };
        let files: Vec<TreeEntry> = files.into_iter().map(file).collect();
        root.push(TreeEntry { name: kind.into(), mode: EntryMode::Tree, object: writer.tree(&files)? });
    }
    let new = NewCommit {
        tree: writer.tree(&root)?,
        parents: parent.as_slice(),
        identity: &stamp.identity,
        seconds: stamp.now.seconds(),
        offset_minutes: stamp.now.offset_minutes(),
        message: &message(&append.description),
    };
    let tip = match signing {
        Signing::Unsigned => writer.commit(&new)?,
        Signing::Signed => writer.signed_commit(&new)?,
    };
    Ok((tip, entries))
}

fn message(description: &Description) -> String {
    let mut text = line(&description.subject) + "\n";
    for (number, (key, value)) in description.trailers.iter().enumerate() {
        let key: String = key.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let gap = if number == 0 { "\n" } else { "" };
        text += &format!("{gap}{key}: {}\n", line(value));
    }
    text
}

/// One line without control characters that is not too long for a list.
fn line(text: &str) -> String {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&visible_line(&folded), MAX_LINE).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{append, handoff, stamp};
    use super::super::{Log, MAX_EVENT_BYTES, REF};
    use super::*;
    use crate::git::fixture::Fixture;
    use crate::git::{Locate, Repo};

    #[test]
    fn an_append_is_one_commit_that_git_shows_and_finds_sound() {
        for form in [&[][..], &["--object-format=sha256"], &["--ref-format=reftable"], &["--bare"]] {
            let fixture = Fixture::with(form);
            let repo = fixture.repo();
            let log = Log::new(&repo);
            let (one, two) = (append(&log, 1), append(&log, 2));
            assert_eq!((one.parent, two.parent), (None, Some(one.tip)));
            assert_eq!(fixture.name(REF), two.tip);
            let event = handoff(2);
            let shown = fixture.git(&["log", "-1", "--format=%an <%ae> %ad%n%B", "--date=iso-strict", REF]);
            assert_eq!(
                shown,
                format!("Ada <ada@example.com> 2026-08-18T17:04:02+03:00\nhandoff 2\n\nHandoff-Id: {}", event.id())
            );
            let files = fixture.git(&["ls-tree", "-r", "--name-only", REF]);
            assert_eq!(files, format!("handoff/{}.json", event.id()));
            let bytes = fixture.git(&["cat-file", "blob", &format!("{REF}:{files}")]);
            assert_eq!(bytes.as_bytes(), event.bytes());
            assert_eq!(fixture.git(&["reflog", "show", "--format=%gs", REF]), "handoff 2\nhandoff 1");
            assert_eq!(fixture.git(&["fsck", "--strict"]), "");
            assert_eq!(log.commits_since(&[two.tip], &|_| None).commits[1], two.into_commit(Some(1_787_061_841_000)));
        }
    }

    #[test]
    fn linked_worktrees_and_odd_heads_share_one_log() {
        let fixture = Fixture::new();
        let unborn = fixture.repo();
        append(&Log::new(&unborn), 1);
        fixture.commit("one");
        fixture.git(&["worktree", "add", "-q", "--detach", "../linked"]);
        let linked = Repo::open(&Locate::at(fixture.outside().join("linked"))).expect("it is one");
        append(&Log::new(&linked), 2);
        assert_eq!(fixture.git(&["rev-list", "--count", REF]), "2");
    }

    #[test]
    fn appends_side_by_side_are_all_there_in_one_line() {
        for form in [&[][..], &["--ref-format=reftable"]] {
            let fixture = Fixture::with(form);
            std::thread::scope(|scope| {
                for writer in 0..4 {
                    let fixture = &fixture;
                    scope.spawn(move || {
                        let repo = fixture.repo();
                        (0..10).for_each(|n| drop(append(&Log::new(&repo), writer * 100 + n)));
                    });
                }
            });
            assert_eq!(fixture.git(&["rev-list", "--count", "--first-parent", REF]), "40");
            let repo = fixture.repo();
            let walk = Log::new(&repo).commits_since(&[fixture.name(REF)], &|_| None);
            let ids: std::collections::BTreeSet<_> = walk.commits.iter().map(|commit| commit.entries[0].id).collect();
            assert_eq!(ids.len(), 40);
        }
    }

    #[test]
    fn nothing_is_lost_while_git_packs_and_collects() {
        let fixture = Fixture::new();
        let done = std::sync::atomic::AtomicBool::new(false);
        let running = || !done.load(std::sync::atomic::Ordering::Relaxed);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while running() {
                    fixture.git(&["pack-refs", "--all"]);
                    fixture.git(&["gc", "-q"]);
                }
            });
            let write = |writer: i64| {
                let repo = fixture.repo();
                for n in 0..40 {
                    append(&Log::new(&repo), writer * 100 + n);
                }
            };
            let rival = scope.spawn(move || write(1));
            let own = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| write(0)));
            let results = [own, rival.join()];
            // First of all: without it a failure would keep git busy for ever.
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            results.into_iter().for_each(|result| result.expect("every append works"));
        });
        assert_eq!(fixture.git(&["rev-list", "--count", REF]), "80");
        fixture.git(&["fsck", "--strict"]);
    }

    #[test]
    fn the_decision_is_made_again_on_the_tip_that_won() {
        let fixture = Fixture::new();
        let repo = fixture.repo();
        let mut seen = Vec::new();
        let appended = Log::new(&repo).append(&stamp(9), |tip| {
            seen.push(tip);
            if seen.len() == 1 {
                // Another git, which knows nothing of turns.
                let tree = fixture.git(&["hash-object", "-t", "tree", "-w", "/dev/null"]);
                let rival = fixture.git(&["commit-tree", "-m", "rival", &tree]);
                fixture.git(&["update-ref", REF, &rival]);
            }
            Ok::<_, Infallible>(Append { events: vec![handoff(9)], description: Description::default() })
        });
        let first = fixture.name(&format!("{REF}~1"));
        assert_eq!(seen, [None, Some(first)]);
        assert_eq!(appended.expect("the second attempt works").parent, Some(first));
    }

    #[test]
    fn a_decision_against_it_writes_nothing() {
        let fixture = Fixture::new();
        let repo = fixture.repo();
        let refusal = Log::new(&repo).append(&stamp(1), |_| Err(io::Error::other("no")));
        assert!(matches!(refusal, Err(AppendError::Decision(error)) if error.to_string() == "no"));
        assert_eq!(fixture.git(&["count-objects"]), "0 objects, 0 kilobytes");
    }

    #[test]
    fn what_could_not_be_read_back_is_not_written() {
        let fixture = Fixture::new();
        let repo = fixture.repo();
        let huge = format!("{{\"x\":\"{}\"}}", "x".repeat(MAX_EVENT_BYTES as usize));
        for event in [
            NewEvent::new(EventKind::Handoff, b"{}".to_vec()),
            NewEvent::new(EventKind::from_folder("claim"), huge.into_bytes()),
            NewEvent::new(EventKind::from_folder("../x"), b"{}".to_vec()),
        ] {
            let append = Append { events: vec![event], description: Description::default() };
            let refusal = Log::new(&repo).append(&stamp(1), |_| Ok::<_, Infallible>(append.clone()));
            assert!(matches!(refusal, Err(AppendError::Event { .. })), "{refusal:?}");
        }
        assert_eq!(fixture.git(&["for-each-ref"]), "");
    }

    #[test]
    fn a_veto_is_told_and_leaves_only_loose_objects() {
        let fixture = Fixture::new();
        fixture.git(&["config", "core.hooksPath", "hooks"]);
        fixture.write("hooks/reference-transaction", "#!/bin/sh\nexit 1\n");
        #[cfg(unix)]
        std::fs::set_permissions(
            fixture.top().join("hooks/reference-transaction"),
            std::os::unix::fs::PermissionsExt::from_mode(0o755),
        )
        .expect("it is ours");
        let repo = fixture.repo();
        let append = Append { events: vec![handoff(1)], description: Description::default() };
        let refusal = Log::new(&repo).append(&stamp(1), |_| Ok::<_, Infallible>(append.clone()));
        assert!(matches!(refusal, Err(AppendError::Ref(RefError::Vetoed { .. }))), "{refusal:?}");
        fixture.git(&["fsck", "--strict"]);
    }

    #[test]
    fn a_repository_that_takes_no_files_is_told_apart() {
        let fixture = Fixture::new();
        let objects = fixture.top().join(".git/objects");
        let mut permissions = std::fs::metadata(&objects).expect("it is there").permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&objects, permissions).expect("it is ours");
        // Root writes everywhere; then there is nothing to see.
        if std::fs::write(objects.join("probe"), "").is_ok() {
            return;
        }
        let repo = fixture.repo();
        let append = Append { events: vec![handoff(1)], description: Description::default() };
        let refusal = Log::new(&repo).append(&stamp(1), |_| Ok::<_, Infallible>(append.clone()));
        assert!(matches!(refusal, Err(AppendError::NotWritable(_))), "{refusal:?}");
    }

    #[test]
    fn system_refusals_keep_their_meaning() {
        let error = |code| io::Error::from_raw_os_error(code);
        let read_only = AppendError::<Infallible>::from(RefError::NotWritable(error(30)));
        let full = AppendError::<Infallible>::from(WriteError::StorageFull(error(28)));
        assert!(matches!((read_only, full), (AppendError::NotWritable(_), AppendError::StorageFull(_))));
    }

    #[test]
    fn what_people_read_is_one_line_each() {
        let description = Description {
            subject: "two\nlines\u{1b}[2J".into(),
            trailers: vec![("Handoff-Id".into(), "a\nForged: b".into()), ("Bad: key\n".into(), "c".into())],
        };
        assert_eq!(message(&description), "two lines\\u{1b}[2J\n\nHandoff-Id: a Forged: b\nBadkey: c\n");
    }
}
