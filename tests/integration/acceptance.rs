//! The twelve things that whoever asked for continuations will look for, one test each.
//!
//! Two clones exchange their logs with plain `git push` and `git fetch`.

use serde_json::Value;

use crate::queue::{planned, queue};
use crate::sandbox::{Sandbox, body};

fn json(sandbox: &Sandbox, args: &[&str]) -> Value {
    let mut all = args.to_vec();
    all.push("--json");
    sandbox.handoff(&all).json()
}

fn state_of(sandbox: &Sandbox, item: &str) -> String {
    json(sandbox, &["queue", "show", item])["state"].as_str().expect("a state").to_owned()
}

/// Everything that git and the work tree hold, without git's objects.
fn everything(sandbox: &Sandbox) -> String {
    let script = "git for-each-ref; find . -type f -not -path './.git/objects/*' -exec sha256sum {} + | sort";
    sandbox.run("bash", &["-c", script], b"").ok()
}

/// Clones A and B of one bare repository; commands run in A.
fn two_clones() -> Sandbox {
    let mut sandbox = Sandbox::empty();
    sandbox.set("HANDOFF_AGENT", "codex");
    sandbox.clock("2026-08-18T17:04:00+03:00");
    sandbox.init("seed", &[]);
    sandbox.enter("");
    sandbox.git(&["clone", "-q", "--bare", "seed", "remote.git"]);
    sandbox.git(&["clone", "-q", "remote.git", "A"]);
    sandbox.git(&["clone", "-q", "remote.git", "B"]);
    sandbox.enter("A");
    sandbox
}

fn publish(sandbox: &Sandbox) {
    sandbox.git(&["push", "-q", "origin", "refs/handoffs/log"]);
}

fn fetch(sandbox: &Sandbox) {
    sandbox.git(&["fetch", "-q", "origin", "+refs/handoffs/log:refs/handoffs-remote/origin/log"]);
}

#[test]
fn acceptance_01_a_bounded_handoff_is_made_of_a_completed_task() {
    let (sandbox, plan) = planned();
    let document = json(&sandbox, &["show", &plan])["document"].clone();
    assert_eq!(
        (&document["status"], &document["completeness"]),
        (&"completed".into(), &"authoritative_for_continuation".into())
    );
    let huge = format!("{}## Objective\n{}\n", body("big"), "many words ".repeat(40_000));
    assert_eq!(sandbox.handoff_with(&["create", "--json", "--from", "-", "big"], huge).error_code(4), "TOO_LARGE");
}

#[test]
fn acceptance_02_retrieving_a_handoff_starts_nothing_in_its_source() {
    let (sandbox, plan) = planned();
    queue(&sandbox, "copy", &[]);
    let before = everything(&sandbox);
    for args in [&["show", &plan][..], &["resume", &plan], &["queue", "show", "copy"], &["queue", "list"], &["log"]] {
        sandbox.handoff(args).ok();
    }
    assert_eq!(everything(&sandbox), before);
}

#[test]
fn acceptance_03_the_receiver_inherits_neither_transcript_nor_authority() {
    let (sandbox, _) = planned();
    queue(&sandbox, "copy", &[]);
    let packet = json(&sandbox, &["queue", "start", "copy"]);
    assert_eq!(packet["trust"]["authority"], "inform_only");
    let groups: Vec<&String> = packet.as_object().expect("groups").keys().collect();
    assert_eq!(groups, ["authoritative", "context", "continuation", "handoff", "selection", "trust"]);
}

#[test]
fn acceptance_04_the_exact_source_revision_is_identified() {
    let (sandbox, _) = planned();
    let source = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.commit("later.txt", "later");
    queue(&sandbox, "copy", &[]);
    let packet = json(&sandbox, &["queue", "start", "copy"]);
    assert_eq!(packet["handoff"]["revision"], source);
    assert_eq!(packet["continuation"]["started"]["revision"], sandbox.git(&["rev-parse", "HEAD"]));
}

#[test]
fn acceptance_05_the_user_can_preview_and_edit_before_use() {
    let (sandbox, plan) = planned();
    let before = everything(&sandbox);
    let args = ["create", "--dry-run", "--from", "-", "preview"];
    assert!(sandbox.handoff_with(&args, body("preview")).ok().contains("# Session Handoff"));
    assert_eq!(everything(&sandbox), before);
    let corrected = sandbox.create("plan, corrected", &["--supersedes", &plan]);
    let document = json(&sandbox, &["show", &corrected])["document"].clone();
    assert_eq!(document["supersedes"], serde_json::json!([plan]));
}

#[test]
fn acceptance_06_authoritative_fields_are_told_apart_from_context() {
    let (sandbox, _) = planned();
    queue(&sandbox, "copy", &[]);
    let packet = json(&sandbox, &["queue", "start", "copy"]);
    assert!(packet["authoritative"]["next_action"].is_string() && packet["context"]["next_action"].is_null());
    assert!(packet["context"]["verification_evidence"].is_array());
    assert!(packet["authoritative"]["verification_evidence"].is_null());
}

#[test]
fn acceptance_07_a_continuation_is_queued_behind_a_task_or_an_operation() {
    let (sandbox, _) = planned();
    queue(&sandbox, "backup", &[]);
    queue(&sandbox, "restore", &["--after", "continuation:backup", "--after", "op:reformat"]);
    let after = json(&sandbox, &["queue", "show", "restore"])["after"].clone();
    assert_eq!((&after[1]["prerequisite"], &after[1]["outcome"]), (&"op:reformat".into(), &"open".into()));
    assert_eq!(state_of(&sandbox, "restore"), "waiting");
}

#[test]
fn acceptance_08_it_starts_only_after_the_prerequisite_has_succeeded() {
    let (sandbox, _) = planned();
    queue(&sandbox, "restore", &["--after", "op:reformat"]);
    let start = ["queue", "start", "restore", "--json"];
    assert_eq!(sandbox.handoff(&start).error_code(4), "WRONG_STATE");
    sandbox.handoff(&["op", "start", "reformat"]).ok();
    assert_eq!(sandbox.handoff(&start).error_code(4), "WRONG_STATE");
    sandbox.handoff(&["op", "succeed", "reformat"]).ok();
    sandbox.handoff(&start).ok();
}

#[test]
fn acceptance_09_failure_or_cancellation_does_not_activate_it() {
    let (sandbox, _) = planned();
    for (verb, name) in [("fail", "bad"), ("cancel", "given up")] {
        let operation = format!("op:{name}");
        queue(&sandbox, verb, &["--after", &operation]);
        sandbox.handoff(&["op", "start", name]).ok();
        sandbox.handoff(&["op", verb, name]).ok();
        let shown = json(&sandbox, &["queue", "show", verb]);
        assert_eq!((&shown["state"], &shown["stopped_by"]), (&"stopped".into(), &operation.into()));
        for again in ["claim", "start", "retry"] {
            assert_eq!(sandbox.handoff(&["queue", again, verb, "--json"]).error_code(4), "WRONG_STATE");
        }
    }
    assert_eq!(json(&sandbox, &["queue", "ready"]), serde_json::json!([]));
}

#[test]
fn acceptance_10_it_works_without_the_thread_that_it_came_from() {
    let (mut sandbox, _) = planned();
    queue(&sandbox, "copy", &[]);
    // No file, no cache, no agent: only what git keeps.
    std::fs::remove_dir_all(sandbox.cwd().join(".codex")).expect("views");
    std::fs::remove_dir_all(sandbox.cwd().join(".session-transfer")).expect("views");
    std::fs::remove_dir_all(sandbox.cwd().join(".git/git-handoff-state")).expect("private state");
    sandbox.git(&["gc", "-q"]);
    sandbox.set("HANDOFF_AGENT", "another");
    let packet = json(&sandbox, &["queue", "start", "copy"]);
    assert_eq!(packet["authoritative"]["objective"], "Move the data");
}

#[test]
fn acceptance_11_missing_or_ambiguous_state_is_an_explicit_error() {
    let (sandbox, _) = planned();
    assert_eq!(sandbox.handoff(&["queue", "start", "nothing", "--json"]).error_code(3), "NOT_FOUND");
    assert_eq!(sandbox.handoff(&["queue", "add", "--handoff", "abcd", "--json"]).error_code(3), "NOT_FOUND");
    let sandbox = two_clones();
    sandbox.create("plan", &[]);
    queue(&sandbox, "seed", &["--accept-partial"]);
    publish(&sandbox);
    let mut sandbox = sandbox;
    sandbox.enter("B");
    fetch(&sandbox);
    queue(&sandbox, "same", &["--accept-partial", "--topic", "of B"]);
    sandbox.enter("A");
    queue(&sandbox, "same", &["--accept-partial", "--topic", "of A"]);
    publish(&sandbox);
    sandbox.enter("B");
    fetch(&sandbox);
    assert_eq!(sandbox.handoff(&["queue", "start", "same", "--json"]).error_code(3), "AMBIGUOUS");
}

#[test]
fn acceptance_12_source_and_destination_keep_a_link_that_can_be_audited_on_every_clone() {
    let mut sandbox = two_clones();
    let plan = sandbox.create("plan", &[]);
    queue(&sandbox, "restore", &["--accept-partial", "--after", "op:reformat"]);
    sandbox.handoff(&["op", "run", "reformat", "--", "true"]).ok();
    publish(&sandbox);
    sandbox.enter("B");
    fetch(&sandbox);
    sandbox.clock("2026-08-18T18:04:00+03:00");
    sandbox.set("HANDOFF_AGENT", "claude");
    sandbox.handoff(&["queue", "start", "restore", "--as", "carla"]).ok();
    let next = sandbox.create("restored", &["--status", "completed"]);
    sandbox.handoff(&["queue", "finish", "restore", "--as", "carla"]).ok();
    let document = json(&sandbox, &["show", &next])["document"].clone();
    assert_eq!(document["resumed_from"], plan);
    publish(&sandbox);
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let from = |sandbox: &Sandbox, end: &str| {
        let nodes = json(sandbox, &["log", end]);
        let source = nodes.as_array().expect("nodes").iter().find(|node| node["id"] == plan).cloned();
        source.expect("both ends show the source")["continuations"][0]["started"].clone()
    };
    let expected = serde_json::json!({"by": "carla", "at": "2026-08-18T18:04:00+03:00", "revision": head});
    let in_b = [from(&sandbox, &plan), from(&sandbox, &next)];
    sandbox.enter("A");
    fetch(&sandbox);
    let in_a = [from(&sandbox, &plan), from(&sandbox, &next)];
    assert_eq!((in_a, in_b), ([expected.clone(), expected.clone()], [expected.clone(), expected]));
}

#[test]
fn two_clones_that_claim_offline_agree_on_one_holder_and_keep_the_other_claim() {
    let mut sandbox = two_clones();
    sandbox.create("plan", &[]);
    queue(&sandbox, "job", &["--accept-partial"]);
    publish(&sandbox);
    sandbox.enter("B");
    fetch(&sandbox);
    sandbox.clock("2026-08-18T17:05:00+03:00");
    sandbox.handoff(&["queue", "claim", "job", "--offline", "--as", "bob"]).ok();
    sandbox.enter("A");
    sandbox.clock("2026-08-18T17:06:00+03:00");
    sandbox.handoff(&["queue", "claim", "job", "--offline", "--as", "alice"]).ok();
    publish(&sandbox);
    sandbox.enter("B");
    fetch(&sandbox);
    // The next command that writes joins, and says who has it now.
    sandbox.handoff(&["op", "start", "anything"]).ok();
    publish(&sandbox);
    let in_b = json(&sandbox, &["queue", "show", "job"]);
    sandbox.enter("A");
    fetch(&sandbox);
    let in_a = json(&sandbox, &["queue", "show", "job"]);
    assert_eq!(in_a, in_b);
    assert_eq!((&in_a["claim"]["by"], &in_a["conflicts"][0]["by"]), (&"bob".into(), &"alice".into()));
    assert_eq!(in_a["conflicts"][0]["lost_to"], "bob");
}

#[test]
fn a_loop_that_joining_made_is_shown_by_every_view_and_can_be_left() {
    let mut sandbox = two_clones();
    sandbox.create("plan", &[]);
    queue(&sandbox, "x", &["--accept-partial"]);
    queue(&sandbox, "y", &["--accept-partial"]);
    publish(&sandbox);
    sandbox.enter("B");
    fetch(&sandbox);
    sandbox.handoff(&["queue", "link", "y", "--after", "continuation:x"]).ok();
    sandbox.enter("A");
    sandbox.handoff(&["queue", "link", "x", "--after", "continuation:y"]).ok();
    publish(&sandbox);
    sandbox.enter("B");
    fetch(&sandbox);
    for name in ["x", "y"] {
        assert_eq!(json(&sandbox, &["queue", "show", name])["why"], "part of a cycle: x, y");
    }
    let list = sandbox.handoff(&["queue", "list"]).ok();
    assert_eq!(list.matches("part of a cycle: x, y").count(), 2, "{list}");
    assert_eq!(json(&sandbox, &["queue", "ready"]), serde_json::json!([]));
    sandbox.handoff(&["queue", "list", "--graph"]).ok();
    sandbox.handoff(&["queue", "link", "x", "--drop", "continuation:y"]).ok();
    assert_eq!(["x", "y"].map(|item| state_of(&sandbox, item)), ["ready", "waiting"]);
}
