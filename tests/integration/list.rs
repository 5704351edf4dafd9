//! `list`: what is shown, in which order, and what narrows it.

use serde_json::json;

use crate::sandbox::Sandbox;

/// Five handoffs, one a minute: two agents, two branches, one completed, one that continues another.
fn five() -> (Sandbox, Vec<String>) {
    let mut sandbox = Sandbox::repository();
    let mut ids = Vec::new();
    let plan: [(&str, &str, &[&str]); 4] =
        [("a", "codex", &[]), ("b", "claude", &["--status", "completed"]), ("c", "codex", &[]), ("d", "codex", &[])];
    for (at, (topic, agent, options)) in plan.iter().enumerate() {
        sandbox.clock(&format!("2026-08-18T10:0{at}:00Z"));
        sandbox.set("HANDOFF_AGENT", agent);
        ids.push(sandbox.create(topic, options));
    }
    sandbox.git(&["checkout", "-qb", "feat"]);
    sandbox.clock("2026-08-18T10:04:00Z");
    let first = ids[0].clone();
    ids.push(sandbox.create("e", &["--continues-from", &first]));
    (sandbox, ids)
}

fn topics(sandbox: &Sandbox, args: &[&str]) -> String {
    let mut all = vec!["list", "--json"];
    all.extend(args);
    let list = sandbox.handoff(&all).json();
    list.as_array().expect("a list").iter().map(|item| item["topic"].as_str().expect("text")).collect()
}

#[test]
fn live_handoffs_are_listed_newest_first_and_closed_ones_on_request() {
    let (sandbox, _) = five();
    assert_eq!(topics(&sandbox, &[]), "edcb");
    assert_eq!(topics(&sandbox, &["--all"]), "edcba");
    assert_eq!(topics(&sandbox, &["--limit", "2"]), "ed");
}

#[test]
fn filters_narrow_the_list() {
    let (sandbox, _) = five();
    assert_eq!(topics(&sandbox, &["--agent", "Claude"]), "b");
    assert_eq!(topics(&sandbox, &["--status", "done"]), "b");
    assert_eq!(topics(&sandbox, &["--unfinished"]), "edc");
    assert_eq!(topics(&sandbox, &["--branch", "feat"]), "e");
    assert_eq!(topics(&sandbox, &["--topic", "C"]), "c");
    assert_eq!(topics(&sandbox, &["--since", "2m"]), "edc");
    assert_eq!(topics(&sandbox, &["--since", "2026-08-18T10:03:00Z"]), "ed");
}

#[test]
fn a_line_has_id_session_status_branch_and_topic() {
    let (sandbox, ids) = five();
    let out = sandbox.handoff(&["list", "--limit", "1"]).ok();
    assert_eq!(out, format!("{}  codex/2026-08-18-1004  in-progress  feat  e\n", &ids[4][..12]));
}

#[test]
fn every_fixed_name_is_in_the_json() {
    let (sandbox, ids) = five();
    let item = sandbox.handoff(&["list", "--json", "--limit", "1"]).json()[0].clone();
    let fixed = ["id", "session", "created", "agent", "topic", "status", "trigger", "branch", "commit", "file", "live"];
    let values: Vec<_> = fixed.iter().map(|name| item[name].clone()).collect();
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    assert_eq!(
        values,
        [
            json!(ids[4]),
            json!("codex/2026-08-18-1004"),
            json!("2026-08-18T10:04:00+00:00"),
            json!("codex"),
            json!("e"),
            json!("in-progress"),
            json!("manual"),
            json!("feat"),
            json!(head),
            json!(".codex/handoffs/2026-08-18-1004.md"),
            json!(true),
        ]
    );
}

#[test]
fn an_empty_list_is_no_failure() {
    let sandbox = Sandbox::repository();
    assert_eq!(sandbox.handoff(&["list"]).ok(), "");
    assert_eq!(sandbox.handoff(&["list", "--json"]).json(), json!([]));
}

#[test]
fn a_status_that_does_not_exist_is_refused_with_the_five() {
    let sandbox = Sandbox::repository();
    let err = sandbox.handoff(&["list", "--status", "maybe"]).refused(2);
    assert!(err.contains("completed, in-progress, partial, blocked, interrupted"), "{err}");
}

#[test]
fn handoffs_that_a_plain_fetch_brought_are_listed_before_they_are_joined() {
    let (sandbox, ids) = five();
    let mut other = Sandbox::repository();
    other.git(&[
        "fetch",
        "-q",
        sandbox.cwd().to_str().expect("Unicode"),
        "+refs/handoffs/log:refs/handoffs-remote/mate/log",
    ]);
    other.clock("2026-08-18T11:00:00Z");
    assert_eq!(topics(&other, &["--all"]), "edcba");
    assert_eq!(other.git(&["for-each-ref", "--format=%(refname)", "refs/handoffs"]), "");
    let shown = other.handoff(&["show", &ids[0][..8], "--json"]).json();
    assert_eq!(shown["id"], ids[0]);
}

#[test]
fn a_damaged_or_deleted_cache_changes_nothing() {
    let (sandbox, _) = five();
    let before = sandbox.handoff(&["list", "--all", "--json"]).json();
    let state = sandbox.cwd().join(".git/git-handoff-state");
    let files: Vec<_> = std::fs::read_dir(&state)
        .expect("the cache is there")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.is_file())
        .collect();
    assert!(!files.is_empty());
    for file in &files {
        let bytes = std::fs::read(file).expect("readable");
        let flipped: Vec<u8> = bytes.iter().map(|byte| byte ^ 0x55).collect();
        for damaged in [&flipped[..], &bytes[..bytes.len() / 2], b""] {
            std::fs::write(file, damaged).expect("writable");
            assert_eq!(sandbox.handoff(&["list", "--all", "--json"]).json(), before, "{}", file.display());
        }
        std::fs::write(file, bytes).expect("writable");
    }
    std::fs::remove_dir_all(&state).expect("removable");
    assert_eq!(sandbox.handoff(&["list", "--all", "--json"]).json(), before);
}

#[test]
fn a_log_that_was_rewound_is_read_as_it_is_and_the_files_beside_it() {
    let (sandbox, _) = five();
    sandbox.git(&["update-ref", "refs/handoffs/log", "refs/handoffs/log~2"]);
    let listed = sandbox.handoff(&["list", "--all"]).ok();
    assert_eq!(topics(&sandbox, &["--all"]), "edcba");
    assert_eq!(listed.matches("(file only)").count(), 2, "{listed}");
    sandbox.git(&["config", "handoff.layout", "off"]);
    assert_eq!(topics(&sandbox, &["--all"]), "cba");
}
