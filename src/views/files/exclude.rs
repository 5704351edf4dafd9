//! The generated paths in `info/exclude`, so that `git status` does not show them.

use std::fs;
use std::io;
use std::path::Path;

use super::write::replace_shared;

/// The line above ours.
const MARKER: &str = "# git-handoff: generated views";
const ALWAYS: [&str; 2] = ["/.session-transfer/INDEX.md", "/.session-transfer/spool/"];

/// Makes sure that the generated paths of these lanes' directories stand in the file. Every other byte stays.
pub(super) fn ensure(file: &Path, dirs: &[&str]) -> io::Result<()> {
    let old = match fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    match extended(&old, dirs) {
        Some(new) => {
            file.parent().map_or(Ok(()), fs::create_dir_all)?;
            // Through the link, should it be one: the user keeps the file elsewhere.
            replace_shared(&file.canonicalize().unwrap_or_else(|_| file.to_owned()), &new)
        }
        None => Ok(()),
    }
}

/// The content with what is missing, or `None` when nothing is.
fn extended(old: &[u8], dirs: &[&str]) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = old.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end).collect();
    let wanted = ALWAYS.into_iter().map(str::to_owned).chain(dirs.iter().flat_map(|dir| patterns(dir)));
    let missing: Vec<String> = wanted.filter(|line| !lines.contains(&line.as_bytes())).collect();
    if missing.is_empty() {
        return None;
    }
    let end = if old.windows(2).any(|pair| pair == b"\r\n") { "\r\n" } else { "\n" };
    let mut new = old.to_vec();
    if !old.is_empty() && !old.ends_with(b"\n") {
        new.extend_from_slice(end.as_bytes());
    }
    let marker = (!lines.contains(&MARKER.as_bytes())).then(|| MARKER.to_owned());
    for line in marker.into_iter().chain(missing) {
        new.extend_from_slice(line.as_bytes());
        new.extend_from_slice(end.as_bytes());
    }
    Some(new)
}

/// Takes our lines out of the file again. Every other byte stays.
///
/// # Errors
/// When the file cannot be read or written.
pub fn remove(file: &Path) -> io::Result<()> {
    let old = match fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let new = without_ours(&old);
    if new == old {
        return Ok(());
    }
    replace_shared(&file.canonicalize().unwrap_or_else(|_| file.to_owned()), &new)
}

/// The content without the marker and the generated lines that follow it.
fn without_ours(old: &[u8]) -> Vec<u8> {
    let mut inside = false;
    let mut new = Vec::with_capacity(old.len());
    for line in old.split_inclusive(|byte| *byte == b'\n') {
        let text = String::from_utf8_lossy(line.trim_ascii_end());
        let generated = ALWAYS.contains(&text.as_ref())
            || ["/INDEX.md", "/handoffs.jsonl", "/handoffs/"]
                .iter()
                .any(|end| text.starts_with('/') && text.ends_with(end));
        if text == MARKER {
            inside = true;
        } else if !(inside && generated) {
            inside = false;
            new.extend_from_slice(line);
        }
    }
    new
}

/// The directory of handoffs as a whole: git then does not look at each of its files, which with 100,000 of them would
/// slow every `git status` down.
fn patterns(dir: &str) -> [String; 3] {
    let dir = literal(dir);
    [format!("/{dir}/INDEX.md"), format!("/{dir}/handoffs.jsonl"), format!("/{dir}/handoffs/")]
}

/// A path as a pattern that matches only itself.
fn literal(path: &str) -> String {
    path.chars().flat_map(|c| "\\*?[ ".contains(c).then_some('\\').into_iter().chain([c])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_lines_are_added_and_every_other_byte_stays() {
        let ours = "/.session-transfer/INDEX.md\n/.session-transfer/spool/\n/.codex/INDEX.md\n/.codex/handoffs.jsonl\n\
            /.codex/handoffs/\n";
        let added = extended(b"*.log", &[".codex"]).expect("something is missing");
        assert_eq!(String::from_utf8_lossy(&added), format!("*.log\n{MARKER}\n{ours}"));
        assert_eq!(extended(&added, &[".codex"]), None);
        let windows = extended(b"*.log\r\n", &[".codex"]).expect("something is missing");
        assert_eq!(String::from_utf8_lossy(&windows), format!("*.log\n{MARKER}\n{ours}").replace('\n', "\r\n"));
        assert_eq!(extended(&windows, &[".codex"]), None);
    }

    #[test]
    fn what_was_added_goes_and_every_other_byte_stays() {
        let added = extended(b"*.log\n", &[".codex", "a b"]).expect("something is missing");
        let more = [added.as_slice(), b"/mine\n"].concat();
        assert_eq!(String::from_utf8_lossy(&without_ours(&more)), "*.log\n/mine\n");
    }

    #[test]
    fn a_directory_is_taken_literally() {
        assert_eq!(patterns("a [x]*/b")[0], "/a\\ \\[x]\\*/b/INDEX.md");
    }
}
