//! What differs between two commits.

use gix::object::tree::diff::ChangeDetached;
use gix::objs::tree::EntryMode as Mode;

use super::objects::named;
use super::path::readable;
use super::{HistoryError, ObjectError, Repo};
use crate::model::boundary::Substance;
use crate::model::{Change, FileEntry, ObjectName};

/// Why the changes could not be found out.
#[derive(Debug, thiserror::Error)]
pub enum ChangesError {
    /// A commit or tree cannot be read.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// The comparison failed.
    #[error("cannot compare two trees")]
    Diff(#[source] Box<gix::Error>),
    /// The history cannot be walked.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The index cannot be read.
    #[error("cannot read the index")]
    Index(#[source] Box<gix::Error>),
}

/// The files that differ, by path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// The files, at most as many as the caller asked for.
    pub files: Vec<FileEntry>,
    /// How many more there are.
    pub omitted: u64,
}

pub(super) fn diff(error: gix::Error) -> ChangesError {
    ChangesError::Diff(Box::new(error))
}

impl Repo {
    /// The files that differ between two commits, with the blob that `to` has (for a deleted file: none) and
    /// renames of at least half the content. `from = None` stands for the empty tree.
    ///
    /// Paths are text as described at [`FileEntry::path`]; one that is not UTF-8, holds control characters or
    /// begins with a double quote is quoted as git does it. The user's `diff.*` settings change nothing here.
    ///
    /// # Errors
    /// When a commit or tree cannot be read.
    pub fn changes_between(
        &self,
        from: Option<&ObjectName>,
        to: &ObjectName,
        limit: usize,
    ) -> Result<Changes, ChangesError> {
        // In a partial clone the contents that would have to be compared are mostly not here.
        let similar = (!self.is_partial()).then_some(0.5);
        let renames = gix::diff::Rewrites { copies: None, percentage: similar, limit: 400, track_empty: false };
        let mut files = self.files_between(from, to, Some(renames))?;
        let omitted = files.len().saturating_sub(limit) as u64;
        files.truncate(limit);
        Ok(Changes { files, omitted })
    }

    /// The paths of all files that differ between two commits, both sides of a rename among them: what is cheapest to
    /// know.
    ///
    /// # Errors
    /// As [`Repo::changes_between`].
    pub fn paths_between(&self, from: Option<&ObjectName>, to: &ObjectName) -> Result<Vec<String>, ChangesError> {
        Ok(self.files_between(from, to, None)?.into_iter().map(|file| file.path).collect())
    }

    fn files_between(
        &self,
        from: Option<&ObjectName>,
        to: &ObjectName,
        renames: Option<gix::diff::Rewrites>,
    ) -> Result<Vec<FileEntry>, ChangesError> {
        let old = from.map(|commit| self.tree_of(commit)).transpose()?;
        let new = self.tree_of(to)?;
        let options = gix::diff::Options::default().with_rewrites(renames);
        let changes = self.gix.diff_tree_to_tree(old.as_ref(), Some(&new), Some(options)).map_err(diff)?;
        let mut files: Vec<FileEntry> = changes.iter().filter_map(entry).collect();
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(files)
    }

    /// What a change between two commits did to a file's content. Blobs of more than `limit` bytes are not looked into.
    ///
    /// # Errors
    /// When a commit, a tree or a blob cannot be read.
    pub fn substance(
        &self,
        from: Option<&ObjectName>,
        to: &ObjectName,
        file: &FileEntry,
        limit: u64,
    ) -> Result<Substance, ChangesError> {
        let path = file.from.as_deref().filter(|_| file.change == Some(Change::Renamed)).unwrap_or(&file.path);
        let old = match from {
            Some(from) if file.change != Some(Change::Added) => self.blob_at(from, path)?,
            Some(_) | None => None,
        };
        let new = if file.change == Some(Change::Deleted) { None } else { self.blob_at(to, &file.path)? };
        if old.is_some() && old == new {
            return Ok(Substance::None);
        }
        let read = |blob: Option<ObjectName>| match blob.map(|blob| self.read_blob(&blob, limit)) {
            Some(Err(ObjectError::TooLarge { .. })) => Ok(Err(())),
            Some(read) => read.map(|bytes| Ok(Some(bytes))),
            None => Ok(Ok(None)),
        };
        Ok(match (read(old)?, read(new)?) {
            (Ok(old), Ok(new)) => Substance::between(old.as_deref(), new.as_deref()),
            _ => Substance::Opaque,
        })
    }

    /// The blob that a commit has at a path (relative to the top, with `/`); `None` when there is no file.
    ///
    /// # Errors
    /// When the commit or a tree cannot be read.
    pub fn blob_at(&self, commit: &ObjectName, path: &str) -> Result<Option<ObjectName>, ChangesError> {
        self.files_at(commit)?.blob(path)
    }

    pub(super) fn tree_of(&self, commit: &ObjectName) -> Result<gix::Tree<'_>, ChangesError> {
        let tree = self.object_id(&self.read_commit(commit)?.tree)?;
        self.gix.find_tree(tree).map_err(diff)
    }
}

pub(super) fn is_file(mode: Mode) -> bool {
    mode.is_blob_or_symlink()
}

/// The change as a handoff lists it; `None` for what only concerns a directory.
fn entry(change: &ChangeDetached) -> Option<FileEntry> {
    let blob = |mode: &Mode, id: &gix::ObjectId| is_file(*mode).then(|| named(*id));
    let file = |path: &[u8], change| FileEntry { path: readable(path), change: Some(change), ..FileEntry::default() };
    Some(match change {
        ChangeDetached::Addition { entry_mode, .. } | ChangeDetached::Deletion { entry_mode, .. }
            if entry_mode.is_tree() =>
        {
            return None;
        }
        ChangeDetached::Addition { location, entry_mode, id, .. } => {
            FileEntry { blob: blob(entry_mode, id), ..file(location, Change::Added) }
        }
        ChangeDetached::Deletion { location, .. } => file(location, Change::Deleted),
        ChangeDetached::Modification { location, previous_entry_mode, entry_mode, id, .. } => {
            match (previous_entry_mode.is_tree(), entry_mode.is_tree()) {
                (true, true) => return None,
                // The files below the directory are listed by themselves.
                (true, false) => FileEntry { blob: blob(entry_mode, id), ..file(location, Change::Added) },
                (false, true) => file(location, Change::Deleted),
                (false, false) => {
                    let same_type = previous_entry_mode.is_link() == entry_mode.is_link()
                        && previous_entry_mode.is_commit() == entry_mode.is_commit();
                    let change = if same_type { Change::Modified } else { Change::TypeChanged };
                    FileEntry { blob: blob(entry_mode, id), ..file(location, change) }
                }
            }
        }
        ChangeDetached::Rewrite { entry_mode, .. } if entry_mode.is_tree() => return None,
        ChangeDetached::Rewrite { source_location, location, entry_mode, id, copy, .. } => {
            let change = if *copy { Change::Copied } else { Change::Renamed };
            let from = Some(readable(source_location));
            FileEntry { blob: blob(entry_mode, id), from, ..file(location, change) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;

    #[test]
    fn changes_are_those_that_git_lists_with_the_blobs_of_the_new_side() {
        let fixture = Fixture::new();
        fixture.write("keep/a", "a\n");
        fixture.write("move/b", &"long enough to be recognised\n".repeat(20));
        fixture.write("gone", "gone\n");
        fixture.write("kind", "file\n");
        let from = fixture.commit("one");
        fixture.write("keep/a", "changed\n");
        fixture.write("new/deep/c", "new\n");
        std::fs::create_dir(fixture.top().join("moved")).expect("it can be made");
        std::fs::rename(fixture.top().join("move/b"), fixture.top().join("moved/b2")).expect("it can be moved");
        std::fs::remove_file(fixture.top().join("gone")).expect("it can go");
        std::fs::remove_file(fixture.top().join("kind")).expect("it can go");
        #[cfg(unix)]
        std::os::unix::fs::symlink("gone", fixture.top().join("kind")).expect("it can be made");
        let to = fixture.commit("two");
        let repo = fixture.repo();
        let changes = repo.changes_between(Some(&from), &to, 100).expect("readable");
        let shown: Vec<String> = changes
            .files
            .iter()
            .map(|file| {
                let letter = file.change.map_or('?', super::Change::letter);
                let from = file.from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
                let same = file.blob == repo.blob_at(&to, &file.path).expect("readable");
                format!("{letter} {}{from} {same}", file.path)
            })
            .collect();
        assert_eq!(
            shown,
            ["D gone true", "M keep/a true", "T kind true", "R moved/b2 from move/b true", "A new/deep/c true"]
        );
        let cut = repo.changes_between(None, &to, 1).expect("readable");
        assert_eq!((cut.files.len(), cut.omitted), (1, 3));
    }

    #[test]
    fn a_path_that_is_not_text_is_quoted() {
        let fixture = Fixture::new();
        let blob = fixture.git(&["hash-object", "-w", "--stdin"]);
        let entry = format!("100644 blob {blob}\tcaf\\351");
        let make = format!("printf '{entry}\\n' | git mktree");
        let tree = std::process::Command::new("sh").arg("-c").arg(make).current_dir(fixture.top()).output();
        let tree = String::from_utf8(tree.expect("sh runs").stdout).expect("hex");
        let commit = fixture.git(&["commit-tree", "-m", "x", tree.trim()]).parse().expect("a name");
        let changes = fixture.repo().changes_between(None, &commit, 9).expect("readable");
        assert_eq!(changes.files[0].path, r#""caf\351""#);
    }
}
