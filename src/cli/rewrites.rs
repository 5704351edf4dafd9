//! Links that survive rewriting: notes follow a handoff's commit to what provably replaced it, and nowhere else.

use std::collections::{BTreeMap, BTreeSet};

use super::error::Failure;
use super::session::Session;
use super::store::append_failure;
use crate::log::{self, Append, AppendError, Description, NOTES_REF, NewEvent};
use crate::model::rewrite::{Pair, Proof, Rewrites};
use crate::model::{EventKind, ObjectName, Summary};
use crate::ui::Ui;
use crate::views::cache::Index;
use crate::views::files::Mode;
use crate::views::notes;

/// How many handoffs are looked at, newest first, when notes are attached again.
const MAX_HANDOFFS: usize = 2000;
/// How many commits are looked through for a replacement.
const MAX_COMMITS: usize = 2000;

/// A note that was brought to another commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reattached {
    /// The commit that the handoff records.
    pub(super) from: ObjectName,
    /// The commit that stands for it.
    pub(super) to: ObjectName,
    /// What proves it.
    pub(super) proof: Proof,
}

impl Session<'_> {
    /// The rewrites that the log remembers.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub(super) fn rewrites(&self, index: &Index) -> Result<Rewrites, Failure> {
        let mut pairs = Vec::new();
        for event in index.other_events()?.iter().filter(|event| event.kind.as_str() == log::rewrite::KIND) {
            // What cannot be read is an anomaly that others report; it maps nothing.
            let bytes = event.blob.and_then(|blob| self.repo.read_blob(&blob, log::MAX_EVENT_BYTES).ok());
            pairs.extend(bytes.and_then(|bytes| log::rewrite::decode(&bytes).ok()).unwrap_or_default());
        }
        Ok(Rewrites::new(pairs))
    }

    /// What git says it rewrote: the notes follow, and the log remembers the pairs that concern a handoff.
    ///
    /// # Errors
    /// When notes or log cannot be read or written.
    pub(super) fn follow(&self, command: &str, pairs: &[Pair], ui: &mut Ui<'_>) -> Result<(), Failure> {
        let mut concerned = Vec::new();
        for (old, new) in pairs {
            if self.repo.read_note(NOTES_REF, old)?.is_some() {
                concerned.push((*old, *new));
            }
        }
        if concerned.is_empty() {
            return Ok(());
        }
        self.copy_notes(&concerned)?;
        let origin = self.origin()?;
        let kind = || EventKind::Other(log::rewrite::KIND.into());
        let event = |pairs: &[Pair]| NewEvent::new(kind(), log::rewrite::encode(&origin, command, pairs));
        let events: Vec<NewEvent> = concerned.chunks(log::rewrite::MAX_PAIRS).map(event).collect();
        let description = Description {
            subject: format!("rewrite of {} ({command})", counted(concerned.len(), "commit")),
            trailers: Vec::new(),
        };
        let append =
            |_| Ok::<_, std::convert::Infallible>(Append { events: events.clone(), description: description.clone() });
        match self.log().append(&self.stamp(), append) {
            Ok(appended) => {
                let mut index = self.own_index(Some(appended.tip))?;
                self.refresh_views(&mut index, Mode::Incremental, ui);
                Ok(())
            }
            // The notes have followed, which is what people see; without the pairs only later proofs have to be found.
            Err(AppendError::NotWritable(_)) => Ok(()),
            Err(error) => Err(append_failure(&error)),
        }
    }

    /// Adds the lines of the old commits' notes to the new ones; the old notes stay, as history.
    fn copy_notes(&self, pairs: &[Pair]) -> Result<(), Failure> {
        let mut sources: BTreeMap<ObjectName, Vec<ObjectName>> = BTreeMap::new();
        for (old, new) in pairs {
            sources.entry(*new).or_default().push(*old);
        }
        let commits: Vec<ObjectName> = sources.keys().filter(|new| self.repo.exists(new)).copied().collect();
        let edit = |commit: &ObjectName, existing: Option<&[u8]>| {
            let old = sources.get(commit).into_iter().flatten();
            let texts = old.filter_map(|old| self.repo.read_note(NOTES_REF, old).ok().flatten());
            let joined = texts.fold(existing.unwrap_or_default().to_vec(), |note, text| notes::union(&note, &text));
            Some(joined)
        };
        let stamp = self.stamp();
        let reflog = stamp.reflog("git handoff: notes follow a rewrite");
        self.repo.update_notes(NOTES_REF, &commits, &edit, &reflog)?;
        Ok(())
    }

    /// Attaches the notes of handoffs whose commit no branch holds any more to the commits that provably replaced them,
    /// where a tool rewrote history without telling anybody.
    ///
    /// # Errors
    /// When git cannot be read or the notes cannot be written.
    pub(super) fn reattach_notes(&self, index: &Index, ui: &mut Ui<'_>) -> Result<Vec<Reattached>, Failure> {
        let lost = self.lost(index)?;
        if lost.is_empty() {
            return Ok(Vec::new());
        }
        let search = Search::new(self, index)?;
        let mut found: Vec<Reattached> = Vec::new();
        let mut summaries: BTreeMap<ObjectName, Vec<Summary>> = BTreeMap::new();
        for (commit, of_commit) in &lost {
            for (to, proof) in search.replacements(self, commit)? {
                found.push(Reattached { from: *commit, to, proof });
                summaries.entry(to).or_default().extend(of_commit.iter().cloned());
            }
        }
        let moved: Vec<Summary> = summaries
            .into_iter()
            .flat_map(|(to, of_commit)| of_commit.into_iter().map(move |each| Summary { commit: Some(to), ..each }))
            .collect();
        self.add_notes(&moved, ui);
        Ok(found)
    }

    /// The newest handoffs whose commit is on no branch, by that commit.
    fn lost(&self, index: &Index) -> Result<BTreeMap<ObjectName, Vec<Summary>>, Failure> {
        let mut by_commit: BTreeMap<ObjectName, Vec<Summary>> = BTreeMap::new();
        for row in index.newest_first().take(MAX_HANDOFFS) {
            let summary = index.summary(row?.position)?;
            if let Some(commit) = summary.commit {
                by_commit.entry(commit).or_default().push(summary);
            }
        }
        let names: Vec<ObjectName> = by_commit.keys().filter(|commit| self.repo.exists(commit)).copied().collect();
        let lost = self.on_no_branch(&names)?;
        by_commit.retain(|commit, _| lost.contains(commit));
        Ok(by_commit)
    }

    /// Those of the commits that neither HEAD nor a branch, local or remote, holds.
    fn on_no_branch(&self, commits: &[ObjectName]) -> Result<BTreeSet<ObjectName>, Failure> {
        if commits.is_empty() {
            return Ok(BTreeSet::new());
        }
        let input: String = commits.iter().map(|commit| format!("{commit}\n")).collect();
        let mut command =
            self.repo.command("rev-list").args(["--stdin", "--ignore-missing", "--not", "--branches", "--remotes"]);
        if self.head()?.commit.is_some() {
            command = command.arg("HEAD");
        }
        let out = command.stdin(input).run()?;
        let out = String::from_utf8_lossy(&out);
        let reached: BTreeSet<ObjectName> = out.lines().filter_map(|line| line.parse().ok()).collect();
        Ok(commits.iter().copied().filter(|commit| reached.contains(commit)).collect())
    }
}

/// What a replacement is looked for in.
struct Search {
    rewrites: Rewrites,
    /// The newest commits of all branches, oldest first, with their trees.
    candidates: Vec<(ObjectName, ObjectName)>,
    patches: BTreeMap<ObjectName, Vec<ObjectName>>,
    default: Option<ObjectName>,
}

impl Search {
    fn new(session: &Session<'_>, index: &Index) -> Result<Self, Failure> {
        let limit = format!("--max-count={MAX_COMMITS}");
        let args = ["--branches", "--remotes", "--topo-order", "--format=%H %T", "--no-commit-header", &limit];
        let out = session.repo.command("rev-list").args(args).run()?;
        let out = String::from_utf8_lossy(&out);
        let pair = |line: &str| {
            let (commit, tree) = line.split_once(' ')?;
            Some((commit.parse().ok()?, tree.parse().ok()?))
        };
        let mut candidates: Vec<(ObjectName, ObjectName)> = out.lines().filter_map(pair).collect();
        candidates.reverse();
        let names: Vec<ObjectName> = candidates.iter().map(|(commit, _)| *commit).collect();
        let mut patches: BTreeMap<ObjectName, Vec<ObjectName>> = BTreeMap::new();
        for (id, commit) in session.repo.patch_ids(&names)? {
            patches.entry(id).or_default().push(commit);
        }
        let default = session.repo.default_branch()?.map(|(_, tip)| tip);
        Ok(Self { rewrites: session.rewrites(index)?, candidates, patches, default })
    }

    /// The commits on branches that provably stand for this one.
    fn replacements(&self, session: &Session<'_>, commit: &ObjectName) -> Result<Vec<(ObjectName, Proof)>, Failure> {
        let on_branch = |name: &ObjectName| self.candidates.iter().any(|(candidate, _)| candidate == name);
        let mapped: Vec<ObjectName> = self.rewrites.successors(commit).into_iter().filter(on_branch).collect();
        if !mapped.is_empty() {
            return Ok(mapped.into_iter().map(|to| (to, Proof::Map)).collect());
        }
        let lost = session.repo.read_commit(commit)?;
        // What the lost commit itself builds on may have its tree, as before an empty commit, without replacing it.
        let new = |name: &ObjectName| session.repo.is_ancestor(name, commit).map(|older| !older);
        for (candidate, _) in self.candidates.iter().filter(|(_, tree)| *tree == lost.tree) {
            if new(candidate)? {
                return Ok(vec![(*candidate, Proof::SameTree)]);
            }
        }
        if let Some((id, _)) = session.repo.patch_ids(&[*commit])?.first() {
            let same = self.patches.get(id).cloned().unwrap_or_default();
            if !same.is_empty() {
                return Ok(same.into_iter().map(|to| (to, Proof::SamePatch)).collect());
            }
        }
        self.squashed(session, commit)
    }

    /// The commits that make the change of the whole range that ends in this one, as a squash merge does.
    fn squashed(&self, session: &Session<'_>, commit: &ObjectName) -> Result<Vec<(ObjectName, Proof)>, Failure> {
        let Some(default) = self.default else { return Ok(Vec::new()) };
        let Some(base) = session.repo.merge_base(&default, commit)? else { return Ok(Vec::new()) };
        let id = session.repo.patch_id_between(&base, commit)?;
        let same = id.and_then(|id| self.patches.get(&id)).into_iter().flatten();
        Ok(same.map(|to| (*to, Proof::SameRange)).collect())
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;
    use crate::cli::args::Global;
    use crate::document;
    use crate::env::Env;
    use crate::git::fixture::Fixture;
    use crate::model::{Completeness, Content, Handoff, Metadata, Status, Trigger};
    use crate::ui::{Colour, Face};
    use crate::views::cache::Index;

    fn env(cwd: &Path) -> Env {
        Env {
            args: Vec::new(),
            vars: BTreeMap::from([("HANDOFF_AGENT".into(), "codex".into())]),
            cwd: cwd.to_owned(),
            now: "2026-08-18T17:04:00+03:00".parse().expect("a time"),
            zone_unknown: false,
            stdout_is_terminal: false,
            stdin_is_terminal: false,
            process: 0,
        }
    }

    /// Records a handoff of HEAD, runs the commands that rewrite it away, and attaches the notes again.
    fn reattached(fixture: &Fixture, rewrite: impl Fn()) -> (ObjectName, Vec<Reattached>, Vec<ObjectName>) {
        let env = env(fixture.top());
        let session =
            || Session::open(&env, &Global { directory: None, json: false, quiet: false }).expect("a repository");
        let commit = fixture.name("HEAD");
        let handoff = Handoff {
            created: env.now,
            agent: "codex".parse().expect("a name"),
            trigger: Trigger::Manual,
            status: Status::InProgress,
            topic: "work".parse().expect("a topic"),
            metadata: Metadata { commit: Some(commit), ..Metadata::default() },
            content: Content::default(),
            completeness: Completeness::Partial,
            unknown: serde_json::Map::new(),
        };
        let before = session();
        let mut index = Index::empty(&before.lanes);
        super::super::store::store(&before, &mut index, &handoff).expect("it is stored");
        rewrite();
        let after = session();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut ui = Ui::new(Face::Text, Colour::Off, &mut out, &mut err);
        let index = after.index().expect("readable");
        let found = after.reattach_notes(&index, &mut ui).expect("git answers");
        let id = document::id(&handoff).short();
        let all = fixture.git(&["log", "--format=%H", "--branches"]);
        let noted = all.lines().filter_map(|line| line.parse().ok()).filter(|commit| {
            let note = after.repo.read_note(NOTES_REF, commit).expect("readable");
            note.is_some_and(|note| note.starts_with(id.as_bytes()))
        });
        (commit, found, noted.collect())
    }

    fn on_a_branch(fixture: &Fixture) {
        fixture.write("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
        fixture.commit("base");
        fixture.git(&["checkout", "-q", "-b", "feat"]);
        fixture.write("b", "b\n");
        fixture.commit("one");
        fixture.write("c", "c\n");
        fixture.commit("two");
    }

    /// Takes the work over into main beside other work, and drops its branch.
    fn onto_other_work(fixture: &Fixture, take_over: impl Fn()) {
        fixture.git(&["checkout", "-q", "main"]);
        fixture.write("unrelated", "x\n");
        fixture.commit("unrelated");
        take_over();
        fixture.git(&["branch", "-q", "-D", "feat"]);
    }

    #[test]
    fn a_commit_that_a_branch_holds_needs_nothing() {
        let fixture = Fixture::new();
        on_a_branch(&fixture);
        assert_eq!(reattached(&fixture, || {}).1, []);
    }

    #[test]
    fn a_rewrite_by_another_tool_is_found_by_its_tree() {
        let fixture = Fixture::new();
        on_a_branch(&fixture);
        let (from, found, noted) = reattached(&fixture, || {
            let new = fixture.git(&["commit-tree", "-p", "HEAD~1", "-m", "elsewhere", "HEAD^{tree}"]);
            fixture.git(&["update-ref", "refs/heads/feat", &new]);
        });
        let to = fixture.name("feat");
        assert_eq!(found, [Reattached { from, to, proof: Proof::SameTree }]);
        assert_eq!(noted, [to]);
    }

    #[test]
    fn a_commit_that_was_picked_onto_other_work_is_found_by_its_patch() {
        let fixture = Fixture::new();
        on_a_branch(&fixture);
        let (from, found, noted) = reattached(&fixture, || {
            onto_other_work(&fixture, || {
                fixture.git(&["cherry-pick", "feat"]);
            });
        });
        let to = fixture.name("main");
        assert_eq!(found, [Reattached { from, to, proof: Proof::SamePatch }]);
        assert_eq!(noted, [to]);
    }

    #[test]
    fn a_squash_merge_is_found_by_the_patch_of_the_whole_range_and_nothing_else_gets_the_note() {
        let fixture = Fixture::new();
        on_a_branch(&fixture);
        let (from, found, noted) = reattached(&fixture, || {
            onto_other_work(&fixture, || {
                fixture.git(&["merge", "-q", "--squash", "feat"]);
                fixture.git(&["commit", "-q", "-m", "feat (#1)"]);
            });
        });
        let to = fixture.name("main");
        assert_eq!(found, [Reattached { from, to, proof: Proof::SameRange }]);
        assert_eq!(noted, [to]);
    }

    #[test]
    fn what_cannot_be_proved_gets_no_note() {
        let fixture = Fixture::new();
        on_a_branch(&fixture);
        let (_, found, noted) = reattached(&fixture, || {
            fixture.git(&["checkout", "-q", "main"]);
            fixture.write("b", "b\n");
            fixture.write("c", "c, but different\n");
            fixture.commit("something like it");
            fixture.git(&["branch", "-q", "-D", "feat"]);
        });
        assert_eq!((found, noted), (Vec::new(), Vec::new()));
    }
}
