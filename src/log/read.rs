//! Reading the log: the graph first, then the events, parents before children.

use std::collections::HashMap;

use super::{Log, MAX_EVENT_BYTES, REF, REMOTES, codec, effective, is_kind};
use crate::git::{EntryMode, ObjectError, RefError, TreeEntry};
use crate::model::{Anomaly, AnomalyKind, Entry, EventId, EventKind, LogCommit, ObjectName, visible_line};

/// The most foreign paths that are reported of one commit: somebody may have pushed their whole source tree.
const MAX_FOREIGN: usize = 100;

/// Where the logs that this repository knows stand.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tips {
    /// The repository's own log.
    pub own: Option<ObjectName>,
    /// The logs fetched from remotes, by the remote's name.
    pub remotes: Vec<(String, ObjectName)>,
}

impl Tips {
    /// All of them, the own one first.
    pub fn all(&self) -> Vec<ObjectName> {
        self.own.into_iter().chain(self.remotes.iter().map(|(_, tip)| *tip)).collect()
    }
}

/// What a walk over the log found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Walk {
    /// The commits that were not known, parents before children.
    pub commits: Vec<LogCommit>,
    /// The known commits at which the walk stopped, each once.
    pub reached: Vec<ObjectName>,
    /// Tips that cannot be read. A parent that cannot be read is an anomaly of its child.
    pub anomalies: Vec<Anomaly>,
}

/// A commit whose events have not been read yet.
struct Node {
    name: ObjectName,
    tree: ObjectName,
    seconds: i64,
    parents: Vec<ObjectName>,
}

/// What is known of a commit during a walk.
enum Seen {
    /// It has this effective time; the walk stops there.
    Known(i64),
    /// It is the node with this number.
    Node(usize),
    /// It cannot be read.
    Broken(AnomalyKind),
}

/// The part of the graph that a walk covers.
#[derive(Default)]
struct Graph {
    nodes: Vec<Node>,
    /// Numbers of nodes, parents before children.
    order: Vec<usize>,
    seen: HashMap<ObjectName, Seen>,
    reached: Vec<ObjectName>,
}

impl Log<'_> {
    /// Where the logs stand.
    ///
    /// # Errors
    /// When the refs cannot be read.
    pub fn tips(&self) -> Result<Tips, RefError> {
        let remotes = self.repo.refs_under(REMOTES)?;
        let log_of = |name: &str| name.strip_prefix(REMOTES)?.strip_suffix("/log").map(str::to_owned);
        let remotes = remotes.into_iter().filter_map(|(name, tip)| Some((log_of(&name)?, tip))).collect();
        Ok(Tips { own: self.repo.read_ref(REF)?, remotes })
    }

    /// The commits that these tips reach without going through a commit for which `known` gives an effective time.
    ///
    /// For logs so large that their events should not all be in memory, see [`Log::visit_since`].
    pub fn commits_since(&self, tips: &[ObjectName], known: &dyn Fn(&ObjectName) -> Option<i64>) -> Walk {
        let mut commits = Vec::new();
        let walk = self.visit_since(tips, known, &mut |commit| commits.push(commit));
        Walk { commits, ..walk }
    }

    /// [`Log::commits_since`] that hands the commits over one by one, parents before children, and keeps none:
    /// [`Walk::commits`] of the answer is empty.
    ///
    /// Nothing in the log makes it fail: what is missing, damaged or foreign becomes an anomaly.
    pub fn visit_since(
        &self,
        tips: &[ObjectName],
        known: &dyn Fn(&ObjectName) -> Option<i64>,
        visit: &mut dyn FnMut(LogCommit),
    ) -> Walk {
        let mut graph = Graph::default();
        for tip in tips {
            self.add(&mut graph, *tip, known);
        }
        let mut times = vec![0; graph.nodes.len()];
        for number in &graph.order {
            let node = &graph.nodes[*number];
            let mut commit = self.events_of(node);
            let own = own_time(&commit.entries, node.seconds);
            let parents = node.parents.iter().filter_map(|parent| match graph.seen.get(parent) {
                Some(Seen::Known(time)) => Some(*time),
                Some(Seen::Node(number)) => Some(times[*number]),
                // Where a shallow clone ends, nothing is missing that was ever meant to be here.
                Some(Seen::Broken(AnomalyKind::Missing)) if self.repo.is_shallow_boundary(&node.name) => None,
                Some(Seen::Broken(kind)) => {
                    commit.anomalies.push(Anomaly { commit: Some(*parent), path: String::new(), kind: kind.clone() });
                    None
                }
                None => None,
            });
            commit.effective = effective(own, parents);
            times[*number] = commit.effective;
            visit(commit);
        }
        let broken = |tip: &ObjectName| match graph.seen.get(tip) {
            Some(Seen::Broken(kind)) => Some(Anomaly { commit: Some(*tip), path: String::new(), kind: kind.clone() }),
            Some(Seen::Known(_) | Seen::Node(_)) | None => None,
        };
        let anomalies = tips.iter().filter_map(broken).collect();
        Walk { commits: Vec::new(), reached: graph.reached, anomalies }
    }

    /// Adds what `tip` reaches: depth first with a stack of our own, since a log may be 100,000 commits deep.
    fn add(&self, graph: &mut Graph, tip: ObjectName, known: &dyn Fn(&ObjectName) -> Option<i64>) {
        let mut stack: Vec<(usize, usize)> = Vec::new();
        stack.extend(self.look_at(graph, tip, known).map(|number| (number, 0)));
        while let Some((number, next)) = stack.last_mut() {
            let Some(parent) = graph.nodes[*number].parents.get(*next).copied() else {
                graph.order.push(*number);
                stack.pop();
                continue;
            };
            *next += 1;
            stack.extend(self.look_at(graph, parent, known).map(|number| (number, 0)));
        }
    }

    /// Takes note of a commit; its number when it is a node that was not seen before.
    fn look_at(
        &self,
        graph: &mut Graph,
        name: ObjectName,
        known: &dyn Fn(&ObjectName) -> Option<i64>,
    ) -> Option<usize> {
        if graph.seen.contains_key(&name) {
            return None;
        }
        if let Some(time) = known(&name) {
            graph.seen.insert(name, Seen::Known(time));
            graph.reached.push(name);
            return None;
        }
        match self.repo.read_commit(&name) {
            Ok(commit) => {
                let number = graph.nodes.len();
                let (tree, seconds, parents) = (commit.tree, commit.seconds, commit.parents);
                graph.nodes.push(Node { name, tree, seconds, parents });
                graph.seen.insert(name, Seen::Node(number));
                Some(number)
            }
            Err(error) => {
                graph.seen.insert(name, Seen::Broken(wrong(error)));
                None
            }
        }
    }

    fn events_of(&self, node: &Node) -> LogCommit {
        let mut found = LogCommit { name: Some(node.name), effective: 0, entries: Vec::new(), anomalies: Vec::new() };
        match self.repo.read_tree(&node.tree) {
            Ok(folders) => folders.iter().for_each(|folder| self.read_folder(folder, &mut found)),
            Err(error) => report(&mut found, String::new(), wrong(error)),
        }
        found
    }

    fn read_folder(&self, folder: &TreeEntry, found: &mut LogCommit) {
        let name = shown(&folder.name);
        if folder.mode != EntryMode::Tree || !is_kind(&name) {
            return report(found, name, AnomalyKind::Foreign);
        }
        let kind = EventKind::from_folder(&name);
        match self.repo.read_tree(&folder.object) {
            Ok(files) => files.iter().for_each(|file| self.read_file(&kind, file, found)),
            Err(error) => report(found, name, wrong(error)),
        }
    }

    fn read_file(&self, kind: &EventKind, file: &TreeEntry, found: &mut LogCommit) {
        let name = shown(&file.name);
        let path = format!("{}/{name}", kind.as_str());
        let id = name.strip_suffix(".json").and_then(|stem| stem.parse::<EventId>().ok());
        // The parser takes upper case; a name has only one spelling.
        let id = id.filter(|id| file.mode == EntryMode::File && name == format!("{id}.json"));
        let Some(id) = id else { return report(found, path, AnomalyKind::Foreign) };
        let read = self.repo.read_blob(&file.object, MAX_EVENT_BYTES).map_err(wrong);
        match read.and_then(|bytes| codec::decode(kind, &id, &bytes)) {
            Ok(event) => found.entries.push(Entry { id, kind: kind.clone(), blob: Some(file.object), event }),
            Err(kind) => report(found, path, kind),
        }
    }
}

/// The time that a commit has by itself: that of its latest event, or the committer's where none says.
pub(super) fn own_time(entries: &[Entry], seconds: i64) -> i64 {
    let latest = entries.iter().filter_map(|entry| codec::created(&entry.event)).max();
    latest.unwrap_or_else(|| seconds.saturating_mul(1000))
}

fn report(found: &mut LogCommit, path: String, kind: AnomalyKind) {
    let foreign = found.anomalies.iter().filter(|anomaly| anomaly.kind == AnomalyKind::Foreign).count();
    let path = match (kind == AnomalyKind::Foreign, foreign) {
        (true, MAX_FOREIGN) => String::new(),
        (true, MAX_FOREIGN..) => return,
        (true | false, _) => path,
    };
    found.anomalies.push(Anomaly { commit: found.name, path, kind });
}

fn wrong(error: ObjectError) -> AnomalyKind {
    match error {
        ObjectError::Missing(_) => AnomalyKind::Missing,
        ObjectError::TooLarge { size, .. } => AnomalyKind::Oversized(size),
        ObjectError::WrongKind { .. } | ObjectError::Format(_) => AnomalyKind::Foreign,
        ObjectError::Corrupt { .. } => AnomalyKind::Unreadable(error.to_string()),
    }
}

fn shown(name: &[u8]) -> String {
    visible_line(&String::from_utf8_lossy(name)).into_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::NewEvent;
    use super::super::fixture::{append, handoff};
    use super::*;
    use crate::git::fixture::Fixture;
    use crate::git::{Identity, NewCommit};

    type File<'a> = (&'a str, EntryMode, ObjectName);

    /// Puts a commit with this tree on the log, past every check.
    fn push(fixture: &Fixture, entries: &[(&str, &[File<'_>])]) -> ObjectName {
        let repo = fixture.repo();
        let writer = repo.writer();
        let entry = |name: &str, mode, object| TreeEntry { name: name.into(), mode, object };
        let root: Vec<TreeEntry> = entries
            .iter()
            .map(|(folder, files)| {
                let files: Vec<_> = files.iter().map(|(name, mode, object)| entry(name, *mode, *object)).collect();
                entry(folder, EntryMode::Tree, writer.tree(&files).expect("writable"))
            })
            .collect();
        let parent = repo.read_ref(REF).expect("readable");
        let identity = Identity::new("Eve", "eve@example.com");
        let commit = writer.commit(&NewCommit {
            tree: writer.tree(&root).expect("writable"),
            parents: parent.as_slice(),
            identity: &identity,
            seconds: 1_787_061_845,
            offset_minutes: 0,
            message: "pushed",
        });
        let commit = commit.expect("writable");
        fixture.git(&["update-ref", REF, &commit.to_string()]);
        commit
    }

    #[test]
    fn garbage_is_reported_and_the_good_events_are_read() {
        let fixture = Fixture::new();
        let repo = fixture.repo();
        append(&Log::new(&repo), 1);
        let writer = repo.writer();
        let blob = |bytes: &[u8]| writer.blob(bytes).expect("writable");
        let file = |event: &NewEvent| format!("{}.json", event.id());
        let (good, other) = (handoff(2), handoff(3));
        let bad_json = NewEvent::new(EventKind::Handoff, b"{ not json".to_vec());
        let huge = NewEvent::new(EventKind::Handoff, vec![b' '; MAX_EVENT_BYTES as usize + 1]);
        let gone = NewEvent::new(EventKind::Handoff, b"gone".to_vec());
        let missing = blob(gone.bytes());
        let upper = file(&other).to_uppercase().replace(".JSON", ".json");
        let commit = push(
            &fixture,
            &[
                ("Bad Folder", &[("x", EntryMode::File, blob(b"x"))]),
                (
                    "handoff",
                    &[
                        (&file(&good), EntryMode::File, blob(good.bytes())),
                        (&file(&other), EntryMode::File, blob(b"something else")),
                        (&upper, EntryMode::File, blob(other.bytes())),
                        (&file(&bad_json), EntryMode::File, blob(bad_json.bytes())),
                        (&file(&huge), EntryMode::File, blob(huge.bytes())),
                        (&file(&gone), EntryMode::File, missing),
                        ("README.md", EntryMode::File, blob(b"hello")),
                        ("link.json", EntryMode::Symlink, blob(b"/etc/passwd")),
                    ],
                ),
                ("dream", &[(&file(&NewEvent::new(EventKind::Handoff, b"{}".to_vec())), EntryMode::File, blob(b"{}"))]),
            ],
        );
        append(&Log::new(&repo), 4);
        let hex = missing.to_string();
        std::fs::remove_file(fixture.top().join(".git/objects").join(&hex[..2]).join(&hex[2..])).expect("it is there");
        let repo = fixture.repo();
        let walk = Log::new(&repo).commits_since(&[fixture.name(REF)], &|_| None);
        let good_ids: Vec<_> = walk.commits.iter().map(|commit| commit.entries.len()).collect();
        assert_eq!(good_ids, [1, 2, 1]);
        let pushed = &walk.commits[1];
        assert!(pushed.anomalies.iter().all(|anomaly| anomaly.commit == Some(commit)));
        let found: BTreeMap<String, String> =
            pushed.anomalies.iter().map(|anomaly| (anomaly.path.clone(), anomaly.kind.to_string())).collect();
        let foreign = "it is not a file named <kind>/<id>.json".to_owned();
        let expected = BTreeMap::from([
            ("Bad Folder".to_owned(), foreign.clone()),
            (format!("handoff/{}", file(&other)), "the content does not match its id".into()),
            (format!("handoff/{upper}"), foreign.clone()),
            (
                format!("handoff/{}", file(&bad_json)),
                found.get(&format!("handoff/{}", file(&bad_json))).cloned().unwrap_or_default(),
            ),
            (format!("handoff/{}", file(&huge)), format!("it is too large ({} bytes)", MAX_EVENT_BYTES + 1)),
            (format!("handoff/{}", file(&gone)), "the object is missing in this repository".into()),
            ("handoff/README.md".into(), foreign.clone()),
            ("handoff/link.json".into(), foreign),
        ]);
        assert_eq!(found, expected);
        assert!(expected.values().any(|text| text.starts_with("it cannot be read: ")));
    }

    #[test]
    fn a_foreign_history_is_reported_with_a_bounded_list() {
        let fixture = Fixture::new();
        (0..300).for_each(|n| fixture.write(&format!("file{n}"), "x"));
        let commit = fixture.commit("source");
        let repo = fixture.repo();
        let walk = Log::new(&repo).commits_since(&[commit], &|_| None);
        assert_eq!((walk.commits[0].entries.len(), walk.commits[0].anomalies.len()), (0, MAX_FOREIGN + 1));
        let blob = repo.blob_at(&commit, "file1").expect("readable").expect("it is there");
        let walk = Log::new(&repo).commits_since(&[blob], &|_| None);
        assert_eq!(walk.anomalies, [Anomaly { commit: Some(blob), path: String::new(), kind: AnomalyKind::Foreign }]);
    }

    #[test]
    fn a_clock_that_goes_backwards_keeps_cause_before_effect() {
        let fixture = Fixture::new();
        let repo = fixture.repo();
        let log = Log::new(&repo);
        [100, 50, 60, 200].into_iter().for_each(|second| drop(append(&log, second)));
        let tip = fixture.name(REF);
        let base = 1_787_061_840_000;
        let effective = |walk: &Walk| walk.commits.iter().map(|commit| commit.effective - base).collect::<Vec<_>>();
        let all = log.commits_since(&[tip], &|_| None);
        assert_eq!(effective(&all), [100_000, 100_001, 100_002, 200_000]);
        // From a known commit on, the same times come out.
        let known = all.commits[1].clone();
        let rest = log.commits_since(&[tip], &|name| (Some(*name) == known.name).then_some(known.effective));
        assert_eq!(effective(&rest), [100_002, 200_000]);
        assert_eq!(rest.reached, [known.name.expect("it is a commit")]);
    }

    #[test]
    fn a_missing_parent_is_an_anomaly_of_its_child() {
        let fixture = Fixture::new();
        let repo = fixture.repo();
        let log = Log::new(&repo);
        let (one, two) = (append(&log, 1).tip, append(&log, 2).tip);
        let hex = one.to_string();
        std::fs::remove_file(fixture.top().join(".git/objects").join(&hex[..2]).join(&hex[2..])).expect("it is there");
        let repo = fixture.repo();
        let missing = Anomaly { commit: Some(one), path: String::new(), kind: AnomalyKind::Missing };
        let walk = Log::new(&repo).commits_since(&[two, one], &|_| None);
        assert_eq!((walk.commits.len(), walk.commits[0].entries.len()), (1, 1));
        assert_eq!((&walk.commits[0].anomalies, &walk.anomalies), (&vec![missing.clone()], &vec![missing]));
    }

    #[test]
    fn tips_are_the_own_log_and_those_of_the_remotes() {
        for form in [&[][..], &["--ref-format=reftable"]] {
            let fixture = Fixture::with(form);
            let repo = fixture.repo();
            let log = Log::new(&repo);
            assert_eq!(log.tips().expect("readable"), Tips::default());
            let tip = append(&log, 1).tip;
            for name in ["origin/log", "origin/notes", "team/eu/log"] {
                fixture.git(&["update-ref", &format!("{REMOTES}{name}"), &tip.to_string()]);
            }
            let tips = log.tips().expect("readable");
            assert_eq!(tips.remotes, [("origin".to_owned(), tip), ("team/eu".to_owned(), tip)]);
            assert_eq!(tips.all(), [tip, tip, tip]);
        }
    }
}
