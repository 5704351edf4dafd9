//! What git is in the middle of, and what it did last: cheap looks at its own files.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::{Command, CommandError, Repo};
use crate::model::ObjectName;
use crate::model::boundary::Operation;

/// How much of the end of a reflog is read to find its last line.
const TAIL: u64 = 4096;

/// A version of git.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitVersion {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl GitVersion {
    /// The version in what `git version` says, such as `git version 2.47.3` or `git version 2.54.0.windows.1`.
    pub fn parse(text: &str) -> Option<Self> {
        let numbers = text.trim().strip_prefix("git version ")?;
        let mut parts =
            numbers.split('.').map(|part| part.chars().take_while(char::is_ascii_digit).collect::<String>());
        Some(Self { major: parts.next()?.parse().ok()?, minor: parts.next()?.parse().ok()? })
    }

    /// The version of the git that is installed; `None` when it says something else than versions.
    ///
    /// # Errors
    /// When git cannot be run.
    pub fn installed(repo: &Repo) -> Result<Option<Self>, CommandError> {
        let said = Command::in_directory(repo.git_dir(), "version").run()?;
        Ok(Self::parse(&String::from_utf8_lossy(&said)))
    }
}

impl Repo {
    /// What git is in the middle of in this worktree.
    pub fn operation(&self) -> Option<Operation> {
        let there = |name: &str| self.git_dir().join(name).symlink_metadata().is_ok();
        let table = [
            ("rebase-merge", Operation::Rebase),
            ("rebase-apply", Operation::Rebase),
            ("CHERRY_PICK_HEAD", Operation::CherryPick),
            ("REVERT_HEAD", Operation::Revert),
            ("sequencer", Operation::CherryPick),
            ("MERGE_HEAD", Operation::Merge),
            ("BISECT_LOG", Operation::Bisect),
        ];
        table.into_iter().find(|(name, _)| there(name)).map(|(_, operation)| operation)
    }

    /// What HEAD's reflog says of the last move, such as `commit (amend): subject`; `None` without a readable reflog.
    pub fn last_move(&self) -> Option<String> {
        let tail = tail(&self.git_dir().join("logs/HEAD")).ok()?;
        let text = String::from_utf8_lossy(&tail);
        let (_, message) = text.lines().last()?.split_once('\t')?;
        Some(message.to_owned())
    }

    /// The patch ids of these commits, merges left out: equal ids make the same change. What cannot be compared is
    /// not in the answer.
    ///
    /// # Errors
    /// When git cannot be run or fails.
    pub fn patch_ids(&self, commits: &[ObjectName]) -> Result<Vec<(ObjectName, ObjectName)>, CommandError> {
        if commits.is_empty() {
            return Ok(Vec::new());
        }
        let names: String = commits.iter().map(|commit| format!("{commit}\n")).collect();
        let options =
            ["--no-walk=unsorted", "--no-merges", "--full-index", "--no-ext-diff", "--no-textconv", "-p", "--stdin"];
        let patches = self.command("log").args(options).stdin(names).run()?;
        self.ids_of(patches)
    }

    /// The patch id of what lies between two commits.
    ///
    /// # Errors
    /// When git cannot be run or fails.
    pub fn patch_id_between(&self, from: &ObjectName, to: &ObjectName) -> Result<Option<ObjectName>, CommandError> {
        let options = ["-p", "--full-index", "--no-ext-diff", "--no-textconv"];
        let patch = self.command("diff-tree").args(options).args([from.to_string(), to.to_string()]).run()?;
        Ok(self.ids_of(patch)?.first().map(|(id, _)| *id))
    }

    fn ids_of(&self, patches: Vec<u8>) -> Result<Vec<(ObjectName, ObjectName)>, CommandError> {
        let said = self.command("patch-id").arg("--stable").stdin(patches).run()?;
        let said = String::from_utf8_lossy(&said);
        let pair = |line: &str| {
            let (id, commit) = line.split_once(' ')?;
            Some((id.parse().ok()?, commit.trim().parse().ok()?))
        };
        Ok(said.lines().filter_map(pair).collect())
    }
}

fn tail(path: &std::path::Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    #[test]
    fn versions_are_read_from_what_git_says() {
        let parsed = |text: &str| GitVersion::parse(text).map(|GitVersion { major, minor }| (major, minor));
        assert_eq!(parsed("git version 2.47.3\n"), Some((2, 47)));
        assert_eq!(parsed("git version 2.54.0.windows.1"), Some((2, 54)));
        assert_eq!(parsed("git version 2.55.GIT"), Some((2, 55)));
        assert_eq!(parsed("hub version 2"), None);
    }

    #[test]
    fn what_git_is_in_the_middle_of_and_did_last_is_seen() {
        let fixture = Fixture::new();
        fixture.write("a", "1\n");
        let first = fixture.commit("one");
        fixture.git(&["commit", "-q", "--amend", "-m", "one again"]);
        assert_eq!(fixture.repo().last_move().as_deref(), Some("commit (amend): one again"));
        assert_eq!(fixture.repo().operation(), None);
        std::fs::create_dir(fixture.repo().git_dir().join("rebase-merge")).expect("writable");
        assert_eq!(fixture.repo().operation(), Some(Operation::Rebase));
        let again = fixture.name("HEAD");
        let ids = fixture.repo().patch_ids(&[first, again]).expect("git compares");
        assert_eq!(ids.iter().map(|(_, commit)| *commit).collect::<Vec<_>>(), [first, again]);
        assert_eq!(ids[0].0, ids[1].0);
        let range = fixture.repo().patch_id_between(&first, &again).expect("git compares");
        assert_eq!(range, None);
    }
}
