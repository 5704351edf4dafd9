//! `goal`: automatic handoffs wait; closing makes exactly one or leaves the goal open.

use crate::sandbox::Sandbox;

fn repository() -> Sandbox {
    let mut sandbox = Sandbox::repository();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.clock("2026-08-18T10:00:00Z");
    sandbox
}

fn count(sandbox: &Sandbox) -> usize {
    sandbox.handoff(&["list", "--all", "--json"]).json().as_array().expect("a list").len()
}

#[test]
fn closing_a_goal_makes_one_handoff_and_prints_the_contract() {
    let sandbox = repository();
    sandbox.handoff(&["goal", "start", "Ship the invoice filter", "--phases", "3"]).ok();
    sandbox.handoff(&["goal", "note", "The old endpoint stays until June"]).ok();
    sandbox.commit("db/migrations/1.sql", "create table a (b int);\n");
    let waiting = sandbox.handoff(&["auto", "--json"]).json();
    assert_eq!((&waiting["created"], &waiting["reasons"][0]["code"]), (&false.into(), &"goal-open".into()));
    let status = sandbox.handoff(&["status", "--json"]).json();
    assert_eq!((&status["goal"]["text"], &status["goal"]["phases"]), (&"Ship the invoice filter".into(), &3.into()));
    let closed = sandbox.handoff(&["goal", "close", "--status", "completed", "--verified", "passed: cargo test"]).ok();
    assert_eq!(
        closed,
        "Implementation: completed\nVerification: 1 passed\nHandoff: .codex/handoffs/2026-08-18-1000.md\n\
         Index update: .session-transfer/INDEX.md\nGOAL DONE\n"
    );
    let document = sandbox.handoff(&["show", "--json"]).json()["document"].clone();
    assert_eq!((&document["trigger"], &document["goal_status"]), (&"goal-completion".into(), &"completed".into()));
    assert_eq!(document["topic"], "Ship the invoice filter");
    assert_eq!(document["extra"]["Notes"], "- The old endpoint stays until June");
    assert_eq!(count(&sandbox), 1);
    assert_eq!(sandbox.handoff(&["status", "--json"]).json()["goal"], serde_json::Value::Null);
    assert_eq!(sandbox.handoff(&["goal", "close", "--status", "completed", "--json"]).error_code(3), "NOT_FOUND");
}

#[test]
fn a_goal_covers_all_that_was_done_since_its_start() {
    let mut sandbox = repository();
    sandbox.git(&["checkout", "-qb", "feat"]);
    sandbox.handoff(&["goal", "start", "Ship it soon"]).ok();
    sandbox.commit("one.rs", "fn one() {}\n");
    sandbox.create("in between", &[]);
    sandbox.clock("2026-08-18T10:05:00Z");
    sandbox.commit("two.rs", "fn two() {}\n");
    let id = sandbox.handoff(&["goal", "close", "--status", "completed", "--quiet"]).ok();
    let document = sandbox.handoff(&["show", id.trim(), "--json"]).json()["document"].clone();
    assert_eq!(document["objective"], "Ship it soon: c:one.rs; c:two.rs");
    let paths: Vec<&str> =
        document["files_changed"].as_array().expect("a list").iter().filter_map(|file| file["path"].as_str()).collect();
    assert_eq!(paths, ["one.rs", "two.rs"]);
}

#[test]
fn one_goal_a_worktree_at_a_time() {
    let sandbox = repository();
    sandbox.handoff(&["goal", "start", "One"]).ok();
    assert_eq!(sandbox.handoff(&["goal", "start", "Two", "--json"]).error_code(4), "GOAL_OPEN");
    sandbox.git(&["worktree", "add", "-q", "../other", "-b", "other"]);
    sandbox.handoff(&["-C", "../other", "goal", "start", "Two"]).ok();
    sandbox.handoff(&["goal", "abandon"]).ok();
    assert_eq!(sandbox.handoff(&["goal", "status"]).ok(), "No goal is open.\n");
    assert!(sandbox.handoff(&["-C", "../other", "goal", "status"]).ok().starts_with("Goal: Two\n"));
    assert_eq!(count(&sandbox), 0);
}

#[test]
fn a_goal_stays_open_while_the_indexes_cannot_be_written_and_then_closes_without_a_second_handoff() {
    let mut sandbox = repository();
    sandbox.handoff(&["goal", "start", "Ship it soon"]).ok();
    sandbox.commit("b.rs", "fn b() {}\n");
    // A directory where a file is needed.
    sandbox.write(".session-transfer/INDEX.md/in-the-way", "");
    let close = ["goal", "close", "--status", "partial", "--json"];
    assert_eq!(sandbox.handoff(&close).error_code(4), "GOAL_OPEN");
    assert_eq!(count(&sandbox), 1);
    assert!(sandbox.handoff(&["goal", "status"]).ok().starts_with("Goal: Ship it soon\n"));
    std::fs::remove_dir_all(sandbox.cwd().join(".session-transfer")).expect("it can go");
    sandbox.clock("2026-08-18T10:05:00Z");
    assert_eq!(sandbox.handoff(&close).json()["closed"], true);
    assert_eq!(count(&sandbox), 1);
    assert!(sandbox.exists(".session-transfer/INDEX.md"));
}

#[test]
fn a_refused_handoff_leaves_the_goal_open() {
    let sandbox = repository();
    sandbox.handoff(&["goal", "start", "Ship it soon"]).ok();
    let token = format!("{}_{}", "ghp", "Zk4Qm7Xw2Rb9Lt5Nc8Vd3Hf6Js1Pg0Ty4Ue7");
    let refused = sandbox.handoff(&["goal", "close", "--status", "blocked", "--risk", &token, "--json"]);
    assert_eq!(refused.error_code(5), "SECRET_FOUND");
    assert_eq!(sandbox.handoff(&["goal", "close", "--status", "in-progress"]).code, 2);
    assert_eq!(sandbox.handoff(&["goal", "close", "--status", "done-ish"]).code, 2);
    assert!(sandbox.handoff(&["goal", "status"]).ok().starts_with("Goal: Ship it soon\n"));
    assert_eq!(count(&sandbox), 0);
}

#[test]
fn without_a_work_tree_the_log_is_enough() {
    let mut sandbox = repository();
    sandbox.git(&["clone", "-q", "--bare", ".", "../bare.git"]);
    sandbox.enter("bare.git");
    sandbox.handoff(&["goal", "start", "Serve the mirror"]).ok();
    let closed = sandbox.handoff(&["goal", "close", "--status", "completed"]).ok();
    assert!(closed.ends_with("Index update: no (bare repository)\nGOAL DONE\n"), "{closed}");
}
