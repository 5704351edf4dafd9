//! The state of the work tree, asked of git itself, which alone knows its index, filters and ignore rules.

use super::path::readable;
use super::{CommandError, Repo, Running};
use crate::model::{Change, FileEntry};

/// What no commit holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkTreeState {
    /// Tracked files that differ from HEAD, by path. The blob is known where the index has exactly the content of
    /// the work tree.
    pub changes: Vec<FileEntry>,
    /// Untracked files and, with a `/` at the end, directories that hold nothing else. Ignored ones are left out.
    pub untracked: Vec<String>,
    /// How many more of both there are.
    pub omitted: u64,
}

impl WorkTreeState {
    /// Whether there is anything that no commit holds.
    pub fn is_dirty(&self) -> bool {
        !self.changes.is_empty() || !self.untracked.is_empty()
    }
}

/// A question about the work tree that is being answered.
#[derive(Debug)]
pub struct StatusRun {
    /// `None` in a bare repository, in which nothing can be changed.
    running: Option<Running>,
    limit: usize,
}

impl Repo {
    /// Asks for the state of the work tree and returns at once; each list will have at most `limit` entries.
    /// Neither the index nor its lock is touched. Changes inside submodules are not looked for.
    ///
    /// # Errors
    /// When git cannot be started.
    pub fn start_status(&self, limit: usize) -> Result<StatusRun, CommandError> {
        let ask = || {
            self.command("status")
                .config("status.renames=true")
                .args(["--porcelain=v2", "-z", "--untracked-files=normal", "--ignore-submodules=dirty"])
                .start()
        };
        let running = self.work_dir().map(|_| ask()).transpose()?;
        Ok(StatusRun { running, limit })
    }

    /// [`Repo::start_status`] and [`StatusRun::finish`] in one.
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub fn worktree_state(&self, limit: usize) -> Result<WorkTreeState, CommandError> {
        self.start_status(limit)?.finish()
    }
}

impl StatusRun {
    /// Waits for the answer.
    ///
    /// # Errors
    /// When git fails.
    pub fn finish(self) -> Result<WorkTreeState, CommandError> {
        let Some(running) = self.running else { return Ok(WorkTreeState::default()) };
        let mut state = parsed(&running.finish_successfully()?);
        for length in [state.changes.len(), state.untracked.len()] {
            state.omitted += length.saturating_sub(self.limit) as u64;
        }
        state.changes.truncate(self.limit);
        state.untracked.truncate(self.limit);
        Ok(state)
    }
}

/// Reads `git status --porcelain=v2 -z`. Records that later versions of git may add are passed over.
fn parsed(output: &[u8]) -> WorkTreeState {
    let mut state = WorkTreeState::default();
    let mut records = output.split(|byte| *byte == 0);
    while let Some(record) = records.next() {
        // Fields before the path: "1 XY sub mH mI mW hH hI path", "2 … Xscore path", "u XY sub m1 m2 m3 mW h1 h2 h3 path".
        match record.first() {
            Some(b'1') => state.changes.extend(changed(record, 8, None)),
            Some(b'2') => state.changes.extend(changed(record, 9, records.next())),
            Some(b'u') => state.changes.extend(changed(record, 10, None)),
            Some(b'?') => state.untracked.push(readable(record.get(2..).unwrap_or_default())),
            _ => {}
        }
    }
    state.changes.sort_by(|one, other| one.path.cmp(&other.path));
    state
}

/// One changed file. The path is the field with the number `at`; for records of a single side, field 7 names the
/// blob in the index.
fn changed(record: &[u8], at: usize, from: Option<&[u8]>) -> Option<FileEntry> {
    let fields: Vec<&[u8]> = record.splitn(at + 1, |byte| *byte == b' ').collect();
    let conflict = fields.first() == Some(&b"u".as_slice());
    let [index, worktree] = **fields.get(1)? else { return None };
    let letter = match (index, worktree) {
        // Both sides of a conflict changed it, in whatever way.
        _ if conflict => b'M',
        (_, b'D') => b'D',
        (b'.', letter) | (letter, _) => letter,
    };
    let only_in_index = !conflict && worktree == b'.' && letter != b'D';
    let blob = fields.get(7).filter(|_| only_in_index).and_then(|hex| std::str::from_utf8(hex).ok());
    Some(FileEntry {
        path: readable(fields.get(at)?),
        change: Change::from_letter(letter.into()),
        from: from.filter(|_| letter == b'R' || letter == b'C').map(readable),
        blob: blob.and_then(|hex| hex.parse().ok()),
        note: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;

    #[test]
    fn staged_unstaged_renamed_deleted_and_untracked_files_are_told_apart() {
        let fixture = Fixture::new();
        for name in ["staged", "edited", "removed", "both"] {
            fixture.write(name, name);
        }
        fixture.write("old name", &"recognisable\n".repeat(9));
        fixture.commit("one");
        fixture.write("staged", "other");
        fixture.write("both", "index");
        fixture.git(&["add", "-A"]);
        fixture.git(&["mv", "old name", "new\tname"]);
        fixture.write("both", "work tree");
        fixture.write("edited", "other");
        fixture.write("dir/untracked", "x");
        std::fs::remove_file(fixture.top().join("removed")).expect("it can go");
        let state = fixture.repo().worktree_state(100).expect("git answers");
        let shown: Vec<String> = state
            .changes
            .iter()
            .map(|file| {
                let letter = file.change.map_or('?', super::Change::letter);
                format!("{letter} {} {:?} {}", file.path, file.from, file.blob.is_some())
            })
            .collect();
        assert_eq!(
            shown,
            [
                "R \"new\\011name\" Some(\"old name\") true",
                "M both None false",
                "M edited None false",
                "D removed None false",
                "M staged None true",
            ]
        );
        assert_eq!((state.untracked, state.omitted), (vec!["dir/".to_owned()], 0));
        let cut = fixture.repo().worktree_state(2).expect("git answers");
        assert_eq!((cut.changes.len(), cut.untracked.len(), cut.omitted), (2, 1, 3));
    }

    #[test]
    fn a_bare_repository_has_nothing_to_change() {
        let state = Fixture::with(&["--bare"]).repo().worktree_state(9).expect("no question is asked");
        assert!(!state.is_dirty());
    }

    #[test]
    fn user_settings_do_not_change_the_answer() {
        let fixture = Fixture::new();
        fixture.git(&["config", "status.showUntrackedFiles", "no"]);
        fixture.git(&["config", "status.relativePaths", "true"]);
        fixture.git(&["config", "color.ui", "always"]);
        fixture.write("new", "x");
        assert_eq!(fixture.repo().worktree_state(9).expect("git answers").untracked, ["new"]);
    }
}
