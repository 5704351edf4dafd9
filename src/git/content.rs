//! What files hold, as blob ids: at a commit, and in the work tree as git would store it.
//!
//! No `git` is started where gix and a hash can answer. git's own status looks at every file of the work tree; here
//! only those asked for are read. A file counts as unchanged when its bytes, or its bytes with LF for CRLF, are those
//! of the blob. Only where an attribute file speaks of a filter, `ident` or an encoding is git asked what it would
//! store.

use std::fs;
use std::io;
use std::path::Path;

use gix::bstr::ByteSlice;
use gix::objs::Kind;

use super::changes::{diff, is_file};
use super::objects::named;
use super::{ChangesError, Repo};
use crate::model::ObjectName;

/// The files of one commit.
pub struct CommitFiles<'r> {
    tree: gix::Tree<'r>,
}

impl CommitFiles<'_> {
    /// The blob at a path (relative to the top, with `/`); `None` when there is no file.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn blob(&self, path: &str) -> Result<Option<ObjectName>, ChangesError> {
        let entry = self.tree.lookup_entry(path.split('/').map(str::as_bytes)).map_err(diff)?;
        Ok(entry.filter(|entry| is_file(entry.mode())).map(|entry| named(entry.object_id())))
    }
}

/// A file of the work tree that is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Its path, relative to the top, with `/`.
    pub path: String,
    /// The blob that HEAD has there.
    pub committed: Option<ObjectName>,
    /// Another blob that it may hold.
    pub other: Option<ObjectName>,
}

/// What stands at a path of the work tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDisk {
    /// Nothing.
    Absent,
    /// A file or symbolic link with this content, as git would store it.
    Blob(ObjectName),
    /// Something else: a directory, or a file that cannot be read or is too large to hash.
    Other,
}

/// Larger files are not read; their size decides whether they are what HEAD has.
const MAX_HASHED: u64 = 16 * 1024 * 1024;

impl Repo {
    /// The files of a commit.
    ///
    /// # Errors
    /// When the commit or its tree cannot be read.
    pub fn files_at(&self, commit: &ObjectName) -> Result<CommitFiles<'_>, ChangesError> {
        Ok(CommitFiles { tree: self.tree_of(commit)? })
    }

    /// What the work tree holds at each of these paths; nothing in a bare repository. Nothing beyond a symbolic link
    /// and nothing in git's own directory is looked at. A file that a sparse checkout leaves out is what HEAD has.
    ///
    /// # Errors
    /// When the index, where it is needed, cannot be read.
    pub fn on_disk(&self, asked: &[Asked]) -> Result<Option<Vec<OnDisk>>, ChangesError> {
        let Some(top) = self.work_dir() else { return Ok(None) };
        let mut found: Vec<OnDisk> = asked.iter().map(|each| self.look(top, each)).collect();
        self.fill_in_sparse(asked, &mut found)?;
        self.apply_filters(top, asked, &mut found);
        Ok(Some(found))
    }

    /// Where the index has a blob, in its order.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn indexed_at(&self, blob: &ObjectName) -> Result<Vec<String>, ChangesError> {
        let index = self.gix.index_or_empty().map_err(|error| ChangesError::Index(Box::new(error)))?;
        let entries = index.entries().iter().filter(|entry| entry.id.as_bytes() == blob.as_bytes());
        Ok(entries.map(|entry| super::path::readable(entry.path(&index))).collect())
    }

    fn look(&self, top: &Path, asked: &Asked) -> OnDisk {
        let Some(path) = reachable(top, &asked.path) else { return OnDisk::Absent };
        let Ok(data) = path.symlink_metadata() else { return OnDisk::Absent };
        if data.is_symlink() {
            let target =
                fs::read_link(&path).ok().and_then(|target| Some(gix::path::into_bstr(target).ok()?.into_owned()));
            return target.and_then(|target| self.hashed(&target)).map_or(OnDisk::Other, OnDisk::Blob);
        }
        if !data.is_file() {
            return OnDisk::Other;
        }
        if data.len() > MAX_HASHED {
            let same = asked.committed.filter(|blob| self.size_of(blob) == Some(data.len()));
            return same.map_or(OnDisk::Other, OnDisk::Blob);
        }
        fs::read(&path).ok().and_then(|bytes| self.stored_as(&bytes, asked)).map_or(OnDisk::Other, OnDisk::Blob)
    }

    /// The blob that the bytes are, if need be with other line ends.
    fn stored_as(&self, bytes: &[u8], asked: &Asked) -> Option<ObjectName> {
        let raw = self.hashed(bytes)?;
        if is_known(asked, &raw) || !bytes.contains_str(b"\r\n") {
            return Some(raw);
        }
        let unix = self.hashed(&bytes.replace(b"\r\n", b"\n"))?;
        Some(if is_known(asked, &unix) { unix } else { raw })
    }

    fn hashed(&self, bytes: &[u8]) -> Option<ObjectName> {
        gix::objs::compute_hash(self.gix.object_hash(), Kind::Blob, bytes).ok().map(named)
    }

    fn size_of(&self, blob: &ObjectName) -> Option<u64> {
        let header = self.gix.try_find_header(self.object_id(blob).ok()?).ok()??;
        Some(header.size())
    }

    /// In a sparse checkout only the index tells a file that was removed from one that was never written.
    fn fill_in_sparse(&self, asked: &[Asked], found: &mut [OnDisk]) -> Result<(), ChangesError> {
        if !matches!(self.config_bool("core.sparseCheckout"), Ok(Some(true))) || !found.contains(&OnDisk::Absent) {
            return Ok(());
        }
        let index = self.gix.index_or_empty().map_err(|error| ChangesError::Index(Box::new(error)))?;
        for (asked, found) in asked.iter().zip(found) {
            let entry = index.entry_by_path(asked.path.as_str().into());
            let left_out = entry.is_none_or(|entry| entry.flags.contains(gix::index::entry::Flags::SKIP_WORKTREE));
            if let (OnDisk::Absent, Some(committed), true) = (*found, asked.committed, left_out) {
                *found = OnDisk::Blob(committed);
            }
        }
        Ok(())
    }

    /// Asks git about files that differ and whose content is converted before it is stored. Without an answer the
    /// bytes as they are decide.
    fn apply_filters(&self, top: &Path, asked: &[Asked], found: &mut [OnDisk]) {
        let differs = |(asked, found): (&Asked, &OnDisk)| matches!(found, OnDisk::Blob(blob) if !is_known(asked, blob));
        let open: Vec<usize> = asked
            .iter()
            .zip(found.iter())
            .enumerate()
            .filter(|(_, pair)| differs(*pair) && !pair.0.path.contains('\n') && self.is_converted(top, &pair.0.path))
            .map(|(at, _)| at)
            .collect();
        if open.is_empty() {
            return;
        }
        let paths: String = open.iter().map(|at| format!("{}\n", asked[*at].path)).collect();
        let answer = self.command("hash-object").arg("--stdin-paths").stdin(paths.into_bytes()).run();
        let names = answer.map(|out| String::from_utf8_lossy(&out).into_owned()).unwrap_or_default();
        for (at, name) in open.iter().zip(names.lines()) {
            if let Ok(name) = name.parse() {
                found[*at] = OnDisk::Blob(name);
            }
        }
    }

    /// Whether an attribute file that concerns the path speaks of a conversion other than of line ends.
    fn is_converted(&self, top: &Path, path: &str) -> bool {
        let speaks = |file: &Path| {
            let text = fs::read(file).unwrap_or_default();
            ["filter", "ident", "working-tree-encoding"].iter().any(|word| text.contains_str(word))
        };
        let above = top.join(path);
        let directories = above.ancestors().skip(1).take_while(|directory| directory.starts_with(top));
        self.config_string("core.attributesFile").is_some()
            || speaks(&self.common_dir().join("info/attributes"))
            || directories.into_iter().any(|directory| speaks(&directory.join(".gitattributes")))
    }
}

fn is_known(asked: &Asked, blob: &ObjectName) -> bool {
    asked.committed.as_ref() == Some(blob) || asked.other.as_ref() == Some(blob)
}

/// The path below the top, unless it leads out of it, through a symbolic link, or into git's directory.
fn reachable(top: &Path, path: &str) -> Option<std::path::PathBuf> {
    let mut whole = top.to_owned();
    let parts: Vec<&str> = path.split('/').collect();
    for (at, part) in parts.iter().enumerate() {
        if matches!(*part, "" | "." | "..") || part.contains('\\') && cfg!(windows) || part.eq_ignore_ascii_case(".git")
        {
            return None;
        }
        whole.push(part);
        let last = at + 1 == parts.len();
        if !last && !is_directory(&whole).unwrap_or(false) {
            return None;
        }
    }
    Some(whole)
}

fn is_directory(path: &Path) -> io::Result<bool> {
    Ok(path.symlink_metadata()?.is_dir())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    fn ask(fixture: &Fixture, path: &str) -> OnDisk {
        let repo = fixture.repo();
        let committed = repo.blob_at(&fixture.name("HEAD"), path).expect("readable");
        let asked = [Asked { path: path.into(), committed, other: None }];
        repo.on_disk(&asked).expect("readable").expect("a work tree")[0]
    }

    fn in_head(fixture: &Fixture, path: &str) -> OnDisk {
        OnDisk::Blob(fixture.name(&format!("HEAD:{path}")))
    }

    #[test]
    fn a_file_is_the_blob_that_git_would_store() {
        for form in [&[][..], &["--object-format=sha256"]] {
            let fixture = Fixture::with(form);
            fixture.write("dir/a", "one\ntwo\n");
            #[cfg(unix)]
            std::os::unix::fs::symlink("dir/a", fixture.top().join("link")).expect("it can be made");
            fixture.commit("one");
            for path in ["dir/a", "link"] {
                assert_eq!(ask(&fixture, path), in_head(&fixture, path));
            }
            assert_eq!([ask(&fixture, "dir"), ask(&fixture, "gone")], [OnDisk::Other, OnDisk::Absent]);
            fixture.write("dir/a", "one\r\ntwo\r\n");
            assert_eq!(ask(&fixture, "dir/a"), in_head(&fixture, "dir/a"));
            fixture.write("dir/a", "other\r\n");
            let stored = fixture.git(&["hash-object", "--no-filters", "dir/a"]).parse().expect("a name");
            assert_eq!(ask(&fixture, "dir/a"), OnDisk::Blob(stored));
        }
    }

    #[test]
    fn nothing_outside_and_nothing_of_git_is_looked_at() {
        let fixture = Fixture::new();
        fixture.commit("one");
        std::fs::write(fixture.outside().join("x"), "x").expect("writable");
        #[cfg(unix)]
        std::os::unix::fs::symlink("..", fixture.top().join("up")).expect("it can be made");
        for path in ["../x", "up/x", ".git/HEAD", "a/../../x", ""] {
            assert_eq!(ask(&fixture, path), OnDisk::Absent, "{path}");
        }
    }

    #[test]
    fn a_filter_is_applied_as_git_does_it() {
        let fixture = Fixture::new();
        fixture.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
        fixture.write(".gitattributes", "*.up filter=up\n");
        fixture.write("a.up", "text\n");
        fixture.commit("one");
        assert_eq!(ask(&fixture, "a.up"), in_head(&fixture, "a.up"));
        fixture.write("a.up", "other\n");
        assert_ne!(ask(&fixture, "a.up"), in_head(&fixture, "a.up"));
    }

    #[test]
    fn what_a_sparse_checkout_leaves_out_is_not_gone() {
        let fixture = Fixture::new();
        fixture.write("in/a", "a");
        fixture.write("out/b", "b");
        fixture.commit("one");
        fixture.git(&["sparse-checkout", "set", "--cone", "in"]);
        assert!(!fixture.top().join("out").exists());
        assert_eq!(ask(&fixture, "out/b"), in_head(&fixture, "out/b"));
        std::fs::remove_file(fixture.top().join("in/a")).expect("it is there");
        assert_eq!(ask(&fixture, "in/a"), OnDisk::Absent);
    }
}
