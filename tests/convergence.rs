//! However clones meet, they end with the same history: the law of sharing, under random schedules.
//!
//! `HANDOFF_SCHEDULES=20000` runs more of them, `HANDOFF_SEED=7` begins elsewhere. A failure names its seed.

#![allow(clippy::print_stdout, reason = "the seeds are to be seen")]

mod sandbox;

use std::collections::BTreeMap;
use std::convert::Infallible;

use git_handoff::git::{Dialling, Durability, Expected, Identity, Locate, Reflog, Repo};
use git_handoff::log::{Append, Description, Log, NOTES_REF, NewEvent, REF, Stamp};
use git_handoff::model::{EventKind, ObjectName, Timestamp};
use git_handoff::sync::{self, Direction, Host, Part, Standing, Sync};
use git_handoff::views::notes;
use sandbox::Sandbox;

const CLONES: usize = 5;

/// Random choices that a seed determines (SplitMix64).
struct Choices(u64);

impl Choices {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).expect("it is smaller than a usize")
    }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().map_or(default, |text| text.parse().expect("a number"))
}

fn open(sandbox: &Sandbox, name: &str) -> Repo {
    Repo::open(&Locate::at(sandbox.root().join(name))).expect("it is a repository")
}

fn stamp(second: i64) -> Stamp {
    let now = Timestamp::new((1_787_061_840 + second) * 1000, 180).expect("it is in this century");
    Stamp { identity: Identity::new("Ada", "ada@example.com"), now }
}

/// An event of any kind, made by a clone whose clock is wrong by some minutes.
fn event(clone: usize, count: usize) -> (NewEvent, Stamp) {
    let stamp = stamp((clone as i64 - 2) * 130 + count as i64);
    let kind = ["approval", "continuation", "claim", "finish"][(clone + count) % 4];
    let text = format!("{{\"by\":\"clone {clone}\",\"count\":{count},\"created\":\"{}\"}}", stamp.now);
    (NewEvent::new(EventKind::from_folder(kind), text.into_bytes()), stamp)
}

fn append(repo: &Repo, parent: Option<ObjectName>, clone: usize, count: usize) -> ObjectName {
    let (event, stamp) = event(clone, count);
    let append = Append { events: vec![event], description: Description { subject: "x".into(), trailers: vec![] } };
    Log::new(repo).write_on::<Infallible>(parent, &stamp, &append).expect("writable").tip
}

/// A repository in the model: where its log and notes stand, and what it has fetched and not joined.
#[derive(Debug, Clone, Copy, Default)]
struct Member {
    own: Standing,
    fetched: Standing,
    count: usize,
}

/// All clones of the model share one object store; their refs are values.
struct Model<'r> {
    repo: &'r Repo,
    commits: &'r [ObjectName],
    remote: Standing,
    clones: Vec<Member>,
    notes: &'r mut BTreeMap<(Option<ObjectName>, usize, usize), ObjectName>,
}

impl Model<'_> {
    fn create(&mut self, at: usize) {
        let Member { own, count, .. } = self.clones[at];
        self.clones[at].own.log = Some(append(self.repo, own.log, at, count));
        self.clones[at].own.notes = Some(self.note(own.notes, at, count));
        self.clones[at].count += 1;
    }

    /// A line on one of a few commits, as each handoff has one.
    fn note(&mut self, tip: Option<ObjectName>, at: usize, count: usize) -> ObjectName {
        let (repo, commits) = (self.repo, self.commits);
        *self.notes.entry((tip, at, count)).or_insert_with(|| {
            let name = "refs/notes/model";
            let line = format!("{at:02}{count:010} codex 2026-08-18T17:04 partial x");
            let stamp = stamp(count as i64);
            let reflog = Reflog {
                identity: &stamp.identity,
                seconds: stamp.now.seconds(),
                offset_minutes: 0,
                message: "note",
                durability: Durability::Process,
            };
            let seen = repo.read_ref(name).expect("readable");
            match tip {
                Some(tip) if seen != Some(tip) => {
                    repo.compare_and_swap(name, Expected::from(seen), &tip, &reflog).expect("nobody else moves it");
                }
                Some(_) => {}
                None => drop(repo.command("update-ref").args(["-d", name]).run().expect("git runs")),
            }
            let commit = commits[(at + count) % commits.len()];
            let edit = |_: &ObjectName, present: Option<&[u8]>| Some(notes::merge_lines(present, &line));
            repo.update_notes(name, &[commit], &edit, &reflog).expect("writable");
            repo.read_ref(name).expect("readable").expect("just written")
        })
    }

    fn fetch(&mut self, at: usize) {
        self.clones[at].fetched = self.remote;
    }

    fn join(&mut self, at: usize) {
        let clone = &mut self.clones[at];
        clone.own = sync::join(self.repo, clone.own, clone.fetched, &notes::union).expect("joinable");
    }

    /// What a remote does with a push without force: each ref only moves forward.
    fn push(&mut self, at: usize) {
        let own = self.clones[at].own;
        let forward = |from: Option<ObjectName>, to: Option<ObjectName>| match (from, to) {
            (Some(from), Some(to)) if self.repo.is_ancestor(&from, &to).expect("readable") => Some(to),
            (None, to) => to,
            (from, _) => from,
        };
        self.remote = Standing { log: forward(self.remote.log, own.log), notes: forward(self.remote.notes, own.notes) };
    }

    fn sync(&mut self, at: usize) {
        self.fetch(at);
        self.join(at);
        self.push(at);
    }

    fn step(&mut self, choices: &mut Choices) {
        let at = choices.below(self.clones.len());
        match choices.below(10) {
            0..=3 => self.create(at),
            4 | 5 => self.sync(at),
            // An ordinary fetch, or a crash after it.
            6 => self.fetch(at),
            // A crash before the push, or the next command after an ordinary fetch.
            7 => self.join(at),
            // An ordinary push, or the second half of a race.
            8 => self.push(at),
            // A clone that is made late knows nothing.
            _ => self.clones.push(Member::default()),
        }
    }
}

#[test]
fn under_two_thousand_random_schedules_all_clones_end_with_the_same_log_and_notes() {
    let mut sandbox = Sandbox::in_memory();
    sandbox.init("store", &[]);
    for n in 0..3 {
        sandbox.commit("b.txt", &format!("{n}\n"));
    }
    let repo = open(&sandbox, "store");
    let commits: Vec<ObjectName> =
        sandbox.git(&["rev-list", "HEAD"]).lines().map(|line| line.parse().expect("a name")).collect();
    let (first, schedules) = (number("HANDOFF_SEED", 0), number("HANDOFF_SCHEDULES", 2000));
    println!("seeds {first} to {}", first + schedules - 1);
    let mut made = BTreeMap::new();
    for seed in first..first + schedules {
        let mut choices = Choices(seed);
        let clones = vec![Member::default(); CLONES];
        let mut model = Model { repo: &repo, commits: &commits, remote: Standing::default(), clones, notes: &mut made };
        for _ in 0..4 + choices.below(9) {
            model.step(&mut choices);
        }
        let total: usize = model.clones.iter().map(|clone| clone.count).sum();
        let all = model.clones.len();
        (0..all).chain(0..all).for_each(|at| model.sync(at));
        let settled: Vec<Standing> = model.clones.iter().map(|clone| clone.own).collect();
        assert_eq!(settled, vec![model.remote; all], "seed {seed}: the clones differ");
        (0..all).for_each(|at| model.sync(at));
        let after: Vec<Standing> = model.clones.iter().map(|clone| clone.own).collect();
        assert_eq!(after, settled, "seed {seed}: a further sync changes something");
        let Some(tip) = model.remote.log else { continue };
        let walk = Log::new(&repo).commits_since(&[tip], &|_| None);
        let events: usize = walk.commits.iter().map(|commit| commit.entries.len()).sum();
        assert_eq!(events, total, "seed {seed}: an event is missing or doubled");
        let lines: usize = commits.iter().map(|commit| lines_on(&repo, model.remote.notes, commit)).sum();
        assert_eq!(lines, total, "seed {seed}: a line of the notes is missing or doubled");
    }
}

fn lines_on(repo: &Repo, tip: Option<ObjectName>, commit: &ObjectName) -> usize {
    let note = tip.and_then(|tip| repo.note_at(&tip, commit).expect("readable"));
    note.map_or(0, |text| text.iter().filter(|byte| **byte == b'\n').count())
}

/// A caller without notes of its own and without secrets.
struct Plain;

impl Host for Plain {
    type Error = Infallible;

    fn joined(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn may_publish(&mut self, _tip: &ObjectName, _known: &[ObjectName]) -> Result<(), Infallible> {
        Ok(())
    }
}

fn sync_of(repo: &Repo) -> Sync<'_> {
    let dialling = Dialling { ssh: None, patience: std::time::Duration::from_secs(120) };
    let remote = repo.remote("origin", &dialling).expect("a clone has it");
    Sync { repo, remote, stamp: stamp(0), union: &notes::union }
}

/// A bare remote and clones of it.
fn team(clones: usize) -> Sandbox {
    let mut sandbox = Sandbox::in_memory();
    sandbox.init("seed", &[]);
    sandbox.enter("");
    sandbox.git(&["clone", "-q", "--bare", "seed", "remote.git"]);
    (0..clones).for_each(|n| clone(&sandbox, n));
    sandbox
}

fn clone(sandbox: &Sandbox, n: usize) {
    let url = format!("file://{}", sandbox.root().join("remote.git").display());
    // Every other one is shallow.
    let options: &[&str] = if n.is_multiple_of(2) { &[] } else { &["--depth=1"] };
    let name = format!("c{n}");
    sandbox.git(&[&["clone", "-q"], options, &[&url, &name]].concat());
    sandbox.git(&["-C", &name, "config", "--add", "remote.origin.fetch", &sync::fetch_refspec("origin")]);
}

#[test]
fn real_clones_end_with_the_same_log_and_notes_whatever_git_commands_come_between() {
    let (first, schedules) = (number("HANDOFF_SEED", 0), number("HANDOFF_SCHEDULES", 2000) / 200);
    println!("seeds {first} to {}", first + schedules - 1);
    for seed in first..first + schedules {
        let sandbox = team(CLONES);
        let mut choices = Choices(seed);
        let (mut clones, mut counts) = (CLONES, vec![0; CLONES + 1]);
        for step in 0..24 {
            if step == 12 {
                clone(&sandbox, clones);
                clones += 1;
            }
            let at = choices.below(clones);
            let repo = open(&sandbox, &format!("c{at}"));
            random_step(&sandbox, &repo, &mut choices, at, &mut counts[at]);
        }
        let tips = || -> Vec<String> {
            (0..clones).for_each(|at| share(&open(&sandbox, &format!("c{at}")), Direction::Both, seed));
            let shown = (0..clones).map(|at| {
                sandbox.git(&["-C", &format!("c{at}"), "for-each-ref", "--format=%(objectname)", REF, NOTES_REF])
            });
            shown.collect()
        };
        tips();
        let settled = tips();
        assert_eq!(settled, vec![settled[0].clone(); clones], "seed {seed}: the clones differ");
        assert_eq!(tips(), settled, "seed {seed}: a further sync changes something");
        let repo = open(&sandbox, "c0");
        let tip = repo.read_ref(REF).expect("readable");
        let walk = Log::new(&repo).commits_since(tip.as_slice(), &|_| None);
        let events: usize = walk.commits.iter().map(|commit| commit.entries.len()).sum();
        assert_eq!(events, counts.iter().sum::<usize>(), "seed {seed}: an event is missing or doubled");
    }
}

fn share(repo: &Repo, direction: Direction, seed: u64) {
    let exchange = sync_of(repo).exchange(direction, &mut Plain).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let Ok(exchange) = exchange;
    assert!(!matches!(exchange.log, Part::Refused(_)), "seed {seed}: {exchange:?}");
}

fn random_step(sandbox: &Sandbox, repo: &Repo, choices: &mut Choices, at: usize, count: &mut usize) {
    let name = format!("c{at}");
    let git = |args: &[&str]| sandbox.run("git", &[&["-C", &name], args].concat(), b"");
    match choices.below(10) {
        0..=3 => {
            let (event, stamp) = event(at, *count);
            let text = format!("{at:02}{count:010} codex 2026-08-18T17:04 partial x");
            let append = Append { events: vec![event], description: Description::default() };
            Log::new(repo).append(&stamp, |_| Ok::<_, Infallible>(append.clone())).expect("writable");
            git(&["notes", "--ref=handoffs", "append", "-m", &text, "HEAD"]).ok();
            *count += 1;
        }
        4 | 5 => share(repo, Direction::Both, 0),
        // A crash after the fetch, or an ordinary one.
        6 => drop(sync_of(repo).fetch().expect("it answers")),
        7 => drop(git(&["fetch", "-q"]).ok()),
        // A crash before the push.
        8 => share(repo, Direction::Fetch, 0),
        // An ordinary push, which may be refused.
        _ => drop(git(&["push", "-q", "origin", &format!("{REF}:{REF}")])),
    }
}

#[test]
fn of_two_clones_that_race_for_one_event_one_wins() {
    let sandbox = team(2);
    let races = 20;
    for race in 0..races {
        let contest = |at: usize| {
            let repo = open(&sandbox, &format!("c{at}"));
            let sync = sync_of(&repo);
            let outcome = sync.exclusive(&mut Plain, |tip| decide(&repo, tip, race, at)).expect("git works");
            matches!(outcome, sync::Exclusive::Won(_))
        };
        let won = std::thread::scope(|scope| {
            let rival = scope.spawn(|| contest(1));
            [contest(0), rival.join().expect("it does not panic")]
        });
        assert_eq!(won.iter().filter(|won| **won).count(), 1, "race {race}: {won:?}");
    }
    let repo = open(&sandbox, "remote.git");
    let walk = Log::new(&repo).commits_since(repo.read_ref(REF).expect("readable").as_slice(), &|_| None);
    assert_eq!(walk.commits.iter().map(|commit| commit.entries.len()).sum::<usize>(), races);
}

/// Claims the thing with this number, unless the log knows a claim of it.
fn decide(repo: &Repo, tip: Option<ObjectName>, race: usize, at: usize) -> Result<Append, &'static str> {
    let walk = Log::new(repo).commits_since(tip.as_slice(), &|_| None);
    let taken = walk.commits.iter().flat_map(|commit| &commit.entries).any(|entry| {
        let bytes = repo.read_blob(&entry.blob.expect("it is in the log"), 1000).expect("readable");
        String::from_utf8_lossy(&bytes).contains(&format!("\"race\":{race},"))
    });
    if taken {
        return Err("somebody else was faster");
    }
    let text = format!("{{\"by\":{at},\"created\":\"{}\",\"race\":{race},\"x\":0}}", stamp(race as i64).now);
    let event = NewEvent::new(EventKind::from_folder("claim"), text.into_bytes());
    Ok(Append { events: vec![event], description: Description::default() })
}
