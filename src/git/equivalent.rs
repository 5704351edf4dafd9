//! A commit that stands for another one after history was rewritten, proved by content alone.
//!
//! As strict as `git patch-id`: the same files change, each from the same blob to the same blob, or by the same lines
//! between the same neighbours.

use std::collections::BTreeMap;

use gix::bstr::BString;
use gix::diff::blob::{Algorithm, Diff, InternedInput};
use gix::object::tree::diff::ChangeDetached;

use super::changes::diff;
use super::objects::named;
use super::{ChangesError, Repo};
use crate::model::ObjectName;

/// A commit that stands for another one, and what proves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Equivalent {
    /// The commit.
    pub commit: ObjectName,
    /// What both have in common.
    pub likeness: Likeness,
}

/// What two commits have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// The tree.
    Tree,
    /// The change that each makes to its parent.
    Patch,
    /// One makes the change that the other's whole branch made.
    Range,
}

/// What a commit does to one file: mode and blob before and after.
type Step = [Option<(u16, ObjectName)>; 2];
/// What a commit does, by path.
type Patch = BTreeMap<BString, Step>;

/// How many lines around a change must be the same, as in a patch.
const CONTEXT: usize = 3;
/// Changes in larger files are compared as blobs only.
const MAX_COMPARED: u64 = 1024 * 1024;

impl Repo {
    /// The newest commit among the last `limit` of `head` since `base` that stands for `commit`. Files that `ignored`
    /// names do not count in a comparison of changes.
    ///
    /// # Errors
    /// When a commit or tree cannot be read.
    pub fn equivalent_of(
        &self,
        commit: &ObjectName,
        base: Option<ObjectName>,
        head: &ObjectName,
        limit: usize,
        ignored: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Equivalent>, ChangesError> {
        let read = self.read_commit(commit)?;
        let candidates: Vec<ObjectName> =
            self.commits_between(base, *head, limit)?.into_iter().map(|candidate| candidate.name).collect();
        for candidate in &candidates {
            if self.read_commit(candidate)?.tree == read.tree {
                return Ok(Some(Equivalent { commit: *candidate, likeness: Likeness::Tree }));
            }
        }
        let parent = read.parents.first().copied();
        let mut wanted = vec![(Likeness::Patch, self.patch(parent.as_ref(), commit, ignored)?)];
        if base.is_some() && base != parent {
            wanted.push((Likeness::Range, self.patch(base.as_ref(), commit, ignored)?));
        }
        wanted.retain(|(_, patch)| !patch.is_empty());
        for candidate in &candidates {
            let parent = self.read_commit(candidate)?.parents.first().copied();
            let patch = self.patch(parent.as_ref(), candidate, ignored)?;
            for (likeness, wanted) in &wanted {
                if self.is_same_patch(wanted, &patch)? {
                    return Ok(Some(Equivalent { commit: *candidate, likeness: *likeness }));
                }
            }
        }
        Ok(None)
    }

    /// What differs between two commits. A parent that this clone does not have is the empty tree.
    fn patch(
        &self,
        from: Option<&ObjectName>,
        to: &ObjectName,
        ignored: &dyn Fn(&str) -> bool,
    ) -> Result<Patch, ChangesError> {
        let old = from.filter(|from| self.exists(from)).map(|from| self.tree_of(from)).transpose()?;
        let new = self.tree_of(to)?;
        let options = gix::diff::Options::default().with_rewrites(None);
        let changes = self.gix.diff_tree_to_tree(old.as_ref(), Some(&new), Some(options)).map_err(diff)?;
        let steps = changes.into_iter().filter_map(step);
        Ok(steps.filter(|(path, _)| !ignored(&path.to_string())).collect())
    }

    fn is_same_patch(&self, one: &Patch, other: &Patch) -> Result<bool, ChangesError> {
        if one.len() != other.len() || !one.keys().eq(other.keys()) {
            return Ok(false);
        }
        for (one, other) in one.values().zip(other.values()) {
            if one != other && !self.is_same_edit(one, other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether both steps change the same lines of a file that differs elsewhere.
    fn is_same_edit(&self, one: &Step, other: &Step) -> Result<bool, ChangesError> {
        let modes = |step: &Step| step.map(|side| side.map(|(mode, _)| mode));
        let ([Some(a), Some(b)], [Some(c), Some(d)]) = (*one, *other) else { return Ok(false) };
        if modes(one) != modes(other) {
            return Ok(false);
        }
        let edits = (self.file_edit(&a.1, &b.1)?, self.file_edit(&c.1, &d.1)?);
        Ok(matches!(edits, (Some(one), Some(other)) if one == other))
    }

    /// The changed lines with their neighbours; nothing for what is no text or large.
    fn file_edit(&self, old: &ObjectName, new: &ObjectName) -> Result<Option<Vec<u8>>, ChangesError> {
        let read = |blob| match self.read_blob(blob, MAX_COMPARED) {
            Ok(bytes) if !bytes.contains(&0) => Some(bytes),
            Ok(_) | Err(_) => None,
        };
        let (Some(old), Some(new)) = (read(old), read(new)) else { return Ok(None) };
        let input = InternedInput::new(old.as_slice(), new.as_slice());
        let mut diff = Diff::compute(Algorithm::Histogram, &input);
        diff.postprocess_lines(&input);
        let mut edit = Vec::new();
        for hunk in diff.hunks() {
            let (start, end) = (hunk.before.start as usize, hunk.before.end as usize);
            let after = hunk.after.start as usize..hunk.after.end as usize;
            let parts = [
                (b' ', &input.before[start.saturating_sub(CONTEXT)..start]),
                (b'-', &input.before[start..end]),
                (b'+', &input.after[after]),
                (b' ', &input.before[end..input.before.len().min(end + CONTEXT)]),
            ];
            for (mark, tokens) in parts {
                for token in tokens {
                    edit.push(mark);
                    edit.extend_from_slice(input.interner[*token]);
                }
            }
        }
        Ok(Some(edit))
    }
}

/// The change as a step; `None` for what only concerns a directory.
fn step(change: ChangeDetached) -> Option<(BString, Step)> {
    let side = |mode: gix::objs::tree::EntryMode, id| (!mode.is_tree()).then(|| (mode.value(), named(id)));
    let (path, step) = match change {
        ChangeDetached::Addition { location, entry_mode, id, .. } => (location, [None, side(entry_mode, id)]),
        ChangeDetached::Deletion { location, entry_mode, id, .. } => (location, [side(entry_mode, id), None]),
        ChangeDetached::Modification { location, previous_entry_mode, previous_id, entry_mode, id } => {
            (location, [side(previous_entry_mode, previous_id), side(entry_mode, id)])
        }
        // Not looked for.
        ChangeDetached::Rewrite { location, entry_mode, id, .. } => (location, [None, side(entry_mode, id)]),
    };
    (step != [None, None]).then_some((path, step))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    /// A branch `side` with two commits from the first commit of `main`, which has gone on in the same file.
    fn parted() -> Fixture {
        let fixture = Fixture::new();
        let lines = |first: &str, last: &str| format!("{first}\n{}{last}\n", "middle\n".repeat(9));
        fixture.write("a", &lines("first", "last"));
        fixture.commit("base");
        fixture.git(&["checkout", "-q", "-b", "side"]);
        fixture.write("b", "b");
        fixture.commit("side one");
        fixture.write("a", &lines("first", "last of side"));
        fixture.commit("side two");
        fixture.git(&["checkout", "-q", "main"]);
        fixture.write("a", &lines("first of main", "last"));
        fixture.commit("main");
        fixture
    }

    fn found(fixture: &Fixture, commit: &str) -> Option<(String, Likeness)> {
        let repo = fixture.repo();
        let (commit, head) = (fixture.name(commit), fixture.name("HEAD"));
        let base = repo.merge_base(&commit, &head).expect("readable");
        let found = repo.equivalent_of(&commit, base, &head, 99, &|_| false).expect("readable")?;
        Some((fixture.git(&["log", "-1", "--format=%s", &found.commit.to_string()]), found.likeness))
    }

    #[test]
    fn a_commit_with_the_same_tree_stands_for_it() {
        let fixture = parted();
        fixture.git(&["reset", "-q", "--hard", "side"]);
        fixture.git(&["commit", "-q", "--amend", "-m", "amended"]);
        assert_eq!(found(&fixture, "side"), Some(("amended".into(), Likeness::Tree)));
    }

    #[test]
    fn a_rebased_commit_stands_for_it_although_the_file_differs_elsewhere() {
        let fixture = parted();
        let old = fixture.name("side").to_string();
        fixture.git(&["rebase", "-q", "main", "side"]);
        fixture.commit("more");
        assert_eq!(found(&fixture, &old), Some(("side two".into(), Likeness::Patch)));
    }

    #[test]
    fn a_squash_of_the_whole_branch_stands_for_its_tip() {
        let fixture = parted();
        fixture.git(&["merge", "-q", "--squash", "side"]);
        fixture.commit("squashed");
        assert_eq!(found(&fixture, "side"), Some(("squashed".into(), Likeness::Range)));
        assert_eq!(found(&fixture, "side~1"), None);
    }

    #[test]
    fn other_work_on_the_same_files_stands_for_nothing() {
        let fixture = parted();
        fixture.write("a", "something else\n");
        fixture.write("b", "b");
        fixture.commit("alike");
        assert_eq!(found(&fixture, "side"), None);
    }
}
