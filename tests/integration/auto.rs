//! `auto`: when a handoff is made without being asked for, what it says, and when it is not.

use serde_json::Value;

use crate::sandbox::Sandbox;

/// A repository of codex with a feature branch checked out, its clock set.
fn feature() -> Sandbox {
    let mut sandbox = Sandbox::repository();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.clock("2026-08-18T10:00:00Z");
    sandbox.git(&["checkout", "-qb", "feat/filter"]);
    sandbox
}

fn write_files(sandbox: &Sandbox, dir: &str, count: usize) {
    for number in 0..count {
        sandbox.write(&format!("{dir}/f{number}.rs"), format!("fn f{number}() {{}}\n// one more line\n"));
    }
}

fn commit_files(sandbox: &Sandbox, dir: &str, count: usize, message: &str) {
    write_files(sandbox, dir, count);
    sandbox.git(&["add", "."]);
    sandbox.git(&["commit", "-qm", message]);
}

fn auto(sandbox: &Sandbox, args: &[&str]) -> Value {
    let mut all = vec!["auto", "--json"];
    all.extend(args);
    sandbox.handoff(&all).json()
}

/// Whether one was made, and the code of the first reason.
fn decision(answer: &Value) -> (bool, &str) {
    (answer["created"].as_bool().expect("a truth value"), answer["reasons"][0]["code"].as_str().expect("a code"))
}

fn recorded(sandbox: &Sandbox) -> usize {
    sandbox.handoff(&["list", "--all", "--json"]).json().as_array().expect("a list").len()
}

#[test]
fn a_feature_branch_gets_one_handoff_that_git_alone_fills_well_enough() {
    let sandbox = feature();
    commit_files(
        &sandbox,
        "src",
        5,
        "Add the filter\n\nFinance asked for it.\n\nHandoff-Next: Ship it\nHandoff-Decision: filter in SQL\nHandoff-Risk: slow on old tenants",
    );
    let answer = auto(&sandbox, &[]);
    assert_eq!(decision(&answer), (true, "many-files"));
    let id = answer["id"].as_str().expect("an id");
    let document = sandbox.handoff(&["show", id, "--json"]).json()["document"].clone();
    assert_eq!(document["topic"], "feat/filter");
    assert_eq!((&document["trigger"], &document["completeness"]), (&"substantial-work".into(), &"partial".into()));
    assert_eq!((&document["agent"], &document["branch"]), (&"codex".into(), &"feat/filter".into()));
    assert_eq!(document["next_action"], "Ship it");
    assert_eq!(document["decisions"], serde_json::json!(["filter in SQL"]));
    assert_eq!(document["known_failures"], serde_json::json!(["slow on old tenants"]));
    assert_eq!(document["files_changed"].as_array().map(Vec::len), Some(5));
    assert_eq!(document["boundary"], "feat/filter|-|-");
    assert!(document["pending_steps"][0].as_str().expect("a step").starts_with("Review and merge the 1 commit"));
    assert!(sandbox.exists(".codex/handoffs/2026-08-18-1000.md"));
}

#[test]
fn what_is_covered_does_not_trigger_again() {
    let mut sandbox = feature();
    commit_files(&sandbox, "src", 5, "Add the filter");
    assert_eq!(decision(&auto(&sandbox, &[])), (true, "many-files"));
    sandbox.clock("2026-08-18T10:01:00Z");
    assert_eq!(decision(&auto(&sandbox, &[])), (false, "nothing-new"));
    commit_files(&sandbox, "more", 2, "Two more files");
    assert_eq!(decision(&auto(&sandbox, &[])), (false, "few-files"));
    commit_files(&sandbox, "even-more", 3, "Three more files");
    let second = auto(&sandbox, &[]);
    assert_eq!(decision(&second), (true, "many-files"));
    let live = sandbox.handoff(&["list", "--json"]).json();
    assert_eq!(live.as_array().map(Vec::len), Some(1), "on a branch of its own one continues the other");
    assert_eq!(live[0]["id"], second["id"]);
}

#[test]
fn uncommitted_work_counts_by_hand_and_only_once() {
    let mut sandbox = feature();
    write_files(&sandbox, "src", 1);
    for number in 0..5 {
        sandbox.write(&format!("loose{number}.rs"), "fn loose() {}\n");
    }
    let first = auto(&sandbox, &[]);
    assert_eq!(decision(&first), (true, "many-files"));
    sandbox.clock("2026-08-18T10:01:00Z");
    assert!(!decision(&auto(&sandbox, &[])).0);
}

#[test]
fn a_dry_run_decides_and_stores_nothing() {
    let sandbox = feature();
    commit_files(&sandbox, "db/migrations", 1, "Add a migration");
    let answer = auto(&sandbox, &["--dry-run"]);
    assert_eq!((decision(&answer), &answer["dry_run"]), ((true, "critical-path"), &Value::Bool(true)));
    assert_eq!(recorded(&sandbox), 0);
    let text = sandbox.handoff(&["auto", "--dry-run", "--explain"]).ok();
    assert_eq!(
        text,
        "A handoff is due: db/migrations/f0.rs (schema or migration)\nReasons:\n  critical-path: db/migrations/f0.rs (schema or migration)\n"
    );
}

#[test]
fn formatting_renames_and_typos_are_nothing_to_hand_over() {
    let sandbox = feature();
    commit_files(&sandbox, "src", 6, "Add files");
    sandbox.create("covered", &[]);
    for number in 0..6 {
        sandbox.write(&format!("src/f{number}.rs"), format!("fn f{number}()\n{{\n}}\n\n// one more    line\n"));
    }
    sandbox.git(&["commit", "-qam", "Format"]);
    assert_eq!(decision(&auto(&sandbox, &[])), (false, "formatting"));
    sandbox.create("covered again", &[]);
    sandbox.git(&["mv", "src", "lib"]);
    sandbox.git(&["commit", "-qm", "Move"]);
    assert_eq!(decision(&auto(&sandbox, &[])), (false, "formatting"));
    sandbox.commit("README.md", "One line.\n");
    assert!(!decision(&auto(&sandbox, &[])).0);
}

#[test]
fn patterns_of_the_configuration_come_first() {
    let sandbox = feature();
    sandbox.git(&["config", "--add", "handoff.critical", "src/billing/"]);
    sandbox.git(&["config", "--add", "handoff.ignore", "*.sql"]);
    sandbox.commit("dump.sql", "select 1;\n");
    assert_eq!(decision(&auto(&sandbox, &[])), (false, "not-meaningful"));
    sandbox.commit("src/billing/tax.rs", "fn tax() {}\n");
    assert_eq!(decision(&auto(&sandbox, &[])), (true, "critical-path"));
}

#[test]
fn merged_work_of_others_is_not_this_branchs_work() {
    let sandbox = feature();
    sandbox.commit("one.rs", "fn one() {}\n");
    sandbox.git(&["checkout", "-q", "main"]);
    commit_files(&sandbox, "theirs", 8, "Their work");
    sandbox.git(&["checkout", "-q", "feat/filter"]);
    sandbox.git(&["merge", "-q", "--no-edit", "main"]);
    assert_eq!(decision(&auto(&sandbox, &[])), (false, "few-files"));
}

#[test]
fn context_pressure_asks_for_one_and_a_rebase_holds_it_back() {
    let sandbox = feature();
    sandbox.commit("one.rs", "fn one() {}\n");
    std::fs::create_dir(sandbox.cwd().join(".git/rebase-merge")).expect("writable");
    assert_eq!(decision(&auto(&sandbox, &["--trigger", "context-pressure"])), (false, "during-rebase"));
    std::fs::remove_dir(sandbox.cwd().join(".git/rebase-merge")).expect("it is empty");
    let answer = auto(&sandbox, &["--trigger", "context-pressure"]);
    assert_eq!(decision(&answer), (true, "asked-for"));
    assert_eq!(sandbox.handoff(&["auto", "--trigger", "sometimes"]).code, 2);
}

#[test]
fn a_secret_in_a_commit_message_makes_a_masked_draft() {
    let sandbox = feature();
    let token = format!("{}_{}", "ghp", "Zk4Qm7Xw2Rb9Lt5Nc8Vd3Hf6Js1Pg0Ty4Ue7");
    commit_files(&sandbox, "src", 5, &format!("Use the token {token} for now"));
    let answer = auto(&sandbox, &[]);
    assert_eq!(decision(&answer), (false, "secret"));
    let draft = std::fs::read_to_string(answer["draft"].as_str().expect("a draft")).expect("readable");
    assert!(!draft.contains(&token) && draft.contains("feat/filter"), "{draft}");
    assert_eq!(recorded(&sandbox), 0);
}

#[test]
fn outside_a_repository_and_before_the_first_commit_nothing_breaks() {
    let mut sandbox = Sandbox::empty();
    assert_eq!(sandbox.handoff(&["auto"]).code, 9);
    sandbox.git(&["init", "-q", "-b", "main", "fresh"]);
    sandbox.enter("fresh");
    assert_eq!(decision(&auto(&sandbox, &[])), (false, "nothing-new"));
}
