//! Reading objects: sizes are known before anything is loaded, and what is wrong with an object is told apart.

use gix::objs::{Kind, TreeRefIter};

use super::Repo;
use crate::model::ObjectName;

/// Why an object could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// It is not in this repository.
    #[error("object {0} is not in this repository")]
    Missing(ObjectName),
    /// It is larger than the caller takes; nothing was loaded.
    #[error("object {name} has {size} bytes; at most {limit} are taken")]
    TooLarge {
        /// The object.
        name: ObjectName,
        /// Its size in bytes.
        size: u64,
        /// The most bytes that the caller takes.
        limit: u64,
    },
    /// It is of another kind.
    #[error("object {name} is a {found}, not a {expected}")]
    WrongKind {
        /// The object.
        name: ObjectName,
        /// The kind that it should be.
        expected: &'static str,
        /// The kind that it is.
        found: &'static str,
    },
    /// It is there and cannot be decoded.
    #[error("object {name} is corrupt or cannot be read")]
    Corrupt {
        /// The object.
        name: ObjectName,
        /// What gix says.
        #[source]
        source: Box<gix::Error>,
    },
    /// The name has another length than this repository's object format.
    #[error("{0} is not an object name of this repository's format")]
    Format(ObjectName),
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitObject {
    /// Its tree.
    pub tree: ObjectName,
    /// Its parents, in order.
    pub parents: Vec<ObjectName>,
    /// The committer's time in seconds since the epoch; 0 where it cannot be read.
    pub seconds: i64,
    /// The message, lossy where it is not UTF-8.
    pub message: String,
}

/// What a tree's entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryMode {
    /// An ordinary file.
    File,
    /// An executable file.
    Executable,
    /// A symbolic link.
    Symlink,
    /// A directory.
    Tree,
    /// A commit of a submodule.
    Submodule,
}

/// An entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// The name, one path component, in whatever encoding it was written.
    pub name: Vec<u8>,
    /// What it is.
    pub mode: EntryMode,
    /// The object.
    pub object: ObjectName,
}

impl Repo {
    /// The bytes of a blob of at most `limit` bytes.
    ///
    /// # Errors
    /// See [`ObjectError`].
    pub fn read_blob(&self, name: &ObjectName, limit: u64) -> Result<Vec<u8>, ObjectError> {
        let id = self.object_id(name)?;
        let corrupt = |error| ObjectError::Corrupt { name: *name, source: Box::new(error) };
        let too_large = |size| Err(ObjectError::TooLarge { name: *name, size, limit });
        match self.gix.try_find_header(id) {
            Ok(Some(header)) if header.kind() == Kind::Blob && header.size() > limit => {
                return too_large(header.size());
            }
            Ok(None) if !self.fetch_promised(name) => return Err(ObjectError::Missing(*name)),
            Ok(Some(_) | None) => {}
            Err(error) if self.loose_copy(id).is_none() => return Err(corrupt(error)),
            Err(_) => {}
        }
        let bytes = self.load(name, Kind::Blob)?;
        if bytes.len() as u64 > limit { too_large(bytes.len() as u64) } else { Ok(bytes) }
    }

    /// A commit, as it stands in the object database: neither replacements nor shallow boundaries are applied.
    ///
    /// # Errors
    /// See [`ObjectError`].
    pub fn read_commit(&self, name: &ObjectName) -> Result<CommitObject, ObjectError> {
        let data = self.load(name, Kind::Commit)?;
        let corrupt = |error: gix::Error| ObjectError::Corrupt { name: *name, source: Box::new(error) };
        let commit = gix::objs::CommitRef::from_bytes(&data, self.gix.object_hash()).map_err(corrupt)?;
        Ok(CommitObject {
            tree: named(commit.tree()),
            parents: commit.parents().map(named).collect(),
            seconds: commit.committer().map(|who| who.seconds()).unwrap_or(0),
            message: String::from_utf8_lossy(commit.message).into_owned(),
        })
    }

    /// Whether a commit carries a signature, of whatever worth.
    ///
    /// # Errors
    /// See [`ObjectError`].
    pub(super) fn has_signature(&self, name: &ObjectName) -> Result<bool, ObjectError> {
        let data = self.load(name, Kind::Commit)?;
        let header = data.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
        let is_signature = |line: &[u8]| line.starts_with(b"gpgsig ") || line.starts_with(b"gpgsig-sha256 ");
        Ok(header.into_iter().any(is_signature))
    }

    /// The entries of a tree, in the order in which git stores them.
    ///
    /// # Errors
    /// See [`ObjectError`].
    pub fn read_tree(&self, name: &ObjectName) -> Result<Vec<TreeEntry>, ObjectError> {
        if self.object_id(name)? == gix::ObjectId::empty_tree(self.gix.object_hash()) {
            return Ok(Vec::new());
        }
        let data = self.load(name, Kind::Tree)?;
        TreeRefIter::from_bytes(&data, self.gix.object_hash())
            .map(|entry| {
                let entry = entry.map_err(|error| ObjectError::Corrupt { name: *name, source: Box::new(error) })?;
                let mode = match entry.mode.kind() {
                    gix::objs::tree::EntryKind::Blob => EntryMode::File,
                    gix::objs::tree::EntryKind::BlobExecutable => EntryMode::Executable,
                    gix::objs::tree::EntryKind::Link => EntryMode::Symlink,
                    gix::objs::tree::EntryKind::Tree => EntryMode::Tree,
                    gix::objs::tree::EntryKind::Commit => EntryMode::Submodule,
                };
                Ok(TreeEntry { name: entry.filename.to_vec(), mode, object: named(entry.oid.to_owned()) })
            })
            .collect()
    }

    /// Whether the object is in this repository.
    pub fn exists(&self, name: &ObjectName) -> bool {
        self.object_id(name).is_ok_and(|id| self.gix.has_object(id))
    }

    /// The bytes of an object of this kind. Commits and trees have no limit, as in git.
    fn load(&self, name: &ObjectName, expected: Kind) -> Result<Vec<u8>, ObjectError> {
        let id = self.object_id(name)?;
        let (kind, data) = match self.gix.try_find_object(id) {
            Ok(Some(object)) => (object.kind, object.detach().data),
            Ok(None) => match self.fetch_promised(name).then(|| self.gix.try_find_object(id)) {
                Some(Ok(Some(object))) => (object.kind, object.detach().data),
                Some(Ok(None) | Err(_)) | None => return Err(ObjectError::Missing(*name)),
            },
            Err(error) => match self.loose_copy(id) {
                Some(copy) => copy,
                None => return Err(ObjectError::Corrupt { name: *name, source: Box::new(error) }),
            },
        };
        if kind != expected {
            return Err(ObjectError::WrongKind { name: *name, expected: word(expected), found: word(kind) });
        }
        Ok(data)
    }

    /// Whether this is a partial clone, in which objects may be at the remote that promised them.
    pub fn is_partial(&self) -> bool {
        self.config_string("extensions.partialClone").is_some()
            || self.config_of_any("remote", "promisor").iter().any(|value| value == "true")
    }

    /// Has git fetch an object that a remote of a partial clone has promised, as git itself does on the first use. Once a
    /// remote has failed to answer, it is not asked again.
    fn fetch_promised(&self, name: &ObjectName) -> bool {
        if !self.is_partial() || self.promises_broken.get() {
            return false;
        }
        let asked = self.command("cat-file").args(["-e", &name.to_string()]).deadline(PROMISE_DEADLINE).output();
        let fetched = asked.is_ok_and(|output| output.code == Some(0));
        self.promises_broken.set(!fetched);
        fetched
    }

    /// The loose copy of an object whose copy in a pack cannot be read. git looks for one, too; gix does not.
    fn loose_copy(&self, id: gix::ObjectId) -> Option<(Kind, Vec<u8>)> {
        let store = gix::odb::loose::Store::at(self.gix.objects.store_ref().path(), self.gix.object_hash());
        let mut data = Vec::new();
        let kind = store.try_find(&id, &mut data).ok()??.kind;
        Some((kind, data))
    }

    /// gix's form of a name, if it has the length that this repository uses.
    pub(super) fn object_id(&self, name: &ObjectName) -> Result<gix::ObjectId, ObjectError> {
        let id = gix::ObjectId::try_from(name.as_bytes()).map_err(|_| ObjectError::Format(*name))?;
        if id.kind() == self.gix.object_hash() { Ok(id) } else { Err(ObjectError::Format(*name)) }
    }
}

/// How long a remote may take to give one promised object.
const PROMISE_DEADLINE: std::time::Duration = std::time::Duration::from_secs(30);

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Blob => "blob",
        Kind::Tree => "tree",
        Kind::Commit => "commit",
        Kind::Tag => "tag",
    }
}

/// Our form of a gix name.
pub(super) fn named(id: gix::ObjectId) -> ObjectName {
    ObjectName::from_bytes(id.as_bytes()).expect("gix's object names have 20 or 32 bytes")
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::super::{Identity, NewCommit};
    use super::*;

    #[test]
    fn what_is_written_is_what_git_reads() {
        for form in [&[][..], &["--object-format=sha256"]] {
            let fixture = Fixture::with(form);
            let repo = fixture.repo();
            let writer = repo.writer();
            let blob = writer.blob(b"text").expect("it can be written");
            let entry = |name: &str, mode, object| TreeEntry { name: name.into(), mode, object };
            let inner = writer.tree(&[entry("x.json", EntryMode::File, blob)]).expect("it can be written");
            let entries = [entry("a.b", EntryMode::File, blob), entry("a", EntryMode::Tree, inner)];
            let tree = writer.tree(&entries).expect("it can be written");
            let identity = Identity::new("Ada", "ada@example.com");
            let new =
                NewCommit { tree, parents: &[], identity: &identity, seconds: 5, offset_minutes: -90, message: "m\n" };
            let commit = writer.commit(&new).expect("it can be written");
            writer.make_durable().expect("it can be synced");
            assert_eq!(
                fixture.git(&["log", "-1", "--format=%an|%ae|%ad|%s", "--date=raw", &commit.to_string()]),
                "Ada|ada@example.com|5 -0130|m"
            );
            assert_eq!(fixture.git(&["ls-tree", "-r", "--name-only", &commit.to_string()]), "a.b\na/x.json");
            fixture.git(&["fsck", "--strict"]);
            let read = repo.read_commit(&commit).expect("it is there");
            assert_eq!(read, CommitObject { tree, parents: vec![], seconds: 5, message: "m\n".into() });
            assert_eq!(repo.read_tree(&tree).expect("it is there"), entries);
            assert_eq!(repo.read_blob(&blob, 4).expect("it is there"), b"text");
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_apart() {
        let fixture = Fixture::new();
        let repo = fixture.repo();
        let commit = fixture.commit("one");
        let blob = repo.writer().blob(b"12345").expect("it can be written");
        let missing = ObjectName::from_bytes(&[7; 20]).expect("20 bytes");
        let long = ObjectName::from_bytes(&[7; 32]).expect("32 bytes");
        assert!(matches!(repo.read_blob(&missing, 9), Err(ObjectError::Missing(name)) if name == missing));
        assert!(matches!(repo.read_blob(&blob, 4), Err(ObjectError::TooLarge { size: 5, limit: 4, .. })));
        assert!(matches!(repo.read_blob(&commit, 9999), Err(ObjectError::WrongKind { found: "commit", .. })));
        assert!(matches!(repo.read_blob(&long, 9), Err(ObjectError::Format(_))));
        assert_eq!([repo.exists(&blob), repo.exists(&missing)], [true, false]);
        let hex = blob.to_string();
        let path = fixture.top().join(".git/objects").join(&hex[..2]).join(&hex[2..]);
        std::fs::remove_file(&path).expect("it is there");
        std::fs::write(&path, "garbage").expect("it can be written");
        assert!(matches!(fixture.repo().read_blob(&blob, 9), Err(ObjectError::Corrupt { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn a_loose_copy_stands_in_for_one_in_a_damaged_pack() {
        let fixture = Fixture::new();
        let repo = fixture.repo();
        let blobs: Vec<ObjectName> =
            ["one\n", "two\n"].iter().map(|text| repo.writer().blob(text.as_bytes()).expect("writable")).collect();
        for blob in &blobs {
            fixture.git(&["update-ref", &format!("refs/keep/{blob}"), &blob.to_string()]);
        }
        fixture.git(&["gc", "-q"]);
        let packs = fixture.top().join(".git/objects/pack");
        let mut pack = std::fs::read_dir(packs).expect("readable").filter_map(Result::ok).map(|entry| entry.path());
        let pack = pack.find(|path| path.extension().is_some_and(|ending| ending == "pack")).expect("packed");
        std::fs::set_permissions(&pack, std::os::unix::fs::PermissionsExt::from_mode(0o644)).expect("writable");
        let bytes = std::fs::read(&pack).expect("readable");
        std::fs::write(&pack, &bytes[..14]).expect("writable");
        let repo = fixture.repo();
        assert!(matches!(repo.read_blob(&blobs[0], 100), Err(ObjectError::Corrupt { .. } | ObjectError::Missing(_))));
        repo.writer().blob(b"one\n").expect("writable");
        assert_eq!(repo.read_blob(&blobs[0], 100).expect("readable"), b"one\n");
    }
}
