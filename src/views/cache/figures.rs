//! How the cost grows with the number of handoffs. Run by hand, optimised:
//! `cargo test --release figures -- --ignored --nocapture`.

use std::io::Write;
use std::time::{Duration, Instant};

use super::*;
use crate::model::{Completeness, Content, Entry, Event, Handoff, Link, LogCommit, Metadata};

const MINUTE: i64 = 60_000;

fn id(number: u32) -> EventId {
    EventId::of(&number.to_le_bytes())
}

/// The handoffs of a busy team: one each ten minutes, every third one continuing the one before the last.
fn commit(number: u32, time: i64) -> LogCommit {
    let document = Handoff {
        created: Timestamp::new(1_600_000_000_000 + time, 180).expect("valid"),
        agent: ["codex", "claude", "opencode"][number as usize % 3].parse().expect("valid"),
        trigger: Trigger::Manual,
        status: Status::ALL[number as usize % 5],
        topic: format!("billing-system part {number}").parse().expect("valid"),
        metadata: Metadata {
            branch: Some(format!("feat/billing-{}", number % 50)),
            commit: ObjectName::from_bytes(&id(number).as_bytes()[12..]),
            previous: (number % 3 == 2).then(|| Link::Id(id(number - 2))),
            model: Some("gpt-5.6".into()),
            agent_session: Some(format!("01998f7e-0000-7000-8000-{number:012}")),
            ..Metadata::default()
        },
        content: Content {
            objective: Some("Charge cards through the new gateway without touching the old one.".into()),
            next_action: Some("Write the failing refund test in `tests/gateway.rs`, then make it pass.".into()),
            ..Content::default()
        },
        completeness: Completeness::Partial,
        unknown: serde_json::Map::new(),
    };
    let name = ObjectName::from_bytes(&id(number).as_bytes()[..20]);
    let event = Event::Handoff(Box::new(document));
    let entry = Entry { id: id(number), kind: EventKind::Handoff, blob: name, event };
    LogCommit { name, effective: 1_600_000_000_000 + time, entries: vec![entry], anomalies: Vec::new() }
}

fn fastest(mut act: impl FnMut() -> Duration) -> String {
    let best = (0..15).map(|_| act()).min().unwrap_or_default();
    format!("{:>9.3}", best.as_secs_f64() * 1000.0)
}

fn timed<T>(act: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(act());
    start.elapsed()
}

#[test]
#[ignore = "figures, not facts"]
fn figures() {
    let lanes = Lanes::default();
    let mut out = std::io::stderr();
    let head =
        "  rows     build  +save  newest20  known-tip  ordinal  scan-all  find-oldest  append+save  join-10-near+save";
    writeln!(out, "{head}   (ms)").expect("written");
    for count in [10_u32, 1000, 10_000, 100_000] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let time = |number: u32| i64::from(number) * 10 * MINUTE;
        let mut index = Index::empty(&lanes);
        let build = timed(|| index.extend((0..count).map(|n| commit(n, time(n))), None).expect("sound"));
        let save = timed(|| index.save(dir.path()).expect("saved"));
        let load = || Index::load(dir.path(), &lanes);
        let newest = |index: Index| {
            let rows = index.newest_first().map(|row| row.expect("sound")).filter(Row::live).take(20);
            rows.map(|row| index.summary(row.position).expect("sound")).collect::<Vec<_>>()
        };
        let list = fastest(|| timed(|| newest(load())));
        let tip = ObjectName::from_bytes(&id(count - 1).as_bytes()[..20]).expect("a length that git has");
        let known = fastest(|| timed(|| load().known(&tip).expect("sound")));
        let now = Timestamp::new(1_600_000_000_000 + time(count), 180).expect("valid");
        let agent = "codex".parse().expect("valid");
        let ordinal = fastest(|| timed(|| load().next_ordinal(&agent, now).expect("sound")));
        let scan = fastest(|| timed(|| load().newest_first().filter(|row| row.as_ref().is_ok_and(Row::live)).count()));
        let oldest = fastest(|| timed(|| load().find(&id(0)).expect("sound")));
        let mut next = count;
        let append = fastest(|| {
            let new = commit(next, time(next));
            next += 1;
            timed(|| {
                let mut index = load();
                index.extend([new], Some(tip)).expect("sound");
                assert_eq!(index.save(dir.path()).expect("saved"), Saved::Written);
            })
        });
        let join = fastest(|| {
            let base = time(next) - 50 * 10 * MINUTE;
            let new: Vec<LogCommit> = (0..10).map(|n| commit(next + n, base + i64::from(n) * 7 * MINUTE)).collect();
            next += 10;
            timed(|| {
                let mut index = load();
                index.extend(new, Some(tip)).expect("sound");
                assert_eq!(index.save(dir.path()).expect("saved"), Saved::Written);
            })
        });
        let (build, save) = (build.as_secs_f64() * 1000.0, save.as_secs_f64() * 1000.0);
        writeln!(
            out,
            "{count:>6} {build:>9.1} {save:>6.1} {list} {known}  {ordinal} {scan}    {oldest}    {append}          {join}"
        )
        .expect("written");
    }
}
