//! How long commands take, as ratios against git processes that do the least, measured in the same run.
//!
//! `cargo bench` prints the table of `docs/performance.md`. `HANDOFF_BENCH_SIZES=10,100000` measures other sizes.
//! Nothing is asserted: a loaded machine is not a failure.

#![allow(clippy::print_stdout, reason = "the table is what a benchmark is for")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use git_handoff::document;
use git_handoff::model::{Completeness, Content, Handoff, Link, Metadata, Status, Timestamp, Trigger};

/// How often each command runs; the median counts.
const RUNS: usize = 21;

fn main() {
    let sizes = std::env::var("HANDOFF_BENCH_SIZES").unwrap_or_else(|_| "10,1000,10000".into());
    let sizes: Vec<usize> = sizes.split(',').map(|size| size.trim().parse().expect("a number of handoffs")).collect();
    println!("| work | handoffs | ms | against | ms | ratio |");
    println!("|---|---:|---:|---|---:|---:|");
    for size in sizes {
        let dir = tempfile::tempdir().expect("a temporary directory");
        seed(dir.path(), size);
        measure(dir.path(), size);
    }
}

/// A repository whose log holds this many handoffs, with warm caches and views.
fn seed(dir: &Path, size: usize) {
    run(dir, "git", &["init", "-q", "-b", "main"], b"");
    std::fs::write(dir.join("a.txt"), "a\n").expect("writable");
    run(dir, "git", &["add", "a.txt"], b"");
    run(dir, "git", &["commit", "-qm", "first"], b"");
    run(dir, "git", &["fast-import", "--quiet"], &stream(size));
    // The first command that writes makes cache and views.
    create(dir, "warm up");
    create(dir, "warm up again");
}

/// A log of this many handoffs as `git fast-import` reads it.
fn stream(size: usize) -> Vec<u8> {
    let start: Timestamp = "2026-01-01T00:00:00+00:00".parse().expect("a time");
    let mut stream = Vec::new();
    let mut previous = None;
    for at in 0..size {
        let created = Timestamp::new(start.millis() + at as i64 * 61_000, 0).expect("a time");
        let handoff = handoff(at, created, previous.filter(|_| at.is_multiple_of(3)));
        let bytes = document::canonical(&handoff);
        let id = document::id(&handoff);
        write!(stream, "blob\nmark :{}\ndata {}\n", at + 1, bytes.len()).expect("a Vec takes every write");
        stream.extend_from_slice(&bytes);
        let when = created.seconds();
        let message = format!("handoff {at}\n");
        write!(
            stream,
            "\ncommit refs/handoffs/log\ncommitter Bench <bench@example.com> {when} +0000\ndata {}\n{message}\
             deleteall\nM 100644 :{} handoff/{id}.json\n\n",
            message.len(),
            at + 1
        )
        .expect("a Vec takes every write");
        previous = Some(id);
    }
    stream
}

fn handoff(at: usize, created: Timestamp, previous: Option<git_handoff::model::EventId>) -> Handoff {
    let agent = ["codex", "claude", "opencode", "amp"][at % 4];
    let mut detail = String::new();
    for step in 0..8 {
        writeln!(detail, "Step {step} of piece {at}: the parser accepts the new form and its tests pass.")
            .expect("a String takes every write");
    }
    Handoff {
        created,
        agent: agent.parse().expect("a name"),
        trigger: Trigger::Manual,
        status: if at.is_multiple_of(5) { Status::Completed } else { Status::InProgress },
        topic: format!("piece {at} of the work").parse().expect("a topic"),
        metadata: Metadata {
            branch: Some(format!("feat/{}", at % 50)),
            previous: previous.map(Link::Id),
            ..Metadata::default()
        },
        content: Content {
            objective: Some(format!("Bring piece {at} to its end")),
            current_state: Some(detail.trim_end().to_owned()),
            next_action: Some("Write the failing test, then make it pass.".into()),
            ..Content::default()
        },
        completeness: Completeness::Partial,
        unknown: serde_json::Map::new(),
    }
}

/// Prints a row for each command.
fn measure(dir: &Path, size: usize) {
    let tree = run(dir, "git", &["rev-parse", "HEAD^{tree}"], b"");
    let tree = tree.trim();
    let rev_parse = || drop(run(dir, "git", &["rev-parse", "HEAD"], b""));
    let two_processes = || {
        let commit = run(dir, "git", &["commit-tree", "-m", "x", tree], b"");
        run(dir, "git", &["update-ref", "refs/bench/one", commit.trim()], b"");
    };
    let handoff = |args: &'static [&'static str]| move || drop(run(dir, program(), args, b""));
    let mut topics = 0..;
    row(
        "create",
        size,
        || create(dir, &format!("bench {}", topics.next().unwrap_or(0))),
        "commit-tree + update-ref",
        two_processes,
    );
    row("resume", size, handoff(&["resume"]), "rev-parse HEAD", rev_parse);
    row("list", size, handoff(&["list"]), "rev-parse HEAD", rev_parse);
    row("show", size, handoff(&["show"]), "rev-parse HEAD", rev_parse);
    row("list --all", size, handoff(&["list", "--all"]), "rev-parse HEAD", rev_parse);
}

/// Runs both in turn, so that a busy moment hits both, and compares the medians.
fn row(name: &str, size: usize, mut ours: impl FnMut(), against: &str, mut theirs: impl FnMut()) {
    let mut times = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        times.0.push(timed(&mut ours));
        times.1.push(timed(&mut theirs));
    }
    let (ours, theirs) = (median(times.0), median(times.1));
    println!("| {name} | {size} | {ours:.2} | {against} | {theirs:.2} | {:.2} |", ours / theirs);
}

fn timed(work: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

fn program() -> &'static str {
    env!("CARGO_BIN_EXE_git-handoff")
}

fn create(dir: &Path, topic: &str) {
    let body = format!(
        "## Current State\nThe parser of {topic} accepts the new form and its tests pass.\n\
         ## Decisions\nOne pass only: a second one doubled the run time.\n\
         ## Verification\n- passed: `cargo test`\n## Remaining Work\n1. Add the error path for empty input\n\
         ## Next Recommended Action\nWrite the failing test for empty input in a.txt, then make it pass.\n"
    );
    run(dir, program(), &["create", "--quiet", "--from", "-", topic], body.as_bytes());
}

/// Runs a program in a clean environment; it must succeed.
fn run(dir: &Path, program: &str, args: &[&str], input: &[u8]) -> String {
    let mut child = Command::new(program)
        .args(args)
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").expect("a search path"))
        .env("HOME", dir)
        .env("TZ", "UTC")
        .env("HANDOFF_AGENT", "codex")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", dir.join(".git/no-such-config"))
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "Bench")))
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "bench@example.com")))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("piped").write_all(input).expect("the input is taken");
    let output = child.wait_with_output().expect("the program ends");
    assert!(output.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
