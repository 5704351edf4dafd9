//! Joining two histories of notes. It cannot conflict: where both sides changed a note, the caller unites the two texts.

use std::collections::{BTreeMap, BTreeSet};

use super::notes::{MAX_NOTE, NoteStore};
use super::objects::named;
use super::{EntryMode, Identity, NewCommit, NotesError, Repo};
use crate::model::ObjectName;

/// Makes one text of two. The order of the two must not matter.
pub type UnionNotes<'a> = dyn Fn(&[u8], &[u8]) -> Vec<u8> + 'a;

/// The commit that holds the notes of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinedNotes {
    /// The own notes hold everything already.
    Own(ObjectName),
    /// The other notes hold everything already, whatever the own history is: notes are derived.
    Theirs(ObjectName),
    /// A commit with both as its parents.
    Merge(ObjectName),
}

impl JoinedNotes {
    /// The commit.
    pub fn tip(self) -> ObjectName {
        match self {
            Self::Own(tip) | Self::Theirs(tip) | Self::Merge(tip) => tip,
        }
    }
}

/// The notes that two trees do not have in common: for each annotated object its blob on either side.
type Differences = BTreeMap<String, (Option<ObjectName>, Option<ObjectName>)>;

impl Repo {
    /// The commit that holds the notes of both, written and on the disk. No ref is moved.
    ///
    /// A note that only one side changed since the last common state is taken from there, removal included. A merge
    /// commit is a pure function of its two parents, as in the log. The work is proportional to what differs.
    ///
    /// # Errors
    /// See [`NotesError`].
    pub fn join_notes(
        &self,
        own: &ObjectName,
        theirs: &ObjectName,
        union: &UnionNotes<'_>,
    ) -> Result<JoinedNotes, NotesError> {
        // Of several last common states every clone takes the same.
        let base = self.merge_base(own, theirs)?;
        if own == theirs || base.as_ref() == Some(theirs) {
            return Ok(JoinedNotes::Own(*own));
        }
        if base.as_ref() == Some(own) {
            return Ok(JoinedNotes::Theirs(*theirs));
        }
        let mut parents = [*own, *theirs];
        parents.sort_unstable();
        let [one, other] = [self.read_commit(&parents[0])?, self.read_commit(&parents[1])?];
        let writer = self.writer();
        let store = NoteStore::new(&writer);
        let tree = self.joined_tree(&store, base, [one.tree, other.tree], union)?;
        if tree == self.read_commit(theirs)?.tree {
            return Ok(JoinedNotes::Theirs(*theirs));
        }
        let identity = Identity::new(Identity::FALLBACK_NAME, Identity::FALLBACK_EMAIL);
        let commit = writer.commit(&NewCommit {
            tree,
            parents: &parents,
            identity: &identity,
            seconds: one.seconds.max(other.seconds),
            offset_minutes: 0,
            message: "join\n",
        })?;
        writer.make_durable()?;
        Ok(JoinedNotes::Merge(commit))
    }

    fn joined_tree(
        &self,
        store: &NoteStore<'_>,
        base: Option<ObjectName>,
        [one, other]: [ObjectName; 2],
        union: &UnionNotes<'_>,
    ) -> Result<ObjectName, NotesError> {
        const NAME: &str = "notes";
        let base = base.map(|base| self.read_commit(&base)).transpose()?.map(|commit| commit.tree);
        let between = self.differences(Some(one), Some(other))?;
        let changed_in_one: BTreeSet<String> = self.differences(base, Some(one))?.into_keys().collect();
        let changed_in_other: BTreeSet<String> = self.differences(base, Some(other))?.into_keys().collect();
        let tree = self.object_id(&one)?;
        let failed = |source| NotesError::Tree { name: NAME.into(), source: Box::new(source) };
        let mut state = gix::note::plumbing::State::new(tree, store).map_err(failed)?;
        for (key, (in_one, in_other)) in between {
            // What is no note of an object of this repository's format stays as the first side has it.
            let Some(annotated) = key.parse::<ObjectName>().ok().and_then(|name| self.object_id(&name).ok()) else {
                continue;
            };
            let wanted = match (changed_in_one.contains(&key), changed_in_other.contains(&key)) {
                (true, false) | (false, false) => continue,
                (false, true) => in_other,
                (true, true) => self.united(store, in_one, in_other, union)?,
            };
            let wanted = wanted.map(|blob| self.object_id(&blob)).transpose()?;
            state.edit(annotated, wanted, store).map_err(failed)?;
        }
        Ok(named(state.write(store).map_err(|error| store.explained(NAME, error))?))
    }

    fn united(
        &self,
        store: &NoteStore<'_>,
        one: Option<ObjectName>,
        other: Option<ObjectName>,
        union: &UnionNotes<'_>,
    ) -> Result<Option<ObjectName>, NotesError> {
        let (Some(one), Some(other)) = (one, other) else { return Ok(one.or(other)) };
        let text = union(&self.read_blob(&one, MAX_NOTE)?, &self.read_blob(&other, MAX_NOTE)?);
        Ok(Some(store.blob(&text)?))
    }

    fn differences(&self, one: Option<ObjectName>, other: Option<ObjectName>) -> Result<Differences, NotesError> {
        let mut found = Differences::new();
        self.collect_differences(String::new(), one, other, &mut found)?;
        found.retain(|_, (one, other)| one != other);
        Ok(found)
    }

    /// Walks two trees side by side, leaving out what they share. A note stands under the digits of its path put
    /// together, so that trees with different fan-outs are comparable.
    fn collect_differences(
        &self,
        prefix: String,
        one: Option<ObjectName>,
        other: Option<ObjectName>,
        found: &mut Differences,
    ) -> Result<(), NotesError> {
        // An object name has at most 32 bytes, which is as deep as a tree of notes can be.
        if one == other || prefix.len() > 64 {
            return Ok(());
        }
        let mut names: BTreeMap<String, [Option<(EntryMode, ObjectName)>; 2]> = BTreeMap::new();
        for (side, tree) in [one, other].iter().enumerate() {
            for entry in tree.map(|tree| self.read_tree(&tree)).transpose()?.unwrap_or_default() {
                let name = String::from_utf8_lossy(&entry.name).into_owned();
                names.entry(name).or_default()[side] = Some((entry.mode, entry.object));
            }
        }
        for (name, sides) in names {
            let key = format!("{prefix}{name}");
            let tree = |side: Option<(EntryMode, ObjectName)>| {
                side.filter(|(mode, _)| *mode == EntryMode::Tree).map(|(_, object)| object)
            };
            let [below_one, below_other] = sides.map(tree);
            if below_one != below_other {
                self.collect_differences(key.clone(), below_one, below_other, found)?;
            }
            let note = |side: Option<(EntryMode, ObjectName)>| {
                side.filter(|(mode, _)| matches!(mode, EntryMode::File | EntryMode::Executable))
            };
            let [one, other] = sides.map(|side| note(side).map(|(_, object)| object));
            let both = found.entry(key).or_default();
            both.0 = both.0.or(one);
            both.1 = both.1.or(other);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::super::{Durability, Expected, Reflog};
    use super::*;

    const NAME: &str = "refs/notes/handoffs";

    fn lines(one: &[u8], other: &[u8]) -> Vec<u8> {
        let all: BTreeSet<&[u8]> = [one, other].iter().flat_map(|text| text.split_inclusive(|b| *b == b'\n')).collect();
        all.into_iter().flatten().copied().collect()
    }

    /// Sets the notes to this commit, adds a text to each object's note as git itself does it, and gives the new tip.
    fn noted(fixture: &Fixture, from: Option<ObjectName>, notes: &[(&ObjectName, Option<&str>)]) -> ObjectName {
        match from {
            Some(tip) => fixture.git(&["update-ref", NAME, &tip.to_string()]),
            None => fixture.git(&["update-ref", "-d", NAME]),
        };
        for (commit, text) in notes {
            let commit = commit.to_string();
            match text {
                Some(text) => {
                    fixture.git(&["notes", "--ref=handoffs", "append", "--no-separator", "-m", text, &commit])
                }
                None => fixture.git(&["notes", "--ref=handoffs", "remove", &commit]),
            };
        }
        fixture.name(NAME)
    }

    fn shown(fixture: &Fixture, tip: ObjectName) -> Vec<String> {
        fixture.git(&["update-ref", NAME, &tip.to_string()]);
        let listed = fixture.git(&["notes", "--ref=handoffs", "list"]);
        let text = |line: &str| {
            let (blob, commit) = line.split_once(' ').expect("two names");
            format!("{commit} {}", fixture.git(&["cat-file", "blob", blob]).replace('\n', "|"))
        };
        listed.lines().map(text).collect()
    }

    #[test]
    fn each_side_keeps_its_lines_and_its_removals() {
        let fixture = Fixture::new();
        let mut commits: Vec<ObjectName> = (0..4).map(|n| fixture.commit(&format!("commit {n}"))).collect();
        commits.sort_unstable();
        let [a, b, c, d] = &commits[..] else { unreachable!("there are four") };
        let base = noted(&fixture, None, &[(a, Some("old")), (b, Some("old")), (c, Some("old"))]);
        let one = noted(&fixture, Some(base), &[(a, Some("one")), (b, None), (d, Some("one"))]);
        let two = noted(&fixture, Some(base), &[(a, Some("two")), (c, Some("two"))]);
        let repo = fixture.repo();
        let joined = repo.join_notes(&one, &two, &lines).expect("readable");
        assert_eq!(joined, repo.join_notes(&two, &one, &lines).expect("readable"));
        assert!(matches!(joined, JoinedNotes::Merge(_)));
        let expected = [format!("{a} old|one|two"), format!("{c} old|two"), format!("{d} one")];
        assert_eq!(shown(&fixture, joined.tip()), expected);
        fixture.git(&["fsck", "--strict"]);
        let again = |own, theirs| repo.join_notes(own, theirs, &lines).expect("readable");
        let tip = joined.tip();
        assert_eq!([again(&tip, &one), again(&one, &tip)], [JoinedNotes::Own(tip), JoinedNotes::Theirs(tip)]);
    }

    #[test]
    fn trees_with_another_fan_out_hold_the_same_notes() {
        let fixture = Fixture::new();
        let commits: Vec<_> = (0..6).map(|n| fixture.commit(&format!("commit {n}"))).collect();
        let flat = noted(&fixture, None, &commits.iter().map(|commit| (commit, Some("x"))).collect::<Vec<_>>());
        // git writes a flat tree for so few notes; a larger repository's is two levels deep.
        let mut listing = String::new();
        for line in fixture.git(&["ls-tree", "-r", &flat.to_string()]).lines() {
            let (head, name) = line.split_once('\t').expect("ls-tree's form");
            listing += &format!("{}\t{}/{}\n", head.replace(" blob ", " "), &name[..2], &name[2..]);
        }
        fixture.write("listing", &listing);
        fixture.git(&["read-tree", "--empty"]);
        let index = std::fs::File::open(fixture.top().join("listing")).expect("just written");
        let mut command = fixture.command(fixture.top(), &["update-index", "--index-info"]);
        assert!(command.stdin(index).status().expect("git runs").success());
        let tree = fixture.git(&["write-tree"]);
        let deep: ObjectName = fixture.git(&["commit-tree", "-m", "deep", &tree]).parse().expect("a name");
        let repo = fixture.repo();
        let joined = repo.join_notes(&flat, &deep, &lines).expect("readable").tip();
        assert_eq!(shown(&fixture, joined).len(), 6);
    }

    #[test]
    fn notes_that_hold_everything_are_taken_as_they_are() {
        let fixture = Fixture::new();
        let commit = fixture.commit("one");
        let mine = noted(&fixture, None, &[(&commit, Some("x"))]);
        let repo = fixture.repo();
        let theirs = {
            let identity = Identity::new("B", "b@c");
            let durability = Durability::Process;
            let reflog = Reflog { identity: &identity, seconds: 1, offset_minutes: 0, message: "x", durability };
            let text = |_: &ObjectName, _: Option<&[u8]>| Some(b"x\n".to_vec());
            repo.update_notes("refs/notes/theirs", &[commit], &text, &reflog).expect("writable");
            fixture.name("refs/notes/theirs")
        };
        assert_ne!(mine, theirs);
        assert_eq!(repo.join_notes(&mine, &theirs, &lines).expect("readable"), JoinedNotes::Theirs(theirs));
        let identity = Identity::new("A", "a@b");
        let durability = Durability::Process;
        let reflog = Reflog { identity: &identity, seconds: 1, offset_minutes: 0, message: "x", durability };
        repo.compare_and_swap(NAME, Expected::Is(mine), &theirs, &reflog).expect("it may move anywhere");
    }
}
