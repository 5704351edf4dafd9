//! Files of the private state: written in one step, so that nobody reads half of one.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Writes a file, whose directory need not exist yet, in one step.
///
/// # Errors
/// When the directory or the file cannot be written.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}
