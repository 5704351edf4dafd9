//! Facts about the whole cache. The main one: it does not matter in which steps the log became known.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index as Choice;

use super::*;
use crate::model::{
    Anomaly, AnomalyKind, Completeness, Content, Entry, Event, EventKind, Handoff, Link, LogCommit, Metadata,
};

fn id(number: u8) -> EventId {
    EventId::of(&[number])
}

fn commit_name(number: u32) -> ObjectName {
    let bytes = EventId::of(&number.to_le_bytes());
    ObjectName::from_bytes(&bytes.as_bytes()[..20]).expect("a length that git has")
}

fn lanes() -> Lanes {
    let amp = "amp".parse().expect("valid");
    Lanes::new(BTreeMap::from([(amp, ".amp".into())]))
}

/// What a generated handoff consists of; the same number is always the same handoff.
fn handoff(number: u8) -> Handoff {
    let agents = ["codex", "claude", "amp", "other"];
    let offset = [0, 60, -300][usize::from(number) % 3];
    let created = i64::from(number % 7) * 20_000 + i64::from(number / 50) * 3_600_000;
    Handoff {
        created: Timestamp::new(1_787_000_000_000 + created, offset).expect("valid"),
        agent: agents[usize::from(number / 3) % 4].parse().expect("valid"),
        trigger: Trigger::ALL[usize::from(number) % Trigger::ALL.len()],
        status: Status::ALL[usize::from(number) % Status::ALL.len()],
        topic: format!("topic {number}").parse().expect("valid"),
        metadata: Metadata {
            branch: (!number.is_multiple_of(4)).then(|| format!("branch-{}", number % 4)),
            previous: (number % 5 > 1).then(|| Link::Id(id(number.wrapping_mul(7) % 40))),
            resumed_from: (number % 6 == 1).then(|| Link::Text("claude/2026-08-18-1401".into())),
            supersedes: (0..number % 4).map(|n| Link::Id(id(n * 9))).collect(),
            ..Metadata::default()
        },
        content: Content { next_action: Some(format!("do {number}")), ..Content::default() },
        completeness: Completeness::Partial,
        unknown: serde_json::Map::new(),
    }
}

fn entry(number: u8) -> Entry {
    let blob = Some(commit_name(1000 + u32::from(number)));
    if number % 11 == 10 {
        let created = number.is_multiple_of(2).then(|| handoff(number).created);
        return Entry {
            id: id(number),
            kind: EventKind::Other("claim".into()),
            blob,
            event: Event::Opaque { created },
        };
    }
    Entry { id: id(number), kind: EventKind::Handoff, blob, event: Event::Handoff(Box::new(handoff(number))) }
}

/// Commits with few different handoffs and times, so that duplicates and equal times are common.
fn commits() -> impl Strategy<Value = Vec<LogCommit>> {
    let commit =
        (prop::collection::vec(0_u8..40, 0..3), 0_i64..12, prop::bool::weighted(0.1), prop::bool::weighted(0.1));
    prop::collection::vec(commit, 0..40).prop_map(|commits| {
        let made = commits.into_iter().zip(0_u32..).map(|((entries, time, spooled, bad), number)| LogCommit {
            name: (!spooled).then(|| commit_name(number)),
            effective: 1_787_000_000_000 + time * 50_000,
            entries: entries
                .into_iter()
                .map(entry)
                .map(|entry| if spooled { Entry { blob: None, ..entry } } else { entry })
                .collect(),
            anomalies: if bad && !spooled { vec![anomaly(number)] } else { Vec::new() },
        });
        made.collect()
    })
}

fn anomaly(number: u32) -> Anomaly {
    Anomaly { commit: Some(commit_name(number)), path: format!("handoff/{number}"), kind: AnomalyKind::Oversized(9) }
}

/// Everything that can be asked.
fn answers(index: &Index) -> Result<String, CacheError> {
    let mut text = format!("{:?} {} {:?}\n", index.state, index.handoff_count(), index.basis());
    for position in 0..index.len() {
        let row = row::Row { heap: 0, ..index.table.get(position)? };
        text += &format!("{position} {row:?} {:?} {:?}\n", index.id_at(position)?, index.row(position)?);
    }
    for row in index.newest_first() {
        let row = row?;
        assert_eq!(index.row(row.position)?, Some(row));
        let summary = index.summary(row.position)?;
        assert_eq!(index.find(&summary.id)?, Some(row.position));
        assert_eq!(index.find_session(&summary.agent, &summary.session().stem())?, Some(row.position));
        assert_eq!(index.find_file(&summary.file(&lanes()))?, Some(row.position));
        text += &format!("{summary:?}\n");
    }
    for number in 0..40 {
        let handoff = handoff(number);
        let branch = index.newest_on_branch("branch-1", Some(&handoff.agent))?.map(|summary| summary.id);
        text += &format!("{:?} {branch:?}\n", index.next_ordinal(&handoff.agent, handoff.created)?);
        text += &format!("{:?}\n", index.known(&commit_name(u32::from(number)))?);
    }
    text += &format!("{:?} {:?}", index.anomalies()?, index.other_events()?);
    Ok(text)
}

/// [`answers`] without the state's history: how far clocks were ahead only ever grows.
fn comparable(mut index: Index) -> String {
    index.state.slack = 0;
    index.state.overlaid = false;
    answers(&index).expect("sound")
}

fn built(commits: &[LogCommit]) -> Index {
    let mut index = Index::empty(&lanes());
    index.extend(commits.to_vec(), Some(commit_name(7))).expect("sound");
    index
}

/// What the definitions say, computed the slow way.
fn check_against_the_definitions(index: &Index, commits: &[LogCommit]) {
    let summaries: Vec<Summary> =
        index.newest_first().map(|row| index.summary(row.expect("sound").position).expect("sound")).collect();
    let closed: Vec<EventId> =
        summaries.iter().flat_map(|summary| summary.closes().filter(|id| *id != summary.id)).collect();
    for (row, summary) in index.newest_first().zip(&summaries) {
        assert_eq!(row.expect("sound").live(), !closed.contains(&summary.id));
    }
    let oldest_first: Vec<&Summary> = summaries.iter().rev().collect();
    assert!(oldest_first.is_sorted_by_key(|summary| (summary.effective, summary.id)));
    for (at, summary) in oldest_first.iter().enumerate() {
        let name = |summary: &Summary| (summary.lane(&lanes()).dir, summary.created.minute_name());
        let before = oldest_first[..at].iter().filter(|other| name(other) == name(summary)).count();
        assert_eq!(summary.ordinal, before as u32 + 1);
    }
    for (lane, all, open) in index.lanes() {
        let mine = |summary: &&Summary| summary.lane(&lanes()) == *lane;
        let is_open = |summary: &&Summary| summary.status.is_unfinished() && !closed.contains(&summary.id);
        assert_eq!(summaries.iter().filter(mine).count(), all as usize);
        assert_eq!(summaries.iter().filter(mine).filter(is_open).count(), open as usize);
    }
    for commit in commits {
        if let Some(name) = commit.name {
            assert_eq!(index.known(&name).expect("sound"), Some(commit.effective));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_steps_in_which_the_log_became_known_do_not_matter(
        commits in commits(),
        cuts in prop::collection::vec(any::<Choice>(), 0..6),
        shuffled in any::<bool>(),
    ) {
        let whole = built(&commits);
        check_against_the_definitions(&whole, &commits);
        let expected = comparable(whole);
        let mut order = commits.clone();
        if shuffled {
            order.reverse();
        }
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(commits.len() + 1)).collect();
        cuts.extend([0, commits.len()]);
        cuts.sort_unstable();
        let dir = tempfile::tempdir().expect("a temporary directory");
        let (mut stepwise, mut overlaid) = (Index::empty(&lanes()), Index::empty(&lanes()));
        for pair in cuts.windows(2) {
            let part = order[pair[0]..pair[1]].to_vec();
            overlaid.overlay(part.clone()).expect("sound");
            stepwise.extend(part, Some(commit_name(7))).expect("sound");
            stepwise.save(dir.path()).expect("saved");
            if pair[0] % 2 == 0 {
                stepwise = Index::load(dir.path(), &lanes());
            }
        }
        overlaid.state.basis = Some(commit_name(7));
        prop_assert_eq!(comparable(overlaid), expected.clone());
        prop_assert_eq!(comparable(Index::load(dir.path(), &lanes())), expected.clone());
        prop_assert_eq!(comparable(stepwise), expected);
    }

    #[test]
    fn commits_that_come_again_change_nothing(commits in commits(), from in any::<Choice>()) {
        // A spooled event comes again under no name: it is its id that is known.
        let mut index = built(&commits);
        let expected = comparable(built(&commits));
        let again = commits[from.index(commits.len() + 1)..].to_vec();
        let twice = built(&[&again[..], &commits[..], &again[..]].concat());
        index.extend(again, Some(commit_name(7))).expect("sound");
        prop_assert_eq!(comparable(index), expected.clone());
        prop_assert_eq!(comparable(twice), expected);
    }
}

fn some_commits() -> Vec<LogCommit> {
    let commit = |number: u32| LogCommit {
        name: Some(commit_name(number)),
        effective: 1_787_000_000_000 + i64::from(number) * 1000,
        entries: vec![entry(number as u8)],
        anomalies: if number == 3 { vec![anomaly(3)] } else { Vec::new() },
    };
    (0..12).map(commit).collect()
}

#[test]
fn a_flipped_byte_gives_the_same_answers_or_none() {
    let source = tempfile::tempdir().expect("a temporary directory");
    built(&some_commits()).save(source.path()).expect("saved");
    let expected = answers(&Index::load(source.path(), &lanes())).expect("sound");
    for name in ["head", "rows.1", "heap.1"] {
        let path = source.path().join(name);
        let bytes = fs::read(&path).expect("written");
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            fs::write(&path, &damaged).expect("written");
            let index = Index::load(source.path(), &lanes());
            if let Ok(given) = answers(&index) {
                assert!(index.is_empty() || given == expected, "{name} {at}");
            }
        }
        for length in [0, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&path, &bytes[..length]).expect("written");
            let index = Index::load(source.path(), &lanes());
            assert!(index.is_empty(), "{name} {length}");
        }
        fs::write(&path, bytes).expect("written");
    }
}

#[test]
fn a_rebuilt_index_replaces_a_damaged_one() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    built(&some_commits()).save(dir.path()).expect("saved");
    fs::write(dir.path().join("rows.1"), vec![7; 64 * 13]).expect("written");
    assert!(matches!(answers(&Index::load(dir.path(), &lanes())), Err(CacheError::Damaged)));
    let mut rebuilt = built(&some_commits());
    assert_eq!(rebuilt.save(dir.path()).expect("saved"), Saved::Written);
    assert_eq!(comparable(Index::load(dir.path(), &lanes())), comparable(rebuilt));
    assert_eq!(file_names(dir.path()), ["head", "heap.2", "lock", "rows.2"]);
}

#[test]
fn appending_leaves_the_generation_and_joining_makes_a_new_one() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let commits = some_commits();
    let mut index = built(&commits[..6]);
    index.save(dir.path()).expect("saved");
    index.extend(commits[7..].to_vec(), None).expect("sound");
    assert_eq!(index.save(dir.path()).expect("saved"), Saved::Written);
    assert_eq!(index.save(dir.path()).expect("saved"), Saved::Unchanged);
    assert_eq!(file_names(dir.path()), ["head", "heap.1", "lock", "rows.1"]);
    let mut joined = Index::load(dir.path(), &lanes());
    joined.extend(commits[6..7].to_vec(), Some(commit_name(7))).expect("sound");
    joined.save(dir.path()).expect("saved");
    assert_eq!(file_names(dir.path()), ["head", "heap.1", "lock", "rows.2"]);
    assert_eq!(comparable(Index::load(dir.path(), &lanes())), comparable(built(&commits)));
}

#[test]
fn of_two_writers_the_second_leaves_the_firsts_work_alone() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let commits = some_commits();
    built(&commits[..6]).save(dir.path()).expect("saved");
    let (mut first, mut second) = (Index::load(dir.path(), &lanes()), Index::load(dir.path(), &lanes()));
    first.extend(commits[6..8].to_vec(), None).expect("sound");
    second.extend(commits[6..7].to_vec(), None).expect("sound");
    assert_eq!(first.save(dir.path()).expect("saved"), Saved::Written);
    assert_eq!(second.save(dir.path()).expect("saved"), Saved::Overtaken);
    let before = comparable(first);
    assert_eq!(comparable(Index::load(dir.path(), &lanes())), before);
}

#[test]
fn what_a_writer_left_unfinished_is_overwritten() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let commits = some_commits();
    built(&commits[..6]).save(dir.path()).expect("saved");
    for name in ["rows.1", "heap.1"] {
        let mut bytes = fs::read(dir.path().join(name)).expect("written");
        bytes.extend([9; 100]);
        fs::write(dir.path().join(name), bytes).expect("written");
    }
    let mut index = Index::load(dir.path(), &lanes());
    index.extend(commits[6..].to_vec(), Some(commit_name(7))).expect("sound");
    index.save(dir.path()).expect("saved");
    assert_eq!(comparable(Index::load(dir.path(), &lanes())), comparable(built(&commits)));
}

#[test]
fn other_lanes_make_it_unusable_and_an_overlay_is_not_saved() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut index = built(&some_commits());
    index.save(dir.path()).expect("saved");
    assert!(Index::load(dir.path(), &Lanes::default()).is_empty());
    index.overlay(Vec::new()).expect("sound");
    assert_eq!(index.save(dir.path()).expect("nothing to do"), Saved::Overlaid);
}

#[test]
fn a_recorded_event_beats_the_spooled_one() {
    let spooled = LogCommit { name: None, effective: 5, entries: vec![entry(1)], anomalies: Vec::new() };
    let recorded = LogCommit { name: Some(commit_name(1)), effective: 9, ..spooled.clone() };
    for order in [[spooled.clone(), recorded.clone()], [recorded, spooled]] {
        let mut index = Index::empty(&lanes());
        order.into_iter().for_each(|commit| index.overlay([commit]).expect("sound"));
        assert_eq!((index.len(), index.known(&commit_name(1)).expect("sound")), (1, Some(9)));
    }
}

#[test]
fn a_prefix_finds_all_that_begin_so() {
    let index = built(&some_commits());
    let digits = id(4).to_string();
    for length in [4, 15, 16, 17, 64] {
        let found = index.find_prefix(&digits[..length].parse().expect("valid")).expect("sound");
        assert_eq!(found, [index.find(&id(4)).expect("sound").expect("there")]);
    }
}

fn file_names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("there").map(|entry| entry.expect("readable").file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().expect("text")).collect();
    names.sort();
    names
}
