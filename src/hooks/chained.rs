//! Our script in the hooks directory, and what was there moved beside it, untouched.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Change, Hook, HooksError, Mode, State, Step, io_error, write_executable};

/// What the second line of our scripts begins with.
const MARK: &[u8] = b"\n# git handoff: ";

/// What stands at a hook's path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    Nothing,
    Ours(Vec<u8>),
    Theirs,
    /// A directory or the like.
    Strange,
}

fn look(path: &Path) -> Result<Found, HooksError> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Nothing),
        Err(error) => Err(io_error(path)(error)),
        Ok(metadata) if metadata.is_symlink() => Ok(Found::Theirs),
        Ok(metadata) if metadata.is_file() => {
            let bytes = fs::read(path).map_err(io_error(path))?;
            let ours = bytes.strip_prefix(b"#!/bin/sh").is_some_and(|rest| rest.starts_with(MARK));
            Ok(if ours { Found::Ours(bytes) } else { Found::Theirs })
        }
        Ok(_) => Ok(Found::Strange),
    }
}

fn paths(dir: &Path, hook: Hook) -> (PathBuf, PathBuf) {
    (dir.join(hook.as_str()), dir.join(format!("{hook}.handoff-chained")))
}

pub(super) fn install(dir: &Path, hook: Hook, program: &Path, mode: Mode) -> Result<Step, HooksError> {
    let (path, kept) = paths(dir, hook);
    let script = hook.script(program).into_bytes();
    let change = match (look(&path)?, look(&kept)?) {
        (Found::Ours(bytes), _) if bytes == script => Change::Unchanged,
        (Found::Ours(_), _) => Change::Updated,
        (Found::Nothing, _) => Change::Installed,
        (Found::Theirs, Found::Nothing) => Change::Chained,
        // Somebody replaced our script: which of the two hooks is wanted only a person can say.
        (Found::Theirs | Found::Strange, _) => Change::InTheWay,
    };
    if mode == Mode::Apply && !matches!(change, Change::Unchanged | Change::InTheWay) {
        if change == Change::Chained {
            fs::rename(&path, &kept).map_err(io_error(&path))?;
        }
        if let Err(error) = write_executable(&path, &script) {
            if change == Change::Chained {
                fs::rename(&kept, &path).map_err(io_error(&path))?;
            }
            return Err(io_error(&path)(error));
        }
    }
    Ok(Step { hook, change, at: path.display().to_string() })
}

pub(super) fn uninstall(dir: &Path, hook: Hook, mode: Mode) -> Result<Option<Step>, HooksError> {
    let (path, kept) = paths(dir, hook);
    let change = match (look(&path)?, look(&kept)?) {
        (Found::Ours(_), Found::Nothing) => Change::Removed,
        (Found::Ours(_) | Found::Nothing, Found::Theirs | Found::Ours(_)) => Change::Restored,
        (Found::Theirs | Found::Strange, Found::Theirs | Found::Ours(_)) => Change::InTheWay,
        (Found::Nothing | Found::Theirs | Found::Strange, _) | (_, Found::Strange) => return Ok(None),
    };
    if mode == Mode::Apply {
        match change {
            Change::Removed => fs::remove_file(&path).map_err(io_error(&path))?,
            Change::Restored => fs::rename(&kept, &path).map_err(io_error(&path))?,
            Change::Installed | Change::Chained | Change::Updated | Change::Unchanged | Change::InTheWay => {}
        }
    }
    Ok(Some(Step { hook, change, at: path.display().to_string() }))
}

pub(super) fn state(dir: &Path, hook: Hook, program: &Path) -> State {
    match look(&paths(dir, hook).0) {
        Ok(Found::Ours(bytes)) if bytes == hook.script(program).as_bytes() => State::Installed,
        Ok(Found::Ours(_)) => State::Outdated,
        Ok(Found::Nothing | Found::Theirs | Found::Strange) | Err(_) => State::Absent,
    }
}
