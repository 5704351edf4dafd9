//! Notes on commits, many in one update.

use std::cell::RefCell;
use std::time::Duration;

use gix::objs::{Data, Find, Kind, Write, WriteTo};

use super::objects::named;
use super::{Expected, HistoryError, NewCommit, ObjectError, ObjectWriter, RefError, Reflog, Repo, WriteError};
use crate::model::ObjectName;

/// The largest note that is read.
pub(super) const MAX_NOTE: u64 = 16 * 1024 * 1024;
/// How often an update is tried when others move the ref.
const ATTEMPTS: u32 = 20;

/// Why notes could not be updated.
#[derive(Debug, thiserror::Error)]
pub enum NotesError {
    /// A note, the notes commit or its tree cannot be read.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// An object cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The ref cannot be read or moved.
    #[error(transparent)]
    Ref(#[from] RefError),
    /// The history of the notes cannot be walked.
    #[error("the history of the notes cannot be walked")]
    History(#[source] Box<HistoryError>),
    /// The tree of notes is not one that git could have made.
    #[error("the notes of {name} cannot be read or written")]
    Tree {
        /// The notes ref.
        name: String,
        /// What gix says.
        #[source]
        source: Box<gix::Error>,
    },
}

impl From<HistoryError> for NotesError {
    fn from(error: HistoryError) -> Self {
        Self::History(Box::new(error))
    }
}

/// Makes the new text of a commit's note from its present text: `None` for no note.
pub type EditNote<'a> = dyn Fn(&ObjectName, Option<&[u8]>) -> Option<Vec<u8>> + 'a;

impl Repo {
    /// Edits the notes on these commits in one commit on the notes ref, whatever fan-out its tree has. When nothing
    /// changes, nothing is written. `edit` may be called again for a commit when somebody else moves the ref.
    ///
    /// Returns whether the ref was moved.
    ///
    /// # Errors
    /// See [`NotesError`]; [`RefError::Moved`] and [`RefError::Locked`] only after 20 attempts.
    pub fn update_notes(
        &self,
        name: &str,
        commits: &[ObjectName],
        edit: &EditNote<'_>,
        reflog: &Reflog<'_>,
    ) -> Result<bool, NotesError> {
        let mut attempt = 1;
        loop {
            match self.update_notes_once(name, commits, edit, reflog) {
                Err(NotesError::Ref(RefError::Moved(_) | RefError::Locked { .. })) if attempt < ATTEMPTS => {
                    super::refs::pause(attempt, Duration::from_millis(200));
                    attempt += 1;
                }
                done => return done,
            }
        }
    }

    /// The note on a commit.
    ///
    /// # Errors
    /// When the notes cannot be read.
    pub fn read_note(&self, name: &str, commit: &ObjectName) -> Result<Option<Vec<u8>>, NotesError> {
        self.read_ref(name)?.map_or(Ok(None), |tip| self.note_at(&tip, commit))
    }

    /// The note on a commit in the notes that stand at this tip.
    ///
    /// # Errors
    /// When the notes cannot be read.
    pub fn note_at(&self, tip: &ObjectName, commit: &ObjectName) -> Result<Option<Vec<u8>>, NotesError> {
        const NAME: &str = "notes";
        let writer = self.writer();
        let store = NoteStore::new(&writer);
        let mut state = self.notes_state(NAME, Some(tip), &store)?;
        self.note_in(NAME, &mut state, &store, commit).map(|note| note.map(|(_, text)| text))
    }

    fn update_notes_once(
        &self,
        name: &str,
        commits: &[ObjectName],
        edit: &EditNote<'_>,
        reflog: &Reflog<'_>,
    ) -> Result<bool, NotesError> {
        let _turn = self.take_turn(name)?;
        let tip = self.read_ref(name)?;
        let writer = self.writer();
        let store = NoteStore::new(&writer);
        let mut state = self.notes_state(name, tip.as_ref(), &store)?;
        let before = state.root_tree_id();
        for commit in commits {
            let present = self.note_in(name, &mut state, &store, commit)?.map(|(_, text)| text);
            let wanted = edit(commit, present.as_deref()).filter(|text| !text.is_empty());
            if wanted == present {
                continue;
            }
            let blob = wanted.map(|text| writer.blob(&text)).transpose()?;
            let blob = blob.map(|blob| self.object_id(&blob)).transpose()?;
            state.edit(self.object_id(commit)?, blob, &store).map_err(|e| store.explained(name, e))?;
        }
        let tree = state.write(&store).map_err(|error| store.explained(name, error))?;
        if tree == before {
            return Ok(false);
        }
        let commit = writer.commit(&NewCommit {
            tree: named(tree),
            parents: tip.as_slice(),
            identity: reflog.identity,
            seconds: reflog.seconds,
            offset_minutes: reflog.offset_minutes,
            message: &format!("{}\n", reflog.message),
        })?;
        // Notes are made again from the log; they last as those of `git notes`, which does not sync either.
        self.compare_and_swap(name, Expected::from(tip), &commit, reflog)?;
        Ok(true)
    }

    fn notes_state(
        &self,
        name: &str,
        tip: Option<&ObjectName>,
        store: &NoteStore<'_>,
    ) -> Result<gix::note::plumbing::State, NotesError> {
        let tree = match tip {
            Some(tip) => self.object_id(&self.read_commit(tip)?.tree)?,
            None => gix::ObjectId::empty_tree(self.gix.object_hash()),
        };
        gix::note::plumbing::State::new(tree, store).map_err(|error| store.explained(name, error))
    }

    fn note_in(
        &self,
        name: &str,
        state: &mut gix::note::plumbing::State,
        store: &NoteStore<'_>,
        commit: &ObjectName,
    ) -> Result<Option<(ObjectName, Vec<u8>)>, NotesError> {
        let id = self.object_id(commit)?;
        let found = state.get(&id, store).map_err(|error| store.explained(name, error))?.map(named);
        found.map(|blob| Ok((blob, self.read_blob(&blob, MAX_NOTE)?))).transpose()
    }
}

/// The object database as the notes tree sees it: the empty tree is always there, and what is written is remembered
/// so that it can be made durable.
pub(super) struct NoteStore<'w> {
    writer: &'w ObjectWriter<'w>,
    /// Our own error, which gix's error type cannot give back.
    failure: RefCell<Option<WriteError>>,
}

impl<'w> NoteStore<'w> {
    pub(super) fn new(writer: &'w ObjectWriter<'w>) -> Self {
        Self { writer, failure: RefCell::default() }
    }

    pub(super) fn blob(&self, text: &[u8]) -> Result<ObjectName, WriteError> {
        self.writer.blob(text)
    }

    pub(super) fn explained(&self, name: &str, source: gix::Error) -> NotesError {
        match self.failure.take() {
            Some(error) => NotesError::Write(error),
            None => NotesError::Tree { name: name.into(), source: Box::new(source) },
        }
    }
}

impl Find for NoteStore<'_> {
    fn try_find<'a>(&self, id: &gix::oid, buffer: &'a mut Vec<u8>) -> gix::Result<Option<Data<'a>>> {
        if id == gix::ObjectId::empty_tree(id.kind()) {
            buffer.clear();
            return Ok(Some(Data { kind: Kind::Tree, object_hash: id.kind(), data: buffer }));
        }
        self.writer.repo().gix.objects.try_find(id, buffer)
    }
}

impl Write for NoteStore<'_> {
    fn write(&self, object: &dyn WriteTo) -> gix::Result<gix::ObjectId> {
        let mut bytes = Vec::new();
        object.write_to(&mut bytes).map_err(gix::Error::from_error)?;
        self.write_buf(object.kind(), &bytes)
    }

    fn write_buf(&self, kind: Kind, bytes: &[u8]) -> gix::Result<gix::ObjectId> {
        let written = self.writer.object(kind, bytes);
        let name = written.map_err(|error| {
            let text = error.to_string();
            self.failure.replace(Some(error));
            gix::Error::from_error(std::io::Error::other(text))
        })?;
        Ok(gix::ObjectId::from_bytes_or_panic(name.as_bytes()))
    }

    fn write_buf_with_known_id(&self, kind: Kind, bytes: &[u8], _id: gix::ObjectId) -> gix::Result<gix::ObjectId> {
        self.write_buf(kind, bytes)
    }

    fn write_stream(&self, kind: Kind, _size: u64, from: &mut dyn std::io::Read) -> gix::Result<gix::ObjectId> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).map_err(gix::Error::from_error)?;
        self.write_buf(kind, &bytes)
    }

    fn write_stream_with_known_id(
        &self,
        kind: Kind,
        size: u64,
        from: &mut dyn std::io::Read,
        _id: gix::ObjectId,
    ) -> gix::Result<gix::ObjectId> {
        self.write_stream(kind, size, from)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::super::{Identity, Reflog};
    use super::*;

    const NAME: &str = "refs/notes/handoffs";

    fn update(repo: &Repo, commits: &[ObjectName], edit: &EditNote<'_>) -> bool {
        let identity = Identity::new("A", "a@b");
        let reflog = Reflog {
            identity: &identity,
            seconds: 1_787_061_899,
            offset_minutes: 0,
            message: "Notes",
            durability: crate::git::Durability::Process,
        };
        repo.update_notes(NAME, commits, edit, &reflog).expect("the notes can be updated")
    }

    #[test]
    fn notes_are_those_that_git_shows_at_any_fan_out() {
        let fixture = Fixture::new();
        let commits: Vec<_> = (0..40).map(|n| fixture.commit(&format!("commit {n}"))).collect();
        let repo = fixture.repo();
        // git's own notes first: our lines must join them, whatever the fan-out is.
        for commit in &commits[..3] {
            fixture.git(&["notes", "--ref=handoffs", "add", "-m", "by a person", &commit.to_string()]);
        }
        assert!(update(&repo, &commits, &|commit, present| {
            let mut text = present.map(<[u8]>::to_vec).unwrap_or_default();
            text.extend(format!("handoff of {}\n", commit.short()).bytes());
            Some(text)
        }));
        for (n, commit) in commits.iter().enumerate() {
            let person = if n < 3 { "by a person\n" } else { "" };
            let shown = fixture.git(&["notes", "--ref=handoffs", "show", &commit.to_string()]);
            assert_eq!(shown, format!("{person}handoff of {}", commit.short()));
        }
        fixture.git(&["fsck", "--strict"]);
        assert_eq!(fixture.git(&["rev-list", "--count", NAME]), "4");
    }

    #[test]
    fn what_does_not_change_is_not_written() {
        let fixture = Fixture::new();
        let one = fixture.commit("one");
        let repo = fixture.repo();
        assert!(!update(&repo, &[one], &|_, present| present.map(<[u8]>::to_vec)));
        assert!(update(&repo, &[one], &|_, _| Some(b"x\n".to_vec())));
        let tip = fixture.name(NAME);
        assert!(!update(&repo, &[one], &|_, _| Some(b"x\n".to_vec())));
        assert_eq!(fixture.name(NAME), tip);
        assert_eq!(repo.read_note(NAME, &one).expect("readable").as_deref(), Some(&b"x\n"[..]));
        assert!(update(&repo, &[one], &|_, _| None));
        assert_eq!(fixture.git(&["notes", "--ref=handoffs", "list"]), "");
    }

    #[test]
    fn writers_side_by_side_lose_no_line() {
        let fixture = Fixture::new();
        let commits: Vec<_> = (0..8).map(|n| fixture.commit(&format!("commit {n}"))).collect();
        std::thread::scope(|scope| {
            for commit in &commits {
                scope.spawn(|| update(&fixture.repo(), &[*commit], &|commit, _| Some(commit.short().into_bytes())));
            }
        });
        let repo = fixture.repo();
        for commit in &commits {
            assert_eq!(repo.read_note(NAME, commit).expect("readable"), Some(commit.short().into_bytes()));
        }
    }
}
