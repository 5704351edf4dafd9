//! Many at once, and killed in the middle.

use std::process::Stdio;
use std::thread;

use crate::sandbox::{Sandbox, body};

/// The worktree's views agree with the log.
fn views_are_right(sandbox: &Sandbox, handoffs: usize) {
    let list = sandbox.handoff(&["list", "--all", "--json"]).json();
    let list = list.as_array().expect("a list");
    assert_eq!(list.len(), handoffs);
    let mut lines = 0;
    for lane in [".codex", ".claude"] {
        let text = sandbox.read(&format!("{lane}/handoffs.jsonl"));
        for line in text.lines() {
            let record: serde_json::Value = serde_json::from_str(line).expect("one record a line");
            let file = format!("{lane}/{}", record["file"].as_str().expect("a file"));
            assert!(list.iter().any(|item| item["file"] == file) && sandbox.exists(&file), "{file}");
            lines += 1;
        }
        let newest =
            list.iter().find(|item| item["file"].as_str().is_some_and(|file| file.starts_with(lane))).expect("one");
        let index = sandbox.read(&format!("{lane}/INDEX.md"));
        assert!(index.contains(newest["topic"].as_str().expect("text")), "{index}");
    }
    assert_eq!(lines, handoffs);
    let leftover = sandbox.run(
        "bash",
        &[
            "-c",
            "find .git .codex .claude .session-transfer -name '*.lock' -size +0 -o -name '*.tmp*' -o -name '.tmp*'",
        ],
        b"",
    );
    assert_eq!(leftover.ok(), "");
}

#[test]
fn four_hundred_handoffs_by_eight_processes_beside_git_maintenance() {
    let sandbox = Sandbox::repository();
    let done = std::sync::atomic::AtomicBool::new(false);
    let ids: Vec<String> = thread::scope(|scope| {
        let maintenance = scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                // Either may lose a race for a lock against a writer; neither may cost a handoff.
                sandbox.run("git", &["pack-refs", "--all"], b"");
                sandbox.run("git", &["gc", "-q"], b"");
            }
        });
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let sandbox = &sandbox;
                scope.spawn(move || {
                    let agent = ["codex", "claude"][writer % 2];
                    let create = |n: usize| sandbox.create(&format!("job {writer} {n}"), &["--agent", agent]);
                    (0..50).map(create).collect::<Vec<_>>()
                })
            })
            .collect();
        let written: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        maintenance.join().expect("maintenance ends");
        written.into_iter().flat_map(|ids| ids.expect("every create succeeds")).collect::<Vec<String>>()
    });
    let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), 400);
    assert_eq!(sandbox.git(&["rev-list", "--count", "refs/handoffs/log"]), "400");
    views_are_right(&sandbox, 400);
    let notes = sandbox.git(&["notes", "--ref=handoffs", "show", "HEAD"]);
    assert_eq!(notes.lines().count(), 400);
    sandbox.git(&["fsck", "--strict"]);
}

#[test]
fn a_command_that_is_killed_leaves_all_or_nothing() {
    let sandbox = Sandbox::repository();
    let base = sandbox.create("base", &["--agent", "codex"]);
    sandbox.create("other lane", &["--agent", "claude"]);
    for n in 0..25 {
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_git-handoff"));
        command.args(["create", "--from", "-", &format!("k{n}"), "--agent", "codex"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut stdin = child.stdin.take().expect("piped");
        std::io::Write::write_all(&mut stdin, body(&n.to_string()).as_bytes()).expect("taken");
        drop(stdin);
        // Spinning for a growing while kills it at another step each time.
        for _ in 0..n * 40_000 {
            std::hint::spin_loop();
        }
        child.kill().expect("killable");
        child.wait().expect("it ends");
    }
    let after = sandbox.create("after", &["--agent", "codex"]);
    let list = sandbox.handoff(&["list", "--all", "--json"]).json();
    let ids: Vec<_> = list.as_array().expect("a list").iter().map(|item| item["id"].as_str().expect("text")).collect();
    assert!(ids.contains(&&base[..]) && ids.contains(&&after[..]));
    for id in &ids {
        sandbox.handoff(&["show", id]).ok();
    }
    views_are_right(&sandbox, ids.len());
    sandbox.git(&["fsck", "--connectivity-only"]);
}
