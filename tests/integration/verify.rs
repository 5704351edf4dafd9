//! The log, checked entry by entry.

use crate::sandbox::Sandbox;

/// Appends a commit with this file to the log, as somebody without this tool would.
fn push_garbage(sandbox: &Sandbox, path: &str, content: &str) {
    let (folder, name) = path.split_once('/').expect("a folder");
    let blob = sandbox.run("git", &["hash-object", "-w", "--stdin"], content.as_bytes()).ok();
    let file = format!("100644 blob {}\t{name}\n", blob.trim());
    let inner = sandbox.run("git", &["mktree"], file.as_bytes()).ok();
    let tree = sandbox.run("git", &["mktree"], format!("040000 tree {}\t{folder}\n", inner.trim()).as_bytes()).ok();
    let commit = sandbox.git(&["commit-tree", "-p", "refs/handoffs/log", "-m", "garbage", tree.trim()]);
    sandbox.git(&["update-ref", "refs/handoffs/log", &commit]);
}

fn codes(sandbox: &Sandbox, exit: i32) -> Vec<String> {
    let ran = sandbox.handoff(&["verify", "--json"]);
    assert_eq!(ran.code, exit, "{}", ran.err);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let bad = answer["bad"].as_array().expect("a list");
    bad.iter().map(|bad| bad["code"].as_str().expect("a code").to_owned()).collect()
}

#[test]
fn a_sound_log_is_verified() {
    let sandbox = Sandbox::repository();
    assert_eq!(sandbox.handoff(&["verify"]).ok(), "Verified: 0 handoffs and 0 other events in 0 commits\n");
    sandbox.create("a", &[]);
    sandbox.create("b", &[]);
    assert_eq!(sandbox.handoff(&["verify"]).ok(), "Verified: 2 handoffs and 0 other events in 2 commits\n");
}

#[test]
fn every_bad_entry_is_named() {
    let sandbox = Sandbox::repository();
    let id = sandbox.create("a", &[]);
    let stored = sandbox.handoff(&["show", "--document", &id]).ok();
    push_garbage(&sandbox, &format!("handoff/{id}.json"), &stored.replace("half done", "all done"));
    assert_eq!(codes(&sandbox, 10), ["mismatch"]);
    let err = sandbox.handoff(&["verify"]);
    assert!(err.out.contains(&id), "{}", err.out);
    push_garbage(&sandbox, "handoff/readme.txt", "x");
    let spaced = "{\"created\": \"2026-08-18T17:04:00+03:00\"}";
    let name = sha256(&sandbox, spaced);
    push_garbage(&sandbox, &format!("dream/{name}.json"), spaced);
    let mut found = codes(&sandbox, 10);
    found.sort();
    assert_eq!(found, ["foreign", "mismatch", "not_canonical"]);
    assert_eq!(sandbox.handoff(&["list"]).ok().lines().count(), 1);
}

#[test]
fn kinds_that_are_not_known_are_a_note() {
    let sandbox = Sandbox::repository();
    sandbox.create("a", &[]);
    let event = "{\"created\":\"2026-08-18T17:04:00+03:00\"}";
    push_garbage(&sandbox, &format!("dream/{}.json", sha256(&sandbox, event)), event);
    let ran = sandbox.handoff(&["verify"]);
    assert!(ran.err.contains("1 of the kind 'dream'"), "{}", ran.err);
    ran.ok();
}

#[cfg(unix)]
#[test]
fn a_missing_commit_breaks_the_graph() {
    let sandbox = Sandbox::repository();
    sandbox.create("a", &[]);
    sandbox.create("b", &[]);
    let first = sandbox.git(&["rev-parse", "refs/handoffs/log~1"]);
    std::fs::remove_file(sandbox.cwd().join(".git/objects").join(&first[..2]).join(&first[2..])).expect("loose");
    assert_eq!(codes(&sandbox, 10), ["graph"]);
}

fn sha256(sandbox: &Sandbox, text: &str) -> String {
    let out = sandbox.run("sha256sum", &[], text.as_bytes()).ok();
    out.split(' ').next().expect("a hash").to_owned()
}
