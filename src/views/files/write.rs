//! Replacing files whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file so that every reader sees the old or the new bytes and a failure leaves the old ones.
///
/// A new file gets the permissions that the umask gives; an old one keeps its own. The directory must exist, and
/// `path` must not be a link that is to survive: it is replaced, not followed.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".git-handoff-").suffix(".tmp");
    #[cfg(unix)]
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    #[cfg(unix)]
    builder.permissions(permissions);
    let mut file = builder.tempfile_in(dir)?;
    file.write_all(bytes)?;
    if let Ok(old) = fs::symlink_metadata(path)
        && old.is_file()
    {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Opens a file for locking, making it if need be.
pub(super) fn open_lock(path: &Path) -> io::Result<File> {
    fs::OpenOptions::new().create(true).append(true).open(path)
}
