//! Facts about whole refreshes, with a document format that is short enough to read.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::model::{
    Completeness, Content, Entry, Event, EventKind, Link, LogCommit, Metadata, ObjectName, Status, Trigger,
};

/// A work tree, its private state, and the log as values.
struct World {
    dir: tempfile::TempDir,
    commits: Vec<LogCommit>,
    lanes: Lanes,
    layout: Layout,
}

/// A handoff to be made.
#[derive(Clone)]
struct New<'a> {
    agent: &'a str,
    topic: &'a str,
    /// Minutes after 2026-08-18T17:04+03:00.
    minute: i64,
    status: Status,
    previous: Option<&'a str>,
}

/// The topic of a handoff whose document cannot be loaded.
const LOST: &str = "lost";
const CODEX: New<'_> = New { agent: "codex", topic: "first", minute: 0, status: Status::InProgress, previous: None };

fn id_of(topic: &str) -> EventId {
    EventId::of(topic.as_bytes())
}

fn document(new: &New<'_>) -> Handoff {
    let start: crate::model::Timestamp = "2026-08-18T17:04:00+03:00".parse().expect("valid");
    let created = crate::model::Timestamp::new(start.millis() + new.minute * 60_000, 180).expect("valid");
    let previous = new.previous.map(|topic| Link::Id(id_of(topic)));
    Handoff {
        created,
        agent: new.agent.parse().expect("valid"),
        trigger: Trigger::SubstantialWork,
        status: new.status,
        topic: new.topic.parse().expect("valid"),
        metadata: Metadata {
            branch: Some("feat/billing".into()),
            commit: Some("3f786850e387550fdab836ed7e6dc881de23001b".parse().expect("valid")),
            resumed_from: previous.clone(),
            previous,
            ..Metadata::default()
        },
        content: Content { next_action: Some(format!("go on with {}", new.topic)), ..Content::default() },
        completeness: Completeness::Partial,
        unknown: serde_json::Map::new(),
    }
}

/// The commit of the log that records a handoff.
fn commit(new: &New<'_>) -> LogCommit {
    let (id, document) = (id_of(new.topic), document(new));
    LogCommit {
        name: ObjectName::from_bytes(&id.as_bytes()[..20]),
        effective: document.created.millis(),
        entries: vec![Entry { id, kind: EventKind::Handoff, blob: None, event: Event::Handoff(Box::new(document)) }],
        anomalies: Vec::new(),
    }
}

fn render(document: &Handoff, names: &FileNames) -> String {
    let previous = names.previous.as_ref().map_or("none".into(), SessionName::to_string);
    format!("handoff {}\nid {}\nname {}\nprevious {previous}\n", document.topic, names.id, names.session)
}

fn parse(text: &str) -> Option<ParsedFile> {
    let mut lines = text.lines();
    let id = id_of(lines.next()?.strip_prefix("handoff ")?);
    let claimed = lines.next().and_then(|line| line.strip_prefix("id ")?.parse().ok());
    Some(ParsedFile { id, claimed })
}

impl World {
    fn new() -> Self {
        let world = Self {
            dir: tempfile::tempdir().expect("a temporary directory"),
            commits: Vec::new(),
            lanes: Lanes::default(),
            layout: Layout::Exclude,
        };
        fs::create_dir_all(world.top()).expect("made");
        world
    }

    fn top(&self) -> PathBuf {
        self.dir.path().join("top")
    }

    /// Adds a handoff to the log at its own time.
    fn add(&mut self, new: &New<'_>) {
        self.commits.push(commit(new));
    }
    fn refresh(&self, mode: Mode) -> RefreshReport {
        self.refresh_with(mode, &[])
    }

    fn refresh_with(&self, mode: Mode, continuations: &[Continuation]) -> RefreshReport {
        self.refresh_from(mode, continuations, &|| self.commits.clone())
    }

    fn refresh_from(
        &self,
        mode: Mode,
        continuations: &[Continuation],
        log: &dyn Fn() -> Vec<LogCommit>,
    ) -> RefreshReport {
        refresh(&Refresh {
            effect: Effect::Writes,
            work_dir: &self.top(),
            state_dir: &self.dir.path().join("state"),
            exclude_file: &self.dir.path().join("info/exclude"),
            layout: self.layout,
            mode,
            lanes: &self.lanes,
            continuations: &|_| Ok(continuations.to_vec()),
            fresh: &|| {
                let mut index = Index::empty(&self.lanes);
                index.extend(log(), None)?;
                Ok(index)
            },
            document: &|summary| {
                let log = log();
                let mut entries = log.iter().flat_map(|commit| &commit.entries);
                let found = entries.find(|entry| entry.id == summary.id && summary.topic.as_str() != LOST);
                match found.map(|entry| &entry.event) {
                    Some(Event::Handoff(document)) => Ok((**document).clone()),
                    Some(Event::Opaque { .. }) | None => Err("no such document".into()),
                }
            },
            render: &render,
            parse: &parse,
        })
        .expect("refreshed")
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.top().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.top().join(path);
        fs::create_dir_all(path.parent().expect("below the top")).expect("made");
        fs::write(path, text).expect("written");
    }

    /// Every file below the top with its content.
    fn files(&self) -> BTreeMap<String, String> {
        let (mut files, mut dirs) = (BTreeMap::new(), vec![self.top()]);
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(&dir).expect("readable") {
                let path = entry.expect("readable").path();
                if path.is_dir() {
                    dirs.push(path);
                } else {
                    let name = path.strip_prefix(self.top()).expect("below the top").display().to_string();
                    files.insert(name.clone(), self.read(&name));
                }
            }
        }
        files
    }

    /// What a refresh of everything writes into an empty work tree.
    fn expected(&self) -> BTreeMap<String, String> {
        let other = Self { commits: self.commits.clone(), lanes: self.lanes.clone(), ..Self::new() };
        other.refresh(Mode::Full);
        other.files()
    }

    fn kept(&self, finding: &Finding) -> String {
        let (Finding::Foreign { kept, .. }
        | Finding::Skipped { kept, .. }
        | Finding::Corrupt { kept, .. }
        | Finding::Displaced { kept, .. }) = finding
        else {
            panic!("{finding}")
        };
        fs::read_to_string(kept).expect("kept")
    }
}

fn texts(report: &RefreshReport) -> Vec<String> {
    report.findings.iter().map(Finding::to_string).collect()
}

#[test]
fn the_files_have_the_shape_that_readers_expect() {
    let mut world = World::new();
    world.add(&New { agent: "claude", topic: "before", minute: -183, status: Status::Partial, ..CODEX });
    world.add(&New { topic: "billing | system", previous: Some("before"), ..CODEX });
    assert_eq!(texts(&world.refresh(Mode::Incremental)), Vec::<String>::new());
    assert_eq!(
        world.files().into_keys().collect::<Vec<_>>(),
        [
            ".claude/INDEX.md",
            ".claude/handoffs.jsonl",
            ".claude/handoffs/2026-08-18-1401.md",
            ".codex/INDEX.md",
            ".codex/handoffs.jsonl",
            ".codex/handoffs/2026-08-18-1704.md",
            ".session-transfer/INDEX.md",
        ]
    );
    assert_eq!(
        world.read(".codex/INDEX.md"),
        "# Codex Session Index\n\n\
         Last updated: 2026-08-18 17:04\n\n\
         ## Current Session\n\n\
         - Handoff: `handoffs/2026-08-18-1704.md`\n\
         - Topic: billing | system\n\
         - Status: in-progress\n\
         - Branch: feat/billing\n\
         - Next Action: go on with billing | system\n\n\
         ## Recent Sessions\n\n\
         | Date | Session | Topic | Status | Branch |\n\
         |---|---|---|---|---|\n\
         | 2026-08-18 17:04 | `2026-08-18-1704` | billing \\| system | in-progress | feat/billing |\n"
    );
    assert_eq!(
        world.read(".codex/handoffs.jsonl"),
        "{\"id\":\"2026-08-18-1704\",\"created\":\"2026-08-18T17:04:00+03:00\",\"agent\":\"codex\",\
         \"topic\":\"billing | system\",\"status\":\"in-progress\",\"trigger\":\"substantial-work\",\
         \"branch\":\"feat/billing\",\"commit\":\"3f786850e387550fdab836ed7e6dc881de23001b\",\
         \"file\":\"handoffs/2026-08-18-1704.md\",\"previous_session\":\"claude/2026-08-18-1401\",\
         \"resumed_from\":\".claude/handoffs/2026-08-18-1401.md\"}\n"
    );
    assert_eq!(
        world.read(".session-transfer/INDEX.md"),
        "# Session Transfer Index\n\n\
         Last updated: 2026-08-18 17:04\n\n\
         ## Current / Recommended\n\n\
         - Handoff: `.codex/handoffs/2026-08-18-1704.md`\n\
         - Source agent: codex\n\
         - Topic: billing | system\n\
         - Status: in-progress\n\
         - Branch: feat/billing\n\
         - Next recommended action: go on with billing | system\n\n\
         ## Recent Cross-Agent Handoffs\n\n\
         | Date | Agent | Session | Topic | Status | Branch |\n\
         |---|---|---|---|---|---|\n\
         | 2026-08-18 17:04 | codex | `2026-08-18-1704` | billing \\| system | in-progress | feat/billing |\n\
         | 2026-08-18 14:01 | claude | `2026-08-18-1401` | before | partial | feat/billing |\n"
    );
    let exclude = fs::read_to_string(world.dir.path().join("info/exclude")).expect("written");
    assert!(exclude.contains("/.codex/INDEX.md\n") && !exclude.contains("opencode"));
}

#[test]
fn queued_work_follows_the_table() {
    let mut world = World::new();
    world.add(&CODEX);
    let waiting = Continuation {
        name: "deploy".into(),
        topic: "ship".into(),
        state: "waiting".into(),
        waits_on: Some("op:migrate".into()),
    };
    world.refresh_with(Mode::Incremental, &[waiting]);
    let text = world.read(ALL_INDEX);
    let (_, table) = text.split_once("\n## Continuations\n\n").expect("there is such a section");
    assert_eq!(
        table,
        "| Continuation | Topic | State | Waits on |\n|---|---|---|---|\n| deploy | ship | waiting | op:migrate |\n"
    );
    assert!(texts(&world.refresh(Mode::Incremental)).is_empty());
    assert_eq!(world.files(), world.expected());
}

#[test]
fn a_second_refresh_writes_nothing() {
    let mut world = World::new();
    world.add(&CODEX);
    assert_eq!(world.refresh(Mode::Incremental).written, 4);
    for mode in [Mode::Incremental, Mode::Full] {
        assert_eq!(world.refresh(mode).written, 0);
    }
}

#[test]
fn with_the_layout_off_nothing_is_written() {
    let mut world = World { layout: Layout::Off, ..World::new() };
    world.add(&CODEX);
    assert_eq!(world.refresh(Mode::Full).written, 0);
    assert!(world.files().is_empty());
}

#[test]
fn a_join_moves_the_files_whose_names_change() {
    let mut world = World::new();
    world.add(&New { topic: "ours", ..CODEX });
    world.refresh(Mode::Incremental);
    world.add(&New { topic: "theirs", ..CODEX });
    world.commits[1].effective -= 1;
    let report = world.refresh(Mode::Incremental);
    assert_eq!(texts(&report), [".codex/handoffs/2026-08-18-1704.md is now .codex/handoffs/2026-08-18-1704-2.md"]);
    assert_eq!(world.files(), world.expected());
}

#[test]
fn a_file_that_a_person_edited_is_kept_and_moves_with_its_name() {
    let mut world = World::new();
    world.add(&New { topic: "ours", ..CODEX });
    world.refresh(Mode::Incremental);
    let path = ".codex/handoffs/2026-08-18-1704.md";
    let edited = world.read(path).replace("handoff ours", "handoff ours, reviewed");
    world.put(path, &edited);
    let report = world.refresh(Mode::Full);
    assert_eq!(
        texts(&report),
        [format!("{path} was edited and is kept; `git handoff edit --from {path}` records the change")]
    );
    assert_eq!(world.read(path), edited);
    world.add(&New { topic: "theirs", ..CODEX });
    world.commits[1].effective -= 1;
    let moved = ".codex/handoffs/2026-08-18-1704-2.md";
    let report = world.refresh(Mode::Incremental);
    assert_eq!(texts(&report)[0], format!("{path} is now {moved}"));
    assert_eq!(world.read(moved), edited);
    assert_eq!(Some(&world.read(path)), world.expected().get(path));
}

#[test]
fn line_ends_are_no_edit_and_changed_names_are_rendered_again() {
    let mut world = World::new();
    world.add(&CODEX);
    world.refresh(Mode::Incremental);
    let path = ".codex/handoffs/2026-08-18-1704.md";
    let text = world.read(path);
    world.put(path, &format!("\u{feff}{}", text.replace('\n', "\r\n")));
    assert_eq!(world.refresh(Mode::Full).written, 0);
    world.put(path, &text.replace("name codex/2026-08-18-1704", "name codex/2026-08-18-1704-7"));
    assert_eq!(world.refresh(Mode::Full).written, 1);
    assert_eq!(world.read(path), text);
}

#[test]
fn what_is_no_handoff_any_more_is_kept_aside_and_rebuilt() {
    let mut world = World::new();
    world.add(&CODEX);
    world.refresh(Mode::Incremental);
    let path = ".codex/handoffs/2026-08-18-1704.md";
    world.put(path, "garbage");
    let report = world.refresh(Mode::Full);
    assert_eq!(world.kept(&report.findings[0]), "garbage");
    assert_eq!(world.files(), world.expected());
}

#[test]
fn handoffs_that_only_files_know_are_never_written_over() {
    let mut world = World::new();
    let path = ".codex/handoffs/2026-08-18-1704.md";
    let text = format!("handoff colleague\nid {}\n", id_of("colleague"));
    world.put(path, &text);
    world.put(".codex/handoffs/notes.md", "mine");
    world.add(&CODEX);
    for mode in [Mode::Incremental, Mode::Full] {
        let report = world.refresh(mode);
        assert_eq!((world.read(path), world.read(".codex/handoffs/notes.md")), (text.clone(), "mine".into()));
        if mode == Mode::Full {
            assert!(matches!(report.findings[..], [Finding::Occupied { .. }]));
        }
    }
}

#[test]
fn a_copy_under_an_old_name_moves() {
    let mut world = World::new();
    world.add(&CODEX);
    world.refresh(Mode::Incremental);
    world.put(".codex/handoffs/2026-08-18-1704-3.md", &world.read(".codex/handoffs/2026-08-18-1704.md"));
    world.refresh(Mode::Full);
    assert_eq!(world.files(), world.expected());
}

#[test]
fn remarks_in_an_index_are_kept_aside_and_older_generations_are_not() {
    let mut world = World::new();
    world.add(&CODEX);
    world.refresh(Mode::Incremental);
    let old = world.read(ALL_INDEX);
    world.add(&New { topic: "second", minute: 1, ..CODEX });
    world.refresh(Mode::Incremental);
    world.put(ALL_INDEX, &old);
    assert_eq!(texts(&world.refresh(Mode::Incremental)), Vec::<String>::new());
    assert_eq!(world.files(), world.expected());
    let remarked = old + "\n## Team remarks\nAsk Kim before touching the parser.\n";
    world.put(ALL_INDEX, &remarked);
    let report = world.refresh(Mode::Incremental);
    assert_eq!(world.kept(&report.findings[0]), remarked);
    assert_eq!(world.files(), world.expected());
}

#[test]
fn frozen_and_conflicting_indexes_are_rebuilt_without_losing_a_line() {
    let mut world = World::new();
    world.add(&CODEX);
    world.refresh(Mode::Incremental);
    let path = ".codex/handoffs.jsonl";
    let old = world.read(path);
    world.add(&New { topic: "second", minute: 1, ..CODEX });
    world.refresh(Mode::Incremental);
    world.put(path, &old);
    assert_eq!(texts(&world.refresh(Mode::Incremental)), Vec::<String>::new());
    assert_eq!(world.files(), world.expected());
    let theirs = old.replace("first", "theirs").replace("17:04:00", "17:04:30");
    let conflict = format!("<<<<<<< HEAD\n{old}=======\n{theirs}>>>>>>> x\n{{\"id\":\"20");
    world.put(path, &conflict);
    let report = world.refresh(Mode::Incremental);
    assert_eq!(world.kept(&report.findings[0]), conflict);
    assert!(matches!(report.findings[1], Finding::FileOnly { lines: 1, .. }));
    let lines: Vec<String> = world.read(path).lines().map(str::to_owned).collect();
    assert_eq!((lines.len(), lines[1].as_str()), (3, theirs.trim_end()));
    world.add(&New { topic: "third", minute: 2, ..CODEX });
    world.refresh(Mode::Incremental);
    assert_eq!(world.read(path).lines().count(), 4);
}

#[test]
fn old_copies_of_indexes_and_a_newer_log_are_noticed() {
    let mut world = World::new();
    let index = |world: &World| {
        let mut index = Index::empty(&world.lanes);
        index.extend(world.commits.clone(), None).expect("sound");
        index
    };
    let behind = |world: &World| {
        are_behind(&world.top(), &world.dir.path().join("state"), &world.lanes, &index(world)).expect("readable")
    };
    assert!(!behind(&world));
    world.add(&CODEX);
    assert!(behind(&world));
    world.refresh(Mode::Incremental);
    assert!(!behind(&world));
    for path in [ALL_INDEX, ".codex/INDEX.md", ".codex/handoffs.jsonl"] {
        world.put(path, "old");
        assert!(behind(&world), "{path}");
        world.refresh(Mode::Full);
        assert!(!behind(&world), "{path}");
    }
}

#[test]
fn views_that_somebody_removed_come_back() {
    let mut world = World::new();
    world.add(&CODEX);
    world.add(&New { topic: "second", minute: 1, ..CODEX });
    world.refresh(Mode::Incremental);
    fs::remove_dir_all(world.top().join(".codex")).expect("removed");
    world.refresh(Mode::Incremental);
    assert_eq!(world.files(), world.expected());
}

#[test]
fn what_a_killed_process_left_is_removed() {
    let mut world = World::new();
    world.put(".claude/handoffs/.git-handoff.tmp", "half");
    world.put(".session-transfer/.git-handoff.tmp", "half");
    world.add(&CODEX);
    world.refresh(Mode::Incremental);
    assert_eq!(world.files(), world.expected());
}

#[test]
fn closing_a_handoff_of_another_lane_refreshes_that_lane() {
    let mut world = World::new();
    world.add(&CODEX);
    world.add(&New { topic: "second", minute: 1, ..CODEX });
    world.refresh(Mode::Incremental);
    world.add(&New { agent: "claude", topic: "third", minute: 2, previous: Some("second"), status: Status::Completed });
    world.refresh(Mode::Incremental);
    assert!(world.read(".codex/INDEX.md").contains("- Topic: first\n"));
    assert_eq!(world.files(), world.expected());
}

#[test]
fn a_document_that_cannot_be_loaded_does_not_stop_the_others() {
    let mut world = World::new();
    world.add(&New { topic: LOST, ..CODEX });
    world.add(&New { topic: "second", minute: 1, ..CODEX });
    let report = world.refresh(Mode::Incremental);
    assert!(matches!(report.findings[..], [Finding::Unloadable { .. }]));
    assert!(world.read(".codex/handoffs/2026-08-18-1705.md").starts_with("handoff second"));
    assert_eq!(world.read(".codex/handoffs.jsonl").lines().count(), 2);
}

#[cfg(unix)]
#[test]
fn a_directory_that_leads_out_is_refused_and_the_rest_is_written() {
    let mut world = World::new();
    let victim = world.dir.path().join("victim");
    fs::create_dir_all(&victim).expect("made");
    std::os::unix::fs::symlink(&victim, world.top().join(".codex")).expect("made");
    world.add(&CODEX);
    world.add(&New { agent: "claude", topic: "second", ..CODEX });
    let report = world.refresh(Mode::Incremental);
    assert!(!report.is_complete());
    let resolved = victim.canonicalize().expect("there");
    assert!(texts(&report)[0].contains(&resolved.display().to_string()));
    assert_eq!(fs::read_dir(&victim).expect("there").count(), 0);
    assert!(world.read(".claude/INDEX.md").contains("second") && world.read(ALL_INDEX).contains("first"));
}

#[test]
fn of_many_writers_at_once_the_last_leaves_every_view_right() {
    let mut world = World::new();
    let log = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for number in 0..12 {
            let (world, log) = (&world, &log);
            scope.spawn(move || {
                let agent = ["codex", "claude"][number % 2];
                let topic = format!("job {number}");
                let mut new = commit(&New { agent, topic: &topic, ..CODEX });
                let mut commits = log.lock().expect("nobody panicked");
                new.effective += i64::try_from(commits.len()).expect("few");
                commits.push(new);
                drop(commits);
                let now = || log.lock().expect("nobody panicked").clone();
                let report = world.refresh_from(Mode::Incremental, &[], &now);
                assert_eq!(texts(&report), Vec::<String>::new());
            });
        }
    });
    world.commits = log.into_inner().expect("nobody panicked");
    assert_eq!(world.files(), world.expected());
}

#[test]
#[ignore = "figures, not facts"]
fn figures() {
    use std::io::Write;
    for count in [10, 1000, 20_000] {
        let world = World::new();
        let cache = world.dir.path().join("cache");
        let topics: Vec<String> = (0..=count).map(|number| format!("topic {number}")).collect();
        let new = |number: usize| {
            let agent = ["codex", "claude", "opencode"][number % 3];
            commit(&New { agent, topic: &topics[number], minute: number as i64 * 10, ..CODEX })
        };
        let mut index = Index::empty(&world.lanes);
        index.extend((0..count).map(new), None).expect("sound");
        index.save(&cache).expect("saved");
        let run = |mode| {
            let start = std::time::Instant::now();
            let report = refresh(&Refresh {
                effect: Effect::Writes,
                work_dir: &world.top(),
                state_dir: &world.dir.path().join("state"),
                exclude_file: &world.dir.path().join("info/exclude"),
                layout: world.layout,
                mode,
                lanes: &world.lanes,
                continuations: &|_| Ok(Vec::new()),
                fresh: &|| Ok(Index::load(&cache, &world.lanes)),
                document: &|summary| Ok(document(&New { topic: summary.topic.as_str(), ..CODEX })),
                render: &render,
                parse: &parse,
            });
            (start.elapsed().as_secs_f64() * 1000.0, report.expect("refreshed").written)
        };
        let first = run(Mode::Full);
        index.extend([new(count)], None).expect("sound");
        index.save(&cache).expect("saved");
        let (append, nothing, full) = (run(Mode::Incremental), run(Mode::Incremental), run(Mode::Full));
        writeln!(std::io::stderr(), "{count}: first {first:?} append {append:?} nothing {nothing:?} full {full:?}")
            .expect("written");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn small_steps_end_where_one_large_step_does(
        handoffs in prop::collection::vec((0_usize..3, 0_i64..4, 0_i64..90_000, 0_usize..12, 0_usize..5), 1..12),
        cuts in prop::collection::vec(any::<bool>(), 12),
    ) {
        let mut world = World::new();
        for (number, ((agent, minute, late, previous, status), cut)) in handoffs.iter().zip(cuts).enumerate() {
            let (topic, previous) = (format!("topic {number}"), format!("topic {previous}"));
            world.add(&New {
                agent: ["codex", "claude", "other"][*agent],
                topic: &topic,
                minute: *minute,
                status: Status::ALL[*status],
                previous: (previous != topic).then_some(&previous),
            });
            world.commits[number].effective += late;
            if cut {
                let report = world.refresh(Mode::Incremental);
                let only_names = report.findings.iter().all(|finding| matches!(finding, Finding::Renamed { .. }));
                prop_assert!(only_names);
                prop_assert_eq!(world.files(), world.expected());
            }
        }
    }
}
