//! Writing objects so that they survive a power cut before a ref names them.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gix::objs::Kind;
use gix::zlib::stream::deflate::{Compress, FlushCompress};
use gix::zlib::{Compression, Status};

use super::objects::named;
use super::{EntryMode, Identity, ObjectError, Repo, TreeEntry};
use crate::model::ObjectName;

/// Why objects could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The object directory does not take files from this process: permissions, a read-only file system, a sandbox.
    #[error("the repository cannot be written")]
    NotWritable(#[source] io::Error),
    /// The disk, or the user's share of it, is full.
    #[error("there is no space left for the repository")]
    StorageFull(#[source] io::Error),
    /// A file could not be brought to the disk.
    #[error("cannot bring {} to the disk", path.display())]
    Sync {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A name that the new object refers to has another object format.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// Git could not sign a commit.
    #[error("the commit cannot be signed")]
    Signing(#[source] Box<super::CommandError>),
    /// Anything else.
    #[error("cannot write an object")]
    Git(#[source] Box<gix::Error>),
}

/// A commit to be written. Author and committer are the same.
#[derive(Debug, Clone)]
pub struct NewCommit<'a> {
    /// Its tree.
    pub tree: ObjectName,
    /// Its parents, in order.
    pub parents: &'a [ObjectName],
    /// Who writes it.
    pub identity: &'a Identity,
    /// When, in seconds since the epoch.
    pub seconds: i64,
    /// Minutes east of UTC.
    pub offset_minutes: i16,
    /// The whole message.
    pub message: &'a str,
}

/// Writes objects and remembers them until [`ObjectWriter::make_durable`] has brought them to the disk.
///
/// Objects without a ref are harmless: `git gc` removes them after two weeks.
pub struct ObjectWriter<'r> {
    repo: &'r Repo,
    pending: RefCell<Vec<ObjectName>>,
    /// Setting one up costs more than compressing an event.
    compressor: RefCell<Compress>,
}

impl std::fmt::Debug for ObjectWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObjectWriter").field("pending", &self.pending).finish_non_exhaustive()
    }
}

impl Repo {
    /// A writer of objects for one ref update.
    pub fn writer(&self) -> ObjectWriter<'_> {
        ObjectWriter {
            repo: self,
            pending: RefCell::default(),
            compressor: RefCell::new(Compress::new(Compression::BEST_SPEED)),
        }
    }
}

impl<'r> ObjectWriter<'r> {
    pub(super) fn repo(&self) -> &'r Repo {
        self.repo
    }

    /// Writes a blob.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn blob(&self, bytes: &[u8]) -> Result<ObjectName, WriteError> {
        self.object(Kind::Blob, bytes)
    }

    /// Writes a tree of these entries, in any order. Names must be distinct.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn tree(&self, entries: &[TreeEntry]) -> Result<ObjectName, WriteError> {
        let mut sorted = Vec::with_capacity(entries.len());
        for TreeEntry { name, mode, object } in entries {
            let kind = match mode {
                EntryMode::File => gix::objs::tree::EntryKind::Blob,
                EntryMode::Executable => gix::objs::tree::EntryKind::BlobExecutable,
                EntryMode::Symlink => gix::objs::tree::EntryKind::Link,
                EntryMode::Tree => gix::objs::tree::EntryKind::Tree,
                EntryMode::Submodule => gix::objs::tree::EntryKind::Commit,
            };
            let (filename, oid) = (name.clone().into(), self.repo.object_id(object)?);
            sorted.push(gix::objs::tree::Entry { mode: kind.into(), filename, oid });
        }
        sorted.sort();
        self.encoded(&gix::objs::Tree { entries: sorted })
    }

    /// Writes a commit.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn commit(&self, new: &NewCommit<'_>) -> Result<ObjectName, WriteError> {
        let who = new.identity.signature(new.seconds, new.offset_minutes);
        let parents = new.parents.iter().map(|parent| self.repo.object_id(parent)).collect::<Result<_, _>>()?;
        self.encoded(&gix::objs::Commit {
            tree: self.repo.object_id(&new.tree)?,
            parents,
            author: who.clone(),
            committer: who,
            encoding: None,
            message: new.message.into(),
            extra_headers: Vec::new(),
        })
    }

    /// Returns once everything that was written through this writer would survive a power cut.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn make_durable(&self) -> Result<(), WriteError> {
        let files = self.pending.take().iter().filter_map(|name| self.loose_path(name)).collect::<Vec<_>>();
        let mut paths: Vec<&Path> = files.iter().filter_map(|file| file.parent()).collect();
        // A new fan-out directory is itself an entry of the directory above it.
        paths.extend(paths.first().and_then(|dir| dir.parent()));
        paths.extend(files.iter().map(PathBuf::as_path));
        paths.sort_unstable();
        paths.dedup();
        sync_all(&paths)
    }

    /// Counts an object that git wrote among those of this writer.
    pub(super) fn remember(&self, name: ObjectName) {
        self.pending.borrow_mut().push(name);
    }

    fn encoded(&self, object: &impl gix::objs::WriteTo) -> Result<ObjectName, WriteError> {
        let mut bytes = Vec::with_capacity(512);
        object.write_to(&mut bytes).map_err(|error| sorted(gix::Error::from_error(error)))?;
        self.object(object.kind(), &bytes)
    }

    /// Writes an object as a loose file, also when the repository has it: the one that it has may be unreachable, and
    /// `git gc` about to remove it.
    pub(super) fn object(&self, kind: Kind, bytes: &[u8]) -> Result<ObjectName, WriteError> {
        let id = gix::objs::compute_hash(self.repo.gix.object_hash(), kind, bytes).map_err(sorted)?;
        let name = named(id);
        self.write_loose(&name, kind, bytes)?;
        self.share(&name)?;
        self.remember(name);
        Ok(name)
    }

    /// The name that a blob of these bytes has, without writing it.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn name_of_blob(&self, bytes: &[u8]) -> Result<ObjectName, WriteError> {
        gix::objs::compute_hash(self.repo.gix.object_hash(), Kind::Blob, bytes).map(named).map_err(sorted)
    }

    /// Writes the loose file the way git does: compressed into `tmp_obj_…` beside its place, then renamed. Should this
    /// process be killed, `git gc` knows that name as a leftover. gix names its temporary files otherwise, and does not
    /// expect that a `git gc` removes an empty fan-out directory under its feet.
    fn write_loose(&self, name: &ObjectName, kind: Kind, bytes: &[u8]) -> Result<(), WriteError> {
        let path = self.place_of(name);
        let compressed = deflated(&mut self.compressor.borrow_mut(), kind, bytes).map_err(sorted)?;
        let mut attempt = 1;
        loop {
            match loose_file(&path, &compressed) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempt < MAX_ATTEMPTS => attempt += 1,
                Err(error) => return Err(refused(&path, error)),
                Ok(()) => return Ok(()),
            }
        }
    }

    fn place_of(&self, name: &ObjectName) -> PathBuf {
        let hex = name.to_string();
        self.repo.gix.objects.store_ref().path().join(&hex[..2]).join(&hex[2..])
    }

    /// Gives a new object the permissions that `core.sharedRepository` asks for, which gix does not.
    fn share(&self, name: &ObjectName) -> Result<(), WriteError> {
        let permissions = self.repo.shared_permissions();
        let Some(path) = self.loose_path(name).filter(|_| permissions != 0) else { return Ok(()) };
        for path in path.parent().into_iter().chain([path.as_path()]) {
            // Only its owner may change a directory that another user of the repository made.
            match gix::fs::set_shared_repository_permissions(path, permissions) {
                Err(error) if error.kind() != io::ErrorKind::PermissionDenied => {
                    return Err(WriteError::Sync { path: path.into(), source: error });
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// The loose file of an object; `None` when it is in a pack, which git has synced.
    fn loose_path(&self, name: &ObjectName) -> Option<PathBuf> {
        Some(self.place_of(name)).filter(|path| path.exists())
    }
}

/// How often an object is tried whose directory keeps vanishing.
const MAX_ATTEMPTS: u32 = 100;

/// The bytes of a loose object.
fn deflated(compressor: &mut Compress, kind: Kind, bytes: &[u8]) -> Result<Vec<u8>, gix::Error> {
    compressor.reset();
    let mut input = gix::objs::encode::loose_header(kind, bytes.len() as u64).to_vec();
    input.extend_from_slice(bytes);
    let mut output = vec![0; input.len() + input.len() / 8 + 128];
    loop {
        let (read, written) = (compressor.total_in() as usize, compressor.total_out() as usize);
        let status = compressor.compress(&input[read..], &mut output[written..], FlushCompress::Finish)?;
        if status == Status::StreamEnd {
            output.truncate(compressor.total_out() as usize);
            return Ok(output);
        }
        output.resize(output.len() * 2, 0);
    }
}

fn loose_file(path: &Path, compressed: &[u8]) -> io::Result<()> {
    let dir = path.parent().expect("a loose object lies in a fan-out directory");
    match std::fs::create_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = tempfile::Builder::new().prefix("tmp_obj_").rand_bytes(6).tempfile_in(dir)?;
    file.write_all(compressed)?;
    #[cfg(unix)]
    file.as_file().set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o444))?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Syncs these files or directories side by side: a journalling file system then pays for one commit.
fn sync_all(paths: &[&Path]) -> Result<(), WriteError> {
    std::thread::scope(|scope| {
        let Some((first, rest)) = paths.split_first() else { return Ok(()) };
        let others: Vec<_> = rest.iter().map(|path| scope.spawn(|| sync(path))).collect();
        let mut result = sync(first);
        for other in others {
            result = result.and(other.join().expect("syncing a file does not panic"));
        }
        result
    })
}

/// Brings a file or directory to the disk. One that is gone was packed meanwhile, which synced it.
pub(super) fn sync(path: &Path) -> Result<(), WriteError> {
    let Err(source) = File::open(path).and_then(|file| file.sync_all()) else { return Ok(()) };
    // Some network and overlay file systems cannot sync a directory, and Windows cannot open one.
    let not_for_directories = source.kind() == io::ErrorKind::InvalidInput || cfg!(windows);
    if source.kind() == io::ErrorKind::NotFound || (not_for_directories && path.is_dir()) {
        return Ok(());
    }
    Err(refused(path, source))
}

fn refused(path: &Path, source: io::Error) -> WriteError {
    match Refusal::of(&source) {
        Some(Refusal::NotWritable) => WriteError::NotWritable(source),
        Some(Refusal::Full) => WriteError::StorageFull(source),
        None => WriteError::Sync { path: path.into(), source },
    }
}

/// The system errors that callers react to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Permissions, a read-only file system, a sandbox.
    NotWritable,
    /// No space, or none for this user.
    Full,
}

impl Refusal {
    /// What this error says, if it is one of them.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        if matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem) {
            return Some(Self::NotWritable);
        }
        matches!(error.kind(), StorageFull | QuotaExceeded).then_some(Self::Full)
    }
}

/// The system error that a gix error stands for, if it does.
pub(super) fn system_error(error: &gix::Error) -> Option<io::Error> {
    let found = error.iter_errors().find_map(|cause| cause.downcast_ref::<io::Error>())?;
    Some(found.raw_os_error().map_or_else(|| found.kind().into(), io::Error::from_raw_os_error))
}

fn sorted(error: gix::Error) -> WriteError {
    let system = system_error(&error);
    match (system.as_ref().and_then(Refusal::of), system) {
        (Some(Refusal::NotWritable), Some(source)) => WriteError::NotWritable(source),
        (Some(Refusal::Full), Some(source)) => WriteError::StorageFull(source),
        (Some(_), None) | (None, _) => WriteError::Git(Box::new(error)),
    }
}
