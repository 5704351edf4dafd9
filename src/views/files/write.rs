//! Replacing files whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// The name of a new file of the work tree before it takes its place.
///
/// There is one a directory, so that what a killed process left is found without a search.
const UNFINISHED: &str = ".git-handoff.tmp";

/// Writes a file of the work tree so that every reader sees the old or the new bytes and a failure leaves the old
/// ones.
///
/// A new file gets the permissions that the umask gives; an old one keeps its own. The directory must exist, and a
/// link at `path` is replaced, not followed. The lock on the work tree's views must be held.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_by_way_of(UNFINISHED, path, bytes)
}

/// [`replace`] for a file of private state, whose lock must be held. Files with different locks stand side by side
/// there, so that each has a name of its own until it is finished.
pub(in crate::views) fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().and_then(|name| name.to_str()).ok_or(ErrorKind::InvalidInput)?;
    replace_by_way_of(&format!("{name}.new"), path, bytes)
}

/// [`replace`] for a file that others write too, without any lock that they would know of.
pub(super) fn replace_shared(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    #[cfg(unix)]
    builder.permissions(permissions);
    let file = builder.tempfile_in(path.parent().ok_or(ErrorKind::InvalidInput)?)?;
    fill(file.as_file(), path, bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

fn replace_by_way_of(name: &str, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let unfinished = path.parent().ok_or(ErrorKind::InvalidInput)?.join(name);
    remove_if_there(&unfinished)?;
    // Never through a link that somebody put there.
    let file = OpenOptions::new().write(true).create_new(true).open(&unfinished)?;
    fill(&file, path, bytes).and_then(|()| fs::rename(&unfinished, path)).inspect_err(|_| {
        // The first error is the one to report.
        fs::remove_file(&unfinished).ok();
    })
}

fn fill(mut file: &File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    match fs::symlink_metadata(path) {
        Ok(old) if old.is_file() => file.set_permissions(old.permissions()),
        _ => Ok(()),
    }
}

/// Removes what a killed process left in a directory of the work tree.
pub(super) fn sweep(dir: &Path) -> io::Result<()> {
    remove_if_there(&dir.join(UNFINISHED))
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Opens a file for locking, making it if need be.
pub(in crate::views) fn open_lock(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}
