//! A marked section at the end of a shell script that another hook manager keeps, such as `.husky/pre-push`.

use std::fs;
use std::io;
use std::path::Path;

use super::{Change, Hook, HooksError, Mode, State, Step, io_error, write_executable};

const BEGIN: &str = "# >>> git-handoff";
const END: &str = "# <<< git-handoff <<<\n";

/// What the file was before, so that exactly that can come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Absent,
    Complete,
    /// Its last line had no end.
    Unended,
}

impl Before {
    fn word(self) -> &'static str {
        match self {
            Self::Absent => "new file",
            Self::Complete => "section",
            Self::Unended => "after an unended line",
        }
    }
}

fn section(hook: Hook, before: Before) -> String {
    let gap = if before == Before::Unended { "\n" } else { "" };
    format!("{gap}{BEGIN} ({}) >>>\n{}{END}", before.word(), hook.line())
}

fn read(path: &Path) -> Result<Option<String>, HooksError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error(path)(error)),
    }
}

pub(super) fn state(dir: &Path, hook: Hook) -> State {
    match read(&dir.join(hook.as_str())) {
        Ok(Some(text)) if text.contains(&hook.line()) && text.contains(BEGIN) => State::Installed,
        Ok(Some(text)) if text.contains(BEGIN) => State::Outdated,
        Ok(_) | Err(_) => State::Absent,
    }
}

pub(super) fn install(dir: &Path, hook: Hook, mode: Mode) -> Result<Step, HooksError> {
    let path = dir.join(hook.as_str());
    let text = read(&path)?;
    let before = match &text {
        None => Before::Absent,
        Some(text) if text.is_empty() || text.ends_with('\n') => Before::Complete,
        Some(_) => Before::Unended,
    };
    let change = match (&text, state(dir, hook)) {
        (_, State::Installed | State::Outdated) => Change::Unchanged,
        (None, State::Absent) => Change::Installed,
        (Some(_), State::Absent) => Change::Chained,
    };
    if mode == Mode::Apply && change != Change::Unchanged {
        let added = section(hook, before);
        let written = match text {
            None => write_executable(&path, added.as_bytes()),
            // Appended, so that the file stays the one it is, with its mode and its other names.
            Some(_) => fs::OpenOptions::new()
                .append(true)
                .open(&path)
                .and_then(|mut file| io::Write::write_all(&mut file, added.as_bytes())),
        };
        written.map_err(io_error(&path))?;
    }
    Ok(Step { hook, change, at: path.display().to_string() })
}

pub(super) fn uninstall(dir: &Path, hook: Hook, mode: Mode) -> Result<Option<Step>, HooksError> {
    let path = dir.join(hook.as_str());
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_error(&path)(error)),
    };
    let found = [Before::Absent, Before::Complete, Before::Unended].into_iter().find_map(|before| {
        let section = section(hook, before).into_bytes();
        let at = bytes.windows(section.len()).position(|window| window == section)?;
        Some((before, [&bytes[..at], &bytes[at + section.len()..]].concat()))
    });
    let Some((before, rest)) = found else { return Ok(None) };
    let gone = before == Before::Absent && rest.is_empty();
    if mode == Mode::Apply {
        let done = if gone { fs::remove_file(&path) } else { fs::write(&path, &rest) };
        done.map_err(io_error(&path))?;
    }
    let change = if gone { Change::Removed } else { Change::Restored };
    Ok(Some(Step { hook, change, at: path.display().to_string() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_comes_once_and_goes_without_a_trace() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("pre-push");
        for original in [Some("npm test\n"), Some("npm test"), Some(""), None] {
            match original {
                Some(text) => fs::write(&path, text).expect("writable"),
                None => fs::remove_file(&path).expect("the one before is there"),
            }
            install(dir.path(), Hook::PrePush, Mode::Apply).expect("writable");
            let again = install(dir.path(), Hook::PrePush, Mode::Apply).expect("writable");
            assert_eq!((again.change, state(dir.path(), Hook::PrePush)), (Change::Unchanged, State::Installed));
            uninstall(dir.path(), Hook::PrePush, Mode::Apply).expect("writable");
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), original);
        }
    }
}
